<?php

declare(strict_types=1);

namespace Larder\Cache;

use Larder\Exception\NotACounter;
use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\SaveMode;
use Larder\Store;

/** The arithmetic of counters, which every store has to do alike. */
final class Counter
{
    /** How often one is looked at that others change meanwhile. */
    private const TRIES = 16;

    private function __construct() {}

    /** @throws NotACounter */
    public static function sum(string $key, mixed $value, int $by): int
    {
        if (!\is_int($value)) {
            throw self::isNoInteger($key, get_debug_type($value));
        }
        if (self::overflows($value, $by)) {
            throw self::leavesItsRange($key, $value, $by);
        }

        return $value + $by;
    }

    /**
     * As sum(), but a sum below $min is that, also one that would leave the range of int there.
     *
     * @throws NotACounter
     */
    public static function floored(string $key, int $value, int $by, ?int $min): int
    {
        if ($min !== null && $by < 0 && self::overflows($value, $by)) {
            return $min;
        }

        return max($min ?? \PHP_INT_MIN, self::sum($key, $value, $by));
    }

    /**
     * What a store does whose own counting takes what cannot be read for a value: to everyone who asks it is missing, and so
     * a new counter takes its place.
     *
     * @param \Closure(): int $increment
     *
     * @throws NotACounter
     * @throws StoreUnavailable
     */
    public static function anewIfUnreadable(Store $store, string $key, int $by, int $initial, ?int $ttl, \Closure $increment): int
    {
        for ($tries = 1; ; $tries++) {
            try {
                return $increment();
            } catch (NotACounter $mistake) {
                $found = $store->fetch([$key])->items[$key] ?? null;
                $isChanged = $found !== null && \is_int($found->value) && !self::overflows($found->value, $by);
                if ($tries === self::TRIES || ($found === null ? self::overflows($initial, $by) : !$isChanged)) {
                    throw $mistake;
                }
                if ($found === null && $store->save([new Item($key, $initial + $by, $ttl)], SaveMode::Add) === []) {
                    return $initial + $by;
                }
            }
        }
    }

    /** PHP itself would go on with a float. */
    public static function overflows(int $value, int $by): bool
    {
        return $by > 0 ? $value > \PHP_INT_MAX - $by : $value < \PHP_INT_MIN - $by;
    }

    public static function isNoInteger(string $key, string $type): NotACounter
    {
        return new NotACounter(\sprintf(
            'The key "%s" holds a value of type %s and cannot be incremented; set it to an integer first.',
            self::excerpt($key),
            $type,
        ));
    }

    public static function leavesItsRange(string $key, int|string $value, int $by): NotACounter
    {
        return new NotACounter(\sprintf(
            'The counter "%s" is %s and adding %d would leave the range of int; it was not changed, set it to a smaller number.',
            self::excerpt($key),
            $value,
            $by,
        ));
    }

    private static function excerpt(string $key): string
    {
        return addcslashes(substr($key, 0, 64), "\0..\37\"\\\177..\377");
    }
}
