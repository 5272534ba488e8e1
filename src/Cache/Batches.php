<?php

declare(strict_types=1);

namespace Larder\Cache;

use Larder\Exception\StoreUnavailable;
use Larder\Exception\Unstorable;
use Larder\Exception\UnsupportedOperation;
use Larder\Item;
use Larder\Pooled;
use Larder\SaveMode;
use Larder\Store;

/**
 * Stores for Cache::saveMany(): all items in one call of the store, which is one round trip or transaction. A store refuses a batch
 * with a value that it cannot store, and stores nothing of it. Then each half is tried by itself, so that only such values are not stored.
 */
final class Batches
{
    public function __construct(
        private readonly Gate $gate,
        private readonly Writes $writes,
    ) {}

    /**
     * @param list<Item>                   $items
     * @param array<array-key, Unstorable> $unstorable is given why values cannot be stored, by key
     *
     * @param-out array<array-key, Unstorable> $unstorable
     *
     * @return list<string> the keys that were not saved, none twice
     *
     * @throws StoreUnavailable     if the cache is strict
     * @throws UnsupportedOperation
     */
    public function save(array $items, SaveMode $mode, array &$unstorable): array
    {
        $keys = self::keys($items);
        // What an addition does not replace stays true.
        $lost = $mode === SaveMode::Add ? [] : self::keys(array_values(array_filter($items, static fn(Item $item): bool => !$item->keeps)));
        $save = function (Store $store) use ($items, $mode, &$unstorable): array {
            return $this->parts($store, $items, $mode, $unstorable);
        };
        $unsaved = $items === [] ? [] : $this->gate->attempt($save, $lost);

        return $this->writes->noteBatch($keys, $unsaved === null ? null : array_values(array_unique($unsaved, \SORT_STRING)));
    }

    /**
     * @param list<Item>                   $items
     * @param array<array-key, Unstorable> $unstorable
     *
     * @return list<string>
     */
    private function parts(Store $store, array $items, SaveMode $mode, array &$unstorable): array
    {
        try {
            // In a pool a batch is its items one after the other, and an item without a token is judged by the miss that the pool has noted.
            if (\count($items) === 1 || !$store instanceof Pooled) {
                return $store instanceof Pooled && $mode === SaveMode::Set && $items[0]->token === null
                    ? $store->saveAsMissed($items)
                    : $store->save($items, $mode);
            }
        } catch (Unstorable $mistake) {
            if (\count($items) === 1) {
                $unstorable[$items[0]->key] = $mistake;

                return $this->refuse($store, $items[0], $mode);
            }
        }
        $unsaved = [];
        foreach (array_chunk($items, $store instanceof Pooled ? 1 : max(1, intdiv(\count($items) + 1, 2))) as $part) {
            array_push($unsaved, ...$this->parts($store, $part, $mode, $unstorable));
        }

        return $unsaved;
    }

    /** @return list<string> */
    private function refuse(Store $store, Item $item, SaveMode $mode): array
    {
        if ($mode !== SaveMode::Add && !$item->keeps) {
            // The item that was to be replaced is not true any more, unless it is newer than this.
            $store->delete([$item->key], $item->token);
        }

        return [$item->key];
    }

    /**
     * @param list<Item> $items
     *
     * @return list<string>
     */
    private static function keys(array $items): array
    {
        return array_map(static fn(Item $item): string => $item->key, $items);
    }
}
