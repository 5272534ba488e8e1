<?php

declare(strict_types=1);

namespace Larder\Trace;

/** Numbers at positions from 1 on, and the sum of all from a position to the end (a Fenwick tree that grows). */
final class SumTree
{
    /** @var array<int, int> */
    private array $sums = [];

    private int $size = 1;

    private int $total = 0;

    public function add(int $position, int $amount): void
    {
        while ($position > $this->size) {
            // The new root of twice the size holds everything there was.
            $this->size *= 2;
            $this->sums[$this->size] = $this->total;
        }
        $this->total += $amount;
        for ($at = $position; $at <= $this->size; $at += $at & -$at) {
            $this->sums[$at] = ($this->sums[$at] ?? 0) + $amount;
        }
    }

    public function from(int $position): int
    {
        $before = 0;
        for ($at = $position - 1; $at > 0; $at -= $at & -$at) {
            $before += $this->sums[$at] ?? 0;
        }

        return $this->total - $before;
    }
}
