<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Experiment\Raw\RawStore;
use Larder\Bench\Experiment\Raw\RawStores;
use Larder\Bench\Fields;
use Larder\SharedMemory;

/**
 * Fills a store of limited size until it evicts or refuses, and then counts what it really holds.
 *
 * The count is made by asking for the keys, not by believing the store's own figure.
 */
final class Fill implements Task
{
    private const BATCH = 500;

    public function run(Fields $arguments): array
    {
        $value = str_repeat('v', $arguments->int('length'));
        $megabytes = $arguments->int('megabytes');
        $name = $arguments->string('store');
        // More than can fit, even if an item cost no more than its value and key.
        $most = intdiv($megabytes << 20, $arguments->int('length') + 20);

        return ['items' => $name === RawStores::SHARED_MEMORY
            ? $this->pool($value, $megabytes, $most)
            : $this->fill(RawStores::open($name, $arguments->string('endpoint'), $megabytes), $value, $most)];
    }

    /**
     * A pool evicts some items before it is full and whole segments when it is, so it holds most at some moment in
     * between. The first pool is filled beyond that and finds the moment; the second is filled up to it and counted.
     */
    private function pool(string $value, int $megabytes, int $most): int
    {
        $name = 'bench-' . bin2hex(random_bytes(6));
        $items = $moment = 0;
        try {
            $first = RawStores::open(RawStores::SHARED_MEMORY, "{$name}-1", $megabytes);
            foreach (self::batches($most) as $stored => $keys) {
                $first->fill($keys, $value);
                $held = $first->items();
                if ($held > $items) {
                    [$items, $moment] = [$held, $stored];
                }
            }
            unset($first);
            SharedMemory::remove("{$name}-1");
            $second = RawStores::open(RawStores::SHARED_MEMORY, "{$name}-2", $megabytes);
            foreach (self::batches($moment) as $keys) {
                $second->fill($keys, $value);
            }

            return $this->count($second, $moment);
        } finally {
            SharedMemory::remove("{$name}-1");
            SharedMemory::remove("{$name}-2");
        }
    }

    private function fill(RawStore $store, string $value, int $most): int
    {
        $stored = 0;
        foreach (self::batches($most) as $stored => $keys) {
            if (!$store->fill($keys, $value)) {
                break;
            }
        }

        return $this->count($store, $stored);
    }

    private function count(RawStore $store, int $stored): int
    {
        $items = 0;
        foreach (self::batches($stored) as $keys) {
            $items += $store->count($keys);
        }

        return $items;
    }

    /** @return iterable<int, non-empty-list<string>> keys of 20 bytes, by how many there are up to the end of the batch */
    public static function batches(int $most): iterable
    {
        for ($first = 0; $first < $most; $first += self::BATCH) {
            yield $first + self::BATCH => array_map(static fn(int $number): string => sprintf('key-%016d', $number), range($first, $first + self::BATCH - 1));
        }
    }
}
