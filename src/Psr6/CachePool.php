<?php

declare(strict_types=1);

namespace Larder\Psr6;

use Larder\Cache;
use Larder\Cache\Pairs;
use Larder\Exception\InvalidKey;
use Larder\Exception\InvalidTag;
use Larder\Exception\StoreUnavailable;
use Larder\Exception\Unstorable;
use Larder\Key;
use Larder\Ttl;
use Psr\Cache\CacheItemInterface;
use Psr\Cache\CacheItemPoolInterface;
use Psr\Log\LoggerInterface;

/**
 * A cache as PSR-6 knows it, with tags besides. What has no expiry of its own gets the cache's default TTL, or
 * none if the cache was given none.
 *
 * Deferred items are stored by commit(), at the latest when the pool is destroyed. A value that cannot be stored is
 * not an exception in PSR-6: it is false, and logged.
 */
final class CachePool implements CacheItemPoolInterface
{
    /** Deferred items beyond this many are stored at once. */
    private const MOST_DEFERRED = 1_000;

    private readonly \stdClass $absent;

    /** @var array<array-key, CacheItem> */
    private array $deferred = [];

    public function __construct(
        private readonly Cache $cache,
        private readonly ?LoggerInterface $logger = null,
    ) {
        $this->absent = new \stdClass();
    }

    public function __destruct()
    {
        try {
            $this->commit();
        } catch (Failure) {
            // The cache has logged it, and there is nobody left to be told.
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
        $value = $this->trap(fn(): mixed => $this->cache->get($key, $this->absent));

        return new CacheItem($key, $value, $value !== $this->absent);
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
        $found = $asked === [] ? [] : $this->trap(fn(): array => $this->cache->getMany($asked));
        $pairs = [];
        foreach ($keys as $key) {
            $isHit = \array_key_exists($key, $found);
            $pairs[] = [$key, isset($this->deferred[$key]) ? $this->ofDeferred($key) : new CacheItem($key, $found[$key] ?? null, $isHit)];
        }

        return Pairs::of($pairs);
    }

    public function hasItem(string $key): bool
    {
        $this->legal($key);

        return isset($this->deferred[$key]) ? $this->ofDeferred($key)->isHit() : $this->trap(fn(): bool => $this->cache->has($key));
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

        return $this->store($item);
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
        $deferred = $this->deferred;
        $this->deferred = [];
        $groups = [];
        foreach ($deferred as $item) {
            // Those that live equally long and carry the same tags are one batch.
            $groups[serialize([$item->ttl(), $item->tags()])][] = $item;
        }
        $isSaved = true;
        $failure = null;
        foreach ($groups as $items) {
            try {
                $isSaved = $this->storeGroup($items) && $isSaved;
            } catch (Failure|InvalidArgument $failure) {
                // The others are deferred nowhere any more, and what they replace is outdated.
            }
        }

        return $failure === null ? $isSaved : throw $failure;
    }

    /**
     * In a process that serves many requests: one has ended. What is deferred is stored, and what the request has missed judges
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

    /** @param non-empty-list<CacheItem> $items of one TTL and the same tags */
    private function storeGroup(array $items): bool
    {
        $values = static function () use ($items): iterable {
            foreach ($items as $item) {
                yield $item->getKey() => $item->get();
            }
        };
        try {
            return $this->trap(fn(): bool => $this->cache->setMany($values(), $this->ttl($items[0]), $items[0]->tags()));
        } catch (Unstorable) {
            // It is one of them; the others can be stored.
            array_map($this->store(...), $items);

            return false;
        }
    }

    private function store(CacheItem $item): bool
    {
        try {
            return $this->trap(fn(): bool => $this->cache->set($item->getKey(), $item->get(), $this->ttl($item), $item->tags()));
        } catch (Unstorable $mistake) {
            $this->logger?->warning('An item was not saved, as its value cannot be stored.', ['key' => $item->getKey(), 'exception' => $mistake]);

            return false;
        }
    }

    private function ttl(CacheItem $item): int|\DateInterval|Ttl
    {
        return $item->ttl() ?? $this->cache->defaultTtl ?? Ttl::Forever;
    }

    /** As if it were stored: what is saved with another value says its expiry and tags anew. */
    private function ofDeferred(string $key): CacheItem
    {
        $ttl = $this->deferred[$key]->ttl();

        return $ttl !== null && $ttl <= 0 ? new CacheItem($key, null, false) : new CacheItem($key, $this->deferred[$key]->get(), true);
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
     * @throws Unstorable
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
