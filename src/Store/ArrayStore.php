<?php

declare(strict_types=1);

namespace Larder\Store;

use Larder\Capability;
use Larder\DirectReads;
use Larder\Dsn;
use Larder\Exception\InvalidOption;
use Larder\Fetched;
use Larder\Item;
use Larder\SaveMode;
use Larder\Serializer\Contents;
use Larder\Serializer\Payload;
use Larder\Serializer\PhpSerializer;
use Larder\Store;
use Larder\StoreStatistics;
use Larder\Token;
use Larder\Ttl;

/**
 * Items in this process's own memory: for one request, one worker, or a test.
 *
 * Values are kept apart from their callers as in every other store: scalars and arrays of them by PHP's own
 * copy on write, anything with objects or references in it serialised. Bounded by a number of items; when it
 * is full, a sixteenth of them goes, the oldest that were not read since the last time.
 *
 * It has a clock that ticks on every write, delete and invalidation, and remembers by key and by tag when the last
 * of these was. When it has too many of either to remember, it forgets them all and takes the present for the time
 * of each: fills that are under way are then refused, and older items that carry tags are dead.
 */
final class ArrayStore implements Store, DirectReads
{
    /** How many keys and tags are remembered at least, whatever the number of items. */
    private const REMEMBERED = 10_000;

    /** @var array<array-key, array{mixed, bool, ?int, int, list<string>}> the value or its payload, whether it is a payload, expiry, stamp, tags */
    private array $entries = [];

    /** @var array<array-key, true> read since the last eviction */
    private array $visited = [];

    private int $hits = 0;

    private int $misses = 0;

    private int $evictions = 0;

    private int $expired = 0;

    private readonly Payload $payload;

    private readonly \stdClass $foreign;

    /** The random name of this store's logical time, which is $tick. */
    private readonly string $epoch;

    private int $tick = 1;

    /** @var array<array-key, int> when each key was last written or deleted */
    private array $guards = [];

    /** When the guards that are not there may have moved. */
    private int $guardFloor = 0;

    /** @var array<array-key, TagStamp> */
    private array $tags = [];

    /** The stamp of the tags that are not there. */
    private TagStamp $tagFloor;

    /** @var \Closure(): int */
    private readonly \Closure $clock;

    /**
     * @param int              $items how many at most
     * @param ?\Closure(): int $clock the time in Unix seconds; for tests that cannot wait
     *
     * @throws InvalidOption
     */
    public function __construct(
        private readonly int $items = 10_000,
        ?\Closure $clock = null,
    ) {
        if ($items < 1) {
            throw InvalidOption::range('items', $items, 'at least 1');
        }
        $this->clock = $clock ?? time(...);
        $this->payload = new Payload(new PhpSerializer());
        $this->foreign = new \stdClass();
        $this->epoch = bin2hex(random_bytes(8));
        $this->tagFloor = new TagStamp(0);
    }

    /** Options: items, how many at most. */
    public static function fromDsn(Dsn $dsn): self
    {
        $dsn->withoutPath();
        $dsn->allow('items');

        return new self($dsn->integer('items', 10_000));
    }

    public function read(string $key, mixed $default = null): mixed
    {
        $entry = $this->live($key);
        $value = $entry === null ? $this->foreign : $this->value($entry);
        if ($value === $this->foreign) {
            $this->misses++;

            return $default;
        }
        $this->hits++;
        $this->visited[$key] = true;

        return $value;
    }

    public function fetch(array $keys): Fetched
    {
        $items = $tokens = $stale = [];
        foreach ($keys as $key) {
            $entry = $this->unexpired($key);
            $verdict = $entry === null ? Verdict::Dead : $this->verdict($entry);
            $value = $entry === null || $verdict === Verdict::Dead ? $this->foreign : $this->value($entry);
            if ($entry === null || $value === $this->foreign || $verdict !== Verdict::Live) {
                $this->misses++;
                $tokens[$key] = $this->token($key);
            } else {
                $this->hits++;
                $this->visited[$key] = true;
            }
            if ($entry !== null && $value !== $this->foreign) {
                $item = Item::found($key, $value, $entry[2], $entry[3], $entry[4]);
                $verdict === Verdict::Live ? $items[$key] = $item : $stale[$key] = $item;
            }
        }

        return new Fetched($items, $tokens, $stale);
    }

    public function token(string $key): Token
    {
        return new Token($this->epoch, $this->tick);
    }

    public function save(array $items, SaveMode $mode = SaveMode::Set): array
    {
        $now = ($this->clock)();
        $prepared = [];
        foreach ($items as $item) {
            $plain = Contents::isPlain($item->value);
            $prepared[] = [$plain ? $item->value : $this->payload->encode($item->key, $item->value), !$plain, Ttl::expiry($item->ttl, $now)];
        }
        $unsaved = [];
        foreach ($items as $i => $item) {
            $mayBe = $mode === SaveMode::Set || $this->holds($item->key) === ($mode === SaveMode::Replace);
            $refused = $mayBe && !$this->isCurrent($item);
            if (!$mayBe || $refused) {
                $unsaved[] = $item->key;
            }
            if (!$mayBe || ($refused && $mode !== SaveMode::Set)) {
                continue;
            }
            $stamp = $item->token->clock ?? $this->tick;
            if (!$item->fill && !$refused) {
                $this->moveGuard($item->key);
                $stamp = $item->token === null ? $this->tick : $stamp;
            }
            unset($this->entries[$item->key], $this->visited[$item->key]);
            if (!$refused && ($item->ttl === null || $item->ttl > 0)) {
                $this->entries[$item->key] = [...$prepared[$i], $stamp, $item->tags];
                $this->evict();
            }
        }

        return $unsaved;
    }

    public function delete(array $keys, ?Token $token = null): array
    {
        $existed = [];
        foreach ($keys as $key) {
            if ($token !== null && !$this->hasNotMoved($key, $token)) {
                continue;
            }
            if ($this->live($key) !== null) {
                $existed[] = $key;
            }
            $this->moveGuard($key);
            unset($this->entries[$key], $this->visited[$key]);
        }

        return $existed;
    }

    public function increment(string $key, int $by = 1, int $initial = 0, ?int $ttl = null): int
    {
        $entry = $this->live($key);
        if ($entry === null) {
            $sum = Counter::sum($key, $initial, $by);
            $this->save([new Item($key, $sum, $ttl)]);

            return $sum;
        }
        $entry[0] = Counter::sum($key, $this->value($entry), $by);
        $this->moveGuard($key);
        $this->entries[$key] = $entry;

        return $entry[0];
    }

    public function touch(array $keys, ?int $ttl): array
    {
        if ($ttl !== null && $ttl <= 0) {
            return $this->delete($keys);
        }
        $expiry = Ttl::expiry($ttl, ($this->clock)());
        $touched = [];
        foreach ($keys as $key) {
            $entry = $this->live($key);
            if ($entry !== null) {
                $touched[] = $key;
                $entry[2] = $expiry;
                $this->entries[$key] = $entry;
            }
        }

        return $touched;
    }

    public function invalidateTags(array $tags, int $serveStale = 0): void
    {
        $tick = ++$this->tick;
        $now = ($this->clock)();
        foreach ($tags as $tag) {
            $this->tags[$tag] = ($this->tags[$tag] ?? $this->tagFloor)->invalidated($tick, $serveStale, $now);
        }
        if (\count($this->tags) > max($this->items, self::REMEMBERED)) {
            $this->tags = [];
            $this->tagFloor = new TagStamp($tick);
        }
    }

    public function clear(): void
    {
        $this->entries = $this->visited = $this->guards = $this->tags = [];
        $this->guardFloor = ++$this->tick;
        $this->tagFloor = new TagStamp(0);
    }

    public function prune(): int
    {
        $before = \count($this->entries);
        foreach (array_keys($this->entries) as $key) {
            $entry = $this->unexpired((string) $key);
            if ($entry !== null && $this->verdict($entry) === Verdict::Dead) {
                unset($this->entries[$key], $this->visited[$key]);
            }
        }

        return $before - \count($this->entries);
    }

    public function keys(string $prefix = ''): iterable
    {
        $keys = [];
        foreach (array_keys($this->entries) as $key) {
            if (str_starts_with((string) $key, $prefix) && $this->live((string) $key) !== null) {
                $keys[] = (string) $key;
            }
        }

        return $keys;
    }

    public function statistics(): StoreStatistics
    {
        return new StoreStatistics(
            items: \count($this->entries),
            hits: $this->hits,
            misses: $this->misses,
            evictions: $this->evictions,
            expired: $this->expired,
            details: ['items at most' => $this->items, 'tags' => \count($this->tags)],
        );
    }

    public function capabilities(): array
    {
        return [Capability::Tags, Capability::Tokens, Capability::Keys];
    }

    /** @return ?array{mixed, bool, ?int, int, list<string>} */
    private function live(string $key): ?array
    {
        $entry = $this->unexpired($key);

        return $entry === null || $this->verdict($entry) === Verdict::Live ? $entry : null;
    }

    /** Whether there is something that lives and can be made again. */
    private function holds(string $key): bool
    {
        $entry = $this->live($key);

        return $entry !== null && $this->value($entry) !== $this->foreign;
    }

    /** @return ?array{mixed, bool, ?int, int, list<string>} */
    private function unexpired(string $key): ?array
    {
        $entry = $this->entries[$key] ?? null;
        if ($entry !== null && $entry[2] !== null && $entry[2] <= ($this->clock)()) {
            unset($this->entries[$key], $this->visited[$key]);
            $this->expired++;

            return null;
        }

        return $entry;
    }

    /** @param array{mixed, bool, ?int, int, list<string>} $entry */
    private function verdict(array $entry): Verdict
    {
        $verdict = Verdict::Live;
        foreach ($entry[4] as $tag) {
            $verdict = $verdict->and(($this->tags[$tag] ?? $this->tagFloor)->verdict($entry[3], ($this->clock)()));
        }

        return $verdict;
    }

    /** @param array{mixed, bool, ?int, int, list<string>} $entry */
    private function value(array $entry): mixed
    {
        return $entry[1] && \is_string($entry[0]) ? $this->payload->decode($entry[0], $this->foreign) : $entry[0];
    }

    /** Whether nothing has happened since the item's computation began that it should have known of. */
    private function isCurrent(Item $item): bool
    {
        $token = $item->token;
        if ($token === null) {
            return true;
        }
        if (!$this->hasNotMoved($item->key, $token)) {
            return false;
        }

        return $this->verdict([null, false, null, $token->clock, $item->tags]) === Verdict::Live;
    }

    private function hasNotMoved(string $key, Token $token): bool
    {
        return $token->epoch === $this->epoch && ($this->guards[$key] ?? $this->guardFloor) <= $token->clock;
    }

    private function moveGuard(string $key): void
    {
        $this->guards[$key] = ++$this->tick;
        if (\count($this->guards) > max($this->items, self::REMEMBERED)) {
            $this->guards = [];
            $this->guardFloor = $this->tick;
        }
    }

    /** In batches, because finding an array's first element means skipping all that were removed before it. */
    private function evict(): void
    {
        if (\count($this->entries) <= $this->items) {
            return;
        }
        $excess = max(1, $this->items >> 4);
        $newest = array_key_last($this->entries);
        foreach ($this->entries as $key => $entry) {
            if ($key === $newest) {
                // Behind those that were given another round.
                unset($this->entries[$key]);
                $this->entries[$key] = $entry;
                break;
            }
            unset($this->entries[$key]);
            if (isset($this->visited[$key])) {
                unset($this->visited[$key]);
                $this->entries[$key] = $entry;
                continue;
            }
            $this->evictions++;
            if (--$excess === 0) {
                return;
            }
        }
        // All had been read: the oldest goes.
        while (\count($this->entries) > $this->items) {
            unset($this->entries[array_key_first($this->entries)]);
            $this->evictions++;
        }
    }
}
