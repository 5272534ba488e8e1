<?php

declare(strict_types=1);

namespace Larder\Store\Sqlite;

/**
 * A store's database and the objects that work on its tables. They are made when the store is first asked for something, and those
 * that write when something is first written. In most requests, the far store of a tier is never asked.
 */
final class Tables
{
    public readonly Database $database;

    public readonly Rows $rows;

    private ?Changes $changes = null;

    private ?Sweep $sweep = null;

    private ?Room $room = null;

    /**
     * @param float           $timeout seconds to wait for another writer
     * @param ?int            $size    bytes that the database grows to at most; null: as many as there is room for
     * @param bool            $evict   whether a full database makes room by dropping items, or refuses
     * @param \Closure(): int $clock   the time in Unix seconds
     */
    public function __construct(
        string $path,
        public readonly Schema $schema,
        public readonly Values $values,
        float $timeout,
        private readonly ?int $size,
        private readonly bool $evict,
        private readonly \Closure $clock,
    ) {
        $this->database = new Database($path, $timeout, $size, $schema->statements(...), $schema->floors(...));
        $this->rows = new Rows($this->database, $schema, $clock);
    }

    public function changes(): Changes
    {
        return $this->changes ??= new Changes($this->database, $this->schema, $this->rows, $this->values, $this->size, $this->clock);
    }

    public function sweep(): Sweep
    {
        return $this->sweep ??= new Sweep($this->database, $this->schema, $this->rows, $this->clock);
    }

    public function room(): Room
    {
        return $this->room ??= new Room($this->database, $this->sweep(), $this->size, $this->evict);
    }
}
