<?php

declare(strict_types=1);

namespace Larder\Bench\Subject;

use SQLite3;
use SQLite3Stmt;

/**
 * A cache in one table of SQLite, written plainly: what a site gets that keeps its cache in a database file.
 *
 * It has a write-ahead log, prepared statements, and an expiry that every read looks at. It never waits for the disk. The key
 * is the primary key of a table without row ids. SQLite maps nothing unless it is told to. Pages of 30 KB are read more than
 * twice as fast from a mapping, but many times slower where memory is short.
 */
final class SqliteTable
{
    /** As much of the file as is read from a mapping of it, in bytes. */
    private const MAPPED = 256 << 20;

    private readonly SQLite3 $database;
    private readonly SQLite3Stmt $select;
    private readonly SQLite3Stmt $replace;

    public function __construct(string $file, bool $isMapped = true)
    {
        $this->database = new SQLite3($file);
        $this->database->enableExceptions(true);
        $this->database->busyTimeout(5000);
        $this->database->exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA mmap_size = ' . ($isMapped ? self::MAPPED : 0));
        $this->database->exec('CREATE TABLE IF NOT EXISTS item (key TEXT PRIMARY KEY, value BLOB NOT NULL, expiry INTEGER) WITHOUT ROWID');
        $this->select = $this->prepare('SELECT value FROM item WHERE key = ? AND (expiry IS NULL OR expiry > unixepoch())');
        $this->replace = $this->prepare('REPLACE INTO item (key, value, expiry) VALUES (?, ?, NULL)');
    }

    /** @return string|null null when there is no such item */
    public function get(string $key): ?string
    {
        $this->select->bindValue(1, $key, SQLITE3_TEXT);
        $result = $this->select->execute();
        $row = $result === false ? false : $result->fetchArray(SQLITE3_NUM);
        $this->select->reset();

        return is_array($row) && is_string($row[0]) ? $row[0] : null;
    }

    public function set(string $key, string $value): void
    {
        $this->replace->bindValue(1, $key, SQLITE3_TEXT);
        $this->replace->bindValue(2, $value, SQLITE3_BLOB);
        $this->replace->execute();
        $this->replace->reset();
    }

    public function close(): void
    {
        $this->select->close();
        $this->replace->close();
        $this->database->close();
    }

    private function prepare(string $statement): SQLite3Stmt
    {
        $prepared = $this->database->prepare($statement);

        return $prepared === false ? throw new \RuntimeException("SQLite refused a statement ({$this->database->lastErrorMsg()}): use SQLite 3.38 or later.") : $prepared;
    }
}
