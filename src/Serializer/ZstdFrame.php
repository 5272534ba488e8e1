<?php

declare(strict_types=1);

namespace Larder\Serializer;

/**
 * How much a frame of Zstandard can become, read from its headers (RFC 8878, 3.1.1) without decompressing anything.
 *
 * The extension has no bound for what it decompresses. The length that a frame declares is none either. The decoder compares it with
 * the result only at the end, and four bytes of a block may become 128 KiB.
 */
final class ZstdFrame
{
    private const MAGIC = "\x28\xB5\x2F\xFD";

    /** Bytes that a block becomes at most. */
    private const BLOCK = 128 << 10;

    private const RAW = 0;

    private const REPEATED = 1;

    private const COMPRESSED = 2;

    private function __construct() {}

    /**
     * @param int $at where the frame begins; it reaches to the end
     *
     * @return ?int bytes, an upper bound; null if there is anything else than one whole frame that declares its length
     */
    public static function longest(string $bytes, int $at): ?int
    {
        $descriptor = \ord($bytes[$at + 4] ?? "\xff");
        // Without a dictionary, which is the lowest two bits, and the reserved bit.
        if (($descriptor & 0b1011) !== 0 || substr_compare($bytes, self::MAGIC, $at, 4) !== 0) {
            return null;
        }
        $isSingleSegment = ($descriptor & 0b10_0000) !== 0;
        $at += $isSingleSegment ? 5 : 6;
        [$format, $size] = [[$isSingleSegment ? 'C' : '', 1], ['v', 2], ['V', 4], ['P', 8]][$descriptor >> 6];
        $declared = $format === '' || \strlen($bytes) < $at + $size ? false : unpack($format, $bytes, $at);
        if ($declared === false || !\is_int($declared[1]) || $declared[1] < 0) {
            return null;
        }
        $checksum = ($descriptor & 0b100) === 0 ? 0 : 4;
        $blocks = self::blocks($bytes, $at + $size, \strlen($bytes) - $checksum);

        return $blocks === null ? null : max($blocks, $declared[1] + ($format === 'v' ? 256 : 0));
    }

    /** @return ?int bytes that the blocks become at most; null if they do not reach from $at exactly to $end */
    private static function blocks(string $bytes, int $at, int $end): ?int
    {
        $longest = 0;
        do {
            if ($at + 3 > $end) {
                return null;
            }
            $header = \ord($bytes[$at]) | \ord($bytes[$at + 1]) << 8 | \ord($bytes[$at + 2]) << 16;
            $size = $header >> 3;
            $type = $header >> 1 & 0b11;
            $longest += match ($type) {
                self::RAW, self::REPEATED => $size,
                default => self::BLOCK,
            };
            $at += 3 + match ($type) {
                self::RAW, self::COMPRESSED => $size,
                default => 1,
            };
        } while (($header & 1) === 0);

        return $at === $end ? $longest : null;
    }
}
