<?php

declare(strict_types=1);

namespace Larder\Serializer;

use Larder\Exception\ExtensionMissing;
use Larder\Exception\InvalidOption;

/** Makes large payloads smaller. It leaves those alone that would not become smaller, and those that are very large. */
final class Compression
{
    /** Bytes below which compressing costs more than it saves. */
    public const THRESHOLD = 4_096;

    /**
     * Bytes above which a payload is neither compressed nor taken for one of ours: another client of the store that knows
     * no secret must not fill our memory with a payload that is a thousandth of it.
     */
    public const LONGEST = 32 << 20;

    /**
     * @param int $threshold bytes; payloads that have fewer are left as they are
     *
     * @throws ExtensionMissing
     * @throws InvalidOption
     */
    public function __construct(
        private readonly int $threshold = self::THRESHOLD,
        private readonly Codec $codec = Codec::Zlib,
    ) {
        $codec->check();
        if ($threshold < 0) {
            throw InvalidOption::range('compress_above', $threshold, '0 bytes or more');
        }
    }

    public function isCompressed(string $payload): bool
    {
        return ($payload[0] ?? '') === $this->codec->mark();
    }

    public function compress(string $payload): string
    {
        if (\strlen($payload) < $this->threshold || \strlen($payload) > self::LONGEST) {
            return $payload;
        }
        $compressed = $this->codec->compress($payload, self::LONGEST);

        return $compressed !== null && \strlen($compressed) < \strlen($payload) ? $compressed : $payload;
    }

    /**
     * @param string $payload one that isCompressed()
     *
     * @return ?string null if it is damaged, or longer than any that compress() makes smaller
     */
    public function uncompress(string $payload): ?string
    {
        return $this->codec->uncompress($payload, self::LONGEST);
    }
}
