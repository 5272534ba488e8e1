<?php

declare(strict_types=1);

namespace Larder\WordPress\Bench;

/** A row of SQLite for each key, with a log written ahead that waits for no disk; perhaps with APCu in front, which gets what is read and written. */
final class SqliteRows implements Store
{
    private readonly \SQLite3 $database;

    private readonly Bytes $bytes;

    /** @var array<string, \SQLite3Stmt> */
    private array $statements = [];

    /** @param ?ApcuKeys $front what is looked at first; null: nothing */
    public function __construct(string $file, private readonly ?ApcuKeys $front = null)
    {
        $isNew = !is_file($file);
        $this->database = new \SQLite3($file);
        $this->database->busyTimeout(5_000);
        $this->database->exec('PRAGMA synchronous = OFF');
        $this->database->exec('PRAGMA mmap_size = 33554432');
        if ($isNew) {
            $this->database->exec('PRAGMA journal_mode = WAL');
            $this->database->exec('CREATE TABLE IF NOT EXISTS cache (name TEXT NOT NULL PRIMARY KEY COLLATE BINARY, value BLOB NOT NULL, expires INT) WITHOUT ROWID');
        }
        $this->bytes = new Bytes();
    }

    public function read(string $group, array $keys): array
    {
        $values = $this->front === null ? [] : $this->front->read($group, $keys);
        $statement = $this->statement('SELECT value FROM cache WHERE name = ? AND expires > ?');
        foreach ($keys as $key) {
            if (\array_key_exists($key, $values)) {
                continue;
            }
            $statement->bindValue(1, "{$group}|{$key}");
            $statement->bindValue(2, time());
            $result = $statement->execute();
            $row = $result === false ? false : $result->fetchArray(\SQLITE3_NUM);
            if ($row !== false && \is_string($row[0])) {
                $values[$key] = $this->bytes->value($row[0]);
                $this->front?->write($group, [$key => $values[$key]], 0);
            }
            $statement->reset();
        }

        return $values;
    }

    public function write(string $group, array $values, int $seconds): void
    {
        if (\count($values) > 1) {
            $this->database->exec('BEGIN IMMEDIATE');
        }
        foreach ($values as $key => $value) {
            $this->put('INSERT INTO cache (name, value, expires) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value, expires = excluded.expires', $group, $key, $value, $seconds);
        }
        if (\count($values) > 1) {
            $this->database->exec('COMMIT');
        }
        $this->front?->write($group, $values, $seconds);
    }

    public function add(string $group, int|string $key, mixed $value, int $seconds): bool
    {
        $this->put('INSERT INTO cache (name, value, expires) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value, expires = excluded.expires WHERE expires <= ' . time(), $group, $key, $value, $seconds);
        if ($this->database->changes() === 0) {
            return false;
        }
        $this->front?->write($group, [$key => $value], $seconds);

        return true;
    }

    public function delete(string $group, array $keys): void
    {
        $statement = $this->statement('DELETE FROM cache WHERE name = ?');
        foreach ($keys as $key) {
            $statement->bindValue(1, "{$group}|{$key}");
            $statement->execute();
            $statement->reset();
        }
        $this->front?->delete($group, $keys);
    }

    public function clear(): void
    {
        $this->database->exec('DELETE FROM cache');
        $this->front?->clear();
    }

    private function put(string $sql, string $group, int|string $key, mixed $value, int $seconds): void
    {
        $statement = $this->statement($sql);
        $statement->bindValue(1, "{$group}|{$key}");
        $statement->bindValue(2, $this->bytes->of($value), \SQLITE3_BLOB);
        $statement->bindValue(3, $seconds === 0 ? \PHP_INT_MAX : time() + $seconds);
        $statement->execute();
        $statement->reset();
    }

    private function statement(string $sql): \SQLite3Stmt
    {
        return $this->statements[$sql] ??= $this->database->prepare($sql) ?: throw new \RuntimeException($this->database->lastErrorMsg());
    }
}
