<?php

declare(strict_types=1);

namespace Larder;

/**
 * A time to live that is not a number. For a cache, null means its default TTL; Forever means none at all.
 */
enum Ttl
{
    case Forever;

    /** A hundred years, in seconds. More is no end at all, so that no clock overflows. */
    public const LONGEST = 3_153_600_000;

    /**
     * Seconds to live; null: no end. A DateInterval is counted from now on, as its months and years differ.
     */
    public static function seconds(int|\DateInterval|self $ttl): ?int
    {
        if ($ttl === self::Forever) {
            return null;
        }
        if (\is_int($ttl)) {
            return $ttl;
        }
        $now = new \DateTimeImmutable('now', new \DateTimeZone('UTC'));

        return $now->add($ttl)->getTimestamp() - $now->getTimestamp();
    }

    /** When an item with $ttl dies, in Unix seconds; null: never. */
    public static function expiry(?int $ttl, int $now): ?int
    {
        return $ttl === null || $ttl > self::LONGEST ? null : $now + max($ttl, 0);
    }
}
