<?php

declare(strict_types=1);

namespace Larder\Store\Sqlite;

use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\SaveMode;
use Larder\Store\Verdict;
use Larder\Token;
use Larder\Ttl;

/**
 * Changes single rows. Each change is one statement that ticks the clock. With a token, it changes nothing if the row's key version
 * is newer (see SqliteStore). A caller that changes several rows at once opens the transaction.
 */
final class Changes
{
    /** @var array<int, string> statements of put(). Kept, as their length makes them dear to put together and to find again */
    private array $puts = [];

    /**
     * @param ?int            $size  bytes that the database grows to at most
     * @param \Closure(): int $clock the time in Unix seconds
     */
    public function __construct(
        private readonly Database $database,
        private readonly Schema $schema,
        private readonly Rows $rows,
        private readonly Values $values,
        private readonly ?int $size,
        private readonly \Closure $clock,
    ) {}

    /**
     * @param string $mark of what is stored, if that lies apart (see Values::stored())
     *
     * @return bool whether it was stored; a refused item in mode Set leaves nothing behind but newer ones
     */
    public function save(Item $item, int|string $stored, string $mark, SaveMode $mode): bool
    {
        // Bytes of which no process can make a value are a miss to all.
        if ($mode !== SaveMode::Set && ($this->values->of($this->rows->live($item->key)) !== $this->values->nothing) !== ($mode === SaveMode::Replace)) {
            return false;
        }
        $tooLarge = $this->size !== null && \is_string($stored) && \strlen($stored) > $this->size >> 1;
        if (!$tooLarge && $this->isCurrent($item) && $this->put($item, $stored, $mark)) {
            return true;
        }
        if ($item->token !== null && (!$tooLarge || $this->isOvertaken($item, $item->token))) {
            // What there is is newer.
            return false;
        }
        if ($tooLarge && $item->keeps) {
            return false;
        }
        if ($mode === SaveMode::Set || $tooLarge) {
            $tooLarge && !$item->fill ? $this->bury($item->key) : $this->drop($item->key);
        }

        return false;
    }

    /** Whether the item is refused because of what has happened since its computation began. */
    private function isOvertaken(Item $item, Token $token): bool
    {
        return !$this->isCurrent($item) || !$this->hasNotMoved($item->key, $token);
    }

    /** Whether no tag of the item was invalidated since its computation began. */
    private function isCurrent(Item $item): bool
    {
        if ($item->token === null || $item->tags === []) {
            return true;
        }
        foreach ($this->rows->tagVersions($item->tags, $item->token->epoch) as $version) {
            if ($version->verdict($item->token->version, ($this->clock)()) !== Verdict::Live) {
                return false;
            }
        }

        return true;
    }

    /** Stores the item, unless its key was written or deleted since its computation began: in one statement. */
    private function put(Item $item, int|string $stored, string $mark): bool
    {
        $token = $item->token;
        if ($item->ttl !== null && $item->ttl <= 0) {
            if ($token !== null && !$this->hasNotMoved($item->key, $token)) {
                return false;
            }
            $item->fill ? $this->drop($item->key) : $this->bury($item->key);

            return true;
        }
        $sql = $this->puts[($token === null ? 0 : 1) + ($item->fill ? 2 : 0)] ??= $this->putting($token !== null, $item->fill);
        $parameters = [
            $item->key,
            $stored,
            Ttl::expiry($item->ttl, ($this->clock)()),
            Row::packed($mark, $item->tags),
            ...($token === null ? [] : [$token->version, $token->epoch, $token->version]),
        ];
        if ($this->database->change($sql, ...$parameters) === 1) {
            return true;
        }
        if ($token === null) {
            $this->rows->restart();

            return $this->database->change($sql, ...$parameters) === 1;
        }

        return false;
    }

    private function putting(bool $hasToken, bool $isFill): string
    {
        $version = match (true) {
            $hasToken => '?',
            $isFill => 'tick',
            default => 'tick + 1',
        };
        $keyVersion = $isFill ? 'key_version_floor' : 'tick + 1';

        return "INSERT INTO {$this->schema->items} (key, value, expiry, tags, version, key_version) SELECT ?, ?, ?, ?, {$version}, {$keyVersion} FROM {$this->schema->clock} WHERE id = 1"
            . ($hasToken ? ' AND epoch = ? AND key_version_floor <= ?' : '')
            . ' ON CONFLICT (key) DO UPDATE SET value = excluded.value, expiry = excluded.expiry, tags = excluded.tags, version = excluded.version'
            . ($isFill ? '' : ', key_version = excluded.key_version')
            . ($hasToken ? ' WHERE key_version <= excluded.version' : '');
    }

    /** Whether the key was neither written nor deleted since. */
    public function hasNotMoved(string $key, Token $token): bool
    {
        return $this->database->rows(
            "SELECT 1 FROM {$this->schema->clock} c LEFT JOIN {$this->schema->items} i ON i.key = ? WHERE c.id = 1 AND c.epoch = ? AND ifnull(i.key_version, c.key_version_floor) <= ?",
            $key,
            $token->epoch,
            $token->version,
        ) !== [];
    }

    /** Deletes the key and moves its key version. */
    public function bury(string $key): void
    {
        $this->database->change(
            "INSERT INTO {$this->schema->items} (key, value, expiry, tags, version, key_version) SELECT ?, NULL, ?, NULL, tick + 1, tick + 1 FROM {$this->schema->clock} WHERE id = 1"
            . ' ON CONFLICT (key) DO UPDATE SET value = NULL, expiry = excluded.expiry, tags = NULL, version = excluded.version, key_version = excluded.key_version',
            $key,
            ($this->clock)() + Row::LINGERS,
        );
    }

    /** Deletes the key, but refuses no fill because of it. */
    private function drop(string $key): void
    {
        $this->database->change(
            "UPDATE {$this->schema->items} SET value = NULL, tags = NULL, expiry = ? WHERE key = ? AND value IS NOT NULL",
            ($this->clock)() + Row::LINGERS,
            $key,
        );
    }

    /**
     * The disk has no room for tombstones: a notice stands for them. Called in a transaction.
     *
     * @param list<string> $keys
     *
     * @return list<string> those that held something live
     *
     * @throws StoreUnavailable
     */
    public function buryByNotice(array $keys, ?Token $token = null): array
    {
        $existed = $buried = [];
        $epoch = $this->rows->epoch();
        foreach (array_chunk($keys, Rows::KEYS_AT_ONCE) as $chunk) {
            [$rows] = $this->rows->look($chunk);
            foreach ($chunk as $key) {
                if ($token === null || $this->hasNotMoved($key, $token)) {
                    $buried[] = $key;
                    ($rows[$key] ?? null)?->verdict === Verdict::Live && $existed[$key] = $key;
                }
            }
        }
        $this->rows->notices->give($epoch, Reach::Keys, $buried);

        return array_values($existed);
    }

    /**
     * There is no room, not even for tombstones: the floor stands for them.
     *
     * @param list<string>           $keys
     * @param bool                   $remove whether what is under the keys is no longer true
     * @param array<array-key, Item> $items  by key, of those of the keys that were to be stored
     *
     * @return array{list<string>, list<string>} the keys, and those that held something live
     */
    public function refuse(array $keys, bool $remove, array $items = []): array
    {
        $live = [];
        $keys = array_map(strval(...), array_keys(array_fill_keys($keys, true)));
        if ($remove) {
            $this->database->atomically(function () use ($keys, $items, &$live): void {
                foreach ($keys as $key) {
                    $item = $items[$key] ?? null;
                    if ($item?->keeps === true || ($item !== null && $item->token !== null && $this->isOvertaken($item, $item->token))) {
                        // What there is is newer, or is to stay.
                        continue;
                    }
                    $this->rows->live($key) === null || $live[] = $key;
                    $this->database->change("DELETE FROM {$this->schema->items} WHERE key = ?", $key);
                }
                $this->database->change("UPDATE {$this->schema->clock} SET tick = tick + 1, key_version_floor = tick + 1 WHERE id = 1");
            });
        }

        return [$keys, $live];
    }
}
