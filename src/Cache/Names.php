<?php

declare(strict_types=1);

namespace Larder\Cache;

use Larder\Exception\InvalidKey;
use Larder\Exception\InvalidTag;
use Larder\Key;
use Larder\Tag;

/** The keys and tags that an application gives a cache, as the store gets them. */
final class Names
{
    private function __construct() {}

    /**
     * @param iterable<mixed> $keys strings; ints, which PHP makes of decimal keys of arrays, are taken for their decimal strings
     *
     * @return list<string>
     *
     * @throws InvalidKey
     */
    public static function keys(iterable $keys): array
    {
        $checked = [];
        foreach ($keys as $key) {
            $checked[] = \is_string($key) && $key !== '' && !isset($key[Key::LONGEST]) ? $key : self::key($key);
        }

        return $checked;
    }

    /** @throws InvalidKey */
    public static function key(mixed $key): string
    {
        if (\is_int($key)) {
            return (string) $key;
        }
        if (!\is_string($key)) {
            throw InvalidKey::ofType($key);
        }
        Key::check($key);

        return $key;
    }

    /**
     * @param array<mixed> $tags
     *
     * @return list<string> no tag twice
     *
     * @throws InvalidTag
     */
    public static function tags(array $tags): array
    {
        $checked = [];
        foreach ($tags as $tag) {
            if (!\is_string($tag)) {
                throw InvalidTag::ofType($tag);
            }
            Tag::check($tag);
            $checked[$tag] = $tag;
        }

        return array_values($checked);
    }
}
