<?php

declare(strict_types=1);

namespace Larder\Store\Sqlite;

/**
 * A store's database and the objects that work on its tables. They are made when the store is first asked for something. In most
 * requests, the far store of a tier is never asked.
 */
final class Tables
{
    public readonly Database $database;

    public readonly Rows $rows;

    public readonly Changes $changes;

    public readonly Sweep $sweep;

    public readonly Room $room;

    /**
     * @param float           $timeout seconds to wait for another writer
     * @param ?int            $size    bytes that the database grows to at most; null: as many as there is room for
     * @param bool            $evict   whether a full database makes room by dropping items, or refuses
     * @param \Closure(): int $clock   the time in Unix seconds
     */
    public function __construct(string $path, Schema $schema, public readonly Values $values, float $timeout, ?int $size, bool $evict, \Closure $clock)
    {
        $this->database = new Database($path, $timeout, $size, $schema->statements(), $schema->floors());
        $this->rows = new Rows($this->database, $schema, $clock);
        $this->changes = new Changes($this->database, $schema, $this->rows, $values, $size, $clock);
        $this->sweep = new Sweep($this->database, $schema, $this->rows, $clock);
        $this->room = new Room($this->database, $this->sweep, $size, $evict);
    }
}
