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

    /** Whether an item of at least HEAD bytes has tags. */
    public static function hasTags(string $bytes): bool
    {
        return substr($bytes, self::LENGTH, self::HEAD - self::LENGTH) !== self::WITHOUT_TAGS;
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
