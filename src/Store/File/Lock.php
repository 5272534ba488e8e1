<?php

declare(strict_types=1);

namespace Larder\Store\File;

use Larder\Exception\StoreUnavailable;

/**
 * The lock of a shard, held, with what is written in its file:
 *
 *     epoch 8 | guards, 8 each
 *
 * A guard counts the writes and deletes of the keys that share it. The epoch changes with every clear, and when the file
 * is lost.
 */
final class Lock
{
    public const GUARDS = 256;

    public const SIZE = 8 + 8 * self::GUARDS;

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
            // Where they cannot be written, on a full disk, everybody finds other ones: no fill is judged to be current.
            $this->isKept = @fwrite($file, $bytes) === self::SIZE;
        }
        $this->bytes = $bytes;
    }

    /** What a fill is judged by: the same as long as nothing that shares the guard was written or deleted. */
    public static function guardIn(string $bytes, int $guard): string
    {
        return substr($bytes, 0, 8) . substr($bytes, 8 + 8 * $guard, 8);
    }

    public function guard(int $guard): string
    {
        return self::guardIn($this->bytes, $guard);
    }

    /** @throws StoreUnavailable */
    public function move(int $guard): void
    {
        $count = unpack('J', $this->bytes, 8 + 8 * $guard)[1] ?? 0;
        $this->put(8 + 8 * $guard, pack('J', (\is_int($count) ? $count : 0) + 1));
    }

    /** @throws StoreUnavailable */
    public function beginEpoch(): void
    {
        $this->put(0, random_bytes(8));
    }

    /**
     * What cannot be told to others, as a full disk may refuse to overwrite a file where that makes a copy, is told by
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
