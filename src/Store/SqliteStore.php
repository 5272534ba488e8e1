<?php

declare(strict_types=1);

namespace Larder\Store;

use Larder\Capability;
use Larder\Dsn;
use Larder\Exception;
use Larder\Exception\ExtensionMissing;
use Larder\Exception\InvalidOption;
use Larder\Exception\StoreUnavailable;
use Larder\Exception\UnsupportedOperation;
use Larder\Fetched;
use Larder\Item;
use Larder\SaveMode;
use Larder\Serializer\Payload;
use Larder\Serializer\PhpSerializer;
use Larder\Store;
use Larder\StoreStatistics;
use Larder\Token;
use Larder\Ttl;

/**
 * Items in an SQLite database: one machine, durable, no server.
 *
 * In WAL mode readers never wait; writers wait for each other for at most the timeout, after which the store
 * is unavailable for this one call. Each prefix has a table of its own, so that a clear touches no other.
 * A counter is an SQLite integer, everything else a payload.
 *
 * The file belongs to whoever owns its directory, also if root made it.
 */
final class SqliteStore implements Store
{
    /** SQLite's own limit on parameters is higher; a longer statement is not faster. */
    private const KEYS_AT_ONCE = 128;

    private const PRUNED_AT_ONCE = 1_000;

    /** Pages given back to the file system by a prune; 4 KB each. */
    private const PAGES_AT_ONCE = 1_000;

    private readonly string $table;

    private readonly Token $token;

    private readonly \stdClass $foreign;

    private ?\SQLite3 $database = null;

    /** @var array<string, \SQLite3Stmt> */
    private array $statements = [];

    private int $process = 0;

    /** @var \Closure(): int */
    private readonly \Closure $clock;

    /**
     * @param string           $path    of the database; its directory must exist
     * @param float            $timeout seconds to wait for another writer
     * @param ?\Closure(): int $clock   the time in Unix seconds; for tests that cannot wait
     *
     * @throws Exception
     */
    public function __construct(
        private readonly string $path,
        string $prefix = Prefix::DEFAULT,
        private readonly Payload $payload = new Payload(new PhpSerializer()),
        private readonly float $timeout = 1.0,
        ?\Closure $clock = null,
    ) {
        $this->table = '"' . rtrim(Prefix::check($prefix), ':') . '"';
        if (!\extension_loaded('sqlite3')) {
            throw ExtensionMissing::of('SqliteStore', 'sqlite3');
        }
        if (!is_dir(\dirname($path))) {
            throw InvalidOption::directory(\dirname($path), 'does not exist', 'create it, or name another place for the database');
        }
        if (is_dir($path)) {
            throw InvalidOption::directory($path, 'stands where the database should be', 'name a file in it');
        }
        $this->token = new Token('', 0);
        $this->foreign = new \stdClass();
        $this->clock = $clock ?? time(...);
    }

    /** Options: prefix, serializer (auto, igbinary, php), timeout (seconds to wait for another writer). */
    public static function fromDsn(Dsn $dsn): self
    {
        $dsn->allow('prefix', 'serializer', 'timeout');

        return new self(
            $dsn->absolutePath(),
            $dsn->text('prefix', Prefix::DEFAULT),
            Payload::named($dsn->text('serializer', 'auto')),
            $dsn->seconds('timeout', 1.0),
        );
    }

    public function fetch(array $keys): Fetched
    {
        $found = [];
        $now = ($this->clock)();
        foreach (array_chunk($keys, self::KEYS_AT_ONCE) as $chunk) {
            $this->attempt(function () use ($chunk, $now, &$found): void {
                $marks = implode(',', array_fill(0, \count($chunk), '?'));
                $result = $this->run(
                    "SELECT key, value, expiry FROM {$this->table} WHERE key IN ({$marks})",
                    ...$chunk,
                );
                while (($row = $result->fetchArray(\SQLITE3_NUM)) !== false) {
                    [$key, $stored, $expiry] = $row;
                    if (!\is_string($key) || (\is_int($expiry) && $expiry <= $now)) {
                        continue;
                    }
                    $value = $this->decoded($stored);
                    if ($value !== $this->foreign) {
                        $found[$key] = Item::found($key, $value, \is_int($expiry) ? $expiry : null);
                    }
                }
                $result->finalize();
            });
        }
        $items = $tokens = [];
        foreach ($keys as $key) {
            if (isset($found[$key])) {
                $items[$key] = $found[$key];
            } else {
                $tokens[$key] = $this->token;
            }
        }

        return new Fetched($items, $tokens);
    }

    public function save(array $items, SaveMode $mode = SaveMode::Set): array
    {
        $now = ($this->clock)();
        $stored = [];
        foreach ($items as $item) {
            if ($item->tags !== []) {
                throw UnsupportedOperation::by('SqliteStore', Capability::Tags);
            }
            $stored[] = \is_int($item->value) ? $item->value : $this->payload->encode($item->key, $item->value);
        }

        return $this->transaction(\count($items) > 1, function () use ($items, $mode, $now, $stored): array {
            $unsaved = [];
            foreach ($items as $i => $item) {
                $saved = $item->ttl !== null && $item->ttl <= 0
                    ? $this->saveDead($item->key, $mode, $now)
                    : $this->saveLive($item->key, $stored[$i], Ttl::expiry($item->ttl, $now), $mode, $now);
                if (!$saved) {
                    $unsaved[] = $item->key;
                }
            }

            return $unsaved;
        });
    }

    public function delete(array $keys, ?Token $token = null): array
    {
        $now = ($this->clock)();

        return $this->transaction(\count($keys) > 1, function () use ($keys, $now): array {
            $existed = [];
            foreach ($keys as $key) {
                if ($this->deleteOne($key, $now)) {
                    $existed[] = $key;
                }
            }

            return $existed;
        });
    }

    public function increment(string $key, int $by = 1, int $initial = 0, ?int $ttl = null): int
    {
        $now = ($this->clock)();

        return $this->transaction(true, function () use ($key, $by, $initial, $ttl, $now): int {
            $result = $this->run(
                "SELECT value FROM {$this->table} WHERE key = ? AND (expiry IS NULL OR expiry > ?)",
                $key,
                $now,
            );
            $row = $result->fetchArray(\SQLITE3_NUM);
            $result->finalize();
            $value = $row === false ? $this->foreign : $this->decoded($row[0]);
            if ($value !== $this->foreign) {
                $sum = Counter::sum($key, $value, $by);
                $this->run("UPDATE {$this->table} SET value = ? WHERE key = ?", $sum, $key);

                return $sum;
            }
            $sum = Counter::sum($key, $initial, $by);
            if ($ttl === null || $ttl > 0) {
                $this->saveLive($key, $sum, Ttl::expiry($ttl, $now), SaveMode::Set, $now);
            }

            return $sum;
        });
    }

    public function touch(array $keys, ?int $ttl): array
    {
        if ($ttl !== null && $ttl <= 0) {
            return $this->delete($keys);
        }
        $now = ($this->clock)();

        return $this->transaction(\count($keys) > 1, function () use ($keys, $ttl, $now): array {
            $touched = [];
            foreach ($keys as $key) {
                $this->run(
                    "UPDATE {$this->table} SET expiry = ? WHERE key = ? AND (expiry IS NULL OR expiry > ?)",
                    Ttl::expiry($ttl, $now),
                    $key,
                    $now,
                );
                if ($this->database?->changes() === 1) {
                    $touched[] = $key;
                }
            }

            return $touched;
        });
    }

    public function invalidateTags(array $tags): void
    {
        throw UnsupportedOperation::by('SqliteStore', Capability::Tags);
    }

    public function clear(): void
    {
        $this->attempt(fn(): \SQLite3Result => $this->run("DELETE FROM {$this->table}"));
        $this->attempt(fn(): null => $this->shrink());
    }

    public function prune(): int
    {
        $removed = $this->attempt(function (): int {
            $this->run(
                "DELETE FROM {$this->table} WHERE key IN (SELECT key FROM {$this->table} WHERE expiry <= ? LIMIT ?)",
                ($this->clock)(),
                self::PRUNED_AT_ONCE,
            );

            return $this->database?->changes() ?? 0;
        });
        $this->attempt(fn(): null => $this->shrink());

        return $removed;
    }

    public function keys(string $prefix = ''): iterable
    {
        return $this->attempt(function () use ($prefix): array {
            $result = $this->run(
                "SELECT key FROM {$this->table} WHERE key >= ? AND substr(key, 1, ?) = ? AND (expiry IS NULL OR expiry > ?)",
                $prefix,
                \strlen($prefix),
                $prefix,
                ($this->clock)(),
            );
            $keys = [];
            while (($row = $result->fetchArray(\SQLITE3_NUM)) !== false) {
                if (\is_string($row[0])) {
                    $keys[] = $row[0];
                }
            }
            $result->finalize();

            return $keys;
        });
    }

    public function statistics(): StoreStatistics
    {
        return $this->attempt(function (): StoreStatistics {
            $result = $this->run("SELECT count(*) FROM {$this->table}");
            $row = $result->fetchArray(\SQLITE3_NUM);
            $result->finalize();

            return new StoreStatistics(
                items: \is_array($row) && \is_int($row[0]) ? $row[0] : null,
                bytes: $this->pragma('page_count') * $this->pragma('page_size'),
                details: ['free pages' => $this->pragma('freelist_count'), 'page size' => $this->pragma('page_size')],
            );
        });
    }

    public function capabilities(): array
    {
        return [Capability::Keys, Capability::Sharing, Capability::Durability];
    }

    private function decoded(mixed $stored): mixed
    {
        return match (true) {
            \is_int($stored) => $stored,
            \is_string($stored) => $this->payload->decode($stored, $this->foreign),
            default => $this->foreign,
        };
    }

    private function saveLive(string $key, int|string $value, ?int $expiry, SaveMode $mode, int $now): bool
    {
        $upsert = "INSERT INTO {$this->table} (key, value, expiry) VALUES (?, ?, ?)"
            . ' ON CONFLICT (key) DO UPDATE SET value = excluded.value, expiry = excluded.expiry';
        if ($mode === SaveMode::Set) {
            $this->run($upsert, $key, $value, $expiry);

            return true;
        }
        if ($mode === SaveMode::Add) {
            $this->run("{$upsert} WHERE expiry <= ?", $key, $value, $expiry, $now);
        } else {
            $this->run(
                "UPDATE {$this->table} SET value = ?, expiry = ? WHERE key = ? AND (expiry IS NULL OR expiry > ?)",
                $value,
                $expiry,
                $key,
                $now,
            );
        }

        return $this->database?->changes() === 1;
    }

    private function saveDead(string $key, SaveMode $mode, int $now): bool
    {
        if ($mode !== SaveMode::Add) {
            return $this->deleteOne($key, $now) || $mode === SaveMode::Set;
        }
        $result = $this->run("SELECT 1 FROM {$this->table} WHERE key = ? AND (expiry IS NULL OR expiry > ?)", $key, $now);
        $row = $result->fetchArray(\SQLITE3_NUM);
        $result->finalize();

        return $row === false;
    }

    private function deleteOne(string $key, int $now): bool
    {
        $this->run("DELETE FROM {$this->table} WHERE key = ? AND (expiry IS NULL OR expiry > ?)", $key, $now);

        return $this->database?->changes() === 1;
    }

    /** Gives some free pages back to the file system. */
    private function shrink(): null
    {
        $this->database()->exec('PRAGMA incremental_vacuum(' . self::PAGES_AT_ONCE . ')');

        return null;
    }

    private function pragma(string $name): int
    {
        $value = $this->database()->querySingle("PRAGMA {$name}");

        return \is_int($value) ? $value : 0;
    }

    /**
     * Runs a prepared statement; strings are bound as blobs, which is what keys are.
     */
    private function run(string $sql, int|string|null ...$parameters): \SQLite3Result
    {
        $database = $this->database();
        $statement = $this->statements[$sql] ?? null;
        if ($statement === null) {
            $statement = $database->prepare($sql) ?: throw new \RuntimeException($database->lastErrorMsg());
            $this->statements[$sql] = $statement;
        } else {
            $statement->reset();
        }
        foreach ($parameters as $i => $parameter) {
            $statement->bindValue((int) $i + 1, $parameter, match (true) {
                $parameter === null => \SQLITE3_NULL,
                \is_int($parameter) => \SQLITE3_INTEGER,
                default => \SQLITE3_BLOB,
            });
        }

        return $statement->execute() ?: throw new \RuntimeException($database->lastErrorMsg());
    }

    /**
     * @template T
     *
     * @param \Closure(): T $work
     *
     * @return T
     */
    private function transaction(bool $needed, \Closure $work): mixed
    {
        if (!$needed) {
            return $this->attempt($work);
        }

        return $this->attempt(function () use ($work): mixed {
            $this->run('BEGIN IMMEDIATE');
            try {
                $result = $work();
            } catch (Exception $mistake) {
                $this->run('ROLLBACK');

                throw $mistake;
            }
            $this->run('COMMIT');

            return $result;
        });
    }

    /**
     * Whatever goes wrong in the database is one exception, and the next call begins with a new connection.
     *
     * @template T
     *
     * @param \Closure(): T $work
     *
     * @return T
     *
     * @throws StoreUnavailable
     */
    private function attempt(\Closure $work): mixed
    {
        try {
            return $work();
        } catch (Exception $mistake) {
            throw $mistake;
        } catch (\Exception $failure) {
            $code = $this->database?->lastErrorCode() ?? 0;
            $this->statements = [];
            $this->database = null;

            throw StoreUnavailable::because("The SQLite database \"{$this->path}\"", $failure->getMessage(), match ($code) {
                5, 6 => 'another process holds its lock, raise the timeout if that is usual',
                11, 26 => 'the file is damaged or no database, move it away',
                13 => 'free some space on its disk',
                default => 'see that PHP\'s user may write the file and its directory',
            }, $failure);
        }
    }

    private function database(): \SQLite3
    {
        if ($this->database !== null && $this->process === getmypid()) {
            return $this->database;
        }
        // SQLite believes that a process still has the locks its parent took. A connection that a fork took
        // along is closed before another is opened, so that the new one takes locks of its own.
        $this->statements = [];
        $this->database?->close();
        $this->database = null;
        $isNew = !file_exists($this->path);
        $database = new \SQLite3($this->path);
        $database->enableExceptions(true);
        $database->busyTimeout((int) round($this->timeout * 1000));
        if ($isNew && \function_exists('posix_geteuid') && posix_geteuid() === 0) {
            $directory = \dirname($this->path);
            @chown($this->path, (int) fileowner($directory));
            @chgrp($this->path, (int) filegroup($directory));
        }
        // Only a database without tables takes this up.
        $database->exec('PRAGMA auto_vacuum = INCREMENTAL');
        $database->exec('PRAGMA journal_mode = WAL');
        $database->exec('PRAGMA synchronous = NORMAL');
        $database->exec("CREATE TABLE IF NOT EXISTS {$this->table} (key BLOB NOT NULL PRIMARY KEY, value NOT NULL, expiry INTEGER) WITHOUT ROWID");
        $index = '"' . trim($this->table, '"') . '-expiry"';
        $database->exec("CREATE INDEX IF NOT EXISTS {$index} ON {$this->table} (expiry) WHERE expiry IS NOT NULL");
        $this->process = (int) getmypid();

        return $this->database = $database;
    }
}
