<?php

declare(strict_types=1);

namespace Larder\Store\Sqlite;

use Larder\Exception;
use Larder\Exception\StoreUnavailable;
use Larder\System\Process;

/**
 * The connections to one database, made when they are first needed, and anew after every failure.
 *
 * A process that only reads has a read-only connection. Closing it costs little, as it leaves the log where it is. The first write opens
 * another one for writing, which then serves the reads as well. The read-only one stays until the end, and keeps the log (see LogFile).
 *
 * In WAL mode readers never wait; writers wait for each other for at most the timeout.
 *
 * Each of its failures is one exception. Exceptions of other code meanwhile, such as a signal handler's, pass through unchanged.
 */
final class Database
{
    private const BUSY = 5;

    private const FULL = 13;

    /** Read-only, or cannot be opened: what a writer may still be able to read, as it can undo what a crash has left. */
    private const BEYOND_READERS = [8, 14];

    /** Bytes of the memory that connections share, at least. */
    private const SHARED = 32_768;

    /** The reserve of a database with a size: so many pages, or such a part of it if that is more. */
    private const RESERVE = 8;

    private const RESERVED_PART = 128;

    /** Milliseconds to wait for readers that still need the log. */
    private const LOG_TIMEOUT = 250;

    /** Microseconds until another try. */
    private const LOG_PAUSE = 500;

    /** SQLITE_OPEN_NOFOLLOW, which PHP has no name for: not even a link that is put there at this moment. */
    private const NO_LINKS = 0x0100_0000;

    /** After these no process can write: the file is read-only, damaged, full, no database. */
    private const TAKES_NOTHING = [8, 11, self::FULL, 26];

    /**
     * As extended codes: a write, a sync, a truncation, and shared memory that should have grown. A quota that is used up (EDQUOT)
     * and a limit on the size of files (EFBIG) are among these, as a full disk is ENOSPC alone to SQLite.
     */
    private const CANNOT_WRITE = [778, 1_034, 1_546, 4_874];

    private readonly LogFile $log;

    private ?\SQLite3 $reader = null;

    private ?\SQLite3 $writer = null;

    /** @var array<string, \SQLite3Stmt> of the writer, or of the reader while there is no writer */
    private array $statements = [];

    private int $process = 0;

    /** The path that the connections were opened by, without links in it. */
    private string $real = '';

    /** The number of the file that they were opened to, once it was there. */
    private ?int $file = null;

    private bool $isOpen = false;

    /** Whether the next connection is to have the database for itself (see alone()). */
    private bool $isAlone = false;

    /** SQLite's extended code for what has failed in a transaction, which leaves another one when it is rolled back, or when the connection was made. */
    private ?int $failure = null;

    /** Whether the writer has its limit, and the database all its triggers. */
    private bool $isReadyToWrite = false;

    /**
     * @param string                    $path    its directory must exist; the file belongs to its owner, also if root made it, and
     *                                           may be written into by those of its group who may write there
     * @param float                     $timeout seconds to wait for another writer
     * @param ?int                      $size    bytes at most; null: as many as there is room for
     * @param \Closure(): list<string>  $schema  statements that make what is not there yet
     * @param \Closure(): array<string> $added  those of them that make what a database of an earlier version lacks
     */
    public function __construct(
        public readonly string $path,
        private readonly float $timeout,
        private readonly ?int $size,
        private readonly \Closure $schema,
        private readonly \Closure $added,
    ) {
        $this->log = new LogFile($path, $size);
    }

    /**
     * Runs a prepared statement; strings are bound as blobs, which is what keys are.
     *
     * @return list<list<int|float|string|null>> the rows
     *
     * @throws \Exception
     */
    public function rows(string $sql, int|string|null ...$parameters): array
    {
        $result = $this->execute($this->connection(), $sql, $parameters);
        $rows = [];
        while (($row = $result->fetchArray(\SQLITE3_NUM)) !== false) {
            /** @var list<int|float|string|null> $row */
            $rows[] = $row;
        }
        $result->finalize();

        return $rows;
    }

    /**
     * Runs a prepared statement that changes something.
     *
     * @return int how many rows
     *
     * @phpstan-impure
     *
     * @throws \Exception
     */
    public function change(string $sql, int|string|null ...$parameters): int
    {
        $connection = $this->writable();
        $this->execute($connection, $sql, $parameters);

        return $connection->changes();
    }

    public function pragma(string $name): int
    {
        $value = $this->connection()->querySingle("PRAGMA {$name}");

        return \is_int($value) ? $value : 0;
    }

    /**
     * Does the work as one transaction, during which no other process writes.
     *
     * @template T
     *
     * @param \Closure(): T $work
     *
     * @return T
     *
     * @throws StoreUnavailable
     * @throws Full             the database has reached its size; nothing was changed
     */
    public function atomically(\Closure $work): mixed
    {
        if ($this->isOpen) {
            return $work();
        }

        return $this->attempt(function () use ($work): mixed {
            $this->failure = null;
            $connection = $this->writable();
            $this->execute($connection, 'BEGIN IMMEDIATE');
            $this->isOpen = true;
            try {
                $result = $work();
                $this->execute($connection, 'COMMIT');

                return $result;
            } catch (\Throwable $failure) {
                $this->failure = $this->writer?->lastExtendedErrorCode();
                $this->rollBack();

                throw $failure;
            } finally {
                $this->isOpen = false;
            }
        });
    }

    /**
     * As atomically(), but waits for no other writer.
     *
     * @param \Closure(): void $work
     *
     * @throws StoreUnavailable
     * @throws Full
     */
    public function atomicallyAtOnce(\Closure $work): void
    {
        $this->attempt(fn(): bool => $this->writer()->busyTimeout(0));
        try {
            $this->atomically($work);
        } finally {
            $this->writer?->busyTimeout($this->milliseconds());
        }
    }

    /** Whether the memory is there that connections share: then one may have the database open, and it can be opened without room. */
    public function isShared(): bool
    {
        $path = "{$this->path}-shm";
        clearstatcache(true, $path);

        return (int) @filesize($path) >= self::SHARED;
    }

    /**
     * As atomically(), with the database for this process alone: so it can be opened without the memory that connections share, a file
     * beside it that a full disk may have no room for.
     *
     * @template T
     *
     * @param \Closure(): T $work
     *
     * @return T
     *
     * @throws StoreUnavailable
     * @throws Full
     */
    public function alone(\Closure $work): mixed
    {
        $this->close();
        $this->isAlone = true;
        try {
            return $this->atomically($work);
        } finally {
            $this->close();
            $this->isAlone = false;
        }
    }

    /**
     * Does the work with what is kept of a database with a size, so that one that is full of items still has room for leases.
     *
     * @template T
     *
     * @param \Closure(): T $work
     *
     * @return T
     *
     * @throws StoreUnavailable
     * @throws Full
     */
    public function withReserve(\Closure $work): mixed
    {
        if ($this->size === null) {
            return $work();
        }
        $size = $this->size;
        $this->attempt(fn() => $this->limit($this->writable(), $size, true));
        try {
            return $work();
        } finally {
            $this->writer === null || $this->limit($this->writer, $size, false);
        }
    }

    /**
     * @template T
     *
     * @param \Closure(): T $work
     *
     * @return T
     *
     * @throws StoreUnavailable
     * @throws Full             the database has reached its size; the last statement changed nothing
     * @throws \Throwable       what is none of SQLite's
     */
    public function attempt(\Closure $work): mixed
    {
        if ($this->isOpen) {
            return $work();
        }
        // The exception of the last transaction may have been none of SQLite's.
        $this->failure = null;
        try {
            try {
                return $work();
            } catch (\Exception $failure) {
                if (!self::isOfSqlite($failure)) {
                    throw $failure;
                }
                if (str_contains($failure->getMessage(), 'no such table')) {
                    $this->install();
                } elseif ($this->isBeyondReaders()) {
                    $this->writer();
                } else {
                    throw $failure;
                }

                return $work();
            }
        } catch (Exception $mistake) {
            throw $mistake;
        } catch (\Throwable $failure) {
            if (!self::isOfSqlite($failure)) {
                // It may have come between a transaction's beginning and our knowing of it.
                $this->close();

                throw $failure;
            }
            $extended = $this->failure ?? $this->current()?->lastExtendedErrorCode() ?? 0;
            $code = $extended & 0xff;
            if ($code === self::FULL && $this->isAtItsSize()) {
                throw Full::at($this->path);
            }
            if ($code === self::FULL) {
                $this->emptyLog();
            }
            $this->close();

            throw StoreUnavailable::because("The SQLite database \"{$this->path}\"", $failure->getMessage(), match ($code) {
                5, 6 => 'another process holds its lock, raise the timeout if that is usual',
                10 => 'see that its disk works and that no quota is used up',
                11, 26 => 'the file is damaged or no database, move it away',
                self::FULL => 'free some space on its disk',
                default => 'see that PHP\'s user may write the file and its directory',
            }, $failure, takesNothing: \in_array($code, self::TAKES_NOTHING, true) || \in_array($extended, self::CANNOT_WRITE, true));
        }
    }

    /** Lets go of a database whose file is no longer the one of that name. */
    public function leaveIfReplaced(): void
    {
        if (!$this->isOpen && $this->isReplaced()) {
            $this->close();
        }
    }

    /** Whether the database that is open is no longer the file of that name: it was removed, or another put in its place. */
    public function isReplaced(): bool
    {
        if ($this->current() === null) {
            return false;
        }
        clearstatcache();
        $file = @fileinode($this->path);
        if ($this->file === null && $file !== false) {
            $this->file = $file;
        }

        return $file !== $this->file;
    }

    /**
     * Gives some free pages back to the file system.
     *
     * @return int how many are left
     */
    public function shrink(int $pages): int
    {
        $this->attempt(fn(): bool => $this->writer()->exec("PRAGMA incremental_vacuum({$pages})"));

        return (int) ($this->rows('PRAGMA freelist_count')[0][0] ?? 0);
    }

    /** PHP has a class for these from 8.3 on; before it only where they are thrown tells them from an application's own. */
    private static function isOfSqlite(\Throwable $failure): bool
    {
        return $failure instanceof \Exception
            && \in_array($failure->getTrace()[0]['class'] ?? '', [\SQLite3::class, \SQLite3Stmt::class, \SQLite3Result::class, self::class], true);
    }

    /** Or rather, near it: the pages of what did not fit are not counted. Else it is the disk that is full. */
    private function isAtItsSize(): bool
    {
        try {
            return $this->size !== null && $this->pragma('page_count') > $this->pragma('max_page_count') >> 1;
        } catch (\Exception) {
            return false;
        }
    }

    /**
     * Empties the log if it has grown too long. SQLite begins it anew only in a moment without readers, and under load
     * there is none; here readers are waited for, each of which has what is in the database by then. A process that brings over
     * a part of it after a write, as each does while it is long, is waited for too: SQLite gives up at once where one is at it.
     */
    public function keepLogShort(): void
    {
        $connection = $this->writer;
        if ($this->isOpen || $connection === null || !$this->log->isWorthALook()) {
            return;
        }
        $timeout = min(self::LOG_TIMEOUT, $this->milliseconds());
        for ($end = hrtime(true) + 1_000_000 * $timeout; $this->log->isTooLong();) {
            $connection->busyTimeout($timeout);
            if ($this->emptyLog() || hrtime(true) > $end) {
                break;
            }
            usleep(self::LOG_PAUSE);
        }
        $connection->busyTimeout($this->milliseconds());
    }

    /**
     * Brings what is in the log into the database, if that has the pages, and cuts the log off: the disk has some room then.
     *
     * @return bool false: it is as long as it was, because the disk is full, or others need it
     */
    private function emptyLog(): bool
    {
        try {
            return $this->writer?->querySingle('PRAGMA wal_checkpoint(TRUNCATE)') === 0;
        } catch (\Exception) {
            return false;
        }
    }

    private function rollBack(): void
    {
        try {
            $this->writer?->exec('ROLLBACK');
        } catch (\Exception) {
            // SQLite has done it by itself.
        }
    }

    /**
     * @param array<int|string|null> $parameters
     */
    private function execute(\SQLite3 $connection, string $sql, array $parameters = []): \SQLite3Result
    {
        $statement = $this->statements[$sql] ?? null;
        if ($statement === null) {
            $prepare = static fn(): \SQLite3Stmt => $connection->prepare($sql) ?: throw new \RuntimeException($connection->lastErrorMsg());
            // The first time, it looks into the file.
            $statement = $this->statements === [] ? $this->retryWhileBusy($connection, $prepare) : $prepare();
            $this->statements[$sql] = $statement;
        } else {
            $statement->reset();
        }
        $i = 0;
        foreach ($parameters as $parameter) {
            $statement->bindValue(++$i, $parameter, match (true) {
                \is_string($parameter) => \SQLITE3_BLOB,
                \is_int($parameter) => \SQLITE3_INTEGER,
                default => \SQLITE3_NULL,
            });
        }

        try {
            return $statement->execute() ?: throw new \RuntimeException($connection->lastErrorMsg());
        } catch (\Exception $failure) {
            // A statement that has failed says so once more when it is next prepared to run, which would then fail for nothing.
            unset($this->statements[$sql]);

            throw $failure;
        }
    }

    private function current(): ?\SQLite3
    {
        return $this->writer ?? $this->reader;
    }

    /** One to read by. */
    private function connection(): \SQLite3
    {
        $connection = $this->current();
        if ($connection !== null && $this->isOurs()) {
            return $connection;
        }
        if ($this->isAlone) {
            return $this->writer();
        }
        $this->begin();
        $this->reader = $this->opened(\SQLITE3_OPEN_READONLY);

        return $this->reader;
    }

    private function writer(): \SQLite3
    {
        if ($this->writer !== null && $this->isOurs()) {
            return $this->writer;
        }
        if ($this->reader === null || !$this->isOurs()) {
            $this->begin();
        }
        $this->statements = [];
        $writer = $this->opened(\SQLITE3_OPEN_READWRITE | \SQLITE3_OPEN_CREATE);
        try {
            // The first time that it looks into the file, which is when it takes it for itself if it is to.
            $this->isAlone && $writer->exec('PRAGMA locking_mode = EXCLUSIVE');
            $this->retryWhileBusy($writer, static fn(): bool => $writer->exec('PRAGMA synchronous = NORMAL'));
        } catch (\Exception $failure) {
            $this->failure = $writer->lastExtendedErrorCode();
            $writer->close();

            throw $failure;
        }
        $this->isReadyToWrite = false;

        return $this->writer = $writer;
    }

    /** Whether what is open was opened by this process. */
    private function isOurs(): bool
    {
        return $this->isOpen || $this->process === Process::id();
    }

    private function begin(): void
    {
        // SQLite believes that a process still has the locks its parent took. A connection that a fork took
        // along is closed before another is opened, so that the new one takes locks of its own.
        $this->close();
        $this->real = DatabaseFile::ready($this->path);
        $this->process = Process::id();
        $this->file = null;
    }

    private function opened(int $mode): \SQLite3
    {
        $connection = new \SQLite3($this->real, $mode | self::NO_LINKS);
        $connection->enableExceptions(true);
        $connection->busyTimeout($this->milliseconds());
        if ($this->file === null) {
            clearstatcache();
            $this->file = @fileinode($this->path) ?: null;
        }

        return $connection;
    }

    /** Whether a read-only connection has failed at what one for writing may do. */
    private function isBeyondReaders(): bool
    {
        return $this->writer === null && $this->failure === null && ($this->reader === null || \in_array($this->reader->lastErrorCode(), self::BEYOND_READERS, true));
    }

    /**
     * Makes the tables, which most connections find there, all in one moment: a table without the clock looks like one whose
     * clock was removed. Where several change the journal's mode at once, each reads before it writes, and SQLite does not let
     * one wait that holds what the other waits for: it says at once that the database is locked.
     */
    private function install(): void
    {
        // A reader of a database without a log has no lock by which it could keep one.
        $this->close();
        $connection = $this->writer();
        $this->retryWhileBusy($connection, fn() => $this->makeTables($connection));
    }

    /**
     * Does work during which SQLite does not wait for a lock: each of two would wait for what the other has.
     *
     * @template T
     *
     * @param \Closure(): T $work
     *
     * @return T
     *
     * @throws \Exception
     */
    private function retryWhileBusy(\SQLite3 $connection, \Closure $work): mixed
    {
        $end = hrtime(true) + (int) (1e9 * $this->timeout);
        for ($pause = 1_000; ; $pause = min(2 * $pause, 50_000)) {
            try {
                return $work();
            } catch (\Exception $failure) {
                if (!self::isOfSqlite($failure) || $connection->lastErrorCode() !== self::BUSY || hrtime(true) > $end) {
                    throw $failure;
                }
            }
            usleep($pause);
        }
    }

    private function makeTables(\SQLite3 $connection): void
    {
        $this->refuseOthers($connection);
        // Only a database without tables takes this up.
        $connection->exec('PRAGMA auto_vacuum = INCREMENTAL');
        $connection->exec('PRAGMA journal_mode = WAL');
        $connection->exec('BEGIN IMMEDIATE');
        try {
            foreach (($this->schema)() as $statement) {
                $connection->exec($statement);
            }
            $connection->exec('COMMIT');
        } catch (\Throwable $failure) {
            $this->failure = $connection->lastExtendedErrorCode();
            $this->rollBack();

            throw $failure;
        }
    }

    /** A database of another application would be changed for good, in its journal's mode if nothing else. */
    private function refuseOthers(\SQLite3 $connection): void
    {
        $others = $connection->querySingle("SELECT name FROM sqlite_master WHERE type = 'table' AND NOT EXISTS (SELECT 1 FROM sqlite_master WHERE name GLOB 'items:*' OR name GLOB 'clock:*') LIMIT 1");
        if (\is_string($others)) {
            throw StoreUnavailable::because("The SQLite database \"{$this->path}\"", \sprintf('it is another application\'s, with the table "%s"', addcslashes($others, "\0..\37\"\177..\377")), 'give the cache a file of its own');
        }
    }

    /** Those who only read need none of this. */
    private function writable(): \SQLite3
    {
        $connection = $this->writer();
        if (!$this->isReadyToWrite) {
            // Before the limit, as there has to be room for it in a full database, too.
            foreach (($this->added)() as $statement) {
                $connection->exec($statement);
            }
            if ($this->size !== null) {
                $page = max(512, $this->pragma('page_size'));
                $this->limit($connection, $this->size, false);
                $connection->exec("PRAGMA wal_autocheckpoint = {$this->log->pages($page)}");
            }
            $this->isReadyToWrite = true;
        }

        return $connection;
    }

    /** @param bool $isWhole whether what is kept for leases is part of it */
    private function limit(\SQLite3 $connection, int $size, bool $isWhole): void
    {
        $pages = intdiv($size - $this->log->most(), max(512, $this->pragma('page_size')));
        $connection->exec('PRAGMA max_page_count = ' . ($isWhole ? $pages : $pages - max(self::RESERVE, intdiv($pages, self::RESERVED_PART))));
    }

    /** The timeout in milliseconds. */
    private function milliseconds(): int
    {
        return (int) round($this->timeout * 1000);
    }

    private function close(): void
    {
        $this->statements = [];
        $this->writer?->close();
        $this->reader?->close();
        $this->writer = $this->reader = null;
    }

    /**
     * Closes the connections, the one for writing first: the other keeps it from being the last one, if the log may stay (see LogFile).
     *
     * @return bool false: SQLite may have removed what it has beside the database
     */
    private function leave(): bool
    {
        $mayStay = $this->log->mayStay();
        if ($mayStay) {
            $this->reader ??= $this->keeper();
        } elseif ($this->writer !== null || $this->log->isWorthALook()) {
            $this->letLogGo();
        }
        $stays = $mayStay && $this->reader !== null;
        $this->close();

        return $stays;
    }

    /** Has a connection for writing be the last one, if no other process has the database open. */
    private function letLogGo(): void
    {
        try {
            $this->writer();
        } catch (\Exception) {
            // The next one that writes will.
        }
        $this->statements = [];
        $this->reader?->close();
        $this->reader = null;
    }

    private function keeper(): ?\SQLite3
    {
        try {
            $keeper = new \SQLite3($this->real, \SQLITE3_OPEN_READONLY | self::NO_LINKS);
            $keeper->enableExceptions(true);
            // It has its lock from its first look on.
            $keeper->querySingle('PRAGMA user_version');

            return $keeper;
        } catch (\Exception) {
            return null;
        }
    }

    /** Whether this process has the database open, and that is still the file of its name. */
    private function isMine(): bool
    {
        clearstatcache(true, $this->path);

        return $this->current() !== null && $this->process === Process::id() && $this->file !== null && @fileinode($this->path) === $this->file;
    }

    /** Also where PHP ends a request; after a fatal error it frees the connection without this, which then takes the log along. */
    public function __destruct()
    {
        if (!$this->isMine()) {
            $this->close();
        } elseif (!$this->leave() && !$this->log->isThere()) {
            // Makes an empty log and the shared memory, while the disk has room for them: without these a full one could not be read.
            $this->keeper()?->close();
        }
    }
}
