<?php

declare(strict_types=1);

namespace Larder\Tier;

use Larder\Exception\StoreUnavailable;

/**
 * A file beside a database by whose size a request learns, with one system call, that nothing was written. Only the size
 * counts: to change it is atomic, cheap, and needs no room on the disk.
 *
 * It is odd while a write is under way, and even and larger when that is over. A writer makes it odd inside its
 * transaction, before the commit, and even after it: if it is even and what it was, there was no commit. Only the last of
 * several writers makes it even. One that dies leaves it odd, which sends everyone to the database: slow, but right, until
 * the next writer is done or somebody repairs it while no transaction is open.
 *
 * A file that is not there, or is empty, counts as odd. A file that has grown large is replaced by another; so the file's
 * own number and time are part of what is compared, and no state ever comes back.
 */
final class HeadFile
{
    /** Seconds after which an odd size is that of a writer that has died, or is stuck. */
    private const ABANDONED = 2;

    /** Bytes. */
    private const LARGE = 1 << 24;

    /** @param \Closure(): int $clock the time in Unix seconds */
    public function __construct(
        private readonly string $path,
        private readonly float $timeout,
        private readonly \Closure $clock,
    ) {}

    /** @return ?string the state of the file, if it is even; null: a write is under way, or may be */
    public function read(): ?string
    {
        clearstatcache();
        $status = @stat($this->path);

        return $status === false || ($status['size'] & 1) === 1 || $status['size'] === 0 ? null : "{$status['ino']}:{$status['size']}:{$status['mtime']}";
    }

    /**
     * A write begins. Called with the database's lock held.
     *
     * @return string for end()
     *
     * @throws StoreUnavailable
     */
    public function begin(): string
    {
        return $this->change(function (int $size): int {
            if ($size > self::LARGE) {
                // The next writer makes another. Meanwhile there is none, which is as good as an odd one.
                @unlink($this->path);
            }

            return $size === 0 ? self::first() + 1 : $size + 1 + ($size & 1);
        });
    }

    /** The write is over, and what came of it can be seen. */
    public function end(string $begun): void
    {
        try {
            $this->change(static fn(int $size, string $state): int => $state === $begun ? $size + 1 : $size);
        } catch (StoreUnavailable) {
            // It stays odd, until somebody repairs it.
        }
    }

    /** Whether it is worth to repair it. */
    public function isAbandoned(): bool
    {
        return $this->read() === null && (int) @filemtime($this->path) < ($this->clock)() - self::ABANDONED;
    }

    /**
     * Nothing is under way. Called with the database's lock held.
     *
     * @throws StoreUnavailable
     */
    public function repair(): void
    {
        $this->change(static fn(int $size): int => $size === 0 ? self::first() : $size + ($size & 1));
    }

    /**
     * @param \Closure(int, string): int $next the next size after the one that there is, with the file's number before it
     *
     * @return string what there is then
     *
     * @throws StoreUnavailable
     */
    private function change(\Closure $next): string
    {
        $file = $this->locked();
        try {
            $status = fstat($file) ?: throw $this->unavailable('nothing is known about it');
            $size = $next($status['size'], "{$status['ino']}:{$status['size']}");
            if ($size !== $status['size'] && !ftruncate($file, max(0, $size))) {
                throw $this->unavailable('it cannot be written');
            }

            return "{$status['ino']}:{$size}";
        } finally {
            fclose($file);
        }
    }

    /**
     * @return resource
     *
     * @throws StoreUnavailable
     */
    private function locked(): mixed
    {
        $patience = hrtime(true) + (int) ($this->timeout * 1e9);
        while (true) {
            $isNew = !file_exists($this->path);
            $file = @fopen($this->path, 'c') ?: throw $this->unavailable('it cannot be opened');
            if ($isNew && \function_exists('posix_geteuid') && posix_geteuid() === 0) {
                // It belongs to whom the database belongs to.
                @chown($this->path, (int) fileowner(\dirname($this->path)));
                @chgrp($this->path, (int) filegroup(\dirname($this->path)));
            }
            while (!flock($file, \LOCK_EX | \LOCK_NB)) {
                if (hrtime(true) > $patience) {
                    fclose($file);

                    throw $this->unavailable('another process holds its lock for too long');
                }
                usleep(25);
            }
            clearstatcache(true, $this->path);
            $ours = fstat($file);
            $there = @stat($this->path);
            if ($ours !== false && $there !== false && $ours['ino'] === $there['ino']) {
                return $file;
            }
            // Somebody has removed it before we had its lock.
            fclose($file);
        }
    }

    /** An even size to begin with. */
    private static function first(): int
    {
        return 2 * random_int(1, 1 << 16);
    }

    private function unavailable(string $why): StoreUnavailable
    {
        return StoreUnavailable::because("The head of a log, \"{$this->path}\",", $why, 'see that its disk has room and PHP\'s user may write to it');
    }
}
