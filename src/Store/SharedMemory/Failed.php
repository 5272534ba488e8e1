<?php

declare(strict_types=1);

namespace Larder\Store\SharedMemory;

/** What a computation threw, in a form that the pool makes up for by something stale. */
final class Failed extends \Exception
{
    public function __construct(
        public readonly \Throwable $failure,
    ) {
        parent::__construct();
    }
}
