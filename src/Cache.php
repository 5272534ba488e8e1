<?php

declare(strict_types=1);

namespace Larder;

use Larder\Exception\InvalidKey;
use Larder\Exception\InvalidOption;
use Larder\Exception\NotACounter;
use Larder\Exception\StoreUnavailable;
use Larder\Exception\Unstorable;
use Psr\Log\LoggerInterface;

/**
 * What an application talks to: one store, and everything that is the same for all stores.
 *
 *     $cache = Cache::open('shm:');
 *     $page = $cache->remember('page:42', fn (Draft $draft) => render(42), 300);
 *
 * A cache never takes its site down. A store that fails at run time is a miss, or false; it is counted,
 * logged once, and used again as soon as it answers. A delete, overwrite or clear that the store did not
 * learn of raises the health flag, is delivered before anything else is asked of the store, and only then
 * is the flag lowered; until then nothing is read, so this process never sees what it deleted.
 * A strict cache does the same, and throws StoreUnavailable besides.
 *
 * TTLs: null is the cache's default, Ttl::Forever is none, an int is seconds, a DateInterval counts from
 * now; zero or less deletes.
 *
 * Keys are 1 to 65,535 bytes, any bytes. Where keys are the keys of a PHP array, PHP turns a decimal one
 * ("7", not "007") into an int; it is taken for its decimal string here.
 */
final class Cache
{
    /** What is dead but untouched shall not fill a store that never evicts: 30 days, in seconds. */
    public const DEFAULT_TTL = 2_592_000;

    /** Undelivered keys remembered one by one; beyond, everything is cleared when the store is back. */
    private const MOST_UNDELIVERED = 10_000;

    /** Null also while the store has failed: reads then go the long way, where its recovery is noticed. */
    private ?DirectReads $direct;

    /** No caller can have this object: what it is identical to was not in the store. */
    private readonly \stdClass $absent;

    private bool $available = true;

    private int $failures = 0;

    private bool $refusing = false;

    private bool $clearPending = false;

    /** @var array<array-key, true> */
    private array $undelivered = [];

    /** @throws InvalidOption */
    public function __construct(
        public readonly Store $store,
        private readonly int|\DateInterval|Ttl $defaultTtl = self::DEFAULT_TTL,
        private readonly ?LoggerInterface $logger = null,
        private readonly bool $strict = false,
    ) {
        $seconds = Ttl::seconds($defaultTtl);
        if ($seconds !== null && $seconds <= 0) {
            throw InvalidOption::range('defaultTtl', $seconds, 'more than 0 seconds, or Ttl::Forever');
        }
        $this->direct = $store instanceof DirectReads ? $store : null;
        $this->absent = new \stdClass();
    }

    /**
     * Opens the store that a DSN names (see Dsn for the grammar).
     *
     * @throws Exception a wrong configuration fails here; a server that is down does not
     */
    public static function open(
        #[\SensitiveParameter]
        string $dsn,
        int|\DateInterval|Ttl $defaultTtl = self::DEFAULT_TTL,
        ?LoggerInterface $logger = null,
        bool $strict = false,
    ): self {
        return new self(Dsn::parse($dsn)->open(), $defaultTtl, $logger, $strict);
    }

    /**
     * The value, or $default if there is none. A stored null is a value.
     *
     * @throws InvalidKey
     */
    public function get(string $key, mixed $default = null): mixed
    {
        if ($key === '' || \strlen($key) > Key::LONGEST) {
            Key::check($key);
        }
        if ($this->direct === null) {
            return $this->look($key, $default);
        }
        try {
            return $this->direct->read($key, $default);
        } catch (StoreUnavailable $failure) {
            $this->fail($failure);

            return $default;
        }
    }

    /**
     * The values that were found, by key.
     *
     * @param iterable<mixed> $keys strings; ints are taken for their decimal strings
     *
     * @return array<array-key, mixed>
     *
     * @throws InvalidKey
     */
    public function getMany(iterable $keys): array
    {
        $keys = $this->checked($keys);
        $fetched = $this->attempt(static fn(Store $store): Fetched => $store->fetch($keys));
        $values = [];
        foreach ($fetched->items ?? [] as $key => $item) {
            $values[$key] = $item->value;
        }

        return $values;
    }

    /** @throws InvalidKey */
    public function has(string $key): bool
    {
        return $this->get($key, $this->absent) !== $this->absent;
    }

    /**
     * @return bool whether it was stored; if not, nothing older is left under the key either
     *
     * @throws InvalidKey
     * @throws Unstorable
     */
    public function set(string $key, mixed $value, int|\DateInterval|Ttl|null $ttl = null): bool
    {
        Key::check($key);

        return $this->write([new Item($key, $value, $this->seconds($ttl))]);
    }

    /**
     * @param iterable<mixed, mixed> $values by key
     *
     * @return bool whether all were stored
     *
     * @throws InvalidKey
     * @throws Unstorable before anything is stored
     */
    public function setMany(iterable $values, int|\DateInterval|Ttl|null $ttl = null): bool
    {
        $seconds = $this->seconds($ttl);
        $items = [];
        foreach ($values as $key => $value) {
            $items[] = new Item($this->checkedKey($key), $value, $seconds);
        }

        return $this->write($items);
    }

    /**
     * Stores only if there is nothing: of many processes that try at once, one succeeds.
     *
     * @throws InvalidKey
     * @throws Unstorable
     */
    public function add(string $key, mixed $value, int|\DateInterval|Ttl|null $ttl = null): bool
    {
        Key::check($key);
        $item = new Item($key, $value, $this->seconds($ttl));

        return $this->attempt(static fn(Store $store): array => $store->save([$item], SaveMode::Add)) === [];
    }

    /**
     * Stores only if there is something.
     *
     * @throws InvalidKey
     * @throws Unstorable
     */
    public function replace(string $key, mixed $value, int|\DateInterval|Ttl|null $ttl = null): bool
    {
        Key::check($key);
        $item = new Item($key, $value, $this->seconds($ttl));

        return $this->attempt(static fn(Store $store): array => $store->save([$item], SaveMode::Replace), [$key]) === [];
    }

    /**
     * @return bool whether the store knows; true for a key that was not there
     *
     * @throws InvalidKey
     */
    public function delete(string $key): bool
    {
        Key::check($key);

        return $this->attempt(static fn(Store $store): array => $store->delete([$key]), [$key]) !== null;
    }

    /**
     * @param iterable<mixed> $keys strings; ints are taken for their decimal strings
     *
     * @return bool whether the store knows of all
     *
     * @throws InvalidKey
     */
    public function deleteMany(iterable $keys): bool
    {
        $keys = $this->checked($keys);

        return $this->attempt(static fn(Store $store): array => $store->delete($keys), $keys) !== null;
    }

    /**
     * Adds to a counter, atomically. It keeps its expiry; if there is none, it is made as $initial + $by
     * with $ttl.
     *
     * @return int|false the new value; false if the store is unavailable
     *
     * @throws InvalidKey
     * @throws NotACounter the value is no int, or would leave the range of int; nothing is changed
     */
    public function increment(string $key, int $by = 1, int $initial = 0, int|\DateInterval|Ttl|null $ttl = null): int|false
    {
        Key::check($key);
        $seconds = $this->seconds($ttl);

        return $this->attempt(static fn(Store $store): int => $store->increment($key, $by, $initial, $seconds)) ?? false;
    }

    /**
     * increment() by -$by.
     *
     * @throws InvalidKey
     * @throws NotACounter
     */
    public function decrement(string $key, int $by = 1, int $initial = 0, int|\DateInterval|Ttl|null $ttl = null): int|false
    {
        if ($by === \PHP_INT_MIN) {
            throw new NotACounter(\sprintf('%d cannot be subtracted, as it has no positive counterpart; increment instead.', $by));
        }

        return $this->increment($key, -$by, $initial, $ttl);
    }

    /**
     * The value; computed, stored and returned if there is none. What the computation throws is thrown here,
     * and nothing is stored.
     *
     * What is stored is as old as the moment the computation began: where the store judges tokens, it does
     * not survive a delete of the key that came in between.
     *
     * @template T
     *
     * @param callable(Draft): T $compute may shape the item through the draft
     *
     * @return T what $compute returned, now or earlier; that earlier code stored the same type is the caller's promise
     *
     * @throws InvalidKey
     * @throws Unstorable
     */
    public function remember(string $key, callable $compute, int|\DateInterval|Ttl|null $ttl = null): mixed
    {
        if ($this->direct !== null) {
            $value = $this->get($key, $this->absent);
            if ($value !== $this->absent) {
                /** @var T $value */
                return $value;
            }
        }
        Key::check($key);
        $fetched = $this->attempt(static fn(Store $store): Fetched => $store->fetch([$key]));
        if (isset($fetched->items[$key])) {
            /** @var T $value */
            $value = $fetched->items[$key]->value;

            return $value;
        }
        $draft = new Draft($key, $ttl);
        $began = hrtime(true);
        $value = $compute($draft);
        $seconds = $this->seconds($draft->ttl());
        if ($draft->isStored() && ($seconds === null || $seconds > 0)) {
            $cost = (hrtime(true) - $began) / 1e9;
            $item = new Item($key, $value, $seconds, token: $fetched->tokens[$key] ?? null, fill: true, cost: $cost);
            $this->attempt(static fn(Store $store): array => $store->save([$item]));
        }

        return $value;
    }

    /** @return bool whether the store knows */
    public function clear(): bool
    {
        $delivered = $this->attempt(static function (Store $store): bool {
            $store->clear();

            return true;
        }, clears: true);

        return $delivered === true;
    }

    public function health(): Health
    {
        return new Health($this->available, $this->failures, \count($this->undelivered), $this->clearPending);
    }

    private function look(string $key, mixed $default): mixed
    {
        $fetched = $this->attempt(static fn(Store $store): Fetched => $store->fetch([$key]));

        return isset($fetched->items[$key]) ? $fetched->items[$key]->value : $default;
    }

    /** @param list<Item> $items */
    private function write(array $items): bool
    {
        $keys = array_map(static fn(Item $item): string => $item->key, $items);
        $unsaved = $this->attempt(static fn(Store $store): array => $store->save($items), $keys);
        if ($unsaved === null || $unsaved === []) {
            return $unsaved === [];
        }
        if (!$this->refusing) {
            $this->refusing = true;
            $this->logger?->warning('The cache\'s store refuses to save; it is full or the value too large.', [
                'store' => $this->store::class,
                'keys' => $unsaved,
            ]);
        }

        return false;
    }

    /**
     * Asks the store, after telling it what it has missed.
     *
     * @template T
     *
     * @param \Closure(Store): T $ask
     * @param list<string>       $invalidated the keys whose present values the store must lose
     * @param bool               $clears      whether the store must lose everything
     *
     * @return ?T null if it is unavailable
     *
     * @throws StoreUnavailable if this cache is strict
     */
    private function attempt(\Closure $ask, array $invalidated = [], bool $clears = false): mixed
    {
        try {
            $answer = $this->ask($ask, !$clears);
        } catch (StoreUnavailable $failure) {
            $flagged = $this->health()->isFlagged();
            foreach ($invalidated as $key) {
                $this->undelivered[$key] = true;
            }
            if ($clears || \count($this->undelivered) > self::MOST_UNDELIVERED) {
                $this->undelivered = [];
                $this->clearPending = true;
            }
            if (!$flagged && $this->health()->isFlagged()) {
                $this->logger?->error('The cache\'s store has missed a delete, overwrite or clear; it is delivered when the store is back.', [
                    'store' => $this->store::class,
                    'keys' => $invalidated,
                ]);
            }
            $this->fail($failure);

            return null;
        }
        if (!$this->available) {
            // Also true after a clear, which delivers whatever was not.
            $this->clearPending = false;
            $this->undelivered = [];
            $this->available = true;
            $this->direct = $this->store instanceof DirectReads ? $this->store : null;
            $this->logger?->notice('The cache\'s store is available again.', ['store' => $this->store::class]);
        }

        return $answer;
    }

    /**
     * @template T
     *
     * @param \Closure(Store): T $ask
     * @param bool               $first whether what is undelivered has to be delivered first
     *
     * @return T
     *
     * @throws StoreUnavailable
     */
    private function ask(\Closure $ask, bool $first): mixed
    {
        if ($first && !$this->available) {
            $this->repair();
        }

        return $ask($this->store);
    }

    /** @throws StoreUnavailable */
    private function repair(): void
    {
        if ($this->clearPending) {
            $this->store->clear();
        } elseif ($this->undelivered !== []) {
            $this->store->delete(array_map(strval(...), array_keys($this->undelivered)));
        }
        $this->clearPending = false;
        $this->undelivered = [];
    }

    /** @throws StoreUnavailable if this cache is strict */
    private function fail(StoreUnavailable $failure): void
    {
        $this->failures++;
        if ($this->available) {
            $this->available = false;
            $this->direct = null;
            $this->logger?->error('The cache\'s store is unavailable: reads are misses, writes are refused.', [
                'store' => $this->store::class,
                'exception' => $failure,
            ]);
        }
        if ($this->strict) {
            throw $failure;
        }
    }

    /**
     * @param iterable<mixed> $keys
     *
     * @return list<string>
     *
     * @throws InvalidKey
     */
    private function checked(iterable $keys): array
    {
        $checked = [];
        foreach ($keys as $key) {
            $checked[] = $this->checkedKey($key);
        }

        return $checked;
    }

    /** @throws InvalidKey */
    private function checkedKey(mixed $key): string
    {
        if (\is_int($key)) {
            return (string) $key;
        }
        if (!\is_string($key)) {
            throw InvalidKey::ofType($key);
        }
        Key::check($key);

        return $key;
    }

    private function seconds(int|\DateInterval|Ttl|null $ttl): ?int
    {
        return Ttl::seconds($ttl ?? $this->defaultTtl);
    }
}
