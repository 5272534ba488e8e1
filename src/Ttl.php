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

    /** Seconds in each part of a DateInterval, about. */
    private const PARTS = ['y' => 31_557_600.0, 'm' => 2_629_800.0, 'd' => 86_400.0, 'h' => 3_600.0, 'i' => 60.0, 's' => 1.0];

    /**
     * Seconds to live; null: no end. A DateInterval is counted from now on, as its months and years differ; one beyond all
     * calendars is the greatest or the least int.
     */
    public static function seconds(int|\DateInterval|self $ttl): ?int
    {
        if ($ttl === self::Forever) {
            return null;
        }
        if (\is_int($ttl)) {
            return $ttl;
        }
        // PHP's calendar wraps around: an absurdly long time would be over.
        $about = 0.0;
        foreach (self::PARTS as $part => $seconds) {
            $about += (float) ($ttl->{$part} ?? 0) * ($ttl->invert === 1 ? -$seconds : $seconds);
        }
        if (abs($about) > 2.0 * self::LONGEST) {
            return $about > 0.0 ? \PHP_INT_MAX : \PHP_INT_MIN;
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
