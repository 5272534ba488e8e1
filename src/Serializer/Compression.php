<?php

declare(strict_types=1);

namespace Larder\Serializer;

use Larder\Exception\ExtensionMissing;
use Larder\Exception\InvalidOption;

/** Makes large payloads smaller; what would not become smaller is left as it is. */
final class Compression
{
    /** Bytes below which compressing costs more than it saves. */
    public const THRESHOLD = 4_096;

    private const MARKS = ['zstd' => 'Z', 'lz4' => 'L', 'zlib' => 'G'];

    private readonly string $algorithm;

    private readonly string $mark;

    /**
     * @param string $algorithm zstd, lz4, zlib, or auto for the first of these whose extension is loaded
     * @param int    $threshold bytes; payloads that have fewer are left as they are
     *
     * @throws ExtensionMissing
     * @throws InvalidOption
     */
    public function __construct(
        string $algorithm = 'auto',
        private readonly int $threshold = self::THRESHOLD,
    ) {
        if ($algorithm === 'auto') {
            $algorithm = array_values(array_filter(array_keys(self::MARKS), \extension_loaded(...)))[0] ?? 'zlib';
        }
        $this->mark = self::MARKS[$algorithm] ?? throw InvalidOption::choice('compression', $algorithm, 'none', 'auto', ...array_keys(self::MARKS));
        if (!\extension_loaded($algorithm)) {
            throw ExtensionMissing::of("The compression \"{$algorithm}\"", $algorithm);
        }
        if ($threshold < 0) {
            throw InvalidOption::range('compress_above', $threshold, '0 bytes or more');
        }
        $this->algorithm = $algorithm;
    }

    public function isCompressed(string $payload): bool
    {
        return ($payload[0] ?? '') === $this->mark;
    }

    public function compress(string $payload): string
    {
        if (\strlen($payload) < $this->threshold) {
            return $payload;
        }
        $compressed = match ($this->algorithm) {
            'zstd' => zstd_compress($payload),
            'lz4' => lz4_compress($payload),
            // The lowest level: it is nearly as small as the others, and by far the fastest.
            default => gzcompress($payload, 1),
        };

        return \is_string($compressed) && \strlen($compressed) + 1 < \strlen($payload) ? $this->mark . $compressed : $payload;
    }

    /**
     * @param string $payload one that isCompressed()
     *
     * @return ?string null if it is damaged
     */
    public function uncompress(string $payload): ?string
    {
        $compressed = substr($payload, 1);
        $bytes = match ($this->algorithm) {
            'zstd' => @zstd_uncompress($compressed),
            'lz4' => @lz4_uncompress($compressed),
            default => @gzuncompress($compressed),
        };

        return \is_string($bytes) ? $bytes : null;
    }
}
