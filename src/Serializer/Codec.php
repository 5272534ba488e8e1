<?php

declare(strict_types=1);

namespace Larder\Serializer;

use Larder\Exception\ExtensionMissing;

/**
 * A way to compress a payload. Each writes a mark of its own in front and reads only what has that mark.
 *
 * Decompressing takes no more memory than a bound allows, even if the bytes claim more: any client of the store may have written them.
 */
enum Codec: string
{
    case Zlib = 'zlib';
    case Zstd = 'zstd';
    case Lz4 = 'lz4';

    /** @throws ExtensionMissing */
    public function check(): void
    {
        if (!\function_exists($this === self::Zlib ? 'gzcompress' : "{$this->value}_compress")) {
            throw ExtensionMissing::of("The compression \"{$this->value}\"", $this->value);
        }
    }

    /** The first byte of what it writes. */
    public function mark(): string
    {
        return match ($this) {
            self::Zlib => 'G',
            self::Zstd => 'Z',
            self::Lz4 => 'L',
        };
    }

    /**
     * Each at its lowest level, which is by far the fastest and nearly as small as the others.
     *
     * @param int $longest bytes that uncompress() will be allowed
     *
     * @return ?string with the mark; null if it cannot be compressed, or uncompress() could not tell that its result is not too long
     */
    public function compress(string $payload, int $longest): ?string
    {
        $bytes = match ($this) {
            self::Zlib => gzcompress($payload, 1),
            self::Zstd => zstd_compress($payload, 1),
            // The prefix takes the place of the extension's own, which is the length in the order of bytes of this machine.
            self::Lz4 => lz4_compress($payload, 0, self::Lz4->mark() . pack('V', \strlen($payload))),
        };
        if (!\is_string($bytes) || ($this === self::Zstd && ZstdFrame::longest($bytes, 0) > $longest)) {
            return null;
        }

        return $this === self::Lz4 ? $bytes : $this->mark() . $bytes;
    }

    /**
     * @param string $payload one that begins with the mark
     * @param int    $longest bytes
     *
     * @return ?string null if it is damaged or may become longer
     */
    public function uncompress(string $payload, int $longest): ?string
    {
        $bytes = match ($this) {
            // One more, as zlib notices the end of what it reads only when there is room for more.
            self::Zlib => @gzuncompress(substr($payload, 1), $longest + 1),
            self::Zstd => (ZstdFrame::longest($payload, 1) ?? \PHP_INT_MAX) <= $longest ? @zstd_uncompress(substr($payload, 1)) : false,
            self::Lz4 => self::ofLz4($payload, $longest),
        };

        return \is_string($bytes) && \strlen($bytes) <= $longest ? $bytes : null;
    }

    private static function ofLz4(string $payload, int $longest): ?string
    {
        $head = 5;
        $length = \strlen($payload) > $head ? unpack('V', $payload, 1) : false;
        $length = $length === false ? 0 : $length[1];
        // The extension takes no length below one for a bound, but for the lack of one.
        if (!\is_int($length) || $length < 1 || $length > $longest) {
            return null;
        }
        $bytes = @lz4_uncompress($payload, $length, $head);

        return \is_string($bytes) && \strlen($bytes) === $length ? $bytes : null;
    }
}
