<?php

declare(strict_types=1);

namespace Larder\Store\Sqlite;

use Larder\Exception\StoreUnavailable;
use Larder\Log\Beside;
use Larder\Log\Event;
use Larder\Log\News;
use Larder\System\PrivateDirectory;

/**
 * A log in the far store's own database, written in the transactions that it tells of, with a head file beside the
 * database (see HeadFile).
 *
 * Events have numbers without gaps, and a random nonce each. A position is the number and the nonce of the last event that was
 * followed. If the database does not have that event any more, the near store starts anew. The event may be trimmed. Or the
 * file is another one, a restored copy, or one that lost its last transactions in a power cut.
 *
 * Every process that writes into the database has to do it through this log. Near stores miss the changes of a process
 * that opened the database alone, before there was a near store (see isFollowed()).
 */
final class SqliteLog implements Beside
{
    /** How many events are kept, about. */
    private const KEPT = 4_096;

    private const RECORDS_PER_TRIM = 256;

    /** Bytes of events; for one that has more to follow it is better to start anew. */
    private const MOST_NEWS = 1 << 20;

    /** Own writes that are remembered for own(). */
    private const MOST_OWN = 16;

    private readonly HeadFile $head;

    /** @var list<array{string, string, Event}> what was recorded through this object: positions before and after, and the event */
    private array $own = [];

    /** The head after the last of them. */
    private ?string $ownHead = null;

    /**
     * @param string              $path   of the database
     * @param string              $prefix of the tables
     * @param float               $timeout seconds to wait for another process that changes the head
     * @param \Closure(): Tables  $tables of the store, which has nothing open until it is first asked for them
     * @param \Closure(): int     $clock  the time in Unix seconds
     */
    public function __construct(
        string $path,
        string $prefix,
        float $timeout,
        private readonly \Closure $tables,
        \Closure $clock,
    ) {
        // To load what follows links takes longer than to see that there is none.
        $path = is_link($path) ? PrivateDirectory::followed($path) ?? $path : $path;
        $this->head = new HeadFile("{$path}-head-{$prefix}", $path, $timeout, $clock);
    }

    /** Whether the database has, or had, near stores in front of it. */
    public function isFollowed(): bool
    {
        return $this->head->exists();
    }

    public function head(): ?string
    {
        return $this->head->read();
    }

    public function since(?string $position): News
    {
        $this->database()->leaveIfReplaced();
        $news = $this->database()->attempt(fn(): News => ($position === null ? null : $this->after($position)) ?? new News($this->last()[0], [], false));
        if ($this->head->isAbandoned()) {
            $this->repair();
        }

        return $news;
    }

    /** A copy that was put there has events of the file before, too. So it is the file that tells. */
    public function isOfHistory(string $position): bool
    {
        return !$this->database()->isReplaced();
    }

    public function own(string $head, string $position): ?News
    {
        $events = [];
        $at = $position;
        foreach ($head === $this->ownHead ? $this->own : [] as [$before, $after, $event]) {
            if ($before === $at) {
                $events[] = $event;
                $at = $after;
            }
        }

        // The head tells that nothing came after the last of them.
        return $events !== [] && $at === ($this->own[array_key_last($this->own)][1] ?? null) ? new News($at, $events, true) : null;
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
        $begun = $step = null;
        $record = function () use ($event, $write, &$begun, &$step): mixed {
            return ($this->tables)()->room()->together(
                $write,
                function () use ($event, &$begun, &$step): void {
                    $begun = $this->head->begin();
                    [$before, $epoch] = $this->last();
                    $position = $before;
                    foreach ($event->parts() as $part) {
                        $position = $this->append($part, (int) $position + 1);
                    }
                    // What a notice says is dead is in no event. A near store learns of it when it asks for the news.
                    $step = ($this->tables)()->rows->notices->areThere($epoch) ? null : [$before, $position, $event];
                },
                function () use (&$begun, &$step): void {
                    $begun = $this->head->begin();
                    $step = null;
                    $this->forget();
                },
            );
        };
        try {
            /** @var T $result that of a notice is what the store says of one */
            $result = $event->keys !== [] && !$event->isDeletion ? $record() : ($this->tables)()->room()->byNotice($record, function () use ($event, &$begun, &$step): ?array {
                $begun = $this->head->begin();
                $step = null;

                return $this->giveNotice($event);
            });
            $isWritten = true;

            return $result;
        } finally {
            $head = $begun === null ? null : $this->head->end($begun);
            $this->keepOwn(isset($isWritten) ? $step : null, $head);
        }
    }

    /** @return ?list<string> of what was deleted, what was there */
    private function giveNotice(Event $event): ?array
    {
        $tables = ($this->tables)();

        return $event->keys === [] ? $tables->rows->give($event->isEverything ? Reach::Everything : Reach::Tags) : $tables->changes()->buryByNotice($event->keys);
    }

    /** @param ?array{string, string, Event} $step positions before and after, and the event; null: nothing was recorded */
    private function keepOwn(?array $step, ?string $head): void
    {
        $this->own = $step === null || $head === null ? [] : [...\array_slice($this->own, 1 - self::MOST_OWN), $step];
        $this->ownHead = $this->own === [] ? null : $head;
    }

    /** @return string its position */
    private function append(Event $event, int $id): string
    {
        $nonce = random_bytes(8);
        $this->database()->change("INSERT INTO {$this->schema()->log} VALUES (?, ?, ?)", $id, $nonce, $event->packed());
        if ($id % self::RECORDS_PER_TRIM === 0) {
            $this->database()->change("DELETE FROM {$this->schema()->log} WHERE id <= ?", $id - self::KEPT);
        }

        return $id . ':' . strtoupper(bin2hex($nonce));
    }

    /** There is no room for an event. */
    private function forget(): void
    {
        foreach ($this->schema()->endOfLog() as $statement) {
            $this->database()->change($statement);
        }
    }

    private function after(string $position): ?News
    {
        $parts = explode(':', $position, 2);
        $events = [];
        $id = (int) $parts[0];
        $rows = $this->database()->rows(
            "SELECT id, hex(nonce), event, (SELECT epoch FROM {$this->schema()->clock} WHERE id = 1) FROM {$this->schema()->log} WHERE id >= ? AND (SELECT total(length(event)) FROM {$this->schema()->log} WHERE id > ?) <= ? ORDER BY id",
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
            // What a notice says is dead is in no event; once it is in the tables, this position is unknown to all.
            return null;
        }

        return isset($nonce) ? new News($position, $events, true) : null;
    }

    /** @return array{string, string} the last position, and the store's epoch */
    private function last(): array
    {
        do {
            $rows = $this->database()->rows("SELECT id, hex(nonce), (SELECT epoch FROM {$this->schema()->clock} WHERE id = 1) FROM {$this->schema()->log} ORDER BY id DESC LIMIT 1");
            if ($rows !== []) {
                return ["{$rows[0][0]}:{$rows[0][1]}", (string) $rows[0][2]];
            }
            // It was emptied.
            $this->database()->change($this->schema()->startOfLog());
        } while (true);
    }

    private function schema(): Schema
    {
        return ($this->tables)()->schema;
    }

    private function database(): Database
    {
        return ($this->tables)()->database;
    }

    private function repair(): void
    {
        try {
            // A writer that is still at it has not died, and makes it even at its end.
            $this->database()->atomicallyAtOnce(function (): void {
                $this->head->repair();
            });
        } catch (StoreUnavailable) {
            // It was right without, only slower.
        }
    }
}
