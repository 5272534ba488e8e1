<?php

declare(strict_types=1);

namespace Larder\Store;

use Larder\Cache\Counter;
use Larder\Capability;
use Larder\Dsn;
use Larder\Exception\InvalidOption;
use Larder\Fetched;
use Larder\Item;
use Larder\Reads;
use Larder\RequestTokens;
use Larder\SaveMode;
use Larder\Serializer\Contents;
use Larder\Serializer\Payload;
use Larder\Serializer\PhpSerializer;
use Larder\Store;
use Larder\Store\Memory\Versions;
use Larder\StoreStatistics;
use Larder\Token;
use Larder\Ttl;

/**
 * Items in this process's own memory: for one request, one worker, or a test.
 *
 * Values are kept apart from their callers as in every other store. Scalars and arrays of them are shared by PHP's copy on write. Values
 * with objects or references are serialised. The store is bounded by about the bytes of its items, and optionally by their number. So
 * it leaves the application enough of PHP's memory_limit. A full store drops a sixteenth: the oldest items that were
 * not read since the last time. An item larger than the whole store is not stored.
 *
 * Fills are judged by a logical time of its own (see Versions).
 */
final class ArrayStore implements Store, Reads, RequestTokens
{
    /** How many keys and tags are remembered, or as many as there may be items if that is said and more. */
    private const REMEMBERED = 10_000;

    /** Bytes, unless said otherwise or that is more than a quarter of memory_limit. */
    private const SIZE = 64 << 20;

    /** About how many bytes an item takes besides its key and value: the entry, and its places in the tables. */
    private const ENTRY = 400;

    /** @var array<array-key, array{mixed, bool, ?int, int, list<string>, int}> the value or its payload, whether it is a payload, expiry, version, tags, bytes */
    private array $entries = [];

    /** The sum of the entries' bytes. */
    private int $bytes = 0;

    private readonly int $size;

    /** @var array<array-key, true> read since the last eviction */
    private array $visited = [];

    private int $hits = 0;

    /** Of when the request began, if that was to be noted. */
    private ?Token $requestToken = null;

    private int $misses = 0;

    private int $evictions = 0;

    private int $expired = 0;

    private readonly Payload $payload;

    private readonly \stdClass $foreign;

    private readonly Versions $ticks;

    /** @var \Closure(): int */
    private readonly \Closure $clock;

    /**
     * @param ?int             $items how many at most; null: as many as there is room for
     * @param ?int             $size  about how many bytes at most; null: 64 MiB, or a quarter of PHP's memory_limit, if that is less
     * @param ?\Closure(): int $clock the time in Unix seconds; for tests that cannot wait
     *
     * @throws InvalidOption
     */
    public function __construct(
        private readonly ?int $items = null,
        ?int $size = null,
        ?\Closure $clock = null,
    ) {
        if ($items !== null && $items < 1) {
            throw InvalidOption::range('items', $items, 'at least 1');
        }
        if ($size !== null && $size < 1 << 20) {
            throw InvalidOption::range('size', $size, 'at least 1M');
        }
        $this->size = $size ?? self::share();
        $this->clock = $clock ?? time(...);
        $this->payload = new Payload(new PhpSerializer());
        $this->foreign = new \stdClass();
        $this->ticks = new Versions(max($items ?? 0, self::REMEMBERED));
    }

    /** Options: items, how many at most; size, about how many bytes at most. */
    public static function fromDsn(Dsn $dsn): self
    {
        $dsn->withoutPath();
        $dsn->allow('items', 'size');

        return new self($dsn->text('items', '') === '' ? null : $dsn->integer('items', 0), $dsn->bytes('size'));
    }

    public function read(string $key, mixed $default = null, ?Fetched &$fetched = null): mixed
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

    public function readMany(array $keys): Fetched
    {
        return $this->fetch($keys);
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

    public function noteRequest(bool $anew = false): void
    {
        if ($anew) {
            $this->requestToken = null;
        }
        $this->requestToken ??= $this->ticks->token();
    }

    public function requestToken(string $key): ?Token
    {
        return $this->requestToken;
    }

    public function token(string $key): Token
    {
        return $this->ticks->token();
    }

    public function save(array $items, SaveMode $mode = SaveMode::Set): array
    {
        $now = ($this->clock)();
        $prepared = [];
        foreach ($items as $item) {
            $bytes = Contents::plainBytes($item->value);
            $payload = $bytes === null ? $this->payload->encode($item->key, $item->value) : null;
            $prepared[] = [$payload ?? $item->value, $payload !== null, Ttl::expiry($item->ttl, $now), $bytes ?? \strlen((string) $payload)];
        }
        $unsaved = [];
        foreach ($items as $i => $item) {
            $mayBe = $mode === SaveMode::Set || $this->holds($item->key) === ($mode === SaveMode::Replace);
            if (!$mayBe || !$this->isCurrent($item)) {
                $unsaved[] = $item->key;
                continue;
            }
            if ($item->keeps && $this->bytes($item, $prepared[$i][3]) > $this->size) {
                $unsaved[] = $item->key;
                continue;
            }
            $version = $item->token->version ?? $this->ticks->now();
            if (!$item->fill) {
                $this->ticks->move($item->key);
                $version = $item->token === null ? $this->ticks->now() : $version;
            }
            $this->drop($item->key);
            if (($item->ttl === null || $item->ttl > 0) && !$this->keep($item, $version, ...$prepared[$i])) {
                $unsaved[] = $item->key;
            }
        }

        return $unsaved;
    }

    public function delete(array $keys, ?Token $token = null): array
    {
        $existed = [];
        foreach ($keys as $key) {
            if ($token !== null && !$this->ticks->hasNotMoved($key, $token)) {
                continue;
            }
            if ($this->live($key) !== null) {
                $existed[] = $key;
            }
            $this->ticks->move($key);
            $this->drop($key);
        }

        return $existed;
    }

    public function increment(string $key, int $by = 1, int $initial = 0, ?int $ttl = null): int
    {
        $entry = $this->live($key);
        $value = $entry === null ? $this->foreign : $this->value($entry);
        if ($entry === null || $value === $this->foreign) {
            $sum = Counter::sum($key, $initial, $by);
            $this->save([new Item($key, $sum, $ttl)]);

            return $sum;
        }
        $entry[0] = Counter::sum($key, $value, $by);
        $this->ticks->move($key);
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
        $this->ticks->invalidate($tags, $serveStale, ($this->clock)());
        if ($this->ticks->hasManyTags()) {
            $this->prune();
            $carried = [];
            foreach ($this->entries as $entry) {
                $carried += array_fill_keys($entry[4], true);
            }
            $this->ticks->keepTags($carried);
        }
    }

    public function clear(): void
    {
        $this->entries = $this->visited = [];
        $this->bytes = 0;
        $this->ticks->clear();
    }

    public function prune(): int
    {
        $before = \count($this->entries);
        foreach (array_keys($this->entries) as $key) {
            $entry = $this->unexpired((string) $key);
            if ($entry !== null && $this->verdict($entry) === Verdict::Dead) {
                $this->drop($key);
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
            bytes: $this->bytes,
            capacity: $this->size,
            hits: $this->hits,
            misses: $this->misses,
            evictions: $this->evictions,
            expired: $this->expired,
            details: [...($this->items === null ? [] : ['items at most' => $this->items]), 'tags' => $this->ticks->tags()],
        );
    }

    public function capabilities(): array
    {
        return [Capability::WholeClear, Capability::Tags, Capability::Tokens, Capability::RequestTokens, Capability::Keys];
    }

    /** @return ?array{mixed, bool, ?int, int, list<string>, int} */
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

    /** @return ?array{mixed, bool, ?int, int, list<string>, int} */
    private function unexpired(string $key): ?array
    {
        $entry = $this->entries[$key] ?? null;
        if ($entry !== null && $entry[2] !== null && $entry[2] <= ($this->clock)()) {
            $this->drop($key);
            $this->expired++;

            return null;
        }

        return $entry;
    }

    /** @param array{mixed, bool, ?int, int, list<string>, int} $entry */
    private function verdict(array $entry): Verdict
    {
        return $entry[4] === [] ? Verdict::Live : $this->ticks->verdict($entry[4], $entry[3], ($this->clock)());
    }

    /** @param array{mixed, bool, ?int, int, list<string>, int} $entry */
    private function value(array $entry): mixed
    {
        return $entry[1] && \is_string($entry[0]) ? $this->payload->decode($entry[0], $this->foreign) : $entry[0];
    }

    /** Whether nothing has happened since the item's computation began that it should have known of. */
    private function isCurrent(Item $item): bool
    {
        $token = $item->token;

        return $token === null || ($this->ticks->hasNotMoved($item->key, $token)
            && $this->ticks->allows($item->tags, $token, ($this->clock)()));
    }

    /** @return bool false: it is larger than all of this store may be */
    private function keep(Item $item, int $version, mixed $stored, bool $isPayload, ?int $expiry, int $bytes): bool
    {
        $bytes = $this->bytes($item, $bytes);
        if ($bytes > $this->size) {
            return false;
        }
        $this->entries[$item->key] = [$stored, $isPayload, $expiry, $version, $item->tags, $bytes];
        $this->bytes += $bytes;
        if ($this->isOverfull()) {
            $this->evict();
        }

        return true;
    }

    /** @param int $bytes of its value */
    private function bytes(Item $item, int $bytes): int
    {
        return $bytes + self::ENTRY + \strlen($item->key) + ($item->tags === [] ? 0 : (int) Contents::plainBytes($item->tags));
    }

    private function drop(string|int $key): void
    {
        $this->bytes -= $this->entries[$key][5] ?? 0;
        unset($this->entries[$key], $this->visited[$key]);
    }

    /** In batches, because finding an array's first element means skipping all that were removed before it. */
    private function evict(): void
    {
        $most = $this->items ?? \PHP_INT_MAX;
        $items = \count($this->entries) > $most ? $most + 1 - max(1, $most >> 4) : $most;
        $size = $this->bytes > $this->size ? $this->size - ($this->size >> 4) : $this->size;
        $newest = array_key_last($this->entries);
        foreach ($this->entries as $key => $entry) {
            if ($key === $newest || isset($this->visited[$key])) {
                // Behind those that were given another round.
                unset($this->entries[$key], $this->visited[$key]);
                $this->entries[$key] = $entry;
                if ($key === $newest) {
                    break;
                }
                continue;
            }
            $this->drop($key);
            $this->evictions++;
            if (\count($this->entries) <= $items && $this->bytes <= $size) {
                return;
            }
        }
        // All had been read: the oldest go.
        while ($this->isOverfull()) {
            $this->drop(array_key_first($this->entries) ?? '');
            $this->evictions++;
        }
    }

    private function isOverfull(): bool
    {
        return $this->bytes > $this->size || \count($this->entries) > ($this->items ?? \PHP_INT_MAX);
    }

    /** What a store may take of PHP's memory, unless said otherwise. */
    private static function share(): int
    {
        $limit = ini_parse_quantity((string) \ini_get('memory_limit'));

        return $limit > 0 ? min(self::SIZE, $limit >> 2) : self::SIZE;
    }
}
