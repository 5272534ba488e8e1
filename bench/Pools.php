<?php

declare(strict_types=1);

namespace Larder\Bench;

use Larder\SharedMemory;

/** Removes the pools of a measurement. */
final class Pools
{
    /** The pool of that name, and those of tiers whose DSNs give it: their names go on with what tells the far store from others. */
    public static function remove(string $name): void
    {
        foreach (class_exists(SharedMemory::class) ? SharedMemory::names() : [] as $each) {
            if ($each === $name || str_starts_with($each, "{$name}.")) {
                SharedMemory::remove($each);
            }
        }
    }
}
