<?php

declare(strict_types=1);

namespace Larder\Store;

use Larder\Exception\NotACounter;

/** The arithmetic of counters, which every store has to do alike. */
final class Counter
{
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
