<?php

declare(strict_types=1);

namespace Larder\Store\Sqlite;

use Larder\Exception\StoreUnavailable;
use Larder\Log;
use Larder\Log\Event;
use Larder\Log\News;
use Larder\System\PrivateDirectory;

/**
 * A log in the far store's own database, written in the transactions that it tells of, with a head file beside the
 * database (see HeadFile).
 *
 * Events have numbers without gaps, and each a random nonce. A position is the number and the nonce of the last event that
 * was followed; if the database does not have that event any more, because it was trimmed, or because the file is another
 * one, was restored from a copy or has lost its last transactions with the power, the near store starts anew.
 *
 * Every process that writes into the database has to do it through this log: one that opens the database alone is not
 * heard of.
 */
final class SqliteLog implements Log
{
    /** How many events are kept, about. */
    private const KEPT = 4_096;

    private const RECORDS_PER_TRIM = 256;

    /** Bytes of events; for one that has more to follow it is better to start anew. */
    private const MOST_NEWS = 1 << 20;

    private readonly HeadFile $head;

    /**
     * @param string              $path   of the database
     * @param float               $timeout seconds to wait for another process that changes the head
     * @param \Closure(): Tables  $tables of the store, which has nothing open until it is first asked for them
     * @param \Closure(): int     $clock  the time in Unix seconds
     */
    public function __construct(
        string $path,
        private readonly Schema $schema,
        float $timeout,
        private readonly \Closure $tables,
        \Closure $clock,
    ) {
        $path = PrivateDirectory::followed($path) ?? $path;
        $this->head = new HeadFile("{$path}-head-{$schema->prefix}", $path, $timeout, $clock);
    }

    public function head(): ?string
    {
        return $this->head->read();
    }

    public function since(?string $position): News
    {
        $this->database()->leaveIfReplaced();
        $news = $this->database()->attempt(fn(): News => ($position === null ? null : $this->after($position)) ?? new News($this->last(), [], false));
        if ($this->head->isAbandoned()) {
            $this->repair();
        }

        return $news;
    }

    /**
     * @template T
     *
     * @param \Closure(): T $write
     *
     * @return T
     */
    public function record(Event $event, \Closure $write): mixed
    {
        $this->database()->leaveIfReplaced();
        $begun = null;
        $record = function () use ($event, $write, &$begun): mixed {
            return ($this->tables)()->room->together(
                $write,
                function () use ($event, &$begun): void {
                    $begun = $this->head->begin();
                    foreach ($event->parts() as $part) {
                        $this->append($part);
                    }
                },
                function () use (&$begun): void {
                    $begun = $this->head->begin();
                    $this->forget();
                },
            );
        };
        try {
            /** @var T $result that of a notice is what the store says of one */
            $result = $event->keys !== [] && !$event->isDeletion ? $record() : ($this->tables)()->room->byNotice($record, function () use ($event, &$begun): ?array {
                $begun = $this->head->begin();

                return $this->giveNotice($event);
            });

            return $result;
        } finally {
            if ($begun !== null) {
                $this->head->end($begun);
            }
        }
    }

    /** @return ?list<string> of what was deleted, what was there */
    private function giveNotice(Event $event): ?array
    {
        $tables = ($this->tables)();

        return $event->keys === [] ? $tables->rows->give($event->isEverything ? Reach::Everything : Reach::Tags) : $tables->changes->buryByNotice($event->keys);
    }

    private function append(Event $event): void
    {
        $this->database()->change(
            "INSERT INTO {$this->schema->log} SELECT ifnull(max(id), 0) + 1, randomblob(8), ? FROM {$this->schema->log}",
            $event->packed(),
        );
        $id = $this->database()->lastId();
        if ($id % self::RECORDS_PER_TRIM === 0) {
            $this->database()->change("DELETE FROM {$this->schema->log} WHERE id <= ?", $id - self::KEPT);
        }
    }

    /** There is no room for an event. */
    private function forget(): void
    {
        foreach ($this->schema->endOfLog() as $statement) {
            $this->database()->change($statement);
        }
    }

    private function after(string $position): ?News
    {
        $parts = explode(':', $position, 2);
        $events = [];
        $id = (int) $parts[0];
        $rows = $this->database()->rows(
            "SELECT id, hex(nonce), event, (SELECT epoch FROM {$this->schema->clock} WHERE id = 1) FROM {$this->schema->log} WHERE id >= ? AND (SELECT total(length(event)) FROM {$this->schema->log} WHERE id > ?) <= ? ORDER BY id",
            $id,
            $id,
            self::MOST_NEWS,
        );
        foreach ($rows as $i => [$next, $nonce, $packed]) {
            if ($next !== $id + $i || ($i === 0 && $nonce !== ($parts[1] ?? ''))) {
                return null;
            }
            $position = "{$next}:{$nonce}";
            if ($i > 0) {
                $events[] = Event::unpacked((string) $packed);
            }
        }
        if (($this->tables)()->rows->notices->areThere((string) ($rows[0][3] ?? ''))) {
            // What a notice says is dead is in no event; once it is in the tables, this position is one that nobody knows.
            return null;
        }

        return isset($nonce) ? new News($position, $events, true) : null;
    }

    private function last(): string
    {
        do {
            $rows = $this->database()->rows("SELECT id, hex(nonce) FROM {$this->schema->log} ORDER BY id DESC LIMIT 1");
            if ($rows !== []) {
                return "{$rows[0][0]}:{$rows[0][1]}";
            }
            // Somebody has emptied it.
            $this->database()->change($this->schema->startOfLog());
        } while (true);
    }

    private function database(): Database
    {
        return ($this->tables)()->database;
    }

    private function repair(): void
    {
        try {
            // Whoever writes has not died, and makes it even when that is over.
            $this->database()->atomicallyAtOnce(function (): void {
                $this->head->repair();
            });
        } catch (StoreUnavailable) {
            // It was right without, only slower.
        }
    }
}
