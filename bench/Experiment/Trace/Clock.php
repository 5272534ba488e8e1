<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Trace;

/** A ring with a hand. The hand spares an item once that was used since it last passed (Corbató, 1968). */
final class Clock implements Policy
{
    /** @var array<int, bool> key => whether it was used */
    private array $used = [];
    /** @var array<int, int> place in the ring => key */
    private array $ring = [];
    private int $hand = 0;

    public function __construct(private readonly int $capacity) {}

    public function access(int $key): bool
    {
        if (isset($this->used[$key])) {
            $this->used[$key] = true;

            return true;
        }
        if (count($this->ring) < $this->capacity) {
            $this->ring[] = $key;
            $this->used[$key] = false;

            return false;
        }
        while ($this->used[$this->ring[$this->hand]]) {
            $this->used[$this->ring[$this->hand]] = false;
            $this->hand = ($this->hand + 1) % $this->capacity;
        }
        unset($this->used[$this->ring[$this->hand]]);
        $this->ring[$this->hand] = $key;
        $this->used[$key] = false;
        $this->hand = ($this->hand + 1) % $this->capacity;

        return false;
    }
}
