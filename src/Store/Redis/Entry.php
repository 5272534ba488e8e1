<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

use Larder\Store\Tags;

/** The bytes of an item as it lies in the server; Script has their picture, and its scripts know them as well. */
final class Entry
{
    /** How many bytes lie before the tags. */
    public const HEAD = 24;

    /** What tagged() is where there are none. */
    public const WITHOUT_TAGS = "\0\0\0";

    private const MARK = "\2";

    /** What the server writes before the length of the tags, as room for it. */
    public const ROOM = "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

    /** Where the numbers are. */
    private const VERSION = 9;

    private const EXPIRY = 15;

    private const LENGTH = 21;

    /** The bit before the expiry says something else. */
    private const MILLISECONDS = 0x7fffffffffff;

    private const SIX_BYTES = 0xffffffffffff;

    private function __construct() {}

    /**
     * What comes between that room and the payload: the tags, behind their length.
     *
     * @param list<string> $tags
     */
    public static function tagged(array $tags): string
    {
        $packed = Tags::pack($tags);

        return substr(pack('N', \strlen($packed)), 1) . $packed;
    }

    /** What an item of this epoch begins with; of any, if there is none. */
    public static function beginning(string $epoch = ''): string
    {
        return self::MARK . $epoch;
    }

    /**
     * Those of many items that have this beginning. A batch has no call for each of them.
     *
     * @param array<int, string> $keys
     * @param array<mixed>       $items in the order of the keys; a value that is no string is no item
     * @param int                $at    where among these the first is
     *
     * @return array{array<array-key, string>, array<array-key, int>} by key: the items, and where the payload begins in those that have tags
     */
    public static function allOf(string $beginning, array $keys, array $items, int $at): array
    {
        $found = $tagged = [];
        foreach ($keys as $key) {
            $item = $items[$at++] ?? null;
            if (\is_string($item) && isset($item[self::HEAD - 1]) && str_starts_with($item, $beginning)) {
                $found[$key] = $item;
                if (substr($item, self::LENGTH, self::HEAD - self::LENGTH) !== self::WITHOUT_TAGS) {
                    $tagged[$key] = self::payloadAt($item);
                }
            }
        }

        return [$found, $tagged];
    }

    /** Whether an item of at least HEAD bytes has tags. */
    public static function hasTags(string $bytes): bool
    {
        return substr_compare($bytes, self::WITHOUT_TAGS, self::LENGTH, self::HEAD - self::LENGTH) !== 0;
    }

    /**
     * Both at once, as each would cost a call and an array.
     *
     * @return array{int, int} the version, and where the payload begins
     */
    public static function versionAndPayload(string $bytes): array
    {
        /** @var array{1: int, 2: int} $numbers */
        $numbers = unpack('J2', $bytes, self::VERSION - 1);

        // Behind the version there is a byte of the expiry.
        return [($numbers[1] >> 8) & self::SIX_BYTES, self::HEAD + ($numbers[2] & 0xffffff)];
    }

    /** Where the payload begins. */
    public static function payloadAt(string $bytes): int
    {
        /** @var array{1: int} $length */
        $length = unpack('N', $bytes, self::LENGTH - 1);

        return self::HEAD + ($length[1] & 0xffffff);
    }

    /** @return list<string> */
    public static function tags(string $bytes): array
    {
        $end = self::payloadAt($bytes);

        return $end === self::HEAD ? [] : Tags::unpack(substr($bytes, self::HEAD, $end - self::HEAD));
    }

    public static function version(string $bytes): int
    {
        return self::number($bytes, self::VERSION);
    }

    /** By the server's clock, in milliseconds; 0: never. */
    public static function expiry(string $bytes): int
    {
        return self::number($bytes, self::EXPIRY) & self::MILLISECONDS;
    }

    /** @param int $at where six bytes are, behind at least two others; also in a clock */
    public static function number(string $bytes, int $at): int
    {
        /** @var array{1: int} $number */
        $number = unpack('J', $bytes, $at - 2);

        return $number[1] & self::SIX_BYTES;
    }
}
