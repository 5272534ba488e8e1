<?php

declare(strict_types=1);

namespace Larder\Store\Sqlite;

/**
 * SQLite's write-ahead log beside a database: how long it may grow, and when it may stay there.
 *
 * The last connection that closes brings the log into the database, waits for the disk, and removes the log. The next write makes
 * another log, and waits again. So a request that is alone with its database waits four times, for milliseconds. SQLite has a
 * setting against it, which PHP does not pass on. But a connection that brings the log over first locks the database's file for
 * itself alone. A read-only connection cannot: the kernel gives no lock for writing through a descriptor that is not open for
 * writing. So where the log is short, a read-only connection is opened before the others close, and closed after them. Until then
 * it holds the lock that every reader of the database has. That keeps the others from being the last.
 *
 * A longer log is removed, and an empty one is made at once. A disk may fill up while no process has the database open. The database
 * can still be read then, as the shared memory for that is there.
 *
 * The log is left as a killed process would leave it. The next process to open the database reads it through and goes on with it,
 * which is why it has to be short. No process waits for the disk then, as where other processes have the database open. A power
 * cut takes writes that the system has not yet written by itself, and never more than the end of the log.
 */
final class LogFile
{
    /** The size that it may grow to beside a database without one; bytes. */
    private const MOST = 16 << 20;

    /** Of a database with a size, what part of that it may grow to. */
    private const PART = 8;

    /** Of a small one a greater part, up to so many bytes: a short log is brought over often, and each time waits for the disk. */
    private const PART_IF_SMALL = 4;
    private const SMALL = 256 << 10;

    /** Bytes up to which it stays when the last connection closes; to read them through takes as long as to open the database. */
    private const SHORT = 256 << 10;

    /** SQLite brings it into the database after three quarters of what it may grow to, and after so many pages at most. */
    private const MOST_PAGES = 1_000;

    /** About as often as this a write looks how long it is, unless it was long the last time. */
    private const WRITES_PER_LOOK = 17;

    private readonly string $path;

    private bool $wasLong = false;

    /**
     * @param string $database its path
     * @param ?int   $size     bytes that the database grows to at most, with its log
     */
    public function __construct(
        string $database,
        private readonly ?int $size,
    ) {
        $this->path = "{$database}-wal";
    }

    /** Bytes that it may have. */
    public function most(): int
    {
        return $this->size === null ? self::MOST : max(min(self::SMALL, intdiv($this->size, self::PART_IF_SMALL)), intdiv($this->size, self::PART));
    }

    public function isWorthALook(): bool
    {
        // The clock's last digits are dice enough; random_int() would be a system call more.
        return $this->wasLong || hrtime(true) % self::WRITES_PER_LOOK === 0;
    }

    public function isTooLong(): bool
    {
        $length = (int) $this->length();
        $this->wasLong = 2 * $length > $this->most();

        return $length > $this->most();
    }

    public function isThere(): bool
    {
        return $this->length() !== null;
    }

    /** Whether it is there, and so short that it costs the next process little. */
    public function mayStay(): bool
    {
        $length = $this->length();

        return $length !== null && $length <= min(self::SHORT, $this->most());
    }

    /** After how many pages SQLite is to bring it into the database. */
    public function pages(int $pageSize): int
    {
        return min(self::MOST_PAGES, intdiv(3 * $this->most(), 4 * $pageSize));
    }

    /** @return ?int bytes; null: there is none */
    private function length(): ?int
    {
        clearstatcache(true, $this->path);
        $length = @filesize($this->path);

        return $length === false ? null : $length;
    }
}
