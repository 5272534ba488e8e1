<?php

declare(strict_types=1);

namespace Larder\Symfony;

/**
 * What of an item lies in a cache. Most values lie there as they are. One with tags, or that took a time to compute, lies in an
 * array with these, as Symfony tells them with the item.
 *
 * It is no object, so that shared memory can hand it out without copying it.
 */
final class Kept
{
    /**
     * The first element of such an array. An int is in the array itself, where a string lies behind it: a read looks at less memory, and a
     * copy makes no string. A value that begins with it is put into such an array, too.
     */
    public const MARK = -0x6c61726465725f53;

    private function __construct() {}

    /** @param array<string, mixed> $metadata Symfony's: tags, expiry (Unix seconds), ctime (milliseconds) */
    public static function of(mixed $value, array $metadata): mixed
    {
        if ($metadata === [] && !(\is_array($value) && ($value[0] ?? null) === self::MARK)) {
            return $value;
        }

        return [self::MARK, $value, $metadata];
    }

    public static function value(mixed $kept): mixed
    {
        return \is_array($kept) && isset($kept[0]) && $kept[0] === self::MARK ? $kept[1] ?? null : $kept;
    }

    /** @return array<string, mixed> */
    public static function metadata(mixed $kept): array
    {
        /** @var array<string, mixed> */
        return \is_array($kept) && isset($kept[0]) && $kept[0] === self::MARK && \is_array($kept[2] ?? null) ? $kept[2] : [];
    }
}
