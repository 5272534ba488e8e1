<?php

declare(strict_types=1);

namespace Larder\Tests\Contract\Value;

/** @extends \SplMinHeap<int> */
final class Heap extends \SplMinHeap
{
    public string $name = 'heap';
}
