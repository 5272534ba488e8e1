<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Tag;

use Larder\Bench\Experiment\Task;
use Larder\Bench\Fields;
use Larder\SharedMemory;

/** How many items of a pool are left after very many invalidations of tags that they do not carry? */
final class OtherTags implements Task
{
    /** Tags of an item. */
    public const NUMBERS = [1, 10];
    /** On one item; an item cannot carry all of them. */
    private const TOGETHER = 1_000;

    public function run(Fields $arguments): array
    {
        $name = 'bench-' . bin2hex(random_bytes(6));
        $items = $arguments->int('items');
        $carried = $arguments->int('carried');
        try {
            $pool = SharedMemory::open($name, $arguments->int('bytes'));
            foreach (self::NUMBERS as $tags) {
                $this->fill($pool, $items, $tags);
            }
            for ($first = 0; $first < $carried; $first += self::TOGETHER) {
                $pool->set("others {$first}", 1, null, array_map(static fn(int $tag): string => "carried {$tag}", range($first, min($carried, $first + self::TOGETHER) - 1)));
            }
            $this->invalidate($pool, 'carried', $carried);
            $this->invalidate($pool, 'uncarried', $arguments->int('uncarried'));
            $left = [];
            foreach (self::NUMBERS as $tags) {
                $left["with {$tags}"] = $this->count($pool, $items, $tags) / $items;
            }

            return $left;
        } finally {
            SharedMemory::remove($name);
        }
    }

    private function fill(SharedMemory $pool, int $items, int $tags): void
    {
        for ($item = 0; $item < $items; $item++) {
            $pool->set("{$tags} {$item}", 1, null, array_map(static fn(int $tag): string => "own {$tags} {$item} {$tag}", range(1, $tags)));
        }
        if ($this->count($pool, $items, $tags) < $items) {
            throw new \UnexpectedValueException("The pool does not hold {$items} items with {$tags} tags: its figures would be worth nothing.");
        }
    }

    private function invalidate(SharedMemory $pool, string $kind, int $count): void
    {
        for ($tag = 0; $tag < $count; $tag++) {
            $pool->invalidateTags(["{$kind} {$tag}"]);
        }
    }

    private function count(SharedMemory $pool, int $items, int $tags): int
    {
        $count = 0;
        for ($item = 0; $item < $items; $item++) {
            $count += (int) $pool->has("{$tags} {$item}");
        }

        return $count;
    }
}
