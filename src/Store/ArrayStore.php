<?php

declare(strict_types=1);

namespace Larder\Store;

use Larder\Capability;
use Larder\DirectReads;
use Larder\Dsn;
use Larder\Exception\InvalidOption;
use Larder\Exception\UnsupportedOperation;
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
 */
final class ArrayStore implements Store, DirectReads
{
    /** @var array<array-key, array{mixed, bool, ?int}> the value or its payload, whether it is a payload, expiry */
    private array $entries = [];

    /** @var array<array-key, true> read since the last eviction */
    private array $visited = [];

    private int $hits = 0;

    private int $misses = 0;

    private int $evictions = 0;

    private int $expired = 0;

    private readonly Payload $payload;

    private readonly \stdClass $foreign;

    private readonly Token $token;

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
        $this->token = new Token('', 0);
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
        $items = $tokens = [];
        foreach ($keys as $key) {
            $entry = $this->live($key);
            $value = $entry === null ? $this->foreign : $this->value($entry);
            if ($value === $this->foreign) {
                $this->misses++;
                $tokens[$key] = $this->token;
            } else {
                $this->hits++;
                $this->visited[$key] = true;
                $items[$key] = Item::found($key, $value, $entry[2] ?? null);
            }
        }

        return new Fetched($items, $tokens);
    }

    public function save(array $items, SaveMode $mode = SaveMode::Set): array
    {
        $now = ($this->clock)();
        $prepared = [];
        foreach ($items as $item) {
            if ($item->tags !== []) {
                throw UnsupportedOperation::by('ArrayStore', Capability::Tags);
            }
            $plain = Contents::isPlain($item->value);
            $prepared[] = [$plain ? $item->value : $this->payload->encode($item->key, $item->value), !$plain, Ttl::expiry($item->ttl, $now)];
        }
        $unsaved = [];
        foreach ($items as $i => $item) {
            if (($mode === SaveMode::Add && $this->live($item->key) !== null)
                || ($mode === SaveMode::Replace && $this->live($item->key) === null)) {
                $unsaved[] = $item->key;
                continue;
            }
            unset($this->entries[$item->key], $this->visited[$item->key]);
            if ($item->ttl === null || $item->ttl > 0) {
                $this->entries[$item->key] = $prepared[$i];
                $this->evict();
            }
        }

        return $unsaved;
    }

    public function delete(array $keys, ?Token $token = null): array
    {
        $existed = [];
        foreach ($keys as $key) {
            if ($this->live($key) !== null) {
                $existed[] = $key;
                unset($this->entries[$key], $this->visited[$key]);
            }
        }

        return $existed;
    }

    public function increment(string $key, int $by = 1, int $initial = 0, ?int $ttl = null): int
    {
        $entry = $this->live($key);
        if ($entry !== null) {
            $sum = Counter::sum($key, $this->value($entry), $by);
            $this->entries[$key] = [$sum, false, $entry[2]];

            return $sum;
        }
        $sum = Counter::sum($key, $initial, $by);
        $this->save([new Item($key, $sum, $ttl)]);

        return $sum;
    }

    public function touch(array $keys, ?int $ttl): array
    {
        $expiry = Ttl::expiry($ttl, ($this->clock)());
        $touched = [];
        foreach ($keys as $key) {
            $entry = $this->live($key);
            if ($entry !== null) {
                $touched[] = $key;
                $this->entries[$key] = [$entry[0], $entry[1], $expiry];
            }
        }

        return $touched;
    }

    public function invalidateTags(array $tags): void
    {
        throw UnsupportedOperation::by('ArrayStore', Capability::Tags);
    }

    public function clear(): void
    {
        $this->entries = $this->visited = [];
    }

    public function prune(): int
    {
        $before = \count($this->entries);
        foreach (array_keys($this->entries) as $key) {
            $this->live((string) $key);
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
            details: ['items at most' => $this->items],
        );
    }

    public function capabilities(): array
    {
        return [Capability::Keys];
    }

    /** @return ?array{mixed, bool, ?int} */
    private function live(string $key): ?array
    {
        $entry = $this->entries[$key] ?? null;
        if ($entry !== null && $entry[2] !== null && $entry[2] <= ($this->clock)()) {
            unset($this->entries[$key], $this->visited[$key]);
            $this->expired++;

            return null;
        }

        return $entry;
    }

    /** @param array{mixed, bool, ?int} $entry */
    private function value(array $entry): mixed
    {
        return $entry[1] && \is_string($entry[0]) ? $this->payload->decode($entry[0], $this->foreign) : $entry[0];
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
