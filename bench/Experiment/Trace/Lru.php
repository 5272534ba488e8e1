<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Trace;

/** Least recently used: the item that was not used for longest goes first. */
final class Lru implements Policy
{
    /** @var array<int, int> key => the key used after it; the ends of the list are -1 */
    private array $newer = [];
    /** @var array<int, int> key => the key used before it */
    private array $older = [];
    private int $newest = -1;
    private int $oldest = -1;

    public function __construct(private readonly int $capacity) {}

    public function access(int $key): bool
    {
        if ($key === $this->newest) {
            return true;
        }
        $isHit = isset($this->newer[$key]);
        if ($isHit) {
            // What stays keeps its entries in both tables and gets other neighbours.
            $this->pass($key);
        } elseif (count($this->newer) >= $this->capacity) {
            $gone = $this->oldest;
            $this->pass($gone);
            unset($this->newer[$gone], $this->older[$gone]);
        }
        $this->older[$key] = $this->newest;
        $this->newer[$key] = -1;
        if ($this->newest !== -1) {
            $this->newer[$this->newest] = $key;
        }
        $this->newest = $key;
        if ($this->oldest === -1) {
            $this->oldest = $key;
        }

        return $isHit;
    }

    /** Joins its neighbours in the list, so that nothing leads to it any more. */
    private function pass(int $key): void
    {
        $newer = $this->newer[$key];
        $older = $this->older[$key];
        if ($newer !== -1) {
            $this->older[$newer] = $older;
        } else {
            $this->newest = $older;
        }
        if ($older !== -1) {
            $this->newer[$older] = $newer;
        } else {
            $this->oldest = $newer;
        }
    }
}
