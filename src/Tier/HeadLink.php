<?php

declare(strict_types=1);

namespace Larder\Tier;

use Larder\Exception\StoreUnavailable;

/**
 * A number beside a database, by which a request learns in one system call that nothing was written. It is the target of a
 * symbolic link, as reading that is the cheapest thing there is to read, and replacing it is atomic:
 *
 *     site.db-head-larder        -> 4711…
 *     site.db-head-larder.lock      held while it is replaced
 *
 * It is odd while a write is under way, and even and larger when that is over. A writer makes it odd inside its
 * transaction, before the commit, and even after it: if it is even and what it was, there was no commit. Only the last of
 * several writers makes it even. One that dies leaves it odd, which sends everyone to the database: slow, but right, until
 * the next writer is done or somebody repairs it while no transaction is open.
 *
 * A link that is not there, or is no number, counts as odd; a new one begins at a random number, so that no number ever
 * comes back.
 */
final class HeadLink
{
    /** Seconds after which an odd number is that of a writer that has died, or is stuck. */
    private const ABANDONED = 2;

    /** @param \Closure(): int $clock the time in Unix seconds */
    public function __construct(
        private readonly string $path,
        private readonly float $timeout,
        private readonly \Closure $clock,
    ) {}

    /** @return ?string the number, if it is even; null: a write is under way, or may be */
    public function read(): ?string
    {
        $target = @readlink($this->path);
        $number = $target === false ? null : self::number($target);

        return $target === false || $number === null || ($number & 1) === 1 ? null : $target;
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
        $status = @lstat($this->path);

        return $this->read() === null && ($status === false || $status['mtime'] < ($this->clock)() - self::ABANDONED);
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
        $lock = $this->locked();
        try {
            $target = @readlink($this->path);
            $number = $next($target === false ? null : self::number($target));
            if ($number !== null) {
                $this->replace((string) $number);
            }

            return $number;
        } finally {
            fclose($lock);
        }
    }

    /**
     * @return resource
     *
     * @throws StoreUnavailable
     */
    private function locked(): mixed
    {
        $path = "{$this->path}.lock";
        $isNew = !file_exists($path);
        $file = @fopen($path, 'c') ?: throw $this->unavailable('its lock cannot be opened');
        if ($isNew && \function_exists('posix_geteuid') && posix_geteuid() === 0) {
            // It belongs to whom the database belongs to.
            @chown($path, (int) fileowner(\dirname($path)));
            @chgrp($path, (int) filegroup(\dirname($path)));
        }
        $patience = hrtime(true) + (int) ($this->timeout * 1e9);
        while (!flock($file, \LOCK_EX | \LOCK_NB)) {
            if (hrtime(true) > $patience) {
                fclose($file);

                throw $this->unavailable('another process holds its lock for too long');
            }
            usleep(25);
        }

        return $file;
    }

    /** @throws StoreUnavailable */
    private function replace(string $number): void
    {
        $temporary = "{$this->path}." . bin2hex(random_bytes(8));
        if (!@symlink($number, $temporary) || !@rename($temporary, $this->path)) {
            @unlink($temporary);

            throw $this->unavailable('it cannot be replaced');
        }
    }

    /** An even one that nobody has seen. */
    private static function random(): int
    {
        return random_int(1 << 32, 1 << 60) & ~1;
    }

    /** @return ?int null: it is none */
    private static function number(string $target): ?int
    {
        return (string) (int) $target === $target && $target > 0 ? (int) $target : null;
    }

    private function unavailable(string $why): StoreUnavailable
    {
        return StoreUnavailable::because("The head of a log, \"{$this->path}\",", $why, 'see that its disk has room and PHP\'s user may write to its directory');
    }
}
