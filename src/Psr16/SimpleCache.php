<?php

declare(strict_types=1);

namespace Larder\Psr16;

use Larder\Cache;
use Larder\Exception\Unstorable;
use Psr\SimpleCache\CacheInterface;

/**
 * A cache as PSR-16 knows it. Keys that the PSR reserves or a store cannot hold are refused with its
 * exception; a null TTL is the cache's default, zero or less deletes.
 */
final class SimpleCache implements CacheInterface
{
    private const RESERVED = '{}()/\@:';

    public function __construct(
        private readonly Cache $cache,
    ) {}

    public function get(string $key, mixed $default = null): mixed
    {
        return $this->cache->get($this->legal($key), $default);
    }

    public function set(string $key, mixed $value, int|\DateInterval|null $ttl = null): bool
    {
        $this->legal($key);
        try {
            return $this->cache->set($key, $value, $ttl);
        } catch (Unstorable $mistake) {
            throw InvalidArgument::because($mistake);
        }
    }

    public function delete(string $key): bool
    {
        return $this->cache->delete($this->legal($key));
    }

    public function clear(): bool
    {
        return $this->cache->clear();
    }

    /**
     * @param iterable<mixed> $keys
     *
     * @return array<array-key, mixed> by key; PHP makes an int of a decimal one there
     */
    public function getMultiple(iterable $keys, mixed $default = null): array
    {
        $keys = $this->legalKeys($keys);
        $found = $this->cache->getMany($keys);

        $values = [];
        foreach ($keys as $key) {
            $values[$key] = \array_key_exists($key, $found) ? $found[$key] : $default;
        }

        return $values;
    }

    /** @param iterable<mixed, mixed> $values */
    public function setMultiple(iterable $values, int|\DateInterval|null $ttl = null): bool
    {
        $legal = [];
        foreach ($values as $key => $value) {
            $legal[$this->legal(\is_int($key) ? (string) $key : $key)] = $value;
        }
        try {
            return $this->cache->setMany($legal, $ttl);
        } catch (Unstorable $mistake) {
            throw InvalidArgument::because($mistake);
        }
    }

    /** @param iterable<mixed> $keys */
    public function deleteMultiple(iterable $keys): bool
    {
        return $this->cache->deleteMany($this->legalKeys($keys));
    }

    public function has(string $key): bool
    {
        return $this->cache->has($this->legal($key));
    }

    /**
     * @param iterable<mixed> $keys
     *
     * @return list<string>
     */
    private function legalKeys(iterable $keys): array
    {
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
        if ($key === '' || \strlen($key) > \Larder\Key::LONGEST || strpbrk($key, self::RESERVED) !== false) {
            throw InvalidArgument::key($key);
        }

        return $key;
    }
}
