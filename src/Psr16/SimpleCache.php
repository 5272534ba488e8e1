<?php

declare(strict_types=1);

namespace Larder\Psr16;

use Larder\Cache;
use Larder\Cache\Pairs;
use Larder\Exception\InvalidKey;
use Larder\Exception\StoreUnavailable;
use Larder\Exception\Unstorable;
use Larder\Key;
use Larder\Ttl;
use Psr\SimpleCache\CacheInterface;

/**
 * A cache as PSR-16 knows it. Keys that the PSR reserves or a store cannot hold are refused with its exception. A null TTL is the
 * cache's default, or no end if the cache was given none. A TTL of zero or less deletes.
 */
final class SimpleCache implements CacheInterface
{
    public function __construct(
        private readonly Cache $cache,
    ) {}

    public function get(string $key, mixed $default = null): mixed
    {
        $this->legal($key);

        return $this->trap(fn(): mixed => $this->cache->get($key, $default));
    }

    public function set(string $key, mixed $value, int|\DateInterval|null $ttl = null): bool
    {
        $this->legal($key);

        return $this->trap(fn(): bool => $this->cache->set($key, $value, $this->ttl($ttl)));
    }

    public function delete(string $key): bool
    {
        $this->legal($key);

        return $this->trap(fn(): bool => $this->cache->delete($key));
    }

    public function clear(): bool
    {
        return $this->trap(fn(): bool => $this->cache->clear());
    }

    /**
     * @param mixed $keys an iterable of strings; for anything else the PSR's exception is thrown, not PHP's
     *
     * @return iterable<string, mixed> an array, if its keys can be the strings that were given ("7" cannot)
     */
    public function getMultiple(mixed $keys, mixed $default = null): iterable
    {
        $keys = $this->legalKeys($keys);
        $found = $this->trap(fn(): array => $this->cache->getMany($keys));

        return Pairs::of(array_map(
            static fn(string $key): array => [$key, \array_key_exists($key, $found) ? $found[$key] : $default],
            $keys,
        ));
    }

    /** @param mixed $values an iterable, by key */
    public function setMultiple(mixed $values, int|\DateInterval|null $ttl = null): bool
    {
        if (!is_iterable($values)) {
            throw InvalidArgument::notIterable($values);
        }
        $legal = [];
        foreach ($values as $key => $value) {
            $legal[$this->legal(\is_int($key) ? (string) $key : $key)] = $value;
        }

        return $this->trap(fn(): bool => $this->cache->setMany($legal, $this->ttl($ttl)));
    }

    /** @param mixed $keys an iterable of strings */
    public function deleteMultiple(mixed $keys): bool
    {
        $keys = $this->legalKeys($keys);

        return $this->trap(fn(): bool => $this->cache->deleteMany($keys));
    }

    public function has(string $key): bool
    {
        $this->legal($key);

        return $this->trap(fn(): bool => $this->cache->has($key));
    }

    /** In a process that serves many requests: one has ended, and its misses judge nothing any more. */
    public function reset(): void
    {
        try {
            $this->cache->refresh();
        } catch (StoreUnavailable) {
            // The cache has logged it, and the request that could be told is over.
        }
    }

    private function ttl(int|\DateInterval|null $ttl): int|\DateInterval|Ttl
    {
        return $ttl ?? $this->cache->defaultTtl ?? Ttl::Forever;
    }

    /**
     * PSR-16 knows no exceptions but its own.
     *
     * @template T
     *
     * @param \Closure(): T $ask
     *
     * @return T
     *
     * @throws Failure
     * @throws InvalidArgument
     */
    private function trap(\Closure $ask): mixed
    {
        try {
            return $ask();
        } catch (StoreUnavailable $failure) {
            throw Failure::because($failure);
        } catch (InvalidKey|Unstorable $mistake) {
            // In a namespace, there is less room for a key.
            throw InvalidArgument::because($mistake);
        }
    }

    /**
     * @return list<string>
     *
     * @throws InvalidArgument
     */
    private function legalKeys(mixed $keys): array
    {
        if (!is_iterable($keys)) {
            throw InvalidArgument::notIterable($keys);
        }
        $legal = [];
        foreach ($keys as $key) {
            $legal[] = $this->legal($key);
        }

        return $legal;
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
