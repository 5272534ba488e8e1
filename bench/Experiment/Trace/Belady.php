<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Trace;

use SplMaxHeap;

/** Belady's MIN (1966): what will not be needed for longest goes first. It knows the future, so nothing beats it. */
final class Belady implements Policy
{
    /** @var array<int, int> key => when it is needed next, of all items held */
    private array $next = [];
    /** @var SplMaxHeap<array{int, int}> when a key is needed next, and the key; outdated entries are passed over */
    private SplMaxHeap $farthest;
    /** @var list<int> position => when the key there is needed next */
    private array $needed;
    private int $position = 0;

    /** @param non-empty-list<int> $keys all that will be accessed, in that order */
    public function __construct(private readonly int $capacity, array $keys)
    {
        $this->farthest = new SplMaxHeap();
        $end = count($keys);
        $seen = [];
        $needed = array_fill(0, $end, $end);
        for ($position = $end - 1; $position >= 0; $position--) {
            $needed[$position] = $seen[$keys[$position]] ?? $end + $position;
            $seen[$keys[$position]] = $position;
        }
        $this->needed = array_values($needed);
    }

    public function access(int $key): bool
    {
        $isHit = isset($this->next[$key]);
        if (!$isHit && count($this->next) >= $this->capacity) {
            do {
                [$when, $victim] = $this->farthest->extract();
            } while (($this->next[$victim] ?? -1) !== $when);
            unset($this->next[$victim]);
        }
        $when = $this->needed[$this->position++];
        $this->next[$key] = $when;
        $this->farthest->insert([$when, $key]);

        return $isHit;
    }
}
