<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Tag;

use Larder\Bench\Experiment\Task;
use Larder\Bench\Fields;
use Larder\SharedMemory;

/**
 * How long invalidating a tag takes when one item has it, and when very many have: while the items live, and again and again.
 */
final class Invalidations implements Task
{
    private const BLOCKS = 20;
    /** Invalidations a block. Only the first of a tag finds items alive, which is timed apart. */
    private const CALLS = 1_000;
    /** Times that everything is stored anew, so that there is something alive to invalidate. */
    private const ROUNDS = 3;
    /** Tags of one item that are invalidated in a round. */
    private const SINGLES = 50;
    /** So many tags have their cells and entries on every page of the pool's tables. */
    private const OTHERS = 30_000;
    /** On one item. */
    private const TOGETHER = 1_000;

    public function run(Fields $arguments): array
    {
        $name = 'bench-' . bin2hex(random_bytes(6));
        $many = $arguments->int('many');
        try {
            $pool = SharedMemory::open($name, $arguments->int('bytes'));
            $this->touchTheTable($pool);
            $found = [];
            for ($round = 0; $round < self::ROUNDS; $round++) {
                $this->fill($pool, $many, $round);
                // In turns, so that neither is always the second.
                foreach ($round % 2 === 0 ? ['one', 'many'] : ['many', 'one'] as $which) {
                    $found["{$which} live {$round}"] = $which === 'one' ? $this->singles($pool, $round) : $this->once($pool, 'many');
                }
                if ($pool->get("single-{$round}-0") !== null || $pool->get('item-0') !== null || $pool->get('item-' . ($many - 1)) !== null) {
                    throw new \UnexpectedValueException('An item outlived the invalidation of its tag: the figures would be worth nothing.');
                }
            }
            for ($block = 0; $block < self::BLOCKS; $block++) {
                foreach ($block % 2 === 0 ? ['one', 'many'] : ['many', 'one'] as $which) {
                    $found["{$which} again {$block}"] = $this->block($pool, $which);
                }
            }

            return $found;
        } finally {
            SharedMemory::remove($name);
        }
    }

    /** A process's first write to each page of a pool costs it a page fault. Only tags that items have carried are entered. */
    private function touchTheTable(SharedMemory $pool): void
    {
        $tags = [];
        for ($tag = 0; $tag < self::OTHERS; $tag++) {
            $tags[] = "other {$tag}";
            if (count($tags) === self::TOGETHER) {
                $pool->set("others {$tag}", 'value', null, $tags);
                foreach ($tags as $one) {
                    $pool->invalidateTags([$one]);
                }
                $tags = [];
            }
        }
    }

    private function fill(SharedMemory $pool, int $many, int $round): void
    {
        for ($item = 0; $item < $many; $item++) {
            $pool->set("item-{$item}", 'value', null, ['many']);
        }
        for ($item = 0; $item < self::SINGLES; $item++) {
            $pool->set("single-{$round}-{$item}", 'value', null, ["one {$round} {$item}"]);
        }
        $alive = 0;
        foreach (['item-0', 'item-' . intdiv($many, 2), 'item-' . ($many - 1), "single-{$round}-0"] as $key) {
            $alive += (int) ($pool->get($key) === 'value');
        }
        if ($alive < 4 || $pool->statistics()['items'] < $many) {
            throw new \UnexpectedValueException("The pool does not hold {$many} items: its figures would be worth nothing.");
        }
    }

    /** @return float ns of a call, each for a tag that one living item has */
    private function singles(SharedMemory $pool, int $round): float
    {
        $time = 0;
        for ($item = 0; $item < self::SINGLES; $item++) {
            $time += $this->once($pool, "one {$round} {$item}");
        }

        return $time / self::SINGLES;
    }

    /** @return int ns */
    private function once(SharedMemory $pool, string $tag): int
    {
        $tags = [$tag];
        $begin = hrtime(true);
        $pool->invalidateTags($tags);

        return hrtime(true) - $begin;
    }

    /** @return float ns of a call */
    private function block(SharedMemory $pool, string $tag): float
    {
        $tags = [$tag];
        $begin = hrtime(true);
        for ($call = 0; $call < self::CALLS; $call++) {
            $pool->invalidateTags($tags);
        }

        return (hrtime(true) - $begin) / self::CALLS;
    }
}
