<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Trace;

use SplQueue;

/**
 * S3-FIFO (Yang and others, SOSP 2023). A small queue of a tenth takes new items, a main queue those that were used again. A
 * queue of ghosts remembers the items that left the small one. If they come back, they go to the main one. A ghost stays one
 * until it is the oldest, even if its item is back.
 */
final class S3Fifo implements Policy
{
    /** Uses of an item beyond this many are not counted. */
    private const MOST_USES = 3;

    /** @var array<int, int> key => uses since it came, of all items held */
    private array $uses = [];
    /** @var SplQueue<int> */
    private SplQueue $small;
    /** @var SplQueue<int> */
    private SplQueue $main;
    /** @var SplQueue<array{int, int}> key and when it became a ghost */
    private SplQueue $ghosts;
    /** @var array<int, int> key => when it became a ghost */
    private array $isGhost = [];
    private readonly int $smallCapacity;
    private readonly int $ghostCapacity;
    private int $time = 0;

    public function __construct(private readonly int $capacity)
    {
        $this->smallCapacity = max(1, intdiv($capacity, 10));
        $this->ghostCapacity = $capacity - $this->smallCapacity;
        $this->small = new SplQueue();
        $this->main = new SplQueue();
        $this->ghosts = new SplQueue();
    }

    public function access(int $key): bool
    {
        if (isset($this->uses[$key])) {
            $this->uses[$key] = min(self::MOST_USES, $this->uses[$key] + 1);

            return true;
        }
        while (count($this->uses) >= $this->capacity) {
            count($this->small) >= $this->smallCapacity || count($this->main) === 0 ? $this->evictSmall() : $this->evictMain();
        }
        if (isset($this->isGhost[$key])) {
            $this->main->enqueue($key);
        } else {
            $this->small->enqueue($key);
        }
        $this->uses[$key] = 0;

        return false;
    }

    private function evictSmall(): void
    {
        $key = $this->small->dequeue();
        if ($this->uses[$key] > 1) {
            $this->uses[$key] = 0;
            $this->main->enqueue($key);
            if (count($this->main) > $this->capacity - $this->smallCapacity) {
                $this->evictMain();
            }

            return;
        }
        unset($this->uses[$key]);
        $this->isGhost[$key] = ++$this->time;
        $this->ghosts->enqueue([$key, $this->time]);
        if (count($this->ghosts) > $this->ghostCapacity) {
            [$ghost, $since] = $this->ghosts->dequeue();
            if (($this->isGhost[$ghost] ?? 0) === $since) {
                unset($this->isGhost[$ghost]);
            }
        }
    }

    private function evictMain(): void
    {
        do {
            $key = $this->main->dequeue();
            $uses = $this->uses[$key];
            if ($uses > 0) {
                $this->uses[$key] = $uses - 1;
                $this->main->enqueue($key);
            }
        } while ($uses > 0);
        unset($this->uses[$key]);
    }
}
