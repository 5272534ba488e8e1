<?php

declare(strict_types=1);

namespace Larder;

/**
 * A key with its value and its metadata.
 *
 * An item for a store says how long it is to live ($ttl). An item from a store says until when it lives ($expiry), and has the version
 * that tells its age ($version).
 *
 * A store judges it by its token. A *write* ($fill is false) is a new value. With a token, the write says what it was made from, and is
 * refused if that has changed. A *fill* keeps a value that was computed because of a miss. It is refused if the key was written or
 * deleted since, and dead if one of its tags was invalidated since. The newer item, which caused the refusal, stays.
 */
final class Item
{
    /** As a version: the value was made where there was none. */
    public const FROM_NOTHING = -1;

    /**
     * @param string       $key    1 to 65,535 bytes
     * @param ?int         $ttl    seconds to live from now on; null: no end; 0 or less: already dead
     * @param list<string> $tags   names whose invalidation kills this item. Not every store tells them when it is fetched
     * @param ?Token       $token  the version of the store when the computation of the value began; null: now
     * @param bool         $fill   true if the value was computed because of a miss, false if it is new truth
     * @param float        $cost   seconds the computation took; 0.0 if unknown
     * @param ?int         $expiry from when on it is dead, in Unix seconds; null: never. Set by fetch() only
     * @param int          $version  the version of the store when the computation of the value began.
     *                             Set by fetch(), and only by stores that can judge tokens. On its way in, with a token: the
     *                             version of the item that the value was made from, or FROM_NOTHING; 0: it is not known
     * @param bool         $keeps  whether the key's value stays if the store has no room for this item, or no time. False: it
     *                             goes, as it is not true any more. (Where APCu or Memcached is full, it may go all the same.)
     */
    public function __construct(
        public readonly string $key,
        public readonly mixed $value,
        public readonly ?int $ttl = null,
        public readonly array $tags = [],
        public readonly ?Token $token = null,
        public readonly bool $fill = false,
        public readonly float $cost = 0.0,
        public readonly ?int $expiry = null,
        public readonly int $version = 0,
        public readonly bool $keeps = false,
    ) {}

    /**
     * An item as a store found it.
     *
     * @param ?int         $expiry in Unix seconds; null: never
     * @param list<string> $tags
     */
    public static function found(string $key, mixed $value, ?int $expiry, int $version = 0, array $tags = []): self
    {
        return new self($key, $value, tags: $tags, expiry: $expiry, version: $version);
    }
}
