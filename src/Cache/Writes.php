<?php

declare(strict_types=1);

namespace Larder\Cache;

use Larder\Event\Written;
use Larder\Exception\PoolUnusable;
use Larder\Exception\StoreUnavailable;
use Larder\Exception\Unstorable;
use Larder\Item;
use Larder\Remember\Envelope;
use Larder\Serializer\Contents;
use Larder\Store;
use Larder\Store\SharedMemoryStore;
use Larder\Ttl;
use Psr\EventDispatcher\EventDispatcherInterface;
use Psr\Log\LoggerInterface;

/** What a cache does to store values, and what it tells of how that went. */
final class Writes
{
    private bool $isRefused = false;

    /** @param bool $seals whether values are sealed with what remember() needs to know of them; a pool knows it itself */
    public function __construct(
        private readonly bool $seals,
        private readonly ?LoggerInterface $logger,
        private readonly ?EventDispatcherInterface $events,
    ) {}

    public function storable(mixed $value): mixed
    {
        return $this->seals ? Envelope::plain($value) : $value;
    }

    /**
     * In a pool, a set is a write or a fill as the pool itself sees it, which has noted what this request has missed.
     *
     * @param list<Item> $items
     *
     * @return list<string> the keys that were not saved
     *
     * @throws StoreUnavailable
     * @throws Unstorable
     */
    public function save(Store $store, array $items): array
    {
        $pool = $store instanceof SharedMemoryStore ? $store->pool : null;
        if ($pool === null || $items === [] || ($items[0]->ttl !== null && $items[0]->ttl <= 0)) {
            return $store->save($items);
        }
        foreach (\count($items) > 1 ? $items : [] as $item) {
            // Before anything is stored.
            Contents::check($item->key, $item->value);
        }
        $unsaved = [];
        try {
            foreach ($items as $item) {
                if (!$pool->set($item->key, $item->value, $item->ttl !== null && $item->ttl > Ttl::LONGEST ? null : $item->ttl, $item->tags, null, $item->keeps)) {
                    $unsaved[] = $item->key;
                }
            }
        } catch (PoolUnusable $failure) {
            throw SharedMemoryStore::unavailable($failure);
        }

        return $unsaved;
    }

    /**
     * Tells of a set.
     *
     * @param list<string>  $keys
     * @param ?list<string> $unsaved null: the store was unavailable
     *
     * @return bool whether all were stored
     */
    public function noteSet(Store $store, array $keys, ?array $unsaved): bool
    {
        if ($unsaved === null) {
            return false;
        }
        $this->events?->dispatch(new Written(array_values(array_diff($keys, $unsaved))));
        if ($unsaved !== [] && !$this->isRefused) {
            $this->isRefused = true;
            $this->logger?->warning('The cache\'s store refuses to save; it is full, the value too large, or outdated.', [
                'store' => $store::class,
                'keys' => $unsaved,
            ]);
        }

        return $unsaved === [];
    }

    /**
     * Tells of an add or a replace, which may be refused because of what is there or is not.
     *
     * @param ?list<string> $unsaved null: the store was unavailable
     *
     * @return bool whether it was stored
     */
    public function noteAdded(string $key, ?array $unsaved): bool
    {
        if ($unsaved === []) {
            $this->events?->dispatch(new Written([$key]));
        }

        return $unsaved === [];
    }
}
