<?php

declare(strict_types=1);

namespace Larder\Store;

/**
 * The stamps of the tags that share a place by their hashes, as one string, for stores that cannot list what they keep:
 *
 *     slot = floor 8 | hash 8, dead 8, stale 8, until 8 | …
 *
 * Only tags that were invalidated are in it. A slot holds so many; then the one goes that was invalidated longest ago,
 * and its tick becomes the floor, which stands for every tag that is not there. So all slots together are bounded, and
 * what they have forgotten is a miss.
 */
final class TagSlot
{
    /** How many slots there are. */
    public const SLOTS = 256;

    private const MOST = 128;

    private const ENTRY = 32;

    private function __construct() {}

    /** @return array{int, string} the slot's number and the tag's name in it */
    public static function place(string $tag): array
    {
        $hash = hash('xxh128', $tag, true);

        return [\ord($hash[0]), substr($hash, 8)];
    }

    public static function made(int $floor): string
    {
        return pack('J', $floor);
    }

    public static function stamp(string $slot, string $name): TagStamp
    {
        $at = self::find($slot, $name);
        $numbers = $at === null ? unpack('J', $slot) : unpack('J3', $slot, $at + 8);
        /** @var array<int> $numbers */
        $numbers = $numbers === false ? [\PHP_INT_MAX] : array_values($numbers);

        return new TagStamp($numbers[0], $numbers[1] ?? 0, $numbers[2] ?? 0);
    }

    public static function with(string $slot, string $name, TagStamp $stamp): string
    {
        $at = self::find($slot, $name);
        $entry = $name . pack('J3', $stamp->dead, $stamp->stale, $stamp->until);
        if ($at !== null) {
            return substr_replace($slot, $entry, $at, self::ENTRY);
        }

        return (\strlen($slot) < 8 + self::MOST * self::ENTRY ? $slot : self::withoutTheOldest($slot)) . $entry;
    }

    public static function isOne(string $bytes): bool
    {
        return \strlen($bytes) % self::ENTRY === 8;
    }

    private static function find(string $slot, string $name): ?int
    {
        for ($at = strpos($slot, $name, 8); $at !== false; $at = strpos($slot, $name, $at + 1)) {
            if ($at % self::ENTRY === 8) {
                return $at;
            }
        }

        return null;
    }

    private static function withoutTheOldest(string $slot): string
    {
        $oldest = [\PHP_INT_MAX, 0];
        for ($at = 8; $at < \strlen($slot); $at += self::ENTRY) {
            /** @var array{1: int, 2: int} $ticks */
            $ticks = unpack('J2', $slot, $at + 8) ?: [1 => 0, 2 => 0];
            $oldest = min($oldest, [max($ticks[1], $ticks[2]), $at]);
        }
        $floor = unpack('J', $slot)[1] ?? 0;

        return pack('J', max($oldest[0], \is_int($floor) ? $floor : 0)) . substr($slot, 8, $oldest[1] - 8) . substr($slot, $oldest[1] + self::ENTRY);
    }
}
