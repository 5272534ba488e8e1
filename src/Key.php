<?php

declare(strict_types=1);

namespace Larder;

use Larder\Exception\InvalidKey;

/**
 * What a key is: 1 to 65,535 bytes, any bytes, compared byte by byte ("7" and "007" are two keys). Those that
 * begin with "\0larder:" are for what a cache itself keeps in its store; a cache does not take them from outside.
 */
final class Key
{
    public const LONGEST = Store::LONGEST_KEY;

    private const INTERNAL = "\0larder:";

    private function __construct() {}

    /** @throws InvalidKey */
    public static function check(string $key): void
    {
        if ($key === '') {
            throw InvalidKey::empty();
        }
        if (\strlen($key) > self::LONGEST) {
            throw InvalidKey::tooLong($key, self::LONGEST);
        }
        if ($key[0] === "\0" && self::isInternal($key)) {
            throw InvalidKey::internal($key);
        }
    }

    /**
     * A name of any length as a key: a name that is longer than a key can be is known by its hash.
     *
     * @param string $beginning of a key that has a hash; one that other names do not have
     */
    public static function fitting(string $name, string $beginning): string
    {
        return isset($name[self::LONGEST]) ? $beginning . hash('sha256', $name) : $name;
    }

    /** Whether PSR-6 and PSR-16 let it be one: they reserve some characters. */
    public static function isLegalInPsr(string $key): bool
    {
        return $key !== '' && \strlen($key) <= self::LONGEST && strpbrk($key, '{}()/\@:') === false;
    }

    public static function isInternal(string $key): bool
    {
        return str_starts_with($key, self::INTERNAL);
    }

    /** The key as it is called in the innermost of the namespaces that it lies in. */
    public static function withoutNamespaces(string $key): string
    {
        return (string) preg_replace('/^(?:' . preg_quote(self::INTERNAL, '/') . 'in:[^:]+:)+/', '', $key);
    }

    /**
     * The key of what a cache keeps for itself.
     *
     * @param string $kind a word
     * @param string $name any legal key, also one of these; a long one is hashed
     */
    public static function internal(string $kind, string $name): string
    {
        return self::INTERNAL . "{$kind}:" . (\strlen($name) > 1_024 ? hash('sha256', $name) : $name);
    }
}
