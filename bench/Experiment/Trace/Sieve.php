<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Trace;

/**
 * SIEVE (Zhang and others, NSDI 2024). A hand goes through a list in the order of arrival, from its tail to its head. It spares
 * used items once, and stays where it evicted.
 */
final class Sieve implements Policy
{
    /** @var array<int, bool> key => whether it was used */
    private array $used = [];
    /** @var array<int, int> key => the key that came after it; the ends of the list are -1 */
    private array $later = [];
    /** @var array<int, int> key => the key that came before it */
    private array $earlier = [];
    private int $head = -1;
    private int $tail = -1;
    private int $hand = -1;

    public function __construct(private readonly int $capacity) {}

    public function access(int $key): bool
    {
        if (isset($this->used[$key])) {
            $this->used[$key] = true;

            return true;
        }
        if (count($this->used) >= $this->capacity) {
            $this->evict();
        }
        $this->used[$key] = false;
        $this->earlier[$key] = $this->head;
        $this->later[$key] = -1;
        if ($this->head !== -1) {
            $this->later[$this->head] = $key;
        }
        $this->head = $key;
        if ($this->tail === -1) {
            $this->tail = $key;
        }

        return false;
    }

    private function evict(): void
    {
        $victim = $this->hand === -1 ? $this->tail : $this->hand;
        while ($this->used[$victim]) {
            $this->used[$victim] = false;
            $victim = $this->later[$victim] === -1 ? $this->tail : $this->later[$victim];
        }
        $later = $this->later[$victim];
        $earlier = $this->earlier[$victim];
        $this->hand = $later;
        if ($later !== -1) {
            $this->earlier[$later] = $earlier;
        } else {
            $this->head = $earlier;
        }
        if ($earlier !== -1) {
            $this->later[$earlier] = $later;
        } else {
            $this->tail = $later;
        }
        unset($this->used[$victim], $this->later[$victim], $this->earlier[$victim]);
    }
}
