<?php

declare(strict_types=1);

namespace Larder\Store\File;

use Larder\Exception\StoreUnavailable;

/**
 * The lock of a shard, held, with what is written in its file:
 *
 *     epoch 8 | key versions, 4 each | counts, 4 each
 *
 * A key version tells how often the keys that share it were written or deleted. A count tells how often the counters that share it
 * were counted, which concerns only values computed from a counter. The epoch changes with every clear, and when the file is lost.
 */
final class Lock
{
    public const KEY_VERSIONS = 1_024;

    private const COUNTS = 256;

    public const SIZE = 8 + 4 * (self::KEY_VERSIONS + self::COUNTS);

    private string $bytes;

    /** Whether others find them in the file, too. */
    private bool $isKept = true;

    /** @param resource $file */
    public function __construct(
        private readonly mixed $file,
    ) {
        rewind($file);
        $bytes = (string) stream_get_contents($file, self::SIZE);
        if (\strlen($bytes) !== self::SIZE) {
            $bytes = random_bytes(8) . str_repeat("\0", self::SIZE - 8);
            rewind($file);
            // Where they cannot be written, on a full disk, each process finds other ones: no fill is judged to be current.
            $this->isKept = @fwrite($file, $bytes) === self::SIZE;
        }
        $this->bytes = $bytes;
    }

    /** What a fill is judged by: the same as long as nothing that shares the key version was written or deleted. */
    public static function keyVersionIn(string $bytes, int $keyVersion): string
    {
        return substr($bytes, 0, 8) . substr($bytes, 8 + 4 * $keyVersion, 4);
    }

    /** The version that also judges values computed from a counter. */
    public static function countIn(string $bytes, int $keyVersion): string
    {
        return substr($bytes, self::placeOfCount($keyVersion), 4);
    }

    public function keyVersion(int $keyVersion): string
    {
        return self::keyVersionIn($this->bytes, $keyVersion);
    }

    public function count(int $keyVersion): string
    {
        return self::countIn($this->bytes, $keyVersion);
    }

    /** @throws StoreUnavailable */
    public function move(int $keyVersion): void
    {
        $this->raise(8 + 4 * $keyVersion);
    }

    /** @throws StoreUnavailable */
    public function moveCount(int $keyVersion): void
    {
        $this->raise(self::placeOfCount($keyVersion));
    }

    /** @throws StoreUnavailable */
    public function beginEpoch(): void
    {
        $this->put(0, random_bytes(8));
    }

    /** Where the count is that goes with a key version. */
    private static function placeOfCount(int $keyVersion): int
    {
        return 8 + 4 * (self::KEY_VERSIONS + $keyVersion % self::COUNTS);
    }

    private function raise(int $offset): void
    {
        $number = unpack('N', $this->bytes, $offset)[1] ?? 0;
        $this->put($offset, pack('N', (\is_int($number) ? $number : 0) + 1 & 0xffffffff));
    }

    /**
     * A change that cannot be told to others, as a full disk may refuse to overwrite a file where that makes a copy, is told by
     * shortening it, which refuses all fills of the shard.
     *
     * @throws StoreUnavailable
     */
    private function put(int $offset, string $bytes): void
    {
        if ($this->isKept) {
            fseek($this->file, $offset);
            if (@fwrite($this->file, $bytes) !== \strlen($bytes)) {
                $this->isKept = false;
                if (!@ftruncate($this->file, 0)) {
                    throw StoreUnavailable::because(
                        'The lock "' . (stream_get_meta_data($this->file)['uri'] ?? '') . '"',
                        'it cannot be written',
                        'see that its disk has room and PHP\'s user may write to it',
                    );
                }
            }
        }
        $this->bytes = substr_replace($this->bytes, $bytes, $offset, \strlen($bytes));
    }
}
