<?php

declare(strict_types=1);

namespace Larder\WordPress;

use Larder\Cache;
use Larder\Capability;
use Larder\Exception as Failure;
use Larder\Exception\NotACounter;
use Larder\Exception\UnsupportedOperation;
use Larder\Item;
use Larder\OnConflict;
use Larder\RequestTokens;
use Larder\SaveMode;
use Larder\Store\MemcachedStore;
use Larder\Store\RedisStore;
use Larder\Store\SqliteStore;
use Larder\Token;

/** A cache of the library: any store, with its journal. */
final class CacheBackend implements Backend
{
    /** Seconds: more than any store counts (see Ttl::LONGEST), which is no end. */
    private const FOREVER = \PHP_INT_MAX;

    /** How often a number that others change is looked at again. */
    private const TRIES = 100;

    /** @var array<array-key, Token> of keys that were missing */
    private array $tokens = [];

    /** @var array<array-key, true> keys that this request has written or deleted itself */
    private array $own = [];

    private bool $hasBegun = false;

    /** @param ?string $unreachable why this process cannot reach the store at all, in a sentence: then there is nothing to fill either */
    public function __construct(
        private readonly Cache $cache,
        private readonly ?string $unreachable = null,
        private readonly ?LastFailure $failure = null,
    ) {}

    public function get(string $key, mixed $absent, bool $anew = false): mixed
    {
        $values = $this->getMany([$key]);

        return $values === [] ? $absent : reset($values);
    }

    /** Whether a read of the store is a trip, so that one for many keys is worth while. */
    public function isFar(): bool
    {
        return $this->cache->store instanceof SqliteStore || $this->cache->store instanceof RedisStore || $this->cache->store instanceof MemcachedStore;
    }

    public function getForChange(string $key, mixed $absent): array
    {
        $token = $this->tokenOfNow($key);
        $item = $this->cache->fetch([$key])->items[$key] ?? null;

        return $item === null ? [$absent, $token, 0] : [$item->value, $token, $item->version];
    }

    public function getMany(array $keys, bool $anew = false): array
    {
        $this->begin();
        $fetched = $this->cache->fetch($keys);
        foreach ($fetched->tokens as $key => $token) {
            $this->tokens[$key] = $token;
        }

        return array_map(static fn(Item $item): mixed => $item->value, $fetched->items);
    }

    public function ends(array $keys): array
    {
        return array_values(array_filter(array_map(static fn(Item $item): ?int => $item->expiry, $this->cache->fetch($keys)->items), is_int(...)));
    }

    public function token(string $key): ?Token
    {
        $token = $this->tokens[$key] ?? null;
        unset($this->tokens[$key]);

        return $token ?? $this->tokenOfNow($key);
    }

    public function requestToken(string $key): ?Token
    {
        $store = $this->cache->store;

        // What this request has changed itself would be refused by it.
        return $store instanceof RequestTokens && !isset($this->own[$key]) ? $store->requestToken($key) : null;
    }

    public function fill(array $fills): bool
    {
        $items = [];
        foreach ($fills as $fill) {
            if ($fill->token !== null) {
                $items[] = new Item($fill->key, $fill->value, $fill->ttl ?? self::FOREVER, $fill->tags, $fill->token, true);
            }
        }
        if ($items === [] || $this->unreachable !== null) {
            return $fills === [];
        }

        return $this->cache->saveMany($items) === [] && \count($items) === \count($fills);
    }

    public function set(string $key, mixed $value, ?int $ttl, array $tags, ?Token $token = null, int $version = 0): bool
    {
        $this->own[$key] = true;

        return $this->cache->saveMany([new Item($key, $value, $ttl ?? self::FOREVER, $tags, $token, version: $version)], onConflict: OnConflict::Remove) === [];
    }

    public function setMany(array $values, ?int $ttl, array $tags): void
    {
        $items = [];
        foreach ($values as $key => $value) {
            $items[] = new Item((string) $key, $value, $ttl ?? self::FOREVER, $tags);
            $this->own[$key] = true;
        }
        $this->cache->saveMany($items);
    }

    public function add(string $key, mixed $value, ?int $ttl, array $tags): ?bool
    {
        $this->own[$key] = true;
        if ($this->cache->saveMany([new Item($key, $value, $ttl ?? self::FOREVER, $tags)], SaveMode::Add) === []) {
            return true;
        }

        return $this->has($key) === true ? false : null;
    }

    public function has(string $key): ?bool
    {
        $has = isset($this->cache->fetch([$key])->items[$key]);

        return $has || $this->cache->health()->available ? $has : null;
    }

    public function delete(array $keys): array
    {
        // One by one: PHP would copy the whole of a typed property to add an array to it.
        foreach ($keys as $key) {
            $this->own[$key] = true;
            unset($this->tokens[$key]);
        }
        $this->cache->deleteMany($keys, $existed);

        return $existed ?? [];
    }

    public function count(string $key, int $by, array $tags): int|float|false|null
    {
        $this->own[$key] = true;
        try {
            $sum = $this->cache->increment($key, $by, min: 0, create: false);

            return $sum === false && !$this->cache->health()->available ? null : $sum;
        } catch (NotACounter) {
            return $this->countOther($key, $by, $tags);
        } catch (UnsupportedOperation) {
            $this->cache->delete($key);

            return null;
        }
    }

    public function invalidate(array $tags, int $stale = 0): bool
    {
        // A store that is absent on purpose hears of it by the journal, before anything is read from it.
        return $this->cache->invalidateTags($tags) || $this->unreachable !== null && $this->cache->health()->journaled;
    }

    public function clear(): bool
    {
        return $this->cache->clear();
    }

    public function trouble(): ?string
    {
        $health = $this->cache->health();
        if ($this->unreachable !== null) {
            return $this->unreachable;
        }

        return $health->available && !$health->isFlagged() ? null : $this->failure?->why() ?? 'The store has not heard of all that was changed, and is not read until it has; see that it runs and can be reached.';
    }

    public function keys(string $prefix): iterable
    {
        try {
            yield from $this->cache->store->keys($prefix);
        } catch (Failure) {
            // Not every store can tell them.
        }
    }

    public function statistics(): array
    {
        $all = $this->cache->statistics();

        $figures = [];
        foreach ($all === null ? [] : get_object_vars($all) as $name => $figure) {
            if (\is_int($figure)) {
                $figures[(string) $name] = $figure;
            }
        }

        return $figures;
    }

    /**
     * Adds to what is no int, or to one that would not be one any more.
     *
     * @param list<string> $tags
     */
    private function countOther(string $key, int $by, array $tags): int|float|false|null
    {
        for ($tries = 0; $tries < self::TRIES; $tries++) {
            $token = $this->tokenOfNow($key);
            $item = $this->cache->fetch([$key])->items[$key] ?? null;
            if ($item === null || $token === null) {
                return $this->cache->health()->available ? false : null;
            }
            $sum = max(0, (is_numeric($item->value) ? $item->value + 0 : 0) + $by);
            $ttl = $item->expiry === null ? self::FOREVER : max(1, $item->expiry - time());
            if ($this->cache->saveMany([new Item($key, $sum, $ttl, $tags, $token, version: $item->version, keeps: true)]) === []) {
                return $sum;
            }
        }

        return null;
    }

    /** @return ?Token null: the store judges none */
    private function tokenOfNow(string $key): ?Token
    {
        try {
            return $this->cache->token($key);
        } catch (UnsupportedOperation) {
            return null;
        }
    }

    /** Notes the moment from which on what this request makes is judged. */
    private function begin(): void
    {
        if (!$this->hasBegun) {
            $this->hasBegun = true;
            $store = $this->cache->store;
            try {
                if ($store instanceof RequestTokens && \in_array(Capability::RequestTokens, $store->capabilities(), true)) {
                    $store->noteRequest();
                }
            } catch (Failure) {
                // Then nothing is judged by it.
            }
        }
    }
}
