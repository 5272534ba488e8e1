<?php

declare(strict_types=1);

namespace Larder\Symfony;

use Larder\Key;
use Larder\Tag;
use Symfony\Component\Cache\CacheItem;
use Symfony\Component\Cache\Exception\InvalidArgumentException;

/**
 * How a pool of Symfony is called in a cache that it shares with others. What separates the parts of a name is a colon, which
 * Symfony allows in no namespace.
 */
final class Names
{
    private const SEPARATOR = ':';

    /**
     * @param string       $prefix of the pool's keys
     * @param string       $root   of its tags: a pool and its sub-namespaces have them in common
     * @param list<string> $tags   what every item of the pool carries, so that it can be cleared at once
     */
    private function __construct(
        public readonly string $prefix,
        private readonly string $root,
        public readonly array $tags,
    ) {}

    /** @throws InvalidArgumentException */
    public static function of(string $namespace): self
    {
        if ($namespace === '') {
            return new self('', '', []);
        }
        $prefix = CacheItem::validateKey($namespace) . self::SEPARATOR;

        return new self($prefix, $prefix, [self::legal($prefix)]);
    }

    /** @throws InvalidArgumentException */
    public function in(string $namespace): self
    {
        $prefix = $this->prefix . CacheItem::validateKey($namespace) . self::SEPARATOR;

        return new self($prefix, $this->root, [...$this->tags, self::legal($prefix)]);
    }

    /**
     * Symfony's own pools look for reserved characters where PHP's assertions are on, and otherwise take them. A site may have such keys.
     *
     * @phpstan-assert string $key
     *
     * @throws InvalidArgumentException
     */
    public function key(mixed $key): string
    {
        \assert(CacheItem::validateKey($key) !== '');
        if (!\is_string($key) || $key === '') {
            $key = CacheItem::validateKey($key);
        }
        $key = $this->prefix . $key;

        return isset($key[Key::LONGEST]) ? Key::fitting($key, $this->prefix . self::SEPARATOR) : $key;
    }

    public function tag(string $tag): string
    {
        return self::legal($this->root === '' ? $tag : "{$this->root}#{$tag}");
    }

    /**
     * What an item with these tags of Symfony's is stored under, that of the pool included.
     *
     * @param array<array-key, mixed> $tags by their names
     *
     * @return list<string>
     */
    public function tagged(array $tags): array
    {
        $names = $this->tags;
        $root = $this->root === '' ? '' : "{$this->root}#";
        foreach ($tags as $tag => $_) {
            $name = $root . $tag;
            $names[] = isset($name[Tag::LONGEST]) ? self::legal($name) : $name;
        }

        return $names;
    }

    /** A tag of Larder's has an end; Symfony's have none. */
    private static function legal(string $tag): string
    {
        return Tag::fitting($tag, self::SEPARATOR);
    }
}
