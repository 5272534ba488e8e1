<?php

declare(strict_types=1);

namespace Larder\Bench\Subject;

use Larder\Store\Sqlite\Schema;
use SQLite3;
use SQLite3Stmt;

/**
 * The tables of Larder\Cache over SQLite, with its columns, triggers and settings, read and written by two prepared statements.
 * The library's own work is compared with it. It judges nothing, neither tags nor fills in flight.
 */
final class SqliteRows
{
    private const TTL = 3_600;

    private readonly SQLite3 $database;
    private readonly SQLite3Stmt $select;
    private readonly SQLite3Stmt $insert;

    public function __construct(string $file)
    {
        $schema = new Schema('larder');
        $this->database = new SQLite3($file);
        $this->database->enableExceptions(true);
        $this->database->busyTimeout(1000);
        $this->database->exec('PRAGMA synchronous = NORMAL; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL');
        foreach ($schema->statements() as $statement) {
            $this->database->exec($statement);
        }
        $this->select = $this->prepare("SELECT value, expiry, version, key_version, tags FROM {$schema->items} WHERE key = ?");
        $this->insert = $this->prepare(
            "INSERT INTO {$schema->items} (key, value, expiry, tags, version, key_version) SELECT ?, ?, ?, NULL, tick + 1, tick + 1 FROM {$schema->clock} WHERE id = 1"
            . ' ON CONFLICT (key) DO UPDATE SET value = excluded.value, expiry = excluded.expiry, tags = excluded.tags, version = excluded.version, key_version = excluded.key_version',
        );
    }

    /** @return string|null null when there is no such item */
    public function get(string $key): ?string
    {
        $this->select->bindValue(1, $key, SQLITE3_BLOB);
        $result = $this->select->execute();
        $row = $result === false ? false : $result->fetchArray(SQLITE3_NUM);
        $this->select->reset();

        return is_array($row) && is_string($row[0]) && $row[1] > time() ? $row[0] : null;
    }

    public function set(string $key, string $value): void
    {
        $this->insert->bindValue(1, $key, SQLITE3_BLOB);
        $this->insert->bindValue(2, $value, SQLITE3_BLOB);
        $this->insert->bindValue(3, time() + self::TTL, SQLITE3_INTEGER);
        $this->insert->execute();
        $this->insert->reset();
    }

    public function close(): void
    {
        $this->select->close();
        $this->insert->close();
        $this->database->close();
    }

    private function prepare(string $statement): SQLite3Stmt
    {
        $prepared = $this->database->prepare($statement);

        return $prepared === false ? throw new \RuntimeException("SQLite refused a statement ({$this->database->lastErrorMsg()}): use SQLite 3.24 or later.") : $prepared;
    }
}
