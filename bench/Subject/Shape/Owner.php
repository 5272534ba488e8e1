<?php

declare(strict_types=1);

namespace Larder\Bench\Subject\Shape;

/** A small object inside others. */
final class Owner
{
    public function __construct(public string $label, public int $revision) {}
}
