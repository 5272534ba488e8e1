<?php

declare(strict_types=1);

namespace Larder\Store\Sqlite;

use Larder\Lease\AddedLeases;

/** What the notices beside a database say (see Notices). */
final class Notice
{
    /** Bytes of a map that has a bit for each key, which it shares with one in 32,768 others. */
    public const MAP = 4_096;

    /** @param string $map of the keys that are dead; of the rest of one that is cut off, none is */
    public function __construct(
        public readonly Reach $reach,
        private readonly string $map,
    ) {}

    public function kills(string $key, bool $hasTags): bool
    {
        if (self::isOfLease($key)) {
            return false;
        }
        $isOfAll = $this->reach === Reach::Everything || ($this->reach === Reach::Tags && $hasTags);

        return $isOfAll || $this->hasKey($key);
    }

    /** A lease ends with its time only. */
    public static function isOfLease(string $key): bool
    {
        return str_starts_with($key, AddedLeases::prefix());
    }

    public function hasKeys(): bool
    {
        return trim($this->map, "\0") !== '';
    }

    /** Whether a key, or another that shares its bit, is in the map. */
    private function hasKey(string $key): bool
    {
        [$byte, $bit] = self::place($key);

        return (\ord($this->map[$byte] ?? "\0") & $bit) !== 0;
    }

    /**
     * @param list<string> $keys
     *
     * @return string the map with those as well
     */
    public function with(array $keys): string
    {
        $map = str_pad($this->map, self::MAP, "\0");
        foreach ($keys as $key) {
            [$byte, $bit] = self::place($key);
            $map[$byte] = \chr(\ord($map[$byte]) | $bit);
        }

        return $map;
    }

    /** @return array{int, int} the byte in the map, and the bit in that */
    private static function place(string $key): array
    {
        $place = crc32($key) % (8 * self::MAP);

        return [$place >> 3, 1 << ($place & 7)];
    }
}
