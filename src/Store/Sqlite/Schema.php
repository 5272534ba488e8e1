<?php

declare(strict_types=1);

namespace Larder\Store\Sqlite;

/**
 * The tables of one prefix. No prefix has a colon in it, so that two never share a table.
 *
 *     items   key, value (an integer for a counter, a payload for the rest; null: a tombstone), expiry,
 *             version (when the computation of the value began), key version (when the key was last written or deleted),
 *             tags (packed; null: none; those of a large value are behind a zero byte and its payload's first byte)
 *     tags    tag, and its version: dead, stale, until (see TagVersion)
 *     clock   one row: epoch, tick; key_version_floor and tag_floor, which stand for what is not in the other tables;
 *             invalidated (the last tick at which a tag was); hand (the key up to which an eviction has come)
 *     log     the events that near stores follow (see SqliteLog); empty but for its beginning where there are none
 *
 * A statement that writes an item gives it the tick after the present one as its key version, and a trigger moves the clock there.
 * That is one statement, and one page more than without a clock. For the same reason the key is the only index: each other index
 * would be another page or two in every write. Triggers raise the floors, too, so that rows may be lost in any way.
 */
final class Schema
{
    public readonly string $items;

    public readonly string $tags;

    public readonly string $clock;

    public readonly string $log;

    public function __construct(
        public readonly string $prefix,
    ) {
        $this->items = "\"items:{$prefix}\"";
        $this->tags = "\"tags:{$prefix}\"";
        $this->clock = "\"clock:{$prefix}\"";
        $this->log = "\"log:{$prefix}\"";
    }

    /** @return list<string> */
    public function statements(): array
    {
        $tick = "BEGIN UPDATE {$this->clock} SET tick = new.key_version WHERE id = 1 AND tick < new.key_version; END";

        return [
            "CREATE TABLE IF NOT EXISTS {$this->items} (key BLOB NOT NULL PRIMARY KEY, value, expiry INTEGER, version INTEGER NOT NULL, key_version INTEGER NOT NULL, tags BLOB) WITHOUT ROWID",
            "CREATE TABLE IF NOT EXISTS {$this->tags} (tag BLOB NOT NULL PRIMARY KEY, dead INTEGER NOT NULL, stale INTEGER NOT NULL, until INTEGER NOT NULL) WITHOUT ROWID",
            "CREATE TABLE IF NOT EXISTS {$this->clock} (id INTEGER PRIMARY KEY, epoch BLOB NOT NULL, tick INTEGER NOT NULL, key_version_floor INTEGER NOT NULL, tag_floor INTEGER NOT NULL, invalidated INTEGER NOT NULL, hand BLOB NOT NULL)",
            "CREATE TRIGGER IF NOT EXISTS \"inserted:{$this->prefix}\" AFTER INSERT ON {$this->items} {$tick}",
            "CREATE TRIGGER IF NOT EXISTS \"updated:{$this->prefix}\" AFTER UPDATE ON {$this->items} {$tick}",
            $this->start(),
            "CREATE TABLE IF NOT EXISTS {$this->log} (id INTEGER PRIMARY KEY, nonce BLOB NOT NULL, event BLOB NOT NULL)",
            $this->startOfLog(),
            ...array_values($this->floors()),
        ];
    }

    /**
     * These raise a floor when a row goes that it then stands for, by any deletion. A database made by an earlier
     * version lacks these.
     *
     * @return array<string, string> the statement that makes it, by the name of the trigger
     */
    public function floors(): array
    {
        $floor = fn(string $trigger, string $table, string $floor, string $tick): string => "CREATE TRIGGER IF NOT EXISTS {$trigger} AFTER DELETE ON {$table}"
            . " WHEN {$tick} > (SELECT {$floor} FROM {$this->clock} WHERE id = 1)"
            . " BEGIN UPDATE {$this->clock} SET {$floor} = {$tick} WHERE id = 1; END";
        [$removed, $forgotten] = ["\"removed:{$this->prefix}\"", "\"forgotten:{$this->prefix}\""];

        return [
            $removed => $floor($removed, $this->items, 'key_version_floor', 'old.key_version'),
            $forgotten => $floor($forgotten, $this->tags, 'tag_floor', 'max(old.dead, old.stale)'),
        ];
    }

    /** A clock, if there is none. */
    public function start(): string
    {
        return "INSERT OR IGNORE INTO {$this->clock} VALUES (1, CAST(hex(randomblob(8)) AS BLOB), 1, 0, 0, 0, x'')";
    }

    /** An event before all others, if there is none. */
    public function startOfLog(): string
    {
        return "INSERT INTO {$this->log} SELECT 0, randomblob(8), x'' WHERE NOT EXISTS (SELECT 1 FROM {$this->log})";
    }

    /** Another epoch, in which no token of the last one is worth anything. */
    public function newEpoch(): string
    {
        return "UPDATE {$this->clock} SET epoch = CAST(hex(randomblob(8)) AS BLOB) WHERE id = 1";
    }

    /** @return list<string> what leaves no event, takes no room, and makes a position of the last one that is unknown */
    public function endOfLog(): array
    {
        return [
            "DELETE FROM {$this->log} WHERE id < (SELECT max(id) FROM {$this->log})",
            "UPDATE {$this->log} SET nonce = randomblob(8)",
        ];
    }
}
