<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Tag;

use Larder\Bench\Experiment\Task;
use Larder\Bench\Report\Fields;
use Larder\SharedMemory;

/** How long invalidating a tag takes when one item has it, and when very many have. */
final class Invalidations implements Task
{
    private const BLOCKS = 20;
    /** Invalidations a block: few, because only the first of them finds items alive. */
    private const CALLS = 1_000;

    public function run(Fields $arguments): array
    {
        $name = 'bench-' . bin2hex(random_bytes(6));
        $many = $arguments->int('many');
        try {
            $pool = SharedMemory::open($name, $arguments->int('bytes'));
            $pool->set('single', 'value', null, ['one']);
            for ($item = 0; $item < $many; $item++) {
                $pool->set("item-{$item}", 'value', null, ['many']);
            }
            $tagged = 0;
            foreach (['item-0', 'item-' . intdiv($many, 2), 'item-' . ($many - 1)] as $key) {
                $tagged += (int) ($pool->get($key) === 'value');
            }
            if ($tagged < 3 || $pool->statistics()['items'] < $many) {
                throw new \UnexpectedValueException("The pool does not hold {$many} items: its figures would be worth nothing.");
            }
            // The first invalidation of each is timed by itself: after it the items are dead.
            $found = ['one first' => $this->first($pool, 'one'), 'many first' => $this->first($pool, 'many')];
            if ($pool->get('single') !== null || $pool->get('item-0') !== null || $pool->get('item-' . ($many - 1)) !== null) {
                throw new \UnexpectedValueException('An item outlived the invalidation of its tag: the figures would be worth nothing.');
            }
            for ($block = 0; $block < self::BLOCKS; $block++) {
                foreach ($block % 2 === 0 ? ['one', 'many'] : ['many', 'one'] as $tag) {
                    $found["{$tag} {$block}"] = $this->block($pool, $tag);
                }
            }

            return $found;
        } finally {
            SharedMemory::remove($name);
        }
    }

    /** @return int ns */
    private function first(SharedMemory $pool, string $tag): int
    {
        $tags = [$tag];
        // Whatever is done for the first time is done with a tag that nobody has.
        $pool->invalidateTags(['nobody has it']);
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
