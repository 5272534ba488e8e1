<?php

declare(strict_types=1);

namespace Larder\Tests\Contract\Value;

/** @extends \SplMinHeap<int> */
final class SleepyHeap extends \SplMinHeap
{
    public string $name = 'heap';

    /** @return list<string> */
    public function __sleep(): array
    {
        return ['name'];
    }
}
