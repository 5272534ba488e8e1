<?php

declare(strict_types=1);

namespace Larder\Store\Sqlite;

use Larder\Exception\StoreUnavailable;
use Larder\Store\Verdict;

/**
 * Walks over the items in the order of their keys, and removes dead items, and live ones to make room.
 *
 * An eviction goes on where the last one stopped, window by window. From each window it removes the dead items, and of the rest the
 * quarter that was stored longest ago. Reads are not recorded, as that would be a write.
 */
final class Sweep
{
    private const ROWS_AT_ONCE = 1_000;

    private const WINDOW = 64;

    /** Bytes that a row takes besides its key, value and tags, about. */
    private const OVERHEAD = 32;

    private string $hand = '';

    /** The oldest version of a live item with tags in this round of pruning. */
    private int $oldest = \PHP_INT_MAX;

    /** @param \Closure(): int $clock the time in Unix seconds */
    public function __construct(
        private readonly Database $database,
        private readonly Schema $schema,
        private readonly Rows $rows,
        private readonly \Closure $clock,
    ) {}

    /**
     * Removes what is dead among the next rows that have anything dead among them; once all were looked at, the
     * versions of tags that no living item can need.
     *
     * @return int how many rows; 0: all were looked at
     *
     * @throws StoreUnavailable
     */
    public function prune(): int
    {
        do {
            $rows = $this->rows->after($this->hand, self::ROWS_AT_ONCE);
            if ($rows === []) {
                $this->forgetTagsBefore($this->oldest);
                $this->hand = '';
                $this->oldest = \PHP_INT_MAX;

                return 0;
            }
            $this->hand = $rows[\count($rows) - 1]->key;
            $dead = array_filter($rows, static fn(Row $row): bool => $row->verdict === Verdict::Dead);
            foreach ($rows as $row) {
                $this->oldest = $row->tags === [] || $row->verdict === Verdict::Dead ? $this->oldest : min($this->oldest, $row->version);
            }
            $removed = $dead === [] ? 0 : $this->database->atomically(fn(): int => $this->remove($dead));
        } while ($removed === 0);

        return $removed;
    }

    /**
     * @param int $bytes how many to free at least
     *
     * @return bool whether anything was
     *
     * @throws StoreUnavailable
     * @throws Full             there is not even room for that
     */
    public function evict(int $bytes): bool
    {
        return $this->database->atomically(function () use ($bytes): bool {
            $hand = $this->hand();
            $evicted = [];
            for ($freed = $rounds = 0; $freed < $bytes && $rounds < 2;) {
                $rows = $this->rows->after($hand, self::WINDOW);
                $rounds += $rows === [] ? 1 : 0;
                foreach ($this->victims($rows) as $row) {
                    if ($freed >= $bytes && $row->verdict !== Verdict::Dead) {
                        // The next eviction goes on in this window.
                        break 2;
                    }
                    $freed += isset($evicted[$row->key]) ? 0 : self::OVERHEAD + \strlen($row->key) + (int) $row->value;
                    $evicted[$row->key] = $row;
                }
                $hand = $rows === [] ? '' : $rows[\count($rows) - 1]->key;
            }
            $this->remove(array_values($evicted));
            $this->leaveHand($hand);

            return $evicted !== [];
        });
    }

    /**
     * Removes what is dead in the next window, after the last item in the first. Of what has died lately, such as a counter that lasts for seconds, a tombstone
     * stays: its key version is young, and the floor that it would become refuses whatever is in flight.
     *
     * @return int how many items there are less
     *
     * @throws StoreUnavailable
     * @throws Full
     */
    public function removeDead(): int
    {
        return $this->database->atomically(function (): int {
            $hand = $this->hand();
            $rows = $this->rows->after($hand, self::WINDOW);
            if ($rows === [] && $hand !== '') {
                $rows = $this->rows->after('', self::WINDOW);
            }
            $dead = array_filter($rows, static fn(Row $row): bool => $row->verdict === Verdict::Dead && !$row->isTombstone);
            $this->remove(array_filter($dead, static fn(Row $row): bool => $row->isLongDead));
            foreach ($dead as $row) {
                $row->isLongDead || $this->ifAsItWas(
                    "UPDATE {$this->schema->items} SET value = NULL, tags = NULL, expiry = " . (($this->clock)() + Row::LINGERS),
                    $row,
                );
            }
            $this->leaveHand($rows === [] ? '' : $rows[\count($rows) - 1]->key);

            return \count($dead);
        });
    }

    /**
     * If there are more tags than that, forgets those that were invalidated longest ago, and some more, so that it need not look
     * for them each time.
     *
     * @throws StoreUnavailable
     */
    public function forgetTags(int $most): void
    {
        $this->database->attempt(function () use ($most): void {
            $count = (int) ($this->database->rows("SELECT count(*) FROM {$this->schema->tags}")[0][0] ?? 0);
            if ($count > $most) {
                $last = $this->database->rows("SELECT max(dead, stale) FROM {$this->schema->tags} ORDER BY 1 LIMIT 1 OFFSET ?", $count - $most - 1 + intdiv($most, 50));
                $this->forgetTagsBefore((int) ($last[0][0] ?? 0));
            }
        });
    }

    /** There is no room for another tag: the floor stands for all, and kills whatever has tags. */
    public function invalidateAllTags(): null
    {
        return $this->database->atomically(function (): null {
            $this->database->change("DELETE FROM {$this->schema->tags}");
            $this->database->change("UPDATE {$this->schema->clock} SET tick = tick + 1, invalidated = tick + 1, tag_floor = tick + 1 WHERE id = 1");

            return null;
        });
    }

    /**
     * Has the tables say what notices beside the database say (see Notices), so that what is stored from now on lives.
     *
     * @throws StoreUnavailable
     */
    public function settle(): void
    {
        $notices = $this->rows->notices;
        $this->database->atomically(function () use ($notices): void {
            $epoch = $this->rows->epoch();
            if (!$notices->areThere($epoch)) {
                // Another process has done it.
                return;
            }
            $notice = $notices->read($epoch);
            match (true) {
                $notice->reach === Reach::Everything => $this->rows->removeAllButLeases(),
                $notice->hasKeys() => $this->removeKilled($notice),
                default => null,
            };
            $notice->reach === Reach::Keys || $this->invalidateAllTags();
            foreach ([$this->schema->newEpoch(), ...$this->schema->endOfLog()] as $statement) {
                $this->database->change($statement);
            }
            $notices->retire($epoch);
            $this->rows->epoch();
        });
    }

    /** Removes the items in the map of a notice. */
    private function removeKilled(Notice $notice): void
    {
        for ($key = ''; ;) {
            $rows = $this->database->rows("SELECT key FROM {$this->schema->items} WHERE key > ? ORDER BY key LIMIT ?", $key, self::ROWS_AT_ONCE);
            if ($rows === []) {
                return;
            }
            foreach ($rows as [$key]) {
                $key = (string) $key;
                $notice->kills($key, false) && $this->database->change("DELETE FROM {$this->schema->items} WHERE key = ?", $key);
            }
        }
    }

    /** The key up to which evictions have come. */
    private function hand(): string
    {
        return (string) ($this->database->rows("SELECT hand FROM {$this->schema->clock} WHERE id = 1")[0][0] ?? '');
    }

    private function leaveHand(string $key): void
    {
        $this->database->change("UPDATE {$this->schema->clock} SET hand = ? WHERE id = 1", $key);
    }

    /** Their versions become the floor that stands for every tag that is not there. */
    private function forgetTagsBefore(int $tick): void
    {
        $this->database->atomically(function () use ($tick): void {
            $now = $this->database->rows("SELECT tick FROM {$this->schema->clock} WHERE id = 1")[0][0] ?? 0;
            $floor = min($tick, (int) $now);
            $this->database->change("UPDATE {$this->schema->clock} SET tag_floor = max(tag_floor, ?) WHERE id = 1", $floor);
            $this->database->change("DELETE FROM {$this->schema->tags} WHERE max(dead, stale) <= ?", $floor);
        });
    }

    /**
     * @param list<Row> $rows
     *
     * @return list<Row>
     */
    private function victims(array $rows): array
    {
        // An item that was counted or written last has a young key version, even if its own version is old.
        $age = static fn(Row $row): array => [$row->verdict !== Verdict::Dead, max($row->version, $row->keyVersion)];
        usort($rows, static fn(Row $a, Row $b): int => $age($a) <=> $age($b));
        $dead = \count(array_filter($rows, static fn(Row $row): bool => $row->verdict === Verdict::Dead));

        return \array_slice($rows, 0, max($dead, \count($rows) >> 2, min(1, \count($rows))));
    }

    /**
     * Removes rows, if they are still what they were; the floor rises to the youngest key version of them (see Schema).
     *
     * @param array<Row> $rows
     */
    private function remove(array $rows): int
    {
        $removed = 0;
        foreach ($rows as $row) {
            $removed += $this->ifAsItWas("DELETE FROM {$this->schema->items}", $row);
        }

        return $removed;
    }

    private function ifAsItWas(string $change, Row $row): int
    {
        return $this->database->change("{$change} WHERE key = ? AND key_version = ? AND version = ? AND expiry IS ?", $row->key, $row->keyVersion, $row->version, $row->expiry);
    }
}
