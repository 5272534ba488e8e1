<?php

declare(strict_types=1);

namespace Larder\Bench\Subject\Shape;

/** An object with another inside. */
final class Holder
{
    public function __construct(public string $name, public Owner $child) {}
}
