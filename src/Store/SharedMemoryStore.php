<?php

declare(strict_types=1);

namespace Larder\Store;

use Larder\Cache\Counter;
use Larder\Capability;
use Larder\Counts;
use Larder\Dsn;
use Larder\Exception;
use Larder\Exception\ExtensionMissing;
use Larder\Exception\InvalidDsn;
use Larder\Exception\InvalidKey;
use Larder\Exception\PoolUnusable;
use Larder\Exception\StoreUnavailable;
use Larder\Fetched;
use Larder\Item;
use Larder\Key;
use Larder\Lease\AddedLeases;
use Larder\Leases;
use Larder\Namespaces;
use Larder\PerRequest;
use Larder\Pooled;
use Larder\Reads;
use Larder\RequestTokens;
use Larder\SaveMode;
use Larder\Serializer\Contents;
use Larder\SharedMemory;
use Larder\Store;
use Larder\StoreStatistics;
use Larder\Takes;
use Larder\Token;
use Larder\Ttl;

/**
 * Items in a pool of shared memory that all processes of a user on this machine see: Larder\SharedMemory,
 * the extension's class, does all of it. A request's own changes do not refuse its fills. A refused fill changes nothing. An add is a
 * fill. Tags are kept as hashes, so items cannot list them.
 *
 * A pool that does not evict takes nothing when it is full. So its leases are in a small pool beside it, whose room no item takes.
 */
final class SharedMemoryStore implements Store, Leases, Reads, Takes, Counts, PerRequest, RequestTokens, Pooled, Namespaces
{
    /** The options of its DSN. */
    public const OPTIONS = ['size', 'evict'];

    /** What to do about a name that no pool can have. */
    public const NAMING_REMEDY = 'give 1 to 64 letters, digits, dots, dashes and underscores, the first a letter, digit or underscore';

    /** Bytes of the pool of leases. */
    private const LEASES_SIZE = 4 << 20;

    /** Of the name of such a pool. ext/opening.c knows it, too. */
    private const LEASES_END = '.locks';

    /** Of a pool's name. */
    private const NAME_LENGTH = 64;

    private const TRIES = 16;

    /** In nanoseconds, after the first refusal: a pool that is kept busy lets each try wait. */
    private const TIMEOUT = 1_000_000_000;

    /** Of when the request began, if that was to be noted: of all of the pool. */
    private ?Token $requestToken = null;

    /** Where the leases are; null: none was asked for, or they are in this one. */
    private ?self $beside = null;

    /**
     * @param ?NamespacePath $path   where it lies, if it is not all of the pool
     * @param ?self          $within what it is a part of
     * @param ?string        $leases the name of the pool for the leases; null: they are in this one, or where those are of what it is a part of
     */
    public function __construct(
        public readonly SharedMemory $pool,
        private readonly bool $evicts = true,
        private readonly ?NamespacePath $path = null,
        private readonly ?self $within = null,
        private readonly ?string $leases = null,
    ) {}

    /**
     * @param ?int $size  bytes; null: what larder.size says
     * @param bool $evict whether a full pool makes room by dropping what is worth least, or refuses
     *
     * @throws Exception
     */
    public static function open(string $name = 'default', ?int $size = null, bool $evict = true): self
    {
        if (!\extension_loaded('larder')) {
            throw ExtensionMissing::of('SharedMemoryStore', 'larder');
        }

        $pool = SharedMemory::open($name, $size, $evict);
        // That there is no room for locks is to be known at once, and not when one is wanted.
        $evict || SharedMemory::open(self::leasesOf($name), self::LEASES_SIZE, false);

        return new self($pool, $evict, leases: $evict ? null : self::leasesOf($name));
    }

    /**
     * Removes the pool of that name, and the pool of its leases if there is one. SharedMemory::remove() does so, too, but leaves the
     * leases of a pool with a name of more than 58 bytes.
     *
     * @return bool whether there was a pool of that name
     *
     * @throws PoolUnusable
     */
    public static function remove(string $name): bool
    {
        SharedMemory::remove(self::leasesOf($name));

        return SharedMemory::remove($name);
    }

    /** The pool that the leases of that one are in, if it does not evict. */
    public static function leasesOf(string $name): string
    {
        $short = \strlen($name) + \strlen(self::LEASES_END) <= self::NAME_LENGTH
            ? $name
            : substr($name, 0, self::NAME_LENGTH - \strlen(self::LEASES_END) - 17) . '.' . hash('xxh64', $name);

        return $short . self::LEASES_END;
    }

    /**
     * The pools of leases among these.
     *
     * @param list<string> $names of pools
     *
     * @return array<string, string> for each of them the pool whose leases it holds, which may be gone
     */
    public static function leasesAmong(array $names): array
    {
        $owners = array_combine(array_map(self::leasesOf(...), $names), $names);
        $found = [];
        foreach ($names as $name) {
            if (str_ends_with($name, self::LEASES_END)) {
                $found[$name] = $owners[$name] ?? substr($name, 0, -\strlen(self::LEASES_END));
            }
        }

        return $found;
    }

    /** The name of the pool that a DSN `shm:` asks for. */
    public static function poolOf(Dsn $dsn): string
    {
        return $dsn->path === '' ? 'default' : $dsn->path;
    }

    /**
     * What a DSN is told whose name no pool can have; many write it with the slashes of a URL.
     *
     * @internal
     */
    public static function misnamed(#[\SensitiveParameter] string $name): InvalidDsn
    {
        $bare = ltrim($name, '/');

        return InvalidDsn::part(Dsn::masked("shm:{$name}"), 'names no pool', $bare !== $name && self::canName($bare) ? "write it as \"shm:{$bare}\"" : self::NAMING_REMEDY);
    }

    /** The path is the pool's name. Options: size (bytes), evict (switch). */
    public static function fromDsn(Dsn $dsn): self
    {
        $dsn->allow(...self::OPTIONS);
        $name = self::poolOf($dsn);
        if (!self::canName($name)) {
            throw self::misnamed($name);
        }

        try {
            return self::open($name, $dsn->bytes('size'), $dsn->switch('evict', true));
        } catch (\ValueError) {
            throw InvalidDsn::option('size', $dsn->text('size', ''), 'a size from 4M to 1024G');
        }
    }

    /** Whether a pool can have that name. The extension says so itself, but as it says that a pool cannot be had now. */
    public static function canName(string $name): bool
    {
        return preg_match('/^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/D', $name) === 1;
    }

    /** Whether there is a pool of that name which evicts where this one is not to, or the other way round. */
    public static function isMadeOtherwise(string $name, bool $evict): bool
    {
        try {
            return \in_array($name, SharedMemory::names(), true) && SharedMemory::open($name, null, !$evict)->statistics()['evict'] !== $evict;
        } catch (PoolUnusable) {
            return false;
        }
    }

    /** @return list<Capability> what a pool can do that cannot be had yet, but for what has a contract of its own */
    public static function promised(bool $evict): array
    {
        return [Capability::WholeClear, Capability::Tags, Capability::Tokens, Capability::RequestTokens, Capability::Keys, Capability::Sharing, Capability::Durability, ...$evict ? [] : [Capability::Retention]];
    }

    public function pool(): SharedMemory
    {
        return $this->pool;
    }

    public function check(string $key): void
    {
        $this->checkLengths([$key]);
        Key::check($key);
    }

    public function namespace(string $name): self
    {
        $path = new NamespacePath($name, $this->path);

        return new self($this->pool->part($path->prefix, $path->tag), $this->evicts, $path, $this);
    }

    public function beginRequest(): void
    {
        $this->pool->beginRequest();
        $this->beside?->beginRequest();
    }

    public function read(string $key, mixed $default = null, ?Fetched &$fetched = null): mixed
    {
        $this->checkLengths([$key]);

        return $this->pool->get($key, $default);
    }

    public function readMany(array $keys): Fetched
    {
        return $this->fetch($keys);
    }

    public function fetch(array $keys): Fetched
    {
        $this->checkLengths($keys);
        $items = $tokens = $stale = [];
        // Before the look: a token may be too old, but must never be younger than the miss it stands for.
        $token = $keys === [] ? null : $this->token($keys[array_key_first($keys)]);
        $found = $this->pool->fetch($keys);
        foreach ($keys as $key) {
            if (isset($found[$key])) {
                [$value, $expiry, $version] = $found[$key];
                $items[$key] = Item::found($key, $value, $expiry, $version);
                continue;
            }
            if ($token !== null) {
                $tokens[$key] = $token;
            }
            $served = $this->pool->stale($key);
            if ($served !== null && $served[1]) {
                [$value, , $seconds, $version] = $served;
                $stale[$key] = Item::found($key, $value, $seconds === null ? null : time() + $seconds, $version);
            }
        }

        return new Fetched($items, $tokens, $stale);
    }

    public function noteRequest(bool $anew = false): void
    {
        if ($this->within !== null) {
            $this->within->noteRequest($anew);

            return;
        }
        if ($anew) {
            $this->requestToken = null;
        }
        $this->requestToken ??= $this->token('request');
    }

    public function requestToken(string $key): ?Token
    {
        return $this->within === null ? $this->requestToken : $this->within->requestToken($key);
    }

    public function token(string $key): Token
    {
        $this->checkLengths([$key]);

        return self::reaching(fn(): Token => $this->pool->token($key));
    }

    public function save(array $items, SaveMode $mode = SaveMode::Set): array
    {
        return $this->saveEach($items, fn(Item $item): bool => $this->saveOne($item, self::ttl($item->ttl), $mode));
    }

    public function saveAsMissed(array $items): array
    {
        return $this->saveEach($items, fn(Item $item): bool => $this->pool->set($item->key, $item->value, self::ttl($item->ttl), $item->tags, $item->token, $item->keeps));
    }

    /**
     * @param list<Item>           $items
     * @param \Closure(Item): bool $save
     *
     * @return list<string> the keys of those that were not saved
     */
    private function saveEach(array $items, \Closure $save): array
    {
        foreach ($items as $item) {
            $this->checkLengths([$item->key]);
            if (\count($items) > 1) {
                Contents::check($item->key, $item->value);
            }
        }
        $unsaved = [];
        foreach ($items as $item) {
            if (!self::reaching(static fn(): bool => $save($item))) {
                $unsaved[] = $item->key;
            }
        }

        return $unsaved;
    }

    public function delete(array $keys, ?Token $token = null): array
    {
        $this->checkLengths($keys);
        $existed = [];
        foreach ($keys as $key) {
            $version = $token === null ? null : $this->pool->fetch([$key])[$key][2] ?? null;
            if ($token !== null && ($version === null || !$this->isSince($key, $version, $token))) {
                continue;
            }
            if (self::reaching(fn(): bool => $this->pool->delete($key, $version))) {
                $existed[] = $key;
            }
        }

        return $existed;
    }

    public function take(string $key): ?Item
    {
        $this->checkLengths([$key]);
        $taken = self::reaching(fn(): ?array => $this->pool->take($key));

        return $taken === null ? null : Item::found($key, ...$taken);
    }

    public function increment(string $key, int $by = 1, int $initial = 0, ?int $ttl = null): int
    {
        $this->checkLengths([$key]);
        $increment = fn(): int => self::reaching(fn(): int => (int) $this->pool->increment($key, $by, $initial, self::ttl($ttl)));

        return Counter::anewIfUnreadable($this, $key, $by, $initial, $ttl, $increment);
    }

    public function count(string $key, int $by, int $initial, ?int $ttl, ?int $min, bool $create, int $version = 0, int $number = 0): ?int
    {
        $this->checkLengths([$key]);

        return self::reaching(fn(): ?int => $this->pool->increment($key, $by, $initial, self::ttl($ttl), $min, $create, $version, $number));
    }

    public function touch(array $keys, ?int $ttl): array
    {
        $this->checkLengths($keys);
        $touched = [];
        foreach ($keys as $key) {
            if (self::reaching(fn(): bool => $this->pool->touch($key, self::ttl($ttl)))) {
                $touched[] = $key;
            }
        }

        return $touched;
    }

    public function invalidateTags(array $tags, int $serveStale = 0): void
    {
        if ($tags !== []) {
            self::reaching(fn() => $this->pool->invalidateTags($tags, max(0, $serveStale)));
        }
    }

    public function clear(): void
    {
        self::reaching(fn() => $this->pool->clear());
    }

    /** The pool recycles its dead segments by itself. */
    public function prune(): int
    {
        return 0;
    }

    public function keys(string $prefix = ''): iterable
    {
        foreach ($this->pool->keys($prefix) as $key) {
            yield (string) $key;
        }
    }

    public function statistics(): StoreStatistics
    {
        $details = self::reaching(fn(): array => $this->pool->statistics());

        return new StoreStatistics(
            items: self::figure($details, 'items'),
            bytes: self::figure($details, 'bytes'),
            capacity: self::figure($details, 'capacity'),
            hits: self::figure($details, 'hits'),
            misses: self::figure($details, 'misses'),
            evictions: self::figure($details, 'evictions'),
            expired: self::figure($details, 'expired'),
            details: $details,
        );
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

    public function capabilities(): array
    {
        $retention = $this->evicts ? [] : [Capability::Retention];
        $whole = $this->path === null ? [Capability::WholeClear] : [];

        return [...$whole, Capability::Tags, Capability::Tokens, Capability::RequestTokens, Capability::Takes, Capability::Counts, Capability::Keys, Capability::Sharing, Capability::Durability, ...$retention];
    }

    /** What a failure to reach the pool is to those who asked a store. The extension says what to do about it. */
    public static function unavailable(PoolUnusable $failure): StoreUnavailable
    {
        return new StoreUnavailable("The pool of shared memory is unavailable: {$failure->getMessage()}", previous: $failure);
    }

    /**
     * A pool that was fine when it was opened, and cannot be reached any more, is a store that has failed.
     *
     * @template T
     *
     * @param \Closure(): T $ask
     *
     * @return T
     *
     * @throws StoreUnavailable
     */
    private static function reaching(\Closure $ask): mixed
    {
        try {
            return $ask();
        } catch (PoolUnusable $failure) {
            throw self::unavailable($failure);
        }
    }

    /**
     * Before anything is done.
     *
     * @param list<string> $keys
     *
     * @throws InvalidKey
     */
    private function checkLengths(array $keys): void
    {
        $longest = Key::LONGEST - ($this->path?->bytes() ?? 0);
        foreach ($keys as $key) {
            if (isset($key[$longest])) {
                throw InvalidKey::tooLong($key, $longest);
            }
        }
    }

    /** Made anew each time, as it may hold this store, which would otherwise hold itself. */
    private function leases(): AddedLeases
    {
        return new AddedLeases($this->beside() ?? $this);
    }

    /** The store that the leases are in, if that is another one. */
    private function beside(): ?self
    {
        if ($this->leases !== null) {
            $this->beside ??= new self(self::reaching(fn(): SharedMemory => SharedMemory::open((string) $this->leases, self::LEASES_SIZE, false)), false);
        } elseif ($this->path !== null && ($all = $this->within?->beside()) !== null) {
            $this->beside ??= new self($all->pool->part($this->path->prefix, $this->path->tag), false, $this->path, $all);
        }

        return $this->beside;
    }

    private function saveOne(Item $item, ?int $ttl, SaveMode $mode): bool
    {
        $token = $item->token;
        // The pool's own add is a fill. A write that was made from nothing is named as one.
        if ($mode !== SaveMode::Set && ($token === null || $item->version !== Item::FROM_NOTHING)) {
            return $mode === SaveMode::Add
                ? $this->pool->add($item->key, $item->value, $ttl, $item->tags, $token)
                : $this->pool->replace($item->key, $item->value, $ttl, $item->tags, $token, $item->keeps);
        }
        if ($item->fill) {
            return $this->pool->fill($item->key, $item->value, $token ?? $this->pool->token($item->key), $ttl, $item->tags, $item->cost);
        }

        if ($token !== null && $item->version === $token->version && $this->pool->token($item->key)->version !== $token->version) {
            // The pool lets this process's own writes since the token pass, and gives the same version to what they store. So this
            // process may have changed the very item that the value was made from.
            return false;
        }

        return $token === null
            ? $this->write($item, $ttl)
            : $this->pool->set($item->key, $item->value, $ttl, $item->tags, $token, $item->keeps, $item->version === 0 ? null : $item->version);
    }

    /**
     * The pool takes the first set after a miss for a fill, and would judge it by that; but a caller that says that this is new
     * truth is to be believed. With a token of this moment it is a write, which only another write in the same moment
     * refuses: then this one is the later one.
     */
    private function write(Item $item, ?int $ttl): bool
    {
        $refused = null;
        for ($tries = 0; $tries < self::TRIES; $tries++) {
            $token = $this->pool->token($item->key);
            if ($this->pool->set($item->key, $item->value, $ttl, $item->tags, $token, $item->keeps)) {
                return true;
            }
            $refused ??= hrtime(true);
            if ($token->version === $this->pool->token($item->key)->version || hrtime(true) - $refused > self::TIMEOUT) {
                break;
            }
        }

        // What there is is not newer than this.
        $item->keeps || $this->pool->delete($item->key);

        return $ttl !== null && $ttl <= 0;
    }

    /** Whether an item of this version is not younger than the token. One of the same tick may be, unless nothing at all has happened since. */
    private function isSince(string $key, int $version, Token $token): bool
    {
        $now = $this->token($key);

        return $now->epoch === $token->epoch && ($version < $token->version || ($version === $token->version && $now->version === $token->version));
    }

    private static function ttl(?int $ttl): ?int
    {
        return $ttl === null || $ttl > Ttl::LONGEST ? null : $ttl;
    }

    /** @param array<string, mixed> $details */
    private static function figure(array $details, string $name): ?int
    {
        return isset($details[$name]) && \is_int($details[$name]) ? $details[$name] : null;
    }
}
