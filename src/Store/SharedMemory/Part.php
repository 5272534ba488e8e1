<?php

declare(strict_types=1);

namespace Larder\Store\SharedMemory;

use Larder\Exception\InvalidKey;
use Larder\Exception\PoolUnusable;
use Larder\Exception\StoreUnavailable;
use Larder\Exception\Unstorable;
use Larder\Item;
use Larder\Key;
use Larder\Serializer\Contents;
use Larder\SharedMemory;
use Larder\Ttl;

/** The part of a pool of shared memory that one cache has: all of it, or a namespace. */
final class Part
{
    /**
     * @param string       $prefix of its keys in the pool
     * @param list<string> $tags   which each of its items carries
     */
    public function __construct(
        public readonly SharedMemory $pool,
        public readonly string $prefix = '',
        public readonly array $tags = [],
    ) {}

    /** The namespace in this part that has this prefix and this tag. */
    public function within(string $prefix, string $tag): self
    {
        return new self($this->pool, $this->prefix . $prefix, [...$this->tags, $tag]);
    }

    /**
     * The key as the pool has it.
     *
     * @throws InvalidKey
     */
    public function outer(string $key): string
    {
        $longest = Key::LONGEST - \strlen($this->prefix);
        if (\strlen($key) > $longest) {
            throw InvalidKey::tooLong($key, $longest);
        }

        return $this->prefix . $key;
    }

    /**
     * @param array<mixed> $keys
     *
     * @return ?array<array-key, mixed> the values that were found, by key; null if one of the keys is none
     */
    public function getMany(array $keys): ?array
    {
        try {
            if ($this->prefix === '') {
                /** @var array<string> $keys or others, which the pool refuses */
                return $this->pool->getMany($keys);
            }
            $prefix = $this->prefix;
            $outer = [];
            foreach ($keys as $key) {
                if (!\is_string($key) || $key === '') {
                    return null;
                }
                $outer[] = $prefix . $key;
            }
            $found = $this->pool->getMany($outer);
            if (\count($found) === \count($keys)) {
                return array_combine($keys, $found);
            }
            $values = [];
            foreach (array_values($keys) as $i => $key) {
                if (\array_key_exists($outer[$i], $found)) {
                    $values[$key] = $found[$outer[$i]];
                }
            }

            return $values;
        } catch (\ValueError|\TypeError) {
            return null;
        }
    }

    /**
     * A set without a token is a write or a fill as the pool itself sees it, which has noted what this request has missed.
     *
     * @param list<Item> $items that are to live
     *
     * @return list<string> the keys that were not saved
     *
     * @throws InvalidKey       before anything is stored
     * @throws StoreUnavailable
     * @throws Unstorable       before anything is stored
     */
    public function setMany(array $items): array
    {
        $outer = [];
        foreach ($items as $item) {
            $outer[] = $this->outer($item->key);
            if (\count($items) > 1) {
                Contents::check($item->key, $item->value);
            }
        }
        $unsaved = [];
        try {
            foreach ($items as $i => $item) {
                $ttl = $item->ttl !== null && $item->ttl > Ttl::LONGEST ? null : $item->ttl;
                if (!$this->pool->set($outer[$i], $item->value, $ttl, [...$item->tags, ...$this->tags], $item->token, $item->keeps)) {
                    $unsaved[] = $item->key;
                }
            }
        } catch (PoolUnusable $failure) {
            throw self::unavailable($failure);
        }

        return $unsaved;
    }

    /** What a failure to reach the pool is to those who asked a store. */
    public static function unavailable(PoolUnusable $failure): StoreUnavailable
    {
        return StoreUnavailable::because('The pool of shared memory', $failure->getMessage(), 'see that /dev/shm has room for it and is this user\'s', $failure);
    }
}
