<?php

declare(strict_types=1);

namespace Larder\Symfony;

use Larder\Cache;
use Larder\Cache\Lookout;
use Larder\Capability;
use Larder\Exception\StoreUnavailable;
use Larder\Exception\Unstorable;
use Larder\Exception\UnsupportedOperation;
use Larder\Item;
use Larder\Key;
use Larder\PendingItem;
use Larder\Token;
use Larder\Ttl;
use Psr\Cache\CacheItemInterface;
use Psr\Log\LoggerAwareInterface;
use Psr\Log\LoggerInterface;
use Symfony\Component\Cache\Adapter\AdapterInterface;
use Symfony\Component\Cache\Adapter\TagAwareAdapterInterface;
use Symfony\Component\Cache\CacheItem;
use Symfony\Component\Cache\Exception\InvalidArgumentException;
use Symfony\Component\Cache\PruneableInterface;
use Symfony\Component\Cache\ResettableInterface;
use Symfony\Contracts\Cache\CacheInterface;
use Symfony\Contracts\Cache\TagAwareCacheInterface;

/**
 * A pool of Symfony in a cache of Larder's: what Symfony's own tag-aware adapters do, in all stores.
 *
 *     $pool = new LarderAdapter('shm:site', 'catalogue');
 *
 * Many pools may share a cache; each has its items and tags for itself. Invalidating a tag or clearing a pool takes a time
 * that does not depend on how many items there are. What get() computes is as old as the moment its computation began: it
 * does not survive an invalidation that came in between. Of many processes that miss an item at once, one computes it.
 */
final class LarderAdapter implements AdapterInterface, CacheInterface, TagAwareAdapterInterface, TagAwareCacheInterface, SubNamespaces, PruneableInterface, ResettableInterface, LoggerAwareInterface
{
    /** -log() of the least chance, rounded up: with more time left than this many times its cost no item is computed early. */
    private const EARLIEST = 44.0;

    /** Seconds in which others leave an early computation to the process that began it. */
    private const EARLY_LEASE = 30;

    private readonly Cache $cache;

    private readonly Items $items;

    /** @var \Closure(string, mixed, bool, mixed): CacheItem */
    private readonly \Closure $make;

    /** @var \Closure(string, mixed): CacheItem */
    private readonly \Closure $found;

    private readonly bool $judges;

    /** No caller can have this object: what it is identical to was not in the store. */
    private readonly \stdClass $absent;

    private readonly ?Lookout $lookout;

    private Names $names;

    /** That of $names. */
    private string $prefix;

    private ?LoggerInterface $logger = null;

    /** @var (\Closure(callable(CacheItem, bool): mixed, CacheItem, bool, self, \Closure(CacheItem): void, ?LoggerInterface): mixed)|null what Symfony wants around the callbacks of get() */
    private ?\Closure $wrapper = null;

    /** @var array<array-key, CacheItem> by key; a read of one of them stores all, a read of another key leaves them for commit() */
    private array $deferred = [];

    /** @var array<array-key, Token> by key, of when a value began to be computed that will be saved */
    private array $begun = [];

    /**
     * @param Cache|string $cache           a cache, or a DSN (see Larder\Dsn)
     * @param string       $namespace       of the pool in the cache; '': the pool is the whole cache
     * @param int          $defaultLifetime seconds that an item lives that says nothing itself; 0: the cache's default TTL, and without one for ever
     *
     * @throws InvalidArgumentException the namespace is none
     * @throws \Larder\Exception        the DSN is none
     */
    public function __construct(
        #[\SensitiveParameter]
        Cache|string $cache,
        string $namespace = '',
        private readonly int $defaultLifetime = 0,
    ) {
        $this->cache = $cache instanceof Cache ? $cache : Cache::open($cache);
        $this->names = Names::of($namespace);
        $this->prefix = $this->names->prefix;
        $this->lookout = Lookout::of($this->cache);
        $this->judges = \in_array(Capability::Tokens, $this->cache->store->capabilities(), true);
        $this->items = new Items();
        $this->make = $this->items->make;
        $this->found = $this->items->found;
        $this->absent = new \stdClass();
    }

    public function __destruct()
    {
        if ($this->deferred !== []) {
            $this->commit();
        }
    }

    /** @return array<mixed> */
    public function __serialize(): array
    {
        throw new \BadMethodCallException('Cannot serialize ' . self::class . '.');
    }

    /** @param array<mixed> $data */
    public function __unserialize(array $data): void
    {
        throw new \BadMethodCallException('Cannot unserialize ' . self::class . '.');
    }

    public function setLogger(LoggerInterface $logger): void
    {
        $this->logger = $logger;
    }

    /**
     * What Symfony's container wants around the callbacks of get(), such as Messenger's early expiration.
     *
     * @param (callable(callable(CacheItem, bool): mixed, CacheItem, bool, self, \Closure(CacheItem): void, ?LoggerInterface): mixed)|null $callbackWrapper
     *
     * @return callable(callable(CacheItem, bool): mixed, CacheItem, bool, self, \Closure(CacheItem): void, ?LoggerInterface): mixed what was around them before
     */
    public function setCallbackWrapper(?callable $callbackWrapper): callable
    {
        $before = $this->wrapper ?? self::plainly(...);
        $this->wrapper = $callbackWrapper === null ? null : $callbackWrapper(...);

        return $before;
    }

    /**
     * What is saved under the key meanwhile is as old as this moment, as is what get() computes.
     *
     * @template T
     *
     * @param \Closure(): T $compute computes a value and saves it
     *
     * @return T
     *
     * @internal
     */
    public function asOfNow(string $key, \Closure $compute): mixed
    {
        try {
            if ($this->judges) {
                $this->begun[$key] = $this->cache->token($this->names->key($key));
            }

            return $compute();
        } finally {
            unset($this->begun[$key]);
        }
    }

    public function withSubNamespace(string $namespace): static
    {
        $pool = clone $this;
        $pool->names = $this->names->in($namespace);
        $pool->prefix = $pool->names->prefix;
        $pool->deferred = [];

        return $pool;
    }

    /**
     * @param callable(CacheItem, bool): mixed $callback
     * @param ?array<mixed>                    $metadata
     *
     * @param-out array<string, mixed> $metadata
     */
    public function get(string $key, callable $callback, ?float $beta = null, ?array &$metadata = null): mixed
    {
        // As Names::key() has it: its call would take a fifteenth of a hit.
        $id = $key !== '' ? $this->prefix . $key : $this->names->key($key);
        \assert(CacheItem::validateKey($key) !== '');
        if (isset($id[Key::LONGEST])) {
            $id = $this->names->key($key);
        }
        if (isset($this->deferred[$key])) {
            $this->commit();
        }
        $this->lookout?->look($id);
        try {
            $kept = $this->cache->get($id, $this->absent);
        } catch (StoreUnavailable $failure) {
            $kept = $this->absent;
            $this->logFetch($key, $failure);
        }
        if ($beta !== null && $beta < 0.0) {
            throw new InvalidArgumentException(\sprintf('Argument "$beta" provided to "%s::get()" must be a positive number, %f given.', self::class, $beta));
        }
        if ($kept === $this->absent) {
            return $this->computed($id, $key, $callback, $metadata);
        }
        if (\is_array($kept) && isset($kept[0]) && $kept[0] === Kept::MARK) {
            /** @var array<string, mixed> $told */
            $told = \is_array($kept[2] ?? null) ? $kept[2] : [];
            $metadata = $told;
            $kept = $kept[1] ?? null;
        } else {
            $metadata = [];
        }

        return $beta === \INF || (isset($metadata[CacheItem::METADATA_CTIME]) && $this->isDue($metadata, $beta ?? 1.0))
            ? $this->computedEarly($id, $key, $kept, $callback, $beta === \INF, $metadata)
            : $kept;
    }

    /** @param mixed $key a string */
    public function getItem(mixed $key): CacheItem
    {
        // As Names::key() has it: its call would take a fifteenth of a hit.
        if (!\is_string($key) || $key === '') {
            $key = CacheItem::validateKey($key);
        }
        $id = $this->prefix . $key;
        \assert(CacheItem::validateKey($key) !== '');
        if (isset($id[Key::LONGEST])) {
            $id = $this->names->key($key);
        }
        if (isset($this->deferred[$key])) {
            $this->commit();
        }
        $this->lookout?->look($id);
        try {
            $kept = $this->cache->get($id, $this->absent);
        } catch (StoreUnavailable $failure) {
            $kept = $this->absent;
            $this->logFetch($key, $failure);
        }

        return $kept === $this->absent ? ($this->make)($key, null, false, []) : ($this->found)($key, $kept);
    }

    /**
     * @param array<mixed> $keys strings; the item of one that is there twice comes once
     *
     * @return iterable<string, CacheItem>
     */
    public function getItems(array $keys = []): iterable
    {
        $byKey = [];
        foreach ($keys as $key) {
            $id = $this->names->key($key);
            $byKey[$key] = $id;
        }
        $ids = array_values($byKey);
        foreach ($this->deferred === [] ? [] : $byKey as $key => $_) {
            if (isset($this->deferred[$key])) {
                $this->commit();
                break;
            }
        }
        if ($this->lookout !== null && $ids !== []) {
            $this->lookout->look($ids[0]);
        }
        try {
            $found = $ids === [] ? [] : $this->cache->getMany($ids);
        } catch (StoreUnavailable $failure) {
            CacheItem::log($this->logger, 'Failed to fetch items: ' . $failure->getMessage(), ['keys' => $keys, 'exception' => $failure, 'cache-adapter' => self::class]);
            $found = [];
        }

        return $this->generate($byKey, $found);
    }

    public function hasItem(mixed $key): bool
    {
        $id = $this->names->key($key);
        if (isset($this->deferred[$key])) {
            $this->commit();
        }
        $this->lookout?->look($id);
        try {
            return $this->cache->has($id);
        } catch (StoreUnavailable $failure) {
            CacheItem::log($this->logger, 'Failed to check if key "{key}" is cached: ' . $failure->getMessage(), ['key' => $key, 'exception' => $failure, 'cache-adapter' => self::class]);

            return false;
        }
    }

    /**
     * @param string $prefix of the keys that are to go; one other than '' takes a walk over all keys of the pool, and in a
     *                       store that cannot list its keys the whole pool goes
     */
    public function clear(string $prefix = ''): bool
    {
        $this->deferred = $prefix === '' ? [] : array_filter($this->deferred, static fn(int|string $key): bool => !str_starts_with((string) $key, $prefix), \ARRAY_FILTER_USE_KEY);
        try {
            return $prefix === '' ? $this->cleared() : $this->clearedOf($prefix);
        } catch (StoreUnavailable $failure) {
            CacheItem::log($this->logger, 'Failed to clear the cache: ' . $failure->getMessage(), ['exception' => $failure, 'cache-adapter' => self::class]);

            return false;
        }
    }

    public function delete(string $key): bool
    {
        return $this->deleteItems([$key]);
    }

    public function deleteItem(mixed $key): bool
    {
        return $this->deleteItems([$key]);
    }

    /** @param array<mixed> $keys strings */
    public function deleteItems(array $keys): bool
    {
        $ids = array_map($this->names->key(...), array_values($keys));
        foreach ($keys as $key) {
            unset($this->deferred[\is_string($key) ? $key : '']);
        }
        try {
            if ($this->cache->deleteMany($ids)) {
                return true;
            }
            $failure = null;
        } catch (StoreUnavailable $failure) {
        }
        foreach ($keys as $key) {
            CacheItem::log($this->logger, 'Failed to delete key "{key}"' . ($failure === null ? '.' : ': ' . $failure->getMessage()), ['key' => $key, 'exception' => $failure, 'cache-adapter' => self::class]);
        }

        return false;
    }

    public function save(CacheItemInterface $item): bool
    {
        return $this->saveDeferred($item) && $this->commit();
    }

    public function saveDeferred(CacheItemInterface $item): bool
    {
        if (!$item instanceof CacheItem) {
            return false;
        }
        $this->deferred[$item->getKey()] = $item;

        return true;
    }

    public function commit(): bool
    {
        $deferred = $this->deferred;
        $this->deferred = [];
        $items = $dead = $byId = [];
        foreach ($deferred as $item) {
            $id = $this->names->key($item->getKey());
            $byId[$id] = $item;
            [$expiry, $metadata] = $this->items->said($item);
            $ttl = $this->ttl($expiry);
            if ($ttl !== null && $ttl <= 0) {
                $dead[] = $id;
                continue;
            }
            $items[] = $this->stored($id, $item->get(), $ttl, $metadata, $this->begun[$item->getKey()] ?? null);
            $this->items->settle($item);
        }
        $unstorable = [];
        try {
            $unsaved = \count($items) === 1 ? $this->savedOne($items[0], $unstorable) : ($items === [] ? [] : $this->cache->saveMany($items, unstorable: $unstorable));
            $failure = null;
            $isDeleted = $dead === [] || $this->cache->deleteMany($dead);
        } catch (StoreUnavailable $failure) {
            $unsaved = array_keys($byId);
            $isDeleted = false;
        }
        foreach ($unsaved as $id) {
            $item = $byId[$id];
            $failed = \sprintf('Failed to save key "{key}" of type %s%s', get_debug_type($item->get()), $failure === null ? '.' : ': ' . $failure->getMessage());
            $context = ['key' => $item->getKey(), 'exception' => $failure, 'cache-adapter' => self::class];
            if ($failure === null && !isset($unstorable[$id]) && $this->cache->health()->available) {
                // Refused, as it should be if others have changed the item meanwhile. Of a full store the cache itself warns.
                $this->logger?->notice($failed, $context);
            } else {
                CacheItem::log($this->logger, $failed, $context);
            }
        }

        return $unsaved === [] && $isDeleted;
    }

    /** @param array<mixed> $tags strings */
    public function invalidateTags(array $tags): bool
    {
        if ($tags === []) {
            return false;
        }
        $names = [];
        foreach ($tags as $tag) {
            \assert(CacheItem::validateKey($tag) !== '');
            $names[] = $this->names->tag(\is_string($tag) && $tag !== '' ? $tag : CacheItem::validateKey($tag));
        }
        try {
            return $this->cache->invalidateTags($names);
        } catch (StoreUnavailable $failure) {
            CacheItem::log($this->logger, 'Failed to invalidate tags: ' . $failure->getMessage(), ['exception' => $failure, 'cache-adapter' => self::class]);

            return false;
        }
    }

    public function prune(): bool
    {
        try {
            while ($this->cache->store->prune() > 0);

            return true;
        } catch (StoreUnavailable $failure) {
            CacheItem::log($this->logger, 'Failed to prune: ' . $failure->getMessage(), ['exception' => $failure, 'cache-adapter' => self::class]);

            return false;
        }
    }

    /** A request has ended. What is deferred is stored, and what the request has missed judges nothing any more. */
    public function reset(): void
    {
        if ($this->deferred !== []) {
            $this->commit();
        }
        try {
            $this->cache->refresh();
        } catch (StoreUnavailable) {
            // The cache has logged it.
        }
    }

    /**
     * Of many that miss it at once one computes, and the others wait.
     *
     * @param callable(CacheItem, bool): mixed $callback
     * @param ?array<mixed>                    $metadata
     *
     * @param-out array<string, mixed> $metadata
     */
    private function computed(string $id, string $key, callable $callback, ?array &$metadata): mixed
    {
        $made = $this->absent;
        $isCalled = $isSaved = false;
        $compute = function (PendingItem $pending) use ($key, $callback, &$made, &$isCalled, &$isSaved): mixed {
            $isCalled = true;
            $item = ($this->make)($key, null, false, []);
            [$value, $isSaved, $ttl, $kept] = $this->call($item, $callback);
            $made = Kept::of($value, $kept);
            $pending->tag(...$this->tags($kept));
            $pending->expireAfter($ttl ?? $this->endless());
            if (!$isSaved) {
                $pending->doNotStore();
            }

            return $made;
        };
        try {
            $kept = $this->cache->remember($id, $compute, $this->endless(), $this->names->tags, beta: 0.0);
        } catch (Unstorable|StoreUnavailable $failure) {
            if ($made === $this->absent && $isCalled) {
                throw $failure;
            }
            if ($made === $this->absent) {
                // A strict cache has thrown before anything was computed.
                [$value, , , $metadata] = $this->call(($this->make)($key, null, false, []), $callback);

                return $value;
            }
            CacheItem::log($this->logger, \sprintf('Failed to save key "{key}" of type %s: %s', get_debug_type(Kept::value($made)), $failure->getMessage()), ['key' => $key, 'exception' => $failure, 'cache-adapter' => self::class]);
            $kept = $made;
        }
        if ($isSaved && $this->deferred !== []) {
            // As a save does.
            $this->commit();
        }
        $metadata = Kept::metadata($kept);

        return Kept::value($kept);
    }

    /**
     * What is there is still good: others go on serving it.
     *
     * @param callable(CacheItem, bool): mixed $callback
     * @param bool                             $isForced whether it is computed whatever others do
     * @param array<string, mixed>             $metadata of what is there
     *
     * @param-out array<string, mixed> $metadata
     */
    private function computedEarly(string $id, string $key, mixed $value, callable $callback, bool $isForced, array &$metadata): mixed
    {
        // Symfony forbids keys with colons.
        $lease = "{$id}::computing";
        if (!$isForced && !$this->leased($lease, $key)) {
            return $value;
        }
        try {
            $token = $this->judges ? $this->cache->token($id) : null;
            $isReachable = true;
        } catch (StoreUnavailable $failure) {
            // Only of a strict cache.
            $this->logFetch($key, $failure);
            $token = null;
            $isReachable = false;
        }
        try {
            [$value, $isSaved, $ttl, $kept] = $this->call(($this->make)($key, $value, true, $metadata), $callback);
            if ($isSaved && $isReachable) {
                $metadata = $kept;
                $this->saveEarly($key, $id, $value, $ttl, $kept, $token);
            }

            return $value;
        } finally {
            if (!$isForced) {
                $this->endLease($lease);
            }
        }
    }

    /** @param array<string, mixed> $metadata */
    private function saveEarly(string $key, string $id, mixed $value, ?int $ttl, array $metadata, ?Token $token): void
    {
        try {
            if ($ttl !== null && $ttl <= 0) {
                $this->cache->delete($id);
            } else {
                $this->cache->saveMany([$this->stored($id, $value, $ttl, $metadata, $token)]);
            }
        } catch (StoreUnavailable $failure) {
            CacheItem::log($this->logger, \sprintf('Failed to save key "{key}" of type %s: %s', get_debug_type($value), $failure->getMessage()), ['key' => $key, 'exception' => $failure, 'cache-adapter' => self::class]);
        }
    }

    private function leased(string $lease, string $key): bool
    {
        try {
            return $this->cache->add($lease, 1, self::EARLY_LEASE);
        } catch (StoreUnavailable $failure) {
            $this->logFetch($key, $failure);

            return false;
        }
    }

    private function endLease(string $lease): void
    {
        try {
            $this->cache->delete($lease);
        } catch (StoreUnavailable) {
            // It ends by itself.
        }
    }

    /** @param callable(CacheItem, bool): mixed $callback */
    private static function plainly(callable $callback, CacheItem $item, bool &$save): mixed
    {
        return $callback($item, $save);
    }

    /**
     * @param callable(CacheItem, bool): mixed $callback
     *
     * @return array{mixed, bool, ?int, array<string, mixed>} the value, whether it is to be saved, its TTL, what is kept with it
     */
    private function call(CacheItem $item, callable $callback): array
    {
        $began = microtime(true);
        $save = true;
        $value = $this->wrapper === null
            ? $callback($item, $save)
            : ($this->wrapper)($callback, $item, $save, $this, function (CacheItem $item) use ($began): void {
                $this->items->time($item, $began);
            }, $this->logger);
        $this->items->time($item, $began);
        [$expiry, $metadata] = $this->items->said($item);

        return [$value, $save, $this->ttl($expiry), $metadata];
    }

    /**
     * By chance, the likelier the nearer its end and the longer it took to compute: XFetch, as Symfony has it.
     *
     * @param array<string, mixed> $metadata
     */
    private function isDue(array $metadata, float $beta): bool
    {
        $expiry = $metadata[CacheItem::METADATA_EXPIRY] ?? null;
        $cost = $metadata[CacheItem::METADATA_CTIME] ?? null;
        if (!is_numeric($expiry) || !is_numeric($cost)) {
            return false;
        }
        $left = $expiry - microtime(true);
        $spread = $cost / 1_000 * $beta;

        return $left <= self::EARLIEST * $spread && $left <= -$spread * log(random_int(1, \PHP_INT_MAX) / \PHP_INT_MAX);
    }

    /**
     * As saveMany() does it, for a tenth of what that costs: most are saved one by one.
     *
     * @param array<array-key, Unstorable> $unstorable
     *
     * @param-out array<array-key, Unstorable> $unstorable
     *
     * @return list<string> its key if it was not saved
     */
    private function savedOne(Item $item, array &$unstorable): array
    {
        if ($item->token !== null) {
            return $this->cache->saveMany([$item], unstorable: $unstorable);
        }
        try {
            return $this->cache->set($item->key, $item->value, $item->ttl !== null && $item->ttl > Ttl::LONGEST ? Ttl::Forever : $item->ttl, $item->tags) ? [] : [$item->key];
        } catch (Unstorable) {
            return $this->cache->saveMany([$item], unstorable: $unstorable);
        }
    }

    /** @param array<string, mixed> $metadata */
    private function stored(string $id, mixed $value, ?int $ttl, array $metadata, ?Token $token): Item
    {
        $cost = $metadata[CacheItem::METADATA_CTIME] ?? 0;

        // A TTL beyond all times is none; null is the cache's default.
        return new Item($id, Kept::of($value, $metadata), $ttl ?? ($this->cache->defaultTtl === null ? \PHP_INT_MAX : null), $this->tags($metadata), $token, $token !== null, cost: is_numeric($cost) ? $cost / 1_000 : 0.0);
    }

    /**
     * @param array<string, mixed> $metadata
     *
     * @return list<string> also those of the namespaces
     */
    private function tags(array $metadata): array
    {
        $tags = $metadata[CacheItem::METADATA_TAGS] ?? [];

        return \is_array($tags) ? $this->names->tagged($tags) : $this->names->tags;
    }

    /** Seconds to live; 0 or less: it is over; null: nothing was said. */
    private function ttl(float|int|null $expiry): ?int
    {
        if ($expiry === null) {
            return $this->defaultLifetime > 0 ? $this->defaultLifetime : null;
        }

        // What Symfony's adapters take for no end.
        return $expiry == 0 ? \PHP_INT_MAX : (int) min(0.1 + $expiry - microtime(true), 2.0 * Ttl::LONGEST);
    }

    private function endless(): int|\DateInterval|Ttl
    {
        return $this->cache->defaultTtl ?? Ttl::Forever;
    }

    /**
     * @param array<array-key, string> $ids   by key
     * @param array<array-key, mixed>  $found by id
     *
     * @return \Generator<string, CacheItem>
     */
    private function generate(array $ids, array $found): \Generator
    {
        foreach ($ids as $key => $id) {
            $key = (string) $key;
            yield $key => \array_key_exists($id, $found) ? ($this->found)($key, $found[$id]) : ($this->make)($key, null, false, []);
        }
    }

    private function cleared(): bool
    {
        $tags = $this->names->tags;

        return $tags === [] ? $this->cache->clear() : $this->cache->invalidateTags([$tags[\count($tags) - 1]]);
    }

    private function clearedOf(string $prefix): bool
    {
        try {
            $ids = [];
            foreach ($this->cache->store->keys($this->names->prefix . $prefix) as $id) {
                $ids[] = $id;
            }

            return $this->cache->deleteMany($ids);
        } catch (UnsupportedOperation) {
            return $this->cleared();
        }
    }

    private function logFetch(mixed $key, StoreUnavailable $failure): void
    {
        CacheItem::log($this->logger, 'Failed to fetch key "{key}": ' . $failure->getMessage(), ['key' => $key, 'exception' => $failure, 'cache-adapter' => self::class]);
    }
}
