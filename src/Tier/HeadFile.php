<?php

declare(strict_types=1);

namespace Larder\Tier;

use Larder\Exception\StoreUnavailable;

/**
 * A number in a file beside a database, by which a request learns in one small read that nothing was written:
 *
 *     number 8 | the same, inverted 8
 *
 * It is odd while a write is under way, and even and larger when that is over. A writer makes it odd inside its
 * transaction, before the commit, and even after it: if it is even and what it was, there was no commit. Only the last of
 * several writers makes it even. One that dies leaves it odd, which sends everyone to the database: slow, but right, until
 * the next writer is done or somebody repairs it while no transaction is open.
 *
 * A file that is not there, or not whole, counts as odd; a new one begins at a random number, so that no number ever comes
 * back.
 */
final class HeadFile
{
    private const BYTES = 16;

    /** Seconds after which an odd number is that of a writer that has died, or is stuck. */
    private const ABANDONED = 2;

    public function __construct(
        private readonly string $path,
        private readonly float $timeout,
    ) {}

    /** @return ?string what is in the file, if it is even; null: a write is under way, or may be */
    public function read(): ?string
    {
        $bytes = @file_get_contents($this->path);
        $number = $bytes === false ? null : self::number($bytes);

        return $bytes === false || $number === null || ($number & 1) === 1 ? null : $bytes;
    }

    /**
     * A write begins. Called with the database's lock held.
     *
     * @return int for end()
     *
     * @throws StoreUnavailable
     */
    public function begin(): int
    {
        return (int) $this->change(static fn(?int $number): int => (($number ?? self::random()) | 1) + ($number === null ? 0 : 2 * ($number & 1)));
    }

    /** The write is over, and what came of it can be seen. */
    public function end(int $begun): void
    {
        try {
            $this->change(static fn(?int $number): ?int => $number === $begun ? $number + 1 : null);
        } catch (StoreUnavailable) {
            // It stays odd, until somebody repairs it.
        }
    }

    /** Whether it is worth to repair it. */
    public function isAbandoned(): bool
    {
        clearstatcache(true, $this->path);

        return $this->read() === null && (int) @filemtime($this->path) < time() - self::ABANDONED;
    }

    /**
     * Nothing is under way. Called with the database's lock held.
     *
     * @throws StoreUnavailable
     */
    public function repair(): void
    {
        $this->change(static fn(?int $number): int => $number === null ? self::random() : $number + ($number & 1));
    }

    /**
     * @param \Closure(?int): ?int $next the next number after the one that is there, or none; null: it stays as it is
     *
     * @throws StoreUnavailable
     */
    private function change(\Closure $next): ?int
    {
        $isNew = !file_exists($this->path);
        $file = @fopen($this->path, 'c+');
        if ($file === false) {
            throw $this->unavailable('cannot be opened');
        }
        try {
            if ($isNew) {
                $this->giveToOwner();
            }
            $patience = hrtime(true) + (int) ($this->timeout * 1e9);
            while (!flock($file, \LOCK_EX | \LOCK_NB)) {
                if (hrtime(true) > $patience) {
                    throw $this->unavailable('is locked by another process for too long');
                }
                usleep(25);
            }
            $number = $next(self::number((string) stream_get_contents($file)));
            rewind($file);
            if ($number !== null && (fwrite($file, pack('J2', $number, ~$number)) !== self::BYTES || !ftruncate($file, self::BYTES))) {
                throw $this->unavailable('cannot be written');
            }

            return $number;
        } finally {
            fclose($file);
        }
    }

    /** An even one that nobody has seen. */
    private static function random(): int
    {
        return random_int(1 << 32, 1 << 60) & ~1;
    }

    /** @return ?int null: it is none */
    private static function number(string $bytes): ?int
    {
        /** @var array{1: int, 2: int}|false $numbers */
        $numbers = \strlen($bytes) === self::BYTES ? unpack('J2', $bytes) : false;

        return $numbers === false || $numbers[1] !== ~$numbers[2] ? null : $numbers[1];
    }

    /** As the database does. */
    private function giveToOwner(): void
    {
        if (\function_exists('posix_geteuid') && posix_geteuid() === 0) {
            $directory = \dirname($this->path);
            @chown($this->path, (int) fileowner($directory));
            @chgrp($this->path, (int) filegroup($directory));
        }
    }

    private function unavailable(string $why): StoreUnavailable
    {
        return StoreUnavailable::because("The head of a log, \"{$this->path}\",", "it {$why}", 'see that its disk has room and PHP\'s user may write to it');
    }
}
