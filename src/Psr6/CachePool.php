<?php

declare(strict_types=1);

namespace Larder\Psr6;

use Larder\Cache;
use Larder\Cache\Misses;
use Larder\Cache\Pairs;
use Larder\Exception\InvalidKey;
use Larder\Exception\InvalidTag;
use Larder\Exception\StoreUnavailable;
use Larder\Fetched;
use Larder\Item;
use Larder\Key;
use Psr\Cache\CacheItemInterface;
use Psr\Cache\CacheItemPoolInterface;
use Psr\Log\LoggerInterface;

/**
 * A cache as PSR-6 knows it, with tags besides. An item without an expiry of its own gets the cache's default TTL, or
 * none if the cache was given none.
 *
 * Deferred items are stored by commit(), at the latest when the pool is destroyed. A value that cannot be stored is
 * not an exception in PSR-6: it is false, and logged.
 */
final class CachePool implements CacheItemPoolInterface
{
    /** Deferred items beyond this many are stored at once. */
    private const MOST_DEFERRED = 1_000;

    /** @var array<array-key, CacheItem> */
    private array $deferred = [];

    public function __construct(
        private readonly Cache $cache,
        private readonly ?LoggerInterface $logger = null,
    ) {}

    public function __destruct()
    {
        try {
            $this->commit();
        } catch (Failure) {
            // The cache has logged it, which is enough.
        }
    }

    /** A deferred item is not deferred by the copy as well. */
    public function __clone()
    {
        $this->deferred = [];
    }

    public function getItem(string $key): CacheItem
    {
        $this->legal($key);
        if (isset($this->deferred[$key])) {
            return $this->ofDeferred($key);
        }

        return $this->read([$key])[0];
    }

    /**
     * @param array<mixed> $keys strings
     *
     * @return iterable<string, CacheItem>
     */
    public function getItems(array $keys = []): iterable
    {
        $keys = $this->allLegal($keys);
        $asked = array_values(array_filter($keys, fn(string $key): bool => !isset($this->deferred[$key])));
        $read = $asked === [] ? [] : array_combine($asked, $this->read($asked));
        $pairs = [];
        foreach ($keys as $key) {
            $pairs[] = [$key, $read[$key] ?? $this->ofDeferred($key)];
        }

        return Pairs::of($pairs);
    }

    public function hasItem(string $key): bool
    {
        $this->legal($key);

        return isset($this->deferred[$key]) ? $this->ofDeferred($key)->isHit() : $this->read([$key])[0]->isHit();
    }

    public function clear(): bool
    {
        $this->deferred = [];

        return $this->trap(fn(): bool => $this->cache->clear());
    }

    public function deleteItem(string $key): bool
    {
        return $this->deleteItems([$key]);
    }

    /** @param array<mixed> $keys strings */
    public function deleteItems(array $keys): bool
    {
        $keys = $this->allLegal($keys);
        foreach ($keys as $key) {
            unset($this->deferred[$key]);
        }

        return $this->trap(fn(): bool => $this->cache->deleteMany($keys));
    }

    /** False also for an item of another library's pool, and for a value that cannot be stored. */
    public function save(CacheItemInterface $item): bool
    {
        if (!$item instanceof CacheItem) {
            return false;
        }
        unset($this->deferred[$item->getKey()]);

        return $this->store([$item]);
    }

    public function saveDeferred(CacheItemInterface $item): bool
    {
        if (!$item instanceof CacheItem) {
            return false;
        }
        $this->deferred[$item->getKey()] = clone $item;

        return \count($this->deferred) < self::MOST_DEFERRED || $this->commit();
    }

    public function commit(): bool
    {
        $deferred = array_values($this->deferred);
        $this->deferred = [];

        return $deferred === [] || $this->store($deferred);
    }

    /**
     * In a process that serves many requests: one has ended. Deferred items are stored, and the request's misses judge
     * nothing any more.
     */
    public function reset(): void
    {
        try {
            try {
                $this->commit();
            } finally {
                $this->cache->refresh();
            }
        } catch (Failure|StoreUnavailable) {
            // The cache has logged it, and the request that could be told is over.
        }
    }

    /**
     * Kills every item that carries one of these tags.
     *
     * @param array<mixed> $tags strings
     *
     * @return bool whether the store knows
     *
     * @throws InvalidArgument a tag is not legal
     */
    public function invalidateTags(array $tags): bool
    {
        $strings = [];
        foreach ($tags as $tag) {
            $strings[] = \is_string($tag) ? $tag : throw InvalidArgument::because(InvalidTag::ofType($tag));
        }
        $this->deferred = array_filter($this->deferred, static fn(CacheItem $item): bool => array_intersect($item->tags(), $strings) === []);
        try {
            return $this->trap(fn(): bool => $this->cache->invalidateTags($strings));
        } catch (InvalidTag $mistake) {
            throw InvalidArgument::because($mistake);
        }
    }

    /**
     * @param non-empty-list<string> $keys
     *
     * @return non-empty-list<CacheItem>
     */
    private function read(array $keys): array
    {
        $fetched = $this->trap(fn(): Fetched => $this->cache->fetch($keys));

        return array_map(fn(string $key): CacheItem => isset($fetched->items[$key])
            ? new CacheItem($key, $fetched->items[$key]->value, true, $fetched->tokens[$key] ?? null)
            : new CacheItem($key, null, false, isset($fetched->tokens[$key]) ? $this->cache->firstMiss($key, $fetched->tokens[$key]) : null), $keys);
    }

    /**
     * @param non-empty-list<CacheItem> $items
     *
     * @return bool whether all were stored
     */
    private function store(array $items): bool
    {
        $unstorable = [];
        $unsaved = $this->trap(function () use ($items, &$unstorable): array {
            return $this->cache->saveMany(array_map($this->item(...), $items), unstorable: $unstorable);
        });
        foreach ($unstorable as $key => $mistake) {
            $this->logger?->warning('An item was not saved, as its value cannot be stored.', ['key' => (string) $key, 'exception' => $mistake]);
        }
        foreach ($items as $item) {
            \in_array($item->getKey(), $unsaved, true) || $item->isStored();
        }

        return $unsaved === [];
    }

    private function item(CacheItem $item): Item
    {
        $token = $item->token();

        return new Item($item->getKey(), $item->get(), $this->ttl($item), $item->tags(), $token, Misses::isOfAMiss($token));
    }

    /** Seconds; null: the cache's default. */
    private function ttl(CacheItem $item): ?int
    {
        return $item->ttl() ?? ($this->cache->defaultTtl === null ? \PHP_INT_MAX : null);
    }

    /** As if it were stored: an item that is saved with another value says its expiry and tags anew. */
    private function ofDeferred(string $key): CacheItem
    {
        $ttl = $this->deferred[$key]->ttl();

        return $ttl !== null && $ttl <= 0
            ? new CacheItem($key, null, false, $this->deferred[$key]->token())
            : new CacheItem($key, $this->deferred[$key]->get(), true, $this->deferred[$key]->token());
    }

    /**
     * PSR-6 knows no exceptions but its own.
     *
     * @template T
     *
     * @param \Closure(): T $ask
     *
     * @return T
     *
     * @throws Failure
     * @throws InvalidArgument
     * @throws InvalidTag
     */
    private function trap(\Closure $ask): mixed
    {
        try {
            return $ask();
        } catch (StoreUnavailable $failure) {
            throw Failure::because($failure);
        } catch (InvalidKey $mistake) {
            // In a namespace, there is less room for a key.
            throw InvalidArgument::because($mistake);
        }
    }

    /**
     * @param array<mixed> $keys
     *
     * @return list<string>
     */
    private function allLegal(array $keys): array
    {
        return array_map($this->legal(...), array_values($keys));
    }

    /** @throws InvalidArgument */
    private function legal(mixed $key): string
    {
        if (!\is_string($key)) {
            throw InvalidArgument::keyOfType($key);
        }
        if (!Key::isLegalInPsr($key)) {
            throw InvalidArgument::key($key);
        }

        return $key;
    }
}
