<?php

declare(strict_types=1);

namespace Larder\Store;

use Larder\Cache\Counter;
use Larder\Cache\MissTokens;
use Larder\Capability;
use Larder\Dsn;
use Larder\Exception;
use Larder\Exception\ExtensionMissing;
use Larder\Exception\InvalidOption;
use Larder\Exception\StoreUnavailable;
use Larder\Fetched;
use Larder\Item;
use Larder\Lease\AddedLeases;
use Larder\Leases;
use Larder\PerRequest;
use Larder\Reads;
use Larder\RequestTokens;
use Larder\SaveMode;
use Larder\Serializer\Payload;
use Larder\Serializer\PhpSerializer;
use Larder\Store;
use Larder\Store\Sqlite\DatabaseFile;
use Larder\Store\Sqlite\Reach;
use Larder\Store\Sqlite\Row;
use Larder\Store\Sqlite\Rows;
use Larder\Store\Sqlite\Schema;
use Larder\Store\Sqlite\SqliteLog;
use Larder\Store\Sqlite\Tables;
use Larder\Store\Sqlite\Values;
use Larder\StoreStatistics;
use Larder\Tidying;
use Larder\Token;
use Larder\Ttl;

/**
 * Items in an SQLite database: one machine, durable, no server. Each prefix has tables of its own (see Schema).
 *
 * Writers exclude each other, so one clock can order all changes. It ticks on every write, delete, invalidation and clear. Each row
 * has a key version: the tick of the last write or delete of its key. A fill carries the tick of the moment it began. It is one
 * statement that changes nothing if the key version is newer. A deleted key leaves a tombstone for a minute. Its key version refuses
 * fills in flight. When a row is removed for good, its key version goes into a floor that judges all keys without a row. At worst that
 * refuses some fills without need.
 *
 * A tag is a row with the tick of its last invalidation, and only once it was invalidated. Reading looks at it only
 * if something was invalidated since the item's version.
 *
 * Writers remove some of what is dead as they go along. When the database reaches its size, if it has one, what is
 * dead goes, and of what is alive the older part, in steps.
 */
final class SqliteStore implements Store, Reads, Leases, PerRequest, RequestTokens, Tidying
{
    /** The options of its DSN. */
    public const OPTIONS = ['prefix', 'timeout', 'size', 'evict', ...Dsn::OF_PAYLOADS];

    /** Beyond, those that were invalidated longest ago are forgotten, and an older item is dead if it carries any tag. */
    private const MOST_TAGS = 250_000;

    /** Bytes of a database that is bounded for each tag that it may remember: tags take an eighth of it at most, about. */
    private const BYTES_PER_TAG = 500;

    /** About as often as this a save looks at so many rows, and removes the dead ones. */
    private const SAVES_PER_SWEEP = 61;

    /** Pages given back to the file system by a prune; 4 KB each. */
    private const PAGES_AT_ONCE = 1_000;

    /** Of the tables. */
    private readonly string $prefix;

    /** Null until something is asked for. */
    private ?Tables $tables = null;

    /** Of when the request began, if that was to be noted. */
    private ?Token $requestToken = null;

    /** The head of the log when the request began, in place of its token: that is taken when the database is first opened. */
    private ?string $requestHead = null;

    /** @var \Closure(): int */
    private readonly \Closure $clock;

    /**
     * @param string           $path    of the database; in a directory that is there; in /tmp and the like it is made
     * @param Payload|\Closure(): Payload $payload of values; a closure is called when the first is read or stored
     * @param float            $timeout seconds to wait for another writer
     * @param ?int             $size    bytes that the database grows to at most; null: as many as there is room for
     * @param bool             $evict   whether a full database makes room by dropping items, or refuses
     * @param ?\Closure(): int $clock   the time in Unix seconds; for tests that cannot wait
     *
     * @throws Exception
     */
    public function __construct(
        private readonly string $path,
        string $prefix = Prefix::DEFAULT,
        private readonly Payload|\Closure $payload = new Payload(new PhpSerializer()),
        private readonly float $timeout = 1.0,
        private readonly ?int $size = null,
        private readonly bool $evict = true,
        ?\Closure $clock = null,
    ) {
        $this->prefix = rtrim(Prefix::check($prefix), ':');
        if (!\extension_loaded('sqlite3')) {
            throw ExtensionMissing::of('SqliteStore', 'sqlite3');
        }
        $status = @stat(\dirname($path));
        // As most are: one of this user's own, which no other may write into. To load what judges the rest takes time in each request.
        $isOwn = $status !== false && ($status['mode'] & 0o022) === 0 && \function_exists('posix_geteuid') && $status['uid'] === posix_geteuid();
        $mistake = $isOwn ? null : DatabaseFile::directory($path)->mistake();
        if ($mistake !== null && !is_link($path)) {
            throw InvalidOption::directory($mistake->what, $mistake->why, $mistake->remedy);
        }
        if (is_dir($path)) {
            throw InvalidOption::directory($path, 'stands where the database should be', 'name a file in it');
        }
        if ($size !== null && $size < 1 << 20) {
            throw InvalidOption::range('size', $size, 'at least 1M');
        }
        $this->clock = $clock ?? time(...);
    }

    /**
     * Options: prefix, timeout (seconds to wait for another writer), size (bytes at most), evict (switch: whether a
     * full database drops items or refuses); those of Payload::fromDsn().
     */
    public static function fromDsn(Dsn $dsn): self
    {
        $dsn->allow(...self::OPTIONS);

        return new self(
            $dsn->absolutePath(),
            $dsn->text('prefix', Prefix::DEFAULT),
            $dsn->hasAny(...Dsn::OF_PAYLOADS) ? Payload::fromDsn($dsn, $dsn->text('prefix', Prefix::DEFAULT)) : static fn(): Payload => Payload::named('auto'),
            $dsn->seconds('timeout', 1.0),
            $dsn->bytes('size'),
            $dsn->switch('evict', true),
        );
    }

    /** A process that serves many requests does not go on with a file that was removed or replaced. */
    public function beginRequest(): void
    {
        $this->tables?->database->leaveIfReplaced();
        $this->tables?->rows->notices->lookAgain();
    }

    public function read(string $key, mixed $default = null, ?Fetched &$fetched = null): mixed
    {
        $tables = $this->tables();
        $row = $tables->rows->plain($key, $missed);
        $value = $row === null ? $tables->values->nothing : $tables->values->decoded($key, $row[0], $row[4]);
        if ($value !== $tables->values->nothing) {
            return $value;
        }
        $fetched = $missed === null ? $this->fetch([$key]) : new Fetched([], [$key => $missed]);

        return isset($fetched->items[$key]) ? $fetched->items[$key]->value : $default;
    }

    public function readMany(array $keys): Fetched
    {
        return $this->fetch($keys);
    }

    public function fetch(array $keys): Fetched
    {
        $tables = $this->tables();
        if (\count($keys) === 1) {
            $item = $this->one($tables, $keys[0], $missed);
            if ($item !== null || $missed !== null) {
                return $item === null ? new Fetched([], [$keys[0] => $missed]) : new Fetched([$keys[0] => $item], []);
            }
        }
        $items = $tokens = $stale = [];
        foreach (array_chunk($keys, Rows::KEYS_AT_ONCE) as $chunk) {
            [$rows, $token] = $tables->rows->look($chunk);
            $values = $tables->values->ofAll(array_filter($rows, static fn(Row $row): bool => $row->verdict !== Verdict::Dead));
            foreach ($chunk as $key) {
                if (\array_key_exists($key, $values)) {
                    $row = $rows[$key];
                    $item = Item::found($key, $values[$key], $row->expiry, $row->version, $row->tags);
                    $row->verdict === Verdict::Live ? $items[$key] = $item : $stale[$key] = $item;
                }
                if (!isset($items[$key])) {
                    $tokens[$key] = $token;
                }
            }
        }

        return new Fetched($items, $tokens, $stale);
    }

    /**
     * One item, if its row and the clock alone tell that it lives.
     *
     * @param ?Token $missed is set where there is no row: the token of this moment
     */
    private function one(Tables $tables, string $key, ?Token &$missed): ?Item
    {
        $row = $tables->rows->plain($key, $missed);
        $value = $row === null ? $tables->values->nothing : $tables->values->decoded($key, $row[0], $row[4]);

        return $row === null || $value === $tables->values->nothing ? null : Item::found($key, $value, $row[1], $row[2], $row[3] === null ? [] : Tags::unpack($row[3]));
    }

    /** Most requests read from a near store and never need the token: the database is not opened for it, where the log has a head. */
    public function noteRequest(bool $anew = false): void
    {
        if ($anew) {
            $this->requestToken = $this->requestHead = null;
        }
        if ($this->requestToken !== null || $this->requestHead !== null) {
            return;
        }
        $this->requestHead = $this->tables === null ? $this->log()->head() : null;
        if ($this->requestHead === null) {
            $this->requestToken = $this->tables()->rows->look([])[1];
        }
    }

    public function requestToken(string $key): ?Token
    {
        if ($this->requestHead !== null) {
            $this->tables();
        }

        return $this->requestToken;
    }

    public function token(string $key): Token
    {
        return $this->tables()->rows->look([])[1];
    }

    public function save(array $items, SaveMode $mode = SaveMode::Set): array
    {
        if ($items === []) {
            return [];
        }
        $stored = [];
        $tables = $this->tables();
        $tables->rows->haveNotice() && $tables->room()->for($tables->sweep()->settle(...));
        foreach ($items as $item) {
            $stored[] = $tables->values->stored($item->key, $item->value);
        }
        $work = function () use ($items, $mode, $stored, $tables): array {
            $unsaved = [];
            foreach ($items as $i => $item) {
                if (!$tables->changes()->save($item, ...$stored[$i], mode: $mode)) {
                    $unsaved[] = $item->key;
                }
            }

            return $unsaved;
        };
        // A plain set is one statement, and what follows if that is refused need not be in the same moment.
        $isOne = \count($items) === 1 && $mode === SaveMode::Set && ($items[0]->token === null || $items[0]->tags === []);

        $unsaved = $tables->room()->for(
            $write = fn(): array => $isOne ? $tables->database->attempt($work) : $tables->database->atomically($work),
            fn(): array => self::areLeases(array_column($items, 'key')) ? $tables->database->withReserve($write) : $tables->changes()->refuse(array_column($items, 'key'), $mode === SaveMode::Set, array_column($items, null, 'key'))[0],
        );
        // The clock's last digits are dice enough; random_int() would be a system call more.
        if (hrtime(true) % self::SAVES_PER_SWEEP === 0) {
            $tables->room()->tidy();
        }

        return $unsaved;
    }

    public function delete(array $keys, ?Token $token = null): array
    {
        if ($keys === []) {
            return [];
        }

        $tables = $this->tables();
        $work = fn(): array => $tables->database->atomically(function () use ($keys, $token, $tables): array {
            $existed = [];
            foreach (array_chunk($keys, Rows::KEYS_AT_ONCE) as $chunk) {
                [$rows] = $tables->rows->look($chunk);
                foreach ($chunk as $key) {
                    if ($token !== null && !$tables->changes()->hasNotMoved($key, $token)) {
                        continue;
                    }
                    $tables->changes()->bury($key);
                    if (isset($rows[$key]) && $rows[$key]->verdict === Verdict::Live) {
                        $existed[] = $key;
                        unset($rows[$key]);
                    }
                }
            }

            return $existed;
        });

        return $tables->room()->byNotice(
            fn(): array => $tables->room()->for($work, fn(): array => $tables->changes()->refuse($keys, $token === null)[1]),
            fn(): array => $tables->changes()->buryByNotice($keys, $token),
        );
    }

    public function increment(string $key, int $by = 1, int $initial = 0, ?int $ttl = null): int
    {
        $tables = $this->tables();
        $tables->rows->haveNotice() && $tables->room()->for($tables->sweep()->settle(...));
        $count = fn(): int => $tables->database->atomically(function () use ($key, $by, $initial, $ttl, $tables): int {
            $value = $tables->values->of($tables->rows->live($key));
            if ($value !== $tables->values->nothing) {
                $sum = Counter::sum($key, $value, $by);
                $tables->database->change(
                    "UPDATE {$tables->schema->items} SET value = ?, key_version = (SELECT tick + 1 FROM {$tables->schema->clock} WHERE id = 1) WHERE key = ?",
                    $sum,
                    $key,
                );

                return $sum;
            }
            $sum = Counter::sum($key, $initial, $by);
            $tables->changes()->save(new Item($key, $sum, $ttl), $sum, '', SaveMode::Set);

            return $sum;
        });

        return $tables->room()->for($count, fn(): int => self::areLeases([$key]) ? $tables->database->withReserve($count) : $count());
    }

    public function touch(array $keys, ?int $ttl): array
    {
        if ($ttl !== null && $ttl <= 0) {
            return $this->delete($keys);
        }
        if ($keys === []) {
            return [];
        }
        $expiry = Ttl::expiry($ttl, ($this->clock)());

        $tables = $this->tables();
        return $tables->room()->for(fn(): array => $tables->database->atomically(function () use ($keys, $expiry, $tables): array {
            $touched = [];
            foreach (array_chunk($keys, Rows::KEYS_AT_ONCE) as $chunk) {
                [$rows] = $tables->rows->look($chunk);
                foreach ($chunk as $key) {
                    if (isset($rows[$key]) && $rows[$key]->verdict === Verdict::Live) {
                        $tables->database->change("UPDATE {$tables->schema->items} SET expiry = ? WHERE key = ?", $expiry, $key);
                        $touched[] = $key;
                    }
                }
            }

            return $touched;
        }));
    }

    public function invalidateTags(array $tags, int $serveStale = 0): void
    {
        if ($tags === []) {
            return;
        }
        $tables = $this->tables();
        $work = fn(): null => $tables->database->atomically(function () use ($tags, $serveStale, $tables): null {
            [, $token] = $tables->rows->look([]);
            $tick = $token->version + 1;
            $tables->database->change("UPDATE {$tables->schema->clock} SET tick = ?, invalidated = ? WHERE id = 1", $tick, $tick);
            foreach ($tables->rows->tagVersions($tags, $token->epoch) as $tag => $version) {
                $version = $version->invalidated($tick, $serveStale, ($this->clock)());
                $tables->database->change(
                    "INSERT OR REPLACE INTO {$tables->schema->tags} VALUES (?, ?, ?, ?)",
                    (string) $tag,
                    $version->dead,
                    $version->stale,
                    $version->until,
                );
            }
            // Only now and then, as counting takes as long as there are tags; after a thousand, about.
            if (hrtime(true) % 1_000 < \count($tags)) {
                $tables->sweep()->forgetTags($this->size === null ? self::MOST_TAGS : min(self::MOST_TAGS, max(1_000, intdiv($this->size, self::BYTES_PER_TAG))));
            }

            return null;
        });
        $tables->room()->byNotice(
            fn(): null => $tables->room()->for($work, fn(): null => $tables->sweep()->invalidateAllTags()),
            fn(): null => $tables->rows->give(Reach::Tags),
        );
    }

    public function clear(): void
    {
        $tables = $this->tables();
        $work = fn(): null => $tables->database->atomically(function () use ($tables): null {
            $tables->rows->look([]);
            $tables->rows->removeAllButLeases();
            $tables->database->change("UPDATE {$tables->schema->clock} SET tick = tick + 1, key_version_floor = tick + 1, tag_floor = tick + 1, hand = x'' WHERE id = 1");

            return null;
        });
        $tables->room()->byNotice(fn(): null => $tables->room()->for($work), fn(): null => $tables->rows->give(Reach::Everything));
        try {
            $tables->database->shrink(self::PAGES_AT_ONCE);
        } catch (StoreUnavailable) {
            // All is dead, and its pages are given back another time.
        }
    }

    public function prune(): int
    {
        $tables = $this->tables();
        $removed = $tables->sweep()->prune();
        $free = $tables->database->shrink(self::PAGES_AT_ONCE);
        // After 0 a caller does not come again. Others write between the steps.
        for ($before = \PHP_INT_MAX; $removed === 0 && $free > 0 && $free < $before;) {
            $before = $free;
            $free = $tables->database->shrink(self::PAGES_AT_ONCE);
        }

        return $removed;
    }

    public function tidy(): int
    {
        return $this->tables()->room()->tidy();
    }

    public function keys(string $prefix = ''): iterable
    {
        $keys = [];
        $after = null;
        do {
            $rows = $this->tables()->rows->after($after ?? '', Rows::KEYS_AT_ONCE, $prefix);
            foreach ($rows as $row) {
                $after = $row->key;
                if ($row->verdict === Verdict::Live) {
                    $keys[] = $row->key;
                }
            }
        } while ($rows !== []);

        return $keys;
    }

    public function statistics(): StoreStatistics
    {
        $tables = $this->tables();
        return $tables->database->attempt(function () use ($tables): StoreStatistics {
            $items = $tables->database->rows("SELECT count(*) FROM {$tables->schema->items} WHERE value IS NOT NULL")[0][0] ?? null;
            $tags = $tables->database->rows("SELECT count(*) FROM {$tables->schema->tags}")[0][0] ?? null;

            return new StoreStatistics(
                items: \is_int($items) ? $items : null,
                bytes: $tables->database->pragma('page_count') * $tables->database->pragma('page_size'),
                capacity: $this->size,
                details: [
                    'tags' => $tags,
                    'free pages' => $tables->database->pragma('freelist_count'),
                    'page size' => $tables->database->pragma('page_size'),
                ],
            );
        });
    }

    public function acquire(string $name, string $owner, float $seconds): bool
    {
        return $this->leases()->acquire($name, $owner, $seconds);
    }

    public function refresh(string $name, string $owner, float $seconds): bool
    {
        return $this->leases()->refresh($name, $owner, $seconds);
    }

    public function fence(string $name, string $owner): ?int
    {
        return $this->leases()->fence($name, $owner);
    }

    public function release(string $name, string $owner): bool
    {
        return $this->leases()->release($name, $owner);
    }

    /** The log that near stores in front of this one follow (see Tier\TieredStore). */
    public function log(): SqliteLog
    {
        return new SqliteLog($this->path, $this->prefix, $this->timeout, fn(): Tables => $this->tables(), $this->clock);
    }

    public function capabilities(): array
    {
        $retention = $this->size === null || !$this->evict ? [Capability::Retention] : [];

        return [Capability::WholeClear, Capability::Tags, Capability::Tokens, Capability::RequestTokens, Capability::Keys, Capability::Sharing, Capability::Durability, ...$retention];
    }

    /** @param list<string> $keys */
    private static function areLeases(array $keys): bool
    {
        return array_filter($keys, static fn(string $key): bool => !str_starts_with($key, AddedLeases::prefix())) === [];
    }

    private function tables(): Tables
    {
        $this->tables ??= new Tables($this->path, new Schema($this->prefix), new Values($this->payload instanceof \Closure ? ($this->payload)() : $this->payload), $this->timeout, $this->size, $this->evict, $this->clock);
        if ($this->requestHead !== null) {
            $this->requestToken = $this->tokenSince($this->requestHead, $this->tables);
        }

        return $this->tables;
    }

    /** One of now, if nothing was written since the log had that head; else one that refuses, as what was written is unknown. */
    private function tokenSince(string $head, Tables $tables): Token
    {
        $this->requestHead = null;
        try {
            $token = $tables->rows->look([])[1];

            return $this->log()->head() === $head ? $token : MissTokens::unknown();
        } catch (StoreUnavailable) {
            return MissTokens::unknown();
        }
    }

    /** Made anew each time, as it holds this store, which would otherwise hold itself. */
    private function leases(): AddedLeases
    {
        return new AddedLeases($this, $this->tables()->room()->atomically(...));
    }
}
