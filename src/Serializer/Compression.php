<?php

declare(strict_types=1);

namespace Larder\Serializer;

use Larder\Exception\ExtensionMissing;
use Larder\Exception\InvalidOption;

/** Makes large payloads smaller, with zlib; what would not become smaller is left as it is, and so is what is very large. */
final class Compression
{
    /** Bytes below which compressing costs more than it saves. */
    public const THRESHOLD = 4_096;

    /**
     * Bytes above which a payload is neither compressed nor taken for one of ours: whoever can write into a store, and knows
     * no secret, must not fill our memory with a payload that is a thousandth of it.
     */
    public const LONGEST = 32 << 20;

    private const MARK = 'G';

    /**
     * @param int $threshold bytes; payloads that have fewer are left as they are
     *
     * @throws ExtensionMissing
     * @throws InvalidOption
     */
    public function __construct(
        private readonly int $threshold = self::THRESHOLD,
    ) {
        if (!\extension_loaded('zlib')) {
            throw ExtensionMissing::of('The compression "zlib"', 'zlib');
        }
        if ($threshold < 0) {
            throw InvalidOption::range('compress_above', $threshold, '0 bytes or more');
        }
    }

    public function isCompressed(string $payload): bool
    {
        return ($payload[0] ?? '') === self::MARK;
    }

    public function compress(string $payload): string
    {
        if (\strlen($payload) < $this->threshold || \strlen($payload) > self::LONGEST) {
            return $payload;
        }
        // The lowest level: it is nearly as small as the others, and by far the fastest.
        $compressed = gzcompress($payload, 1);

        return $compressed !== false && \strlen($compressed) + 1 < \strlen($payload) ? self::MARK . $compressed : $payload;
    }

    /**
     * @param string $payload one that isCompressed()
     *
     * @return ?string null if it is damaged, or longer than any that compress() makes smaller
     */
    public function uncompress(string $payload): ?string
    {
        // One more, as zlib notices the end of what it reads only when there is room for more.
        $bytes = @gzuncompress(substr($payload, 1), self::LONGEST + 1);

        return $bytes === false || \strlen($bytes) > self::LONGEST ? null : $bytes;
    }
}
