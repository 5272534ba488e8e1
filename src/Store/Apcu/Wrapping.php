<?php

declare(strict_types=1);

namespace Larder\Store\Apcu;

use Larder\Ttl;

/**
 * How a value lies in APCu: as it is, or wrapped with what has to be known of it besides,
 *
 *     [MARK, expiry, value, version, tags, the mark of its fill, whether the value is a payload]
 *
 * APCu counts whole seconds and lets an item live until one more has begun, so it gets one second less. An item of one second
 * would get 0, which means "no end" to APCu: such a value is wrapped together with its expiry.
 */
final class Wrapping
{
    public const MARK = "\0larder: value with expiry";

    /** APCu counts in 32 bits with a sign; in seconds. */
    private const LONGEST = 2_000_000_000;

    private function __construct() {}

    /**
     * Wraps what has tags or a mark, what lives for one second, payloads, and what would be taken for a wrapping.
     *
     * @param list<string> $tags
     */
    public static function of(mixed $value, ?int $ttl, int $version = 0, array $tags = [], ?int $mark = null, bool $isPayload = false): mixed
    {
        return $isPayload || $mark !== null || $tags !== [] || $ttl === 1 || (\is_array($value) && ($value[0] ?? null) === self::MARK)
            ? [self::MARK, Ttl::expiry($ttl === 1 ? 1 : null, time()), $value, $version, $tags, $mark, $isPayload]
            : $value;
    }

    /** What APCu is given for a TTL. */
    public static function ttl(?int $ttl): int
    {
        return $ttl === null || $ttl > Ttl::LONGEST ? 0 : max(1, min($ttl - 1, self::LONGEST));
    }
}
