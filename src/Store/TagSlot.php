<?php

declare(strict_types=1);

namespace Larder\Store;

/**
 * The versions of the tags that share a place by their hashes, as one string, for stores that cannot list what they keep:
 *
 *     slot = floor 8 | how many short entries there are 2 | hash 8, dead 8 | … | hash 8, dead 8, stale 8, until 8 | …
 *
 * It holds only tags that were invalidated. When a slot is full, the tag that was invalidated longest ago goes. Its tick becomes the
 * floor, which stands for every tag that is not there. So all slots together are bounded, and a forgotten tag causes misses. Of 200,000
 * tags none is forgotten, whether items carry them or not. Of more tags the slots forget those that were invalidated longest ago, which
 * kills the items that are older than that.
 */
final class TagSlot
{
    /** How many slots there are; a power of two. */
    public const SLOTS = 2_048;

    private const HEAD = 10;

    /** Bytes of entries in a slot: 128 short ones. */
    private const MOST = 2_048;

    private const SHORT = 16;

    /** Of a tag whose dead items may still be served. */
    private const LONG = 32;

    private function __construct() {}

    /** @return array{int, string} the slot's number and the tag's name in it */
    public static function place(string $tag): array
    {
        $hash = hash('xxh128', $tag, true);

        return [(\ord($hash[0]) << 8 | \ord($hash[1])) & self::SLOTS - 1, substr($hash, 8)];
    }

    public static function made(int $floor): string
    {
        return pack('Jn', $floor, 0);
    }

    public static function version(string $slot, string $name): TagVersion
    {
        [$at, $length] = self::find($slot, $name);
        $numbers = match ($length) {
            self::SHORT => unpack('J', $slot, $at + 8),
            self::LONG => unpack('J3', $slot, $at + 8),
            default => unpack('J', $slot),
        };
        /** @var array<int> $numbers */
        $numbers = $numbers === false ? [\PHP_INT_MAX] : array_values($numbers);

        return new TagVersion($numbers[0], $numbers[1] ?? 0, $numbers[2] ?? 0);
    }

    public static function with(string $slot, string $name, TagVersion $version): string
    {
        $isShort = $version->stale === 0;
        $entry = $name . ($isShort ? pack('J', $version->dead) : pack('J3', $version->dead, $version->stale, $version->until));
        [$at, $length] = self::find($slot, $name);
        if ($length === \strlen($entry)) {
            return substr_replace($slot, $entry, $at, $length);
        }
        if ($length > 0) {
            $slot = self::without($slot, $at, $length);
        }
        while (\strlen($slot) - self::HEAD + \strlen($entry) > self::MOST) {
            $slot = self::withoutTheOldest($slot);
        }
        if (!$isShort) {
            return $slot . $entry;
        }
        $count = self::shortOnes($slot);

        return substr_replace(substr_replace($slot, $entry, self::HEAD + self::SHORT * $count, 0), pack('n', $count + 1), 8, 2);
    }

    public static function isOne(string $bytes): bool
    {
        $long = \strlen($bytes) - self::HEAD;
        $long = $long < 0 ? -1 : $long - self::SHORT * self::shortOnes($bytes);

        return $long >= 0 && $long % self::LONG === 0;
    }

    private static function shortOnes(string $slot): int
    {
        $count = unpack('n', $slot, 8)[1] ?? 0;

        return \is_int($count) ? $count : 0;
    }

    /** @return array{int, int} where its entry begins, and how long that is; 0: there is none */
    private static function find(string $slot, string $name): array
    {
        $long = self::HEAD + self::SHORT * self::shortOnes($slot);
        for ($at = strpos($slot, $name, self::HEAD); $at !== false; $at = strpos($slot, $name, $at + 1)) {
            $length = $at < $long ? self::SHORT : self::LONG;
            if (($at - ($at < $long ? self::HEAD : $long)) % $length === 0) {
                return [$at, $length];
            }
        }

        return [0, 0];
    }

    private static function without(string $slot, int $at, int $length): string
    {
        $slot = substr_replace($slot, '', $at, $length);

        return $length === self::SHORT ? substr_replace($slot, pack('n', self::shortOnes($slot) - 1), 8, 2) : $slot;
    }

    private static function withoutTheOldest(string $slot): string
    {
        $oldest = [\PHP_INT_MAX, 0, 0];
        $long = self::HEAD + self::SHORT * self::shortOnes($slot);
        for ($at = self::HEAD; $at < \strlen($slot); $at += $length) {
            $length = $at < $long ? self::SHORT : self::LONG;
            /** @var array{1: int, 2?: int} $ticks */
            $ticks = unpack($length === self::SHORT ? 'J' : 'J2', $slot, $at + 8) ?: [1 => 0];
            $oldest = min($oldest, [max($ticks), $at, $length]);
        }
        $floor = unpack('J', $slot)[1] ?? 0;

        return substr_replace(self::without($slot, $oldest[1], $oldest[2]), pack('J', max($oldest[0], \is_int($floor) ? $floor : 0)), 0, 8);
    }
}
