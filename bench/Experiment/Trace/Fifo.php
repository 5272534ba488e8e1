<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Trace;

/** First in, first out: what came first goes first, used or not. */
final class Fifo implements Policy
{
    /** @var array<int, true> */
    private array $held = [];
    /** @var array<int, int> place in the ring => key */
    private array $ring = [];
    private int $hand = 0;

    public function __construct(private readonly int $capacity) {}

    public function access(int $key): bool
    {
        if (isset($this->held[$key])) {
            return true;
        }
        if (isset($this->ring[$this->hand])) {
            unset($this->held[$this->ring[$this->hand]]);
        }
        $this->ring[$this->hand] = $key;
        $this->held[$key] = true;
        $this->hand = ($this->hand + 1) % $this->capacity;

        return false;
    }
}
