<?php

declare(strict_types=1);

namespace Larder\Store\Sqlite;

use Larder\Exception\StoreUnavailable;
use Larder\Lease\AddedLeases;
use Larder\Store\TagVersion;
use Larder\Store\Verdict;
use Larder\Token;

/** The rows of a prefix's tables, and whether each item is live. */
final class Rows
{
    /** SQLite's own limit on parameters is higher; a longer statement is not faster. */
    public const KEYS_AT_ONCE = 128;

    public readonly Notices $notices;

    /** The clock's, when it was last looked at. */
    private ?string $epoch = null;

    /** Selects one row, as most looks do. Kept, as its length makes it dear to put together and to find again. */
    private readonly string $one;

    /** @param \Closure(): int $clock the time in Unix seconds */
    public function __construct(
        private readonly Database $database,
        private readonly Schema $schema,
        private readonly \Closure $clock,
    ) {
        $this->notices = new Notices($database->path, $schema->prefix);
        $this->one = $this->selecting('?');
    }

    /** The present one. */
    public function epoch(): string
    {
        return $this->look([])[1]->epoch;
    }

    /** Whether a writer has to bring a notice into the tables first. If not, one can be given from now on. */
    public function haveNotice(): bool
    {
        $epoch = $this->epoch ?? $this->epoch();
        if ($this->notices->areThere($epoch)) {
            return true;
        }
        $this->notices->prepare($epoch);

        return false;
    }

    /**
     * Has a notice say that something is dead. Called in a transaction.
     *
     * @throws StoreUnavailable
     */
    public function give(Reach $reach): null
    {
        $this->notices->give($this->epoch(), $reach);

        return null;
    }

    /**
     * The rows of the keys, and the token of this moment.
     *
     * @param list<string> $keys at most KEYS_AT_ONCE
     *
     * @return array{array<array-key, Row>, Token}
     */
    public function look(array $keys): array
    {
        // An empty list would be compared with every item: SQLite has no index for nothing.
        $sql = match (\count($keys)) {
            0 => $this->selecting('NULL'),
            1 => $this->one,
            default => $this->selecting(implode(',', array_fill(0, \count($keys), '?'))),
        };
        $found = $this->database->attempt(fn(): array => $this->database->rows($sql, ...$keys));
        $rows = [];
        $now = null;
        foreach ($found as $columns) {
            if ($columns[0] === 1) {
                $now = $columns;
            } else {
                $rows[(string) $columns[1]] = new Row($columns[1], $columns[2], $columns[3], $columns[4], $columns[5], $columns[6]);
            }
        }
        if ($now === null) {
            $this->restart();

            return $this->look($keys);
        }
        [, $epoch, $tick, $invalidated] = $now;
        $this->epoch = $epoch = (string) $epoch;
        $this->judge($rows, $epoch, (int) $invalidated);

        return [$rows, new Token($epoch, (int) $tick)];
    }

    /**
     * One row, if it and the clock alone tell that its item lives, as they mostly do. To make a Row of each takes half as long as SQLite does to
     * find it.
     *
     * @param ?Token $missed is set where there is no row: the token of this moment
     *
     * @return ?array{int|string, ?int, int, ?string, string} what is in the columns of value, expiry, version and tags, and the mark if that lies
     *                                                        apart; null: look() has to tell, unless there is no row
     */
    public function plain(string $key, ?Token &$missed = null): ?array
    {
        $found = $this->database->attempt(fn(): array => $this->database->rows($this->one, $key));
        if (!isset($found[0]) || $found[0][0] !== 1) {
            return null;
        }
        $this->epoch = $epoch = (string) $found[0][1];
        if (!isset($found[1])) {
            $missed = new Token($epoch, (int) $found[0][2]);

            return null;
        }
        [, , $expiry, $version, , $tags, $value] = $found[1];
        $mark = '';
        if (\is_string($tags) && str_starts_with($tags, Row::APART)) {
            [$mark, $tags] = Row::unpacked($tags);
        }
        if (
            ($expiry !== null && $expiry <= ($this->clock)())
            || ($tags !== null && (!\is_string($tags) || $version < $found[0][3]))
            || $this->notices->areThere($epoch)
        ) {
            return null;
        }

        return $value === null || \is_float($value) ? null : [$value, $expiry === null ? null : (int) $expiry, (int) $version, $tags, $mark];
    }

    /** The clock comes first: PHP runs a statement up to its first row to see whether it is right, and then all of it. */
    private function selecting(string $marks): string
    {
        return "SELECT 1, epoch, tick, invalidated, NULL, NULL, NULL FROM {$this->schema->clock} WHERE id = 1"
            . " UNION ALL SELECT 0, key, expiry, version, key_version, tags, value FROM {$this->schema->items} WHERE key IN ({$marks})";
    }

    /**
     * The clock was removed: nothing can be judged that was there before. What came after a new clock stays,
     * leases among it, if another process has made one since this one looked.
     */
    public function restart(): void
    {
        $this->database->atomically(function (): null {
            if ($this->database->rows("SELECT 1 FROM {$this->schema->clock} WHERE id = 1") === []) {
                $this->removeAll();
                $this->database->change($this->schema->start());
            }

            return null;
        });
    }

    /** Within a transaction that sees to the floors. */
    public function removeAll(): void
    {
        $floors = $this->schema->floors();
        // A table that has such a trigger is emptied row by row, which takes four times as long.
        foreach (array_keys($floors) as $trigger) {
            $this->database->change("DROP TRIGGER IF EXISTS {$trigger}");
        }
        foreach ([$this->schema->items, $this->schema->tags] as $table) {
            $this->database->change("DELETE FROM {$table}");
        }
        foreach ($floors as $statement) {
            $this->database->change($statement);
        }
    }

    /** As removeAll(), but a process that has a lease keeps it. */
    public function removeAllButLeases(): void
    {
        $first = AddedLeases::prefix();
        $leases = $this->database->rows(
            "SELECT key, value, expiry, tags, version, key_version FROM {$this->schema->items} WHERE key >= ? AND key < ? AND value IS NOT NULL AND expiry > ?",
            $first,
            substr($first, 0, -1) . \chr(\ord($first[-1]) + 1),
            ($this->clock)(),
        );
        $this->removeAll();
        foreach ($leases as $lease) {
            $this->database->change(
                "INSERT INTO {$this->schema->items} (key, value, expiry, tags, version, key_version) VALUES (?, ?, ?, ?, ?, ?)",
                ...array_map(static fn(int|float|string|null $column): int|string|null => \is_float($column) ? (int) $column : $column, $lease),
            );
        }
    }

    /**
     * Rows in the order of their keys, without their values.
     *
     * @return list<Row>
     */
    public function after(string $key, int $limit, string $prefix = ''): array
    {
        $found = $this->database->attempt(fn(): array => $this->database->rows(
            "SELECT c.epoch, c.invalidated, key, expiry, version, key_version, tags, CASE WHEN value IS NULL THEN NULL ELSE length(value) END"
            . " FROM {$this->schema->items} JOIN {$this->schema->clock} c ON c.id = 1"
            . ' WHERE key > ? AND key >= ? AND substr(key, 1, ?) = ? ORDER BY key LIMIT ?',
            $key,
            $prefix,
            \strlen($prefix),
            $prefix,
            $limit,
        ));
        $rows = array_map(static fn(array $columns): Row => new Row(...\array_slice($columns, 2)), $found);
        $this->judge($rows, (string) ($found[0][0] ?? ''), (int) ($found[0][1] ?? 0));

        return $rows;
    }

    /**
     * @param array<array-key, Row> $rows
     * @param string                $epoch       and
     * @param int                   $invalidated of the clock when the rows were read
     */
    private function judge(array $rows, string $epoch, int $invalidated): void
    {
        if ($rows === []) {
            return;
        }
        $now = ($this->clock)();
        $tags = [];
        $notice = $this->notices->areThere($epoch) ? $this->notices->read($epoch) : null;
        foreach ($rows as $row) {
            $isOver = $row->expiry !== null && $row->expiry <= $now;
            $isDead = $row->value === null || $isOver || $notice?->kills($row->key, $row->tags !== []) === true;
            $row->verdict = $isDead ? Verdict::Dead : Verdict::Live;
            $row->isTombstone = $row->value === null && !$isOver;
            $row->isLongDead = $isOver && ($row->value === null || $row->expiry <= $now - Row::LINGERS);
            if ($row->verdict === Verdict::Live && $row->version < $invalidated) {
                array_push($tags, ...$row->tags);
            }
        }
        if ($tags === []) {
            return;
        }
        $versions = $this->tagVersions($tags, $epoch);
        foreach ($rows as $row) {
            if ($row->verdict === Verdict::Live && $row->version < $invalidated) {
                foreach ($row->tags as $tag) {
                    $row->verdict = $row->verdict->and($versions[$tag]->verdict($row->version, $now));
                }
            }
        }
    }

    /**
     * @param list<string> $tags
     *
     * @return array<array-key, TagVersion> for each of them; if the epoch is over, such that nothing lives
     */
    public function tagVersions(array $tags, string $epoch): array
    {
        $tags = array_map(strval(...), array_keys(array_fill_keys($tags, true)));

        return $this->database->attempt(function () use ($tags, $epoch): array {
            $versions = array_fill_keys($tags, new TagVersion(\PHP_INT_MAX));
            foreach (array_chunk($tags, self::KEYS_AT_ONCE) as $chunk) {
                // The floor goes with what it stands for: in between, another process might clear.
                $marks = implode(',', array_fill(0, \count($chunk), '?'));
                $rows = $this->database->rows(
                    "SELECT c.tag_floor, t.tag, t.dead, t.stale, t.until FROM {$this->schema->clock} c"
                    . " LEFT JOIN {$this->schema->tags} t ON t.tag IN ({$marks}) WHERE c.id = 1 AND c.epoch = ?",
                    ...$chunk,
                    ...[$epoch],
                );
                if ($rows !== []) {
                    $versions = array_replace($versions, array_fill_keys($chunk, new TagVersion((int) $rows[0][0])));
                }
                foreach ($rows as [, $tag, $dead, $stale, $until]) {
                    if ($tag !== null) {
                        $versions[(string) $tag] = new TagVersion((int) $dead, (int) $stale, (int) $until);
                    }
                }
            }

            return $versions;
        });
    }

    /** @throws StoreUnavailable */
    public function live(string $key): ?Row
    {
        $row = $this->look([$key])[0][$key] ?? null;

        return $row?->verdict === Verdict::Live ? $row : null;
    }
}
