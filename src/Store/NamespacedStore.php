<?php

declare(strict_types=1);

namespace Larder\Store;

use Larder\Cache\Counter;
use Larder\Cache\Far;
use Larder\Capability;
use Larder\Counts;
use Larder\Exception\InvalidKey;
use Larder\Exception\InvalidOption;
use Larder\Exception\StoreUnavailable;
use Larder\Exception\UnsupportedOperation;
use Larder\Fetched;
use Larder\Item;
use Larder\Key;
use Larder\Lease\AddedLeases;
use Larder\Leases;
use Larder\MayEvict;
use Larder\Namespaces;
use Larder\PerRequest;
use Larder\Reads;
use Larder\ReadsFar;
use Larder\RequestTokens;
use Larder\SaveMode;
use Larder\Store;
use Larder\StoreStatistics;
use Larder\Takes;
use Larder\Tidying;
use Larder\Token;

/**
 * A part of a store: its keys have a prefix, and its items a tag, by which all of them are cleared at once. One that lies
 * directly in another is known by its path, so that it has nothing to do with its namesakes elsewhere.
 *
 * A counter is made as an item with that tag, as increment() alone would make one without.
 */
final class NamespacedStore implements Store, Reads, ReadsFar, Takes, Counts, Leases, PerRequest, RequestTokens, Namespaces, MayEvict, Tidying
{
    /** How often a counter is looked for, or made, that others make and delete. */
    private const TRIES = 16;

    private readonly NamespacePath $path;

    private readonly string $prefix;

    private readonly string $tag;

    private readonly Leases $leases;

    /**
     * @throws InvalidOption        the name is none
     * @throws UnsupportedOperation the store keeps no tags
     */
    public function __construct(
        private readonly Store $store,
        string $name,
    ) {
        $this->path = new NamespacePath($name, $store instanceof self ? $store->path : null);
        $this->prefix = $this->path->prefix;
        $this->tag = $this->path->tag;
        if (!\in_array(Capability::Tags, $store->capabilities(), true)) {
            throw UnsupportedOperation::by((new \ReflectionClass($store))->getShortName(), Capability::Tags);
        }
        $this->leases = $store instanceof Leases ? $store : new AddedLeases($store);
    }

    public function beginRequest(): void
    {
        if ($this->store instanceof PerRequest) {
            $this->store->beginRequest();
        }
    }

    /** The part of a store that has this name, however the store makes one. */
    public static function in(Store $store, string $name): Store
    {
        return $store instanceof Namespaces ? $store->namespace($name) : new self($store, $name);
    }

    public function namespace(string $name): self
    {
        return new self($this, $name);
    }

    public function read(string $key, mixed $default = null, ?Fetched &$fetched = null): mixed
    {
        if (!$this->store instanceof Reads) {
            $fetched = $this->fetch([$key]);

            return isset($fetched->items[$key]) ? $fetched->items[$key]->value : $default;
        }
        $value = $this->store->read($this->outer($key), $default, $outer);
        $fetched = $outer === null ? null : $this->inner($outer, [$key]);

        return $value;
    }

    public function readMany(array $keys): Fetched
    {
        $outers = $this->outers($keys);

        return $this->inner($this->store instanceof Reads ? $this->store->readMany($outers) : $this->store->fetch($outers), $keys);
    }

    public function fetch(array $keys): Fetched
    {
        return $this->inner($this->store->fetch($this->outers($keys)), $keys);
    }

    public function fetchFar(array $keys): Fetched
    {
        $outers = $this->outers($keys);

        return $this->inner(Far::fetch($this->store, $outers), $keys);
    }

    /**
     * The items that the store has brought, by the keys as they are called here.
     *
     * @param list<string> $keys
     */
    private function inner(Fetched $fetched, array $keys): Fetched
    {
        $items = $tokens = $stale = $values = [];
        foreach ($keys as $key) {
            $outer = $this->prefix . $key;
            if (\array_key_exists($outer, $fetched->values)) {
                $values[$key] = $fetched->values[$outer];
            }
            if (isset($fetched->items[$outer])) {
                $items[$key] = $this->renamed($fetched->items[$outer], $key);
            }
            if (isset($fetched->tokens[$outer])) {
                $tokens[$key] = $fetched->tokens[$outer];
            }
            if (isset($fetched->stale[$outer])) {
                $stale[$key] = $this->renamed($fetched->stale[$outer], $key);
            }
        }

        return new Fetched($items, $tokens, $stale, $fetched->failure, $values);
    }

    public function take(string $key): ?Item
    {
        $item = $this->store instanceof Takes
            ? $this->store->take($this->outer($key))
            : throw UnsupportedOperation::by((new \ReflectionClass($this->store))->getShortName(), Capability::Takes);

        return $item === null ? null : $this->renamed($item, $key);
    }

    public function noteRequest(bool $anew = false): void
    {
        $store = $this->store;
        $store instanceof RequestTokens ? $store->noteRequest($anew) : throw UnsupportedOperation::by((new \ReflectionClass($store))->getShortName(), Capability::RequestTokens);
    }

    public function requestToken(string $key): ?Token
    {
        return $this->store instanceof RequestTokens ? $this->store->requestToken($this->outer($key)) : null;
    }

    public function token(string $key): Token
    {
        return $this->store->token($this->outer($key));
    }

    public function save(array $items, SaveMode $mode = SaveMode::Set): array
    {
        $outer = array_map(fn(Item $item): Item => new Item(
            $this->outer($item->key),
            $item->value,
            $item->ttl,
            [...$item->tags, $this->tag],
            $item->token,
            $item->fill,
            $item->cost,
            version: $item->version,
            keeps: $item->keeps,
        ), $items);

        return $this->inners($this->store->save($outer, $mode));
    }

    public function delete(array $keys, ?Token $token = null): array
    {
        return $this->inners($this->store->delete($this->outers($keys), $token));
    }

    public function increment(string $key, int $by = 1, int $initial = 0, ?int $ttl = null): int
    {
        $outer = $this->outer($key);
        if (Counter::overflows($initial, $by) || ($ttl !== null && $ttl <= 0)) {
            // Makes none.
            return $this->store->increment($outer, $by, $initial, $ttl);
        }
        for ($tries = 0; $tries < self::TRIES; $tries++) {
            // With a TTL of 0 none is made. That there is none is known by a sum that is drawn by lot.
            $nowhere = $by > 0 ? random_int(\PHP_INT_MIN, -1) : random_int(0, \PHP_INT_MAX);
            $sum = $this->store->increment($outer, $by, $nowhere, 0);
            if ($sum !== $nowhere + $by) {
                return $sum;
            }
            // A token of this moment: where a request's misses are noted, an older one may judge it otherwise.
            $token = $tries === 0 ? null : $this->store->token($outer);
            if ($this->store->save([new Item($outer, $initial + $by, $ttl, [$this->tag], $token)], SaveMode::Add) === []) {
                return $initial + $by;
            }
        }

        throw StoreUnavailable::because('The store', 'it has neither a counter nor room for one', 'see that it has room', takesNothing: true);
    }

    public function count(string $key, int $by, int $initial, ?int $ttl, ?int $min, bool $create, int $version = 0, int $number = 0): ?int
    {
        $store = $this->store instanceof Counts
            ? $this->store
            : throw UnsupportedOperation::by((new \ReflectionClass($this->store))->getShortName(), Capability::Counts);
        $outer = $this->outer($key);
        for ($tries = 0; $tries < self::TRIES; $tries++) {
            $sum = $store->count($outer, $by, $initial, null, $min, false, $version, $number);
            if ($sum !== null || !$create) {
                return $sum;
            }
            $sum = Counter::floored($key, $initial, $by, $min);
            // As of increment().
            $token = $tries === 0 ? null : $this->store->token($outer);
            if (($ttl !== null && $ttl <= 0) || $this->store->save([new Item($outer, $sum, $ttl, [$this->tag], $token)], SaveMode::Add) === []) {
                return $sum;
            }
        }

        throw StoreUnavailable::because('The store', 'it has neither a counter nor room for one', 'see that it has room', takesNothing: true);
    }

    public function touch(array $keys, ?int $ttl): array
    {
        return $this->inners($this->store->touch($this->outers($keys), $ttl));
    }

    /** A tag means the same in all parts of a store. */
    public function invalidateTags(array $tags, int $serveStale = 0): void
    {
        $this->store->invalidateTags($tags, $serveStale);
    }

    public function clear(): void
    {
        $this->store->invalidateTags([$this->tag]);
    }

    public function prune(): int
    {
        return $this->store->prune();
    }

    public function tidy(): int
    {
        return $this->store instanceof Tidying ? $this->store->tidy() : 0;
    }

    public function keys(string $prefix = ''): iterable
    {
        foreach ($this->store->keys($this->prefix . $prefix) as $key) {
            yield substr($key, \strlen($this->prefix));
        }
    }

    /** Of the whole store. */
    public function statistics(): StoreStatistics
    {
        return $this->store->statistics();
    }

    public function evicts(): ?string
    {
        return Retention::evicts($this->store);
    }

    public function capabilities(): array
    {
        return array_values(array_filter($this->store->capabilities(), static fn(Capability $each): bool => $each !== Capability::WholeClear));
    }

    public function acquire(string $name, string $owner, float $seconds): bool
    {
        return $this->leases->acquire($this->lease($name), $owner, $seconds);
    }

    public function refresh(string $name, string $owner, float $seconds): bool
    {
        return $this->leases->refresh($this->lease($name), $owner, $seconds);
    }

    public function fence(string $name, string $owner): ?int
    {
        return $this->leases->fence($this->lease($name), $owner);
    }

    public function release(string $name, string $owner): bool
    {
        return $this->leases->release($this->lease($name), $owner);
    }

    private function lease(string $name): string
    {
        return Key::internal('lease', $this->prefix . $name);
    }

    private function outer(string $key): string
    {
        if (\strlen($key) > Key::LONGEST - \strlen($this->prefix)) {
            throw InvalidKey::tooLong($key, Key::LONGEST - \strlen($this->prefix));
        }

        return $this->prefix . $key;
    }

    /**
     * @param list<string> $keys
     *
     * @return list<string>
     */
    private function outers(array $keys): array
    {
        return array_map($this->outer(...), $keys);
    }

    /**
     * @param list<string> $keys
     *
     * @return list<string>
     */
    private function inners(array $keys): array
    {
        return array_map(fn(string $key): string => substr($key, \strlen($this->prefix)), $keys);
    }

    private function renamed(Item $item, string $key): Item
    {
        return Item::found($key, $item->value, $item->expiry, $item->version, array_values(array_diff($item->tags, [$this->tag])));
    }
}
