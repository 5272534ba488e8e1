<?php

declare(strict_types=1);

namespace Larder\Store\SharedMemory;

/** What became of one call of a pool's remember(). */
final class Course
{
    /** Whether the pool has asked for a computation. */
    public bool $isAsked = false;

    /** What that threw. */
    public ?\Throwable $failure = null;

    public bool $isPutOff = false;
}
