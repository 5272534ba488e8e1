<?php

declare(strict_types=1);

namespace Larder;

use Larder\Cache\Batches;
use Larder\Cache\Counting;
use Larder\Cache\Envelope;
use Larder\Cache\Gate;
use Larder\Cache\Journal;
use Larder\Cache\Lifetimes;
use Larder\Cache\Misses;
use Larder\Cache\MissTokens;
use Larder\Cache\Names;
use Larder\Cache\OwnTags;
use Larder\Cache\Request;
use Larder\Cache\RequestToken;
use Larder\Cache\Updates;
use Larder\Cache\Writes;
use Larder\Event\Cleared;
use Larder\Event\Deleted;
use Larder\Event\Hit;
use Larder\Event\Missed;
use Larder\Event\TagsInvalidated;
use Larder\Exception\InvalidKey;
use Larder\Exception\InvalidOption;
use Larder\Exception\InvalidTag;
use Larder\Exception\NotACounter;
use Larder\Exception\PoolUnusable;
use Larder\Exception\StoreUnavailable;
use Larder\Exception\Unstorable;
use Larder\Exception\UnsupportedOperation;
use Larder\Lease\AddedLeases;
use Larder\Remember\AtTheEnd;
use Larder\Remember\Beginnings;
use Larder\Remember\Recipe;
use Larder\Remember\Remembering;
use Larder\Remember\Remembers;
use Larder\Remember\StampedeOptions;
use Larder\Store\NamespacedStore;
use Larder\Store\Retention;
use Larder\Store\SharedMemory\Namesakes;
use Larder\Store\SharedMemory\PoolRemembering;
use Larder\Store\SharedMemoryStore;
use Psr\EventDispatcher\EventDispatcherInterface;
use Psr\Log\LoggerAwareInterface;
use Psr\Log\LoggerInterface;

/**
 * What an application talks to: one store, and everything that is the same for all stores.
 *
 *     $cache = Cache::open('shm:');
 *     $page = $cache->remember('page:42', fn (PendingItem $pending) => render(42), 300);
 *
 * A cache never takes its site down. A store that fails at run time is a miss, or false. It is counted, logged once, and used again as
 * soon as it answers. The store may miss a delete, overwrite, tag invalidation or clear. That raises the health flag, and is delivered
 * before anything else is asked of the store. Only then is the flag lowered. Until then nothing is read, so this process never sees
 * what it deleted. A strict cache does the same, and throws StoreUnavailable besides.
 *
 * TTLs: null is the cache's default, Ttl::Forever is none, an int is seconds, a DateInterval counts from
 * now; zero or less deletes.
 *
 * Keys are 1 to 65,535 bytes, any bytes. As the key of a PHP array, PHP turns a decimal one ("7", not "007") into an int. A cache takes
 * it for its decimal string. Tags are 1 to 255 bytes.
 *
 * A value is as old as the moment its computation began. Where the store judges tokens, a set() of a key that was missing earlier in
 * this request counts as the end of a computation. It is refused, and false, if another process has deleted, overwritten or invalidated
 * the key since. The newer item stays then. A key that was read after its miss is missed no more. A process that serves many requests
 * says refresh() when one begins.
 */
final class Cache
{
    /** 30 days, in seconds: dead items that no process touches shall not fill a store that never evicts. */
    public const DEFAULT_TTL = 2_592_000;

    /** The most namespaces that are kept. With more, the older half is forgotten, but for those whose store has missed a change. */
    private const MOST_NAMESPACES = 1_000;

    /** How often pull() tries again after another process has written the key. */
    private const PULLS = 16;

    /** The store, if it can read values without their items. Null if events are wanted: they need the items. */
    private readonly ?Reads $reads;

    /** Whether a TTL is stored as it is given: there is no jitter, and no interval that depends on the date. */
    private readonly bool $isExact;

    /** @var ?int seconds that a TTL of null means, if $isExact; null: for ever */
    private readonly ?int $ofNull;

    /** The default that reads of the store are given. No caller has this object, so a read that returns it is a miss. */
    private readonly \stdClass $absent;

    private readonly Gate $gate;

    /** Whether values are sealed with what remember() needs to know of them; a pool knows it itself. */
    private readonly bool $seals;

    /** @var \Closure(): float */
    private readonly \Closure $clock;

    /** Null unless $judgesAdds. */
    private readonly ?RequestToken $requestToken;

    // What follows is made when it is first needed: most requests only read, and each class that they load costs them time.

    private ?Lifetimes $lifetimes = null;

    /** Whether the tokens of misses are kept here: not where the store judges none, or keeps them itself. */
    private ?bool $keepsMisses = null;

    private ?Misses $misses = null;

    /** What the pools of PSR-6 over this cache have asked for: their items carry the tokens themselves. */
    private ?Misses $firstMisses = null;

    /** Of own invalidations, the last before $firstMisses began. */
    private int $firstMissesSince = 0;

    /** That of the cache whose namespace this is, too. */
    private ?OwnTags $ownTags = null;

    private ?Writes $writes = null;

    private ?Remembers $remembering = null;

    private ?AtTheEnd $atTheEnd = null;

    private ?Beginnings $beginnings = null;

    /**
     * What the pool calls when something is to be computed.
     *
     * @var (\Closure(callable(PendingItem): mixed, Computation): mixed)|null
     */
    private ?\Closure $computing = null;

    private bool $isToldOfNamesakes = false;

    /**
     * By name. An application may ask for a namespace again in each expression: the same object then knows its misses and its
     * undelivered changes.
     *
     * @var array<array-key, self>
     */
    private array $namespaces = [];

    /** The number of namespaces at which some are forgotten. */
    private int $namespacesAtMost = self::MOST_NAMESPACES;

    /**
     * @param int|\DateInterval|Ttl|null $defaultTtl what a TTL of null means; null: DEFAULT_TTL
     * @param float                      $jitter up to this share of every TTL is taken off at random, 0.0 to 0.5. So items
     *                                           that were stored together do not expire together
     * @param ?string                    $journal path of a file that remembers, beyond the process, what the store has
     *                                           missed; one for each store and host. That of a namespace lies beside it
     * @param ?EventDispatcherInterface  $events is told of Larder\Event's; costs every read the fast way
     * @param ?\Closure(): float         $clock  the time in Unix seconds; for tests that cannot wait
     * @param bool                       $judgesAdds whether a token judges an add() of a key that was never asked for. It is of
     *                                               the request's first use of this cache or of a namespace in it, or of
     *                                               refresh(); over Redis of the first read. An own invalidation or clear
     *                                               takes it anew for what that concerns; over Redis the next read does
     *
     * @throws InvalidOption
     * @throws UnsupportedOperation the store has no such tokens
     */
    public function __construct(
        public readonly Store $store,
        public readonly int|\DateInterval|Ttl|null $defaultTtl = null,
        private readonly ?LoggerInterface $logger = null,
        private readonly bool $strict = false,
        private readonly float $jitter = 0.0,
        private readonly ?EventDispatcherInterface $events = null,
        private readonly ?string $journal = null,
        ?\Closure $clock = null,
        private readonly bool $judgesAdds = false,
    ) {
        $this->clock = $clock ?? static fn(): float => microtime(true);
        $this->isExact = $jitter === 0.0 && !$defaultTtl instanceof \DateInterval;
        if ($defaultTtl === null && $this->isExact) {
            $this->ofNull = self::DEFAULT_TTL;
        } else {
            // A mistake in them is reported now.
            $lifetimes = $this->lifetimes();
            $this->ofNull = $this->isExact ? $lifetimes->seconds(null) : null;
        }
        $this->absent = new \stdClass();
        $this->requestToken = $judgesAdds ? self::requestTokenOf($store) : null;
        $this->gate = new Gate(
            $store,
            $logger,
            $strict,
            $journal === null ? null : new Journal($journal, $this->clock),
            $this->clock,
            $store instanceof Pooled && $events === null ? $store->pool() : null,
            $store instanceof ReadsNear && $events === null ? $store->near() : null,
            $this->requestToken,
        );
        $this->seals = !$store instanceof Pooled;
        $this->reads = $store instanceof Reads && $events === null ? $store : null;
        if ($logger !== null && $store instanceof LoggerAwareInterface) {
            $store->setLogger($logger);
        }
    }

    /**
     * Opens the store that a DSN names (see Dsn for the grammar). The other arguments are those of the constructor.
     *
     * @throws Exception a wrong configuration fails here; a server that is down does not
     */
    public static function open(
        #[\SensitiveParameter]
        string $dsn,
        int|\DateInterval|Ttl|null $defaultTtl = null,
        ?LoggerInterface $logger = null,
        bool $strict = false,
        float $jitter = 0.0,
        ?EventDispatcherInterface $events = null,
        ?string $journal = null,
        bool $judgesAdds = false,
    ): self {
        return new self(Stores::open($dsn), $defaultTtl, $logger, $strict, $jitter, $events, $journal, judgesAdds: $judgesAdds);
    }

    /**
     * The value, or $default if there is none. A stored null is a value.
     *
     * @throws InvalidKey
     * @throws StoreUnavailable if the cache is strict
     */
    public function get(string $key, mixed $default = null): mixed
    {
        $pool = $this->gate->pool;
        if ($pool !== null) {
            try {
                return $pool->get($key, $default);
            } catch (\ValueError) {
                // It is no key, as is said below.
            }
        }
        $pool = $this->gate->near?->pool;
        if ($pool !== null) {
            try {
                // A stored null is found below, too: to tell it from a miss here would cost each hit a default.
                $value = $pool->get($key);
                if ($value !== null && (!\is_array($value) || !isset($value[0]) || $value[0] !== Reads::SEAL)) {
                    if ($this->misses !== null) {
                        $this->misses->drop($key);
                    }

                    return $value;
                }
            } catch (\ValueError) {
                // It is no key, as is said below.
            }
        }
        if ($key === '' || isset($key[Store::LONGEST_KEY])) {
            Key::check($key);
        }
        if ($this->reads === null || !$this->gate->isOpen) {
            return $this->look($key, $default);
        }
        try {
            $value = $this->reads->read($key, $this->absent, $fetched);
        } catch (StoreUnavailable $failure) {
            $this->noteMisses()?->noteUnknown([$key], $this->ownTags);
            $this->gate->fail($failure);

            return $default;
        }
        if ($fetched !== null) {
            return $this->look($key, $default, $fetched);
        }
        if ($value === $this->absent) {
            // Only a miss costs this second look, for the token by which what is computed now will be judged.
            return $this->keepsMisses() ? $this->look($key, $default) : $default;
        }
        if (\is_array($value) && isset($value[0]) && $value[0] === Reads::SEAL) {
            return $this->opened($key, $value, $default);
        }
        $this->misses?->drop($key);

        return $value;
    }

    /**
     * The values that were found, by key.
     *
     * @param iterable<mixed> $keys strings; ints are taken for their decimal strings
     *
     * @return array<array-key, mixed>
     *
     * @throws InvalidKey
     * @throws StoreUnavailable if the cache is strict
     */
    public function getMany(iterable $keys): array
    {
        $pool = $this->gate->pool;
        if ($pool !== null && \is_array($keys)) {
            try {
                /** @var array<array-key> $keys or others, which the pool refuses */
                return $pool->getMany($keys);
            } catch (\ValueError|\TypeError) {
                // One of them is no key, as is said below.
            }
        }
        $isNear = $this->reads instanceof ReadsNear && $this->gate->isOpen && \is_array($keys);
        if ($isNear) {
            try {
                $values = $this->reads->allNear($keys);
                if ($values !== null) {
                    $this->misses?->dropAll($values);

                    return $values;
                }
            } catch (\ValueError|\TypeError) {
                // One of them is no key, as is said below.
            }
        }
        $keys = Names::keys($keys);
        $fetched = $this->gate->attempt(static fn(Store $store): Fetched => $store instanceof Reads && !$isNear ? $store->readMany($keys) : $store->fetch($keys));
        if ($fetched === null) {
            $this->noteMisses()?->noteUnknown($keys, $this->ownTags);
            $fetched = new Fetched([], []);
        }
        foreach ($fetched->tokens as $key => $token) {
            $this->noteMisses()?->note((string) $key, $token, $this->ownTags);
        }
        $values = $fetched->values;
        foreach ($fetched->items as $key => $item) {
            if (!\is_array($item->value) || ($item->value[0] ?? null) !== Reads::SEAL) {
                $values[$key] = $item->value;
                continue;
            }
            $found = $this->live($item);
            if ($found === null) {
                unset($values[$key]);
                $this->notePast((string) $key);
            } else {
                $values[$key] = $found->value;
            }
        }
        $this->misses?->dropAll($values);
        $this->tellOfReads($keys, $values);

        return $values;
    }

    /**
     * Items with their values, and a token for each missing key. The caller keeps both until it stores something with saveMany().
     * The tokens are the caller's. Only shared memory also remembers a miss here, as get() does, for a set without a token.
     *
     * @param iterable<mixed> $keys strings; ints are taken for their decimal strings
     *
     * @return Fetched without tokens where the store judges none. That of a key whose store cannot be asked is one that refuses
     *
     * @throws InvalidKey
     */
    public function fetch(iterable $keys): Fetched
    {
        $keys = Names::keys($keys);
        $fetched = $this->gate->attempt(static fn(Store $store): Fetched => $store->fetch($keys)) ?? new Fetched([], []);
        $items = $tokens = [];
        $judges = null;
        foreach ($keys as $key) {
            $item = $fetched->items[$key] ?? null;
            if ($item !== null && (!\is_array($item->value) || ($item->value[0] ?? null) !== Reads::SEAL)) {
                // Not sealed, as nearly all are: as good as the store says.
                $items[$key] = $item;
                continue;
            }
            $found = $item === null ? null : $this->live($item);
            if ($item !== null && $found !== null) {
                $items[$key] = Item::found($key, $found->value, $item->expiry, $item->version, $item->tags);
            } elseif ($judges ??= $this->can(Capability::Tokens)) {
                // Only what is there past its time has none.
                $tokens[$key] = $fetched->tokens[$key] ?? ($item === null ? MissTokens::unknown() : $this->tokenNow($key));
            }
        }
        $this->misses?->dropAll($items);
        $this->firstMisses?->dropAll($items);
        $this->tellOfReads($keys, $items);

        return new Fetched($items, $tokens, failure: $fetched->failure);
    }

    /**
     * Some clients of PSR-6, such as Doctrine's ORM, ask for the item again when they have computed its value. It is as old as the first miss all
     * the same. A write, delete or invalidation of this process's own, through any object over this cache, begins anew.
     *
     * @param Token $token of a miss, as fetch() brings it
     *
     * @return Token that of the first miss
     *
     * @internal
     */
    public function firstMiss(string $key, Token $token): Token
    {
        $moment = $this->ownTags->moment ?? 0;
        if ($this->firstMisses === null || $moment !== $this->firstMissesSince) {
            // The values of later misses are computed after that. Which tags an item will carry is not known before it is saved.
            $this->firstMisses = new Misses();
            $this->firstMissesSince = $moment;
        }
        $first = $this->firstMisses->take($key);
        if ($first === null || !Misses::isOfAMiss($first)) {
            $first = $token;
        }
        $this->firstMisses->note($key, $first);

        return $first;
    }

    /**
     * @throws InvalidKey
     * @throws StoreUnavailable if the cache is strict
     */
    public function has(string $key): bool
    {
        return $this->get($key, $this->absent) !== $this->absent;
    }

    /**
     * A token of this moment, for a later write of the key. Take it first, then read what the new value is made from.
     *
     * A write with the token is refused if another process has written or deleted the key since, invalidated one of
     * its tags, or cleared. Fills, as by remember() and add(), do not count: they bring nothing new. The process's own changes count,
     * too, but not in shared memory. While the store is unavailable, the token is one that refuses every write.
     *
     * @throws InvalidKey
     * @throws UnsupportedOperation if the store judges no tokens
     * @throws StoreUnavailable if the cache is strict
     */
    public function token(string $key): Token
    {
        Key::check($key);
        $this->demandTokens();

        return $this->tokenNow($key);
    }

    /**
     * Reads a value, has it changed, and stores it if nothing else has changed it meanwhile; else does all of it again. So
     * no change is lost, of any process, or of this one's other fibers.
     *
     * @param callable(mixed, PendingItem): mixed $change  gets the value, or $default if there is none, and returns the new
     *                                               one. It may be called several times. The pending item takes another TTL
     *                                               and more tags; doNotStore() leaves everything as it is
     * @param list<string>                  $tags
     *
     * @return bool whether it was stored. False: the pending item said not to, or the store is unavailable or cannot take the
     *              value. Or others have changed it a thousand times meanwhile
     *
     * @throws InvalidKey
     * @throws InvalidTag
     * @throws Unstorable
     * @throws UnsupportedOperation if the store judges no tokens, or keeps no tags
     * @throws StoreUnavailable if the cache is strict
     * @throws \Throwable           what $change throws; nothing is changed
     */
    public function update(
        string $key,
        callable $change,
        int|\DateInterval|Ttl|null $ttl = null,
        array $tags = [],
        mixed $default = null,
    ): bool {
        Key::check($key);
        $this->demandTokens();
        $this->forget($key);
        $this->requestToken?->own([$key]);

        return (new Updates($this->gate, $this->lifetimes(), $this->writes(), $this->live(...)))->run($key, $change(...), $ttl, Names::tags($tags), $default);
    }

    /**
     * @param list<string> $tags
     * @param ?Token       $token      of before the value was made (see token()): it is stored only if nothing it was
     *                                 made from has changed since
     * @param ?OnConflict  $onConflict what stays under the key if the token refuses the value. Null: OnConflict::Leave, which PHP
     *                                 would look up in each call if it were the default
     *
     * @return bool whether it was stored; if not, nothing older is left under the key either. A newer value is left, unless
     *              $onConflict says otherwise
     *
     * @throws InvalidKey
     * @throws InvalidTag
     * @throws Unstorable
     * @throws UnsupportedOperation if the store keeps no tags, or judges no tokens
     */
    public function set(
        string $key,
        mixed $value,
        int|\DateInterval|Ttl|null $ttl = null,
        array $tags = [],
        ?Token $token = null,
        ?OnConflict $onConflict = null,
    ): bool {
        $pool = $this->gate->pool;
        // The fast way to a pool. A key that begins with a null byte may be one of the library's own, which a caller may not use.
        if ($pool !== null && $token === null && ($key[0] ?? "\0") !== "\0") {
            $seconds = $this->isExact && ($ttl === null || \is_int($ttl)) ? $ttl ?? $this->ofNull : $this->lifetimes()->seconds($ttl);
            if ($seconds === null || ($seconds > 0 && $seconds <= Ttl::LONGEST)) {
                $this->requestToken?->own([$key]);
                $this->firstMisses?->drop($key);
                try {
                    // Without a token (null) the pool judges it by this request's miss of the key. A refused value leaves nothing
                    // older behind (false).
                    return $pool->set($key, $value, $seconds, $tags === [] ? [] : Names::tags($tags), null, false)
                        || $this->writes()->noteSet($this->store, [$key], [$key], [$key => $value]);
                } catch (PoolUnusable $failure) {
                    $this->gate->lose(SharedMemoryStore::unavailable($failure), [$key]);

                    return false;
                } catch (\ValueError) {
                    // It is no key, or there are too many tags, as is said below.
                }
            }
        }

        if ($token !== null) {
            $this->demandTokens();
        }
        $tags = $tags === [] ? [] : Names::tags($tags);
        Key::check($key);
        $removedIfRefused = [];
        $item = $this->toSet($key, $value, $ttl, $tags, $token, $onConflict === OnConflict::Remove, $removedIfRefused);

        return $this->setAll([$item], [$key], $removedIfRefused);
    }

    /**
     * @param iterable<mixed, mixed>  $values     by key; of two with the same key the last one counts
     * @param list<string>            $tags       of each
     * @param array<array-key, Token> $tokens     by key, as of set(); a value without one is not judged by one
     * @param OnConflict              $onConflict as of set()
     *
     * @return bool whether all were stored
     *
     * @throws InvalidKey
     * @throws InvalidTag
     * @throws Unstorable           before anything is stored
     * @throws UnsupportedOperation if the store keeps no tags, or judges no tokens
     * @throws StoreUnavailable if the cache is strict
     */
    public function setMany(
        iterable $values,
        int|\DateInterval|Ttl|null $ttl = null,
        array $tags = [],
        array $tokens = [],
        OnConflict $onConflict = OnConflict::Leave,
    ): bool {
        if ($tokens !== []) {
            $this->demandTokens();
        }
        $tags = Names::tags($tags);
        $checked = [];
        foreach ($values as $key => $value) {
            // As a pair: as the key of an array, a decimal one does not stay a string.
            $key = Names::key($key);
            $checked[$key] = [$key, $value];
        }
        $items = $keys = $removedIfRefused = [];
        foreach ($checked as [$key, $value]) {
            $items[] = $this->toSet($key, $value, $ttl, $tags, $tokens[$key] ?? null, $onConflict === OnConflict::Remove, $removedIfRefused);
            $keys[] = $key;
        }

        return $this->setAll($items, $keys, $removedIfRefused);
    }

    /**
     * Stores items that each have a TTL, tags and a token of their own, in one round trip or transaction. Over
     * Memcached each item takes a round trip, and all together one more. A value that cannot be stored, or is refused,
     * takes no other down.
     *
     * An item with a token is judged by it, as a write or, with Item::$fill, as a fill. One without is judged as by set(),
     * add() or replace(). Here a TTL of null is the cache's default; one of more than Ttl::LONGEST seconds is no end.
     *
     * @param iterable<mixed, Item>         $items      of two with the same key the last one counts, in the mode Add the first
     * @param OnConflict                    $onConflict as of set()
     * @param mixed                         $unstorable is set to an array of Unstorable by key, which say why values cannot be stored
     *
     * @param-out array<array-key, Unstorable> $unstorable
     *
     * @return list<string> the keys that were not saved. In the modes Set and Replace nothing older is left under those
     *                      that could not be stored. Newer values are left, unless $onConflict says otherwise
     *
     * @throws InvalidKey
     * @throws InvalidTag
     * @throws UnsupportedOperation if the store keeps no tags
     * @throws StoreUnavailable if the cache is strict
     */
    public function saveMany(
        iterable $items,
        SaveMode $mode = SaveMode::Set,
        OnConflict $onConflict = OnConflict::Leave,
        mixed &$unstorable = null,
    ): array {
        $unstorable = $checked = $prepared = $removedIfRefused = [];
        foreach ($items as $item) {
            Key::check($item->key);
            $item->token === null || $this->demandTokens();
            $tags = Names::tags($item->tags);
            if ($mode !== SaveMode::Add || !isset($checked[$item->key])) {
                $checked[$item->key] = [$item, $tags];
            }
        }
        foreach ($checked as [$item, $tags]) {
            $missed = $this->misses?->take($item->key, $tags, $this->ownTags);
            $this->firstMisses?->drop($item->key);
            $missed = $mode === SaveMode::Replace ? null : $missed;
            $isMissed = $missed !== null && Misses::isOfAMiss($missed);
            $ofRequest = $mode === SaveMode::Add ? $this->requestToken?->of($item->key, $tags, $this->ownTags) : null;
            $prepared[] = new Item(
                $item->key,
                $this->writes()->storable($item->value),
                $this->lifetimes()->seconds($item->ttl),
                $tags,
                $item->token ?? $missed ?? $ofRequest,
                $mode === SaveMode::Add || ($item->token === null ? $isMissed : $item->fill),
                $item->cost,
                version: $item->version,
                keeps: $item->keeps,
            );
            // As in toSet().
            $isUnknown = $missed !== null && !$isMissed;
            if ($mode !== SaveMode::Add && ($item->token === null ? $isUnknown : $onConflict === OnConflict::Remove)) {
                $removedIfRefused[] = $item->key;
            }
        }
        if ($mode !== SaveMode::Add) {
            $this->requestToken?->own(array_column($prepared, 'key'));
        }
        $unsaved = (new Batches($this->gate, $this->writes()))->save($prepared, $mode, $unstorable);
        $this->remove($removedIfRefused, $unsaved);

        return $unsaved;
    }

    /**
     * Stores only if there is nothing, or nothing that this cache can read: of many processes that try at once, one succeeds.
     *
     * @param list<string> $tags
     * @param ?Token       $token of before the value was made; null: that of this request's miss of the key, if any
     *
     * @throws InvalidKey
     * @throws InvalidTag
     * @throws Unstorable
     * @throws UnsupportedOperation if the store keeps no tags, or judges no tokens
     * @throws StoreUnavailable if the cache is strict
     *
     * @phpstan-impure
     */
    public function add(string $key, mixed $value, int|\DateInterval|Ttl|null $ttl = null, array $tags = [], ?Token $token = null): bool
    {
        Key::check($key);
        if ($token !== null) {
            $this->demandTokens();
        }
        $tags = Names::tags($tags);
        $missed = $this->misses?->take($key, $tags, $this->ownTags);
        $this->firstMisses?->drop($key);
        $item = new Item($key, $this->writes()->storable($value), $this->lifetimes()->seconds($ttl), $tags, $token ?? $missed ?? $this->requestToken?->of($key, $tags, $this->ownTags), true);

        return $this->writes()->noteAdded($key, $this->gate->attempt(static fn(Store $store): array => $store->save([$item], SaveMode::Add)));
    }

    /**
     * Stores only if there is something.
     *
     * @param list<string> $tags
     * @param ?Token       $token      as of set()
     * @param OnConflict   $onConflict as of set()
     *
     * @throws InvalidKey
     * @throws InvalidTag
     * @throws Unstorable
     * @throws UnsupportedOperation if the store keeps no tags, or judges no tokens
     */
    public function replace(
        string $key,
        mixed $value,
        int|\DateInterval|Ttl|null $ttl = null,
        array $tags = [],
        ?Token $token = null,
        OnConflict $onConflict = OnConflict::Leave,
    ): bool {
        Key::check($key);
        if ($token !== null) {
            $this->demandTokens();
        }
        $this->forget($key);
        $item = new Item($key, $this->writes()->storable($value), $this->lifetimes()->seconds($ttl), Names::tags($tags), $token);
        $unsaved = $this->gate->attempt(static fn(Store $store): array => $store->save([$item], SaveMode::Replace), [$key]);
        $this->remove($token !== null && $onConflict === OnConflict::Remove ? [$key] : [], $unsaved);

        return $this->writes()->noteAdded($key, $unsaved);
    }

    /**
     * @param mixed $existed is set to whether there was something, as a bool; null: the store is unavailable
     *
     * @param-out ?bool $existed
     *
     * @return bool whether the store knows; true for a key that was not there
     *
     * @throws InvalidKey
     * @throws StoreUnavailable if the cache is strict
     */
    public function delete(string $key, mixed &$existed = null): bool
    {
        $pool = $this->gate->pool;
        // As in set().
        if ($pool !== null && ($key[0] ?? "\0") !== "\0") {
            try {
                $this->requestToken?->own([$key]);
                $this->firstMisses?->drop($key);
                $existed = $pool->delete($key);
                if (\PHP_SAPI === 'cli' && !$this->isToldOfNamesakes) {
                    $this->tellOfNamesakes();
                }

                return true;
            } catch (PoolUnusable $failure) {
                $existed = null;
                $this->gate->lose(SharedMemoryStore::unavailable($failure), [$key]);

                return false;
            } catch (\ValueError) {
                // It is no key, as is said below.
            }
        }

        $existed = null;
        $isDelivered = $this->deleteMany([$key], $found);
        $existed = $found === null ? null : $found !== [];

        return $isDelivered;
    }

    /**
     * @param iterable<mixed> $keys    strings; ints are taken for their decimal strings
     * @param mixed           $existed is set to the list of those keys that held something; null: the store is unavailable
     *
     * @param-out ?list<string> $existed
     *
     * @return bool whether the store knows of all
     *
     * @throws InvalidKey
     * @throws StoreUnavailable if the cache is strict
     */
    public function deleteMany(iterable $keys, mixed &$existed = null): bool
    {
        $existed = null;
        $existed = $this->deleted(Names::keys($keys));

        return $existed !== null;
    }

    /**
     * The value, which is deleted; $default if there is none. Of several processes that pull at once one gets it. Where the
     * store judges tokens or takes, what another process has stored in between is not taken along, but returned or left.
     *
     * @throws InvalidKey
     */
    public function pull(string $key, mixed $default = null): mixed
    {
        Key::check($key);
        if ($this->store instanceof Takes && $this->can(Capability::Takes)) {
            return $this->taken($this->store, $key, $default);
        }
        $judges = $this->can(Capability::Tokens);
        for ($tries = 0; $tries < self::PULLS; $tries++) {
            // Before the look: items that are stored after it are younger.
            $token = $judges ? $this->gate->attempt(static fn(Store $store): Token => $store->token($key)) : null;
            $value = $judges && $token === null ? $this->absent : $this->get($key, $this->absent);
            if ($value === $this->absent) {
                return $default;
            }
            $existed = $this->deleted([$key], $token);
            if ($existed === [$key]) {
                return $value;
            }
            if ($existed === null || !$judges) {
                return $default;
            }
        }

        // Other processes write it, or one of its neighbours, all the time.
        return $default;
    }

    /**
     * Gives an item another time to live.
     *
     * An item may be one that is served past its time (see remember()). If it is touched so that it would die in that
     * very span, it is missing when its first time is over, not later.
     *
     * @return bool whether there is one, and the store knows
     *
     * @throws InvalidKey
     */
    public function touch(string $key, int|\DateInterval|Ttl|null $ttl = null): bool
    {
        Key::check($key);
        $seconds = $this->lifetimes()->seconds($ttl);
        $lost = $seconds !== null && $seconds <= 0 ? [$key] : [];
        if ($lost !== []) {
            // It deletes.
            $this->forget($key);
        }

        return $this->gate->attempt(static fn(Store $store): array => $store->touch([$key], $seconds), $lost) === [$key];
    }

    /**
     * Adds to a counter, atomically. It keeps its expiry; if there is none, or nothing that this cache can read, it is made
     * as $initial + $by with $ttl.
     *
     * @param ?int    $min     a sum below it is it: 0 for counters that never go below 0. Memcached's and WordPress's are so
     * @param bool    $create  false: where there is none, none is made
     * @param Numbers $numbers what counts as a number besides ints; it is stored as an int from then on
     *
     * @return int|false the new value; false if there is none and none was to be made, or if the store is unavailable
     *
     * @throws InvalidKey
     * @throws NotACounter          the value is no number, or would leave the range of int; nothing is changed
     * @throws UnsupportedOperation with $min, $create or $numbers, if the store judges no tokens
     */
    public function increment(
        string $key,
        int $by = 1,
        int $initial = 0,
        int|\DateInterval|Ttl|null $ttl = null,
        ?int $min = null,
        bool $create = true,
        Numbers $numbers = Numbers::Ints,
    ): int|false {
        Key::check($key);
        $this->forget($key);
        $this->requestToken?->own([$key]);
        $seconds = $this->lifetimes()->seconds($ttl);
        if ($min !== null || !$create || $numbers !== Numbers::Ints) {
            $this->demandTokens();
        } else {
            $counted = $this->gate->attempt(static function (Store $store) use ($key, $by, $initial, $seconds): int|NotACounter {
                try {
                    return $store->increment($key, $by, $initial, $seconds);
                } catch (NotACounter $mistake) {
                    return $mistake;
                }
            });
            if (!$counted instanceof NotACounter) {
                return $counted ?? false;
            }
            if (!$this->can(Capability::Tokens)) {
                throw $counted;
            }
            // A counter past its time is none, though the store still has it.
        }

        return (new Counting($this->gate, $this->live(...), $this->clock))->count($key, $by, $initial, $seconds, $min, $create, $numbers);
    }

    /**
     * increment() by -$by.
     *
     * @throws InvalidKey
     * @throws NotACounter
     * @throws UnsupportedOperation
     */
    public function decrement(
        string $key,
        int $by = 1,
        int $initial = 0,
        int|\DateInterval|Ttl|null $ttl = null,
        ?int $min = null,
        bool $create = true,
        Numbers $numbers = Numbers::Ints,
    ): int|false {
        if ($by === \PHP_INT_MIN) {
            throw new NotACounter(\sprintf('%d cannot be subtracted, as it has no positive counterpart; increment instead.', $by));
        }

        return $this->increment($key, -$by, $initial, $ttl, $min, $create, $numbers);
    }

    /**
     * The value; computed, stored and returned if there is none. Of many processes that ask at once, one computes.
     * The others wait for it, or serve what is stale.
     *
     * If the computation throws, an older value that may be served is returned, and the exception is logged. Without
     * one, the exception is thrown here, and nothing is stored.
     *
     * The stored value is as old as the moment the computation began. Where the store judges tokens, it does
     * not survive a delete of the key, or an invalidation of its tags, that came in between. Only over a pool ("shm:" without
     * tiers), this process's own delete, set, clear or invalidation does not count. There the computed value is stored all the same.
     *
     * An int is stored as a counter, which knows neither grace nor early expiry.
     *
     * A value that may still be served past its time is there for add(), replace(), touch(), and for what delete() reports. Over a pool it
     * is not.
     *
     * @template T
     *
     * @param callable(PendingItem): T $compute   may shape the item through the pending item
     * @param list<string>       $tags
     * @param int                $grace     seconds past its time in which the value may be served while another is
     *                                      computed, or when that fails
     * @param float              $beta how readily a value is computed anew before its time is over: 1.0 is
     *                                      best for most, 0.0 is never (XFetch's beta)
     *
     * @return T what $compute returned, now or earlier; that earlier code stored the same type is the caller's promise
     *
     * @throws InvalidKey
     * @throws InvalidOption
     * @throws InvalidTag
     * @throws Unstorable
     * @throws UnsupportedOperation if the store keeps no tags
     * @throws \Throwable           what $compute throws
     */
    public function remember(
        string $key,
        // A closure is callable; PHP checks its class in fewer steps, which a hit in a pool would notice.
        callable|\Closure $compute,
        int|\DateInterval|Ttl|null $ttl = null,
        array $tags = [],
        int $grace = 0,
        float $beta = 1.0,
        ?StampedeOptions $stampede = null,
    ): mixed {
        $pool = $this->gate->pool;
        if ($pool !== null && $stampede === null && $beta <= 1_000.0) {
            if ($tags !== []) {
                $tags = Names::tags($tags);
            }
            if (!$this->isExact || !\is_int($ttl)) {
                $ttl = $this->isExact && $ttl === null ? $this->ofNull : $this->lifetimes()->seconds($ttl);
            }
            try {
                return $pool->remember($key, $compute, $ttl, $tags, $beta, $grace, $this->computing ??= $this->computing());
            } catch (\ValueError $error) {
                if ($this->store instanceof Pooled) {
                    $this->store->check($key);
                }
                Recipe::check($grace, $beta);
                // It is the computation's.
                throw $error;
            }
        }
        Key::check($key);
        Recipe::check($grace, $beta);
        $this->forget($key);
        if (!$this->seals && !$this->gate->isOpen) {
            // No value may be from before a change that the pool has missed.
            $this->gate->attempt(static fn(): bool => true);
        }

        return $this->remembering()->remember($key, $compute, $ttl, Names::tags($tags), $grace, $beta, $stampede);
    }

    /**
     * remember() for a value that no callback can return, such as the output of a template. It returns the value, or an Unfinished
     * if this process is to compute it. Waits, leases, early computation and judgement are those of remember(), with its exception over a pool.
     *
     *     $page = $cache->begin('page', 300);
     *     if ($page instanceof Unfinished) {
     *         ob_start();
     *         ...
     *         $page = $page->finish(ob_get_clean());
     *     }
     *
     * @param list<string> $tags
     * @param int          $grace     as of remember()
     * @param float        $beta as of remember()
     *
     * @return mixed the value, or an Unfinished, which can be no value
     *
     * @throws InvalidKey
     * @throws InvalidOption also for options with afterResponse, as nothing could be called later
     * @throws InvalidTag
     * @throws UnsupportedOperation if the store keeps no tags
     */
    public function begin(
        string $key,
        int|\DateInterval|Ttl|null $ttl = null,
        array $tags = [],
        int $grace = 0,
        float $beta = 1.0,
        ?StampedeOptions $stampede = null,
    ): mixed {
        if ($stampede?->afterResponse === true) {
            throw InvalidOption::unsupported('afterResponse', 'by begin()', 'use remember(), whose callback can be called later');
        }

        $tags = $tags === [] ? [] : Names::tags($tags);

        $beginnings = $this->beginnings ??= new Beginnings();
        $pool = $this->gate->pool;
        if ($pool !== null && $stampede === null && $beta <= 1_000.0) {
            $found = $beginnings->look($pool, $key, $grace, $beta);
            if (!$beginnings->isToBegin($found)) {
                return $found;
            }
        }

        return $beginnings->begin(fn(callable $compute): mixed => $this->remember($key, $compute, $ttl, $tags, $grace, $beta, $stampede));
    }

    /**
     * remember() for good: until it is deleted, invalidated or evicted.
     *
     * @template T
     *
     * @param callable(PendingItem): T $compute
     * @param list<string>       $tags
     *
     * @return T
     *
     * @throws InvalidKey
     * @throws InvalidTag
     * @throws Unstorable
     * @throws UnsupportedOperation if the store keeps no tags
     */
    public function rememberForever(string $key, callable $compute, array $tags = [], ?StampedeOptions $stampede = null): mixed
    {
        return $this->remember($key, $compute, Ttl::Forever, $tags, stampede: $stampede);
    }

    /**
     * Kills every item that carries one of these tags, in a time that does not depend on how many there are.
     *
     * @param list<string> $tags
     * @param int          $serveStale seconds in which remember() may still serve the killed items while one process
     *                                 computes them anew. Where the store cannot do that, they are dead at once
     *
     * @return bool whether the store knows
     *
     * @throws InvalidTag
     * @throws InvalidOption
     * @throws UnsupportedOperation if the store keeps no tags
     * @throws StoreUnavailable if the cache is strict
     */
    public function invalidateTags(array $tags, int $serveStale = 0): bool
    {
        $tags = Names::tags($tags);
        if ($serveStale < 0) {
            throw InvalidOption::range('serveStale', $serveStale, '0 seconds or more');
        }
        if ($tags === []) {
            return true;
        }
        // What carries one of them and is set from now on is this request's own word, not the end of an older computation.
        $own = $this->ownTags ??= new OwnTags();
        $own->note($tags);
        try {
            $delivered = $this->gate->attempt(static function (Store $store) use ($tags, $serveStale): bool {
                $store->invalidateTags($tags, $serveStale);

                return true;
            }, tags: $tags) === true;
        } finally {
            $this->gate->takeNextToken($own);
        }
        $this->tellOfNamesakes();
        if ($delivered) {
            $this->events?->dispatch(new TagsInvalidated($tags));
        }

        return $delivered;
    }

    /**
     * @return bool whether the store knows
     *
     * @throws StoreUnavailable if the cache is strict
     */
    public function clear(): bool
    {
        $this->forgetMisses();
        try {
            $delivered = $this->gate->attempt(static function (Store $store): bool {
                $store->clear();

                return true;
            }, clears: true) === true;
        } finally {
            // It is this request's own word.
            $this->gate->takeNextToken(null);
        }
        $this->tellOfNamesakes();
        if ($delivered) {
            $this->events?->dispatch(new Cleared());
        }

        return $delivered;
    }

    /**
     * A cache of its own in the same store. Its keys meet no others, and its clear() kills only its own items, in
     * a time that does not depend on their number. A clear() of this cache kills it, too.
     *
     * @param string $name 1 to 64 letters, digits, dots, dashes and underscores
     *
     * @throws InvalidOption
     * @throws UnsupportedOperation if the store keeps no tags
     */
    public function namespace(string $name): self
    {
        if (isset($this->namespaces[$name])) {
            return $this->namespaces[$name];
        }
        if (\count($this->namespaces) >= $this->namespacesAtMost) {
            $this->forgetNamespaces();
        }
        $namespace = new self(
            NamespacedStore::in($this->store, $name),
            $this->defaultTtl,
            $this->logger,
            $this->strict,
            $this->jitter,
            $this->events,
            $this->journal === null ? null : Journal::pathIn($this->journal, $name),
            $this->clock,
            $this->judgesAdds,
        );
        $namespace->gate->join($this->gate);
        // A tag means the same in all parts of a store.
        $namespace->ownTags = &$this->ownTags;
        if ($this->requestToken !== null) {
            $namespace->requestToken?->join($this->requestToken);
        }

        return $this->namespaces[$name] = $namespace;
    }

    /**
     * A lock of that name, not taken yet. Only one process at a time has it. A clear() leaves locks as they are.
     *
     * @param float   $seconds after which it is free again even if its owner never says so; more than 0
     * @param ?string $owner   what an earlier Lock::$owner said: takes over that lock, perhaps in another process
     *
     * @throws InvalidKey
     * @throws InvalidOption
     * @throws UnsupportedOperation if the store may lose a lock before its time is over
     */
    public function lock(string $name, float $seconds = 30.0, ?string $owner = null): Lock
    {
        Key::check($name);
        Retention::demand($this->store);

        return new Lock(
            $this->store instanceof Leases ? $this->store : new AddedLeases($this->store),
            $this->gate,
            $name,
            $seconds,
            $owner,
        );
    }

    /**
     * In a process that serves many requests: a new one begins. What the last one missed judges nothing any more.
     *
     * @throws StoreUnavailable if the cache is strict; the new request has begun all the same
     */
    public function refresh(): void
    {
        try {
            if ($this->store instanceof PerRequest) {
                $this->gate->begin($this->store);
            }
        } finally {
            $this->requestToken?->begin();
            $this->beginRequest();
        }
    }

    /** Computes now the values that remember() has deferred until the response was out. Done by itself when the process ends. */
    public function finish(): void
    {
        $this->atTheEnd?->finish();
        foreach ($this->namespaces as $namespace) {
            $namespace->finish();
        }
    }

    /** @return ?StoreStatistics null if the store is unavailable */
    public function statistics(): ?StoreStatistics
    {
        return $this->gate->attempt(static fn(Store $store): StoreStatistics => $store->statistics());
    }

    public function health(): Health
    {
        return $this->gate->health();
    }

    private function can(Capability $capability): bool
    {
        return \in_array($capability, $this->store->capabilities(), true);
    }

    private function lifetimes(): Lifetimes
    {
        return $this->lifetimes ??= new Lifetimes($this->defaultTtl ?? self::DEFAULT_TTL, $this->jitter);
    }

    private function keepsMisses(): bool
    {
        return $this->keepsMisses ??= $this->seals && $this->can(Capability::Tokens);
    }

    /** Where the tokens of misses are noted; null if they are not kept here. */
    private function noteMisses(): ?Misses
    {
        return $this->misses ??= $this->keepsMisses() ? new Misses() : null;
    }

    private function writes(): Writes
    {
        return $this->writes ??= new Writes($this->seals, $this->logger, $this->events);
    }

    /** @return (\Closure(callable(PendingItem): mixed, Computation): mixed)|null null: the store is no pool */
    private function computing(): ?\Closure
    {
        $inPool = $this->inPool();

        return $inPool === null ? null : $inPool->compute(...);
    }

    private function remembering(): Remembers
    {
        return $this->remembering ??= $this->inPool() ?? new Remembering($this->store, $this->gate, $this->clock, $this->lifetimes(), $this->atTheEnd(), $this->logger, $this->events);
    }

    private function inPool(): ?PoolRemembering
    {
        return $this->store instanceof Pooled ? new PoolRemembering($this->store, $this->lifetimes(), $this->atTheEnd(), $this->logger, $this->events) : null;
    }

    private function atTheEnd(): AtTheEnd
    {
        return $this->atTheEnd ??= new AtTheEnd();
    }

    private function demandTokens(): void
    {
        if (!$this->can(Capability::Tokens)) {
            throw UnsupportedOperation::by((new \ReflectionClass($this->store))->getShortName(), Capability::Tokens);
        }
    }

    /**
     * @param list<string> $tags
     * @param ?Token       $token            the caller's, which judges a write. The token of the key's miss in this request makes the
     *                                       value a fill
     * @param bool         $removes          whether a write that its token refuses leaves nothing
     * @param list<string> $removedIfRefused is given the key if nothing may be left under it where it cannot be saved
     */
    private function toSet(string $key, mixed $value, int|\DateInterval|Ttl|null $ttl, array $tags, ?Token $token, bool $removes, array &$removedIfRefused): Item
    {
        $missed = $this->misses?->take($key, $tags, $this->ownTags);
        $this->firstMisses?->drop($key);
        $isMissed = $missed !== null && Misses::isOfAMiss($missed);
        // The store could not be asked for the key when it was read: its value there may be older than this one.
        $isUnknown = $missed !== null && !$isMissed;
        if ($token === null ? $isUnknown : $removes) {
            $removedIfRefused[] = $key;
        }
        if ($this->seals && \is_array($value)) {
            $value = Envelope::plain($value);
        }
        $seconds = $this->isExact && ($ttl === null || \is_int($ttl)) ? $ttl ?? $this->ofNull : $this->lifetimes()->seconds($ttl);

        return new Item($key, $value, $seconds, $tags, $token ?? $missed, $token === null && $isMissed);
    }

    /**
     * @param list<Item>   $items
     * @param list<string> $keys             theirs
     * @param list<string> $removedIfRefused as of toSet()
     */
    private function setAll(array $items, array $keys, array $removedIfRefused): bool
    {
        $unsaved = $this->gate->attempt(static fn(Store $store): array => $store instanceof Pooled ? $store->saveAsMissed($items) : $store->save($items), $keys);
        if ($unsaved === [] && $this->events === null) {
            return true;
        }
        $this->remove($removedIfRefused, $unsaved);
        $values = $unsaved === [] ? [] : array_combine($keys, array_map(static fn(Item $item): mixed => $item->value, $items));

        return $this->writes()->noteSet($this->store, $keys, $unsaved, $values);
    }

    /**
     * @param list<string>  $keys    under which nothing may be left if they could not be saved
     * @param ?list<string> $unsaved
     */
    private function remove(array $keys, ?array $unsaved): void
    {
        $lost = $keys === [] || $unsaved === null || $unsaved === [] ? [] : array_values(array_intersect($keys, $unsaved));
        if ($lost !== []) {
            $this->gate->attempt(static fn(Store $store): array => $store->delete($lost), $lost);
        }
    }

    private static function requestTokenOf(Store $store): RequestToken
    {
        return $store instanceof RequestTokens && \in_array(Capability::RequestTokens, $store->capabilities(), true)
            ? new RequestToken(new Request($store))
            : throw UnsupportedOperation::by((new \ReflectionClass($store))->getShortName(), Capability::RequestTokens);
    }

    /** For a write or delete of this process's own: an earlier miss of the key judges nothing then. */
    private function forget(string $key): void
    {
        $this->misses?->drop($key);
        $this->firstMisses?->drop($key);
    }

    private function forgetMisses(): void
    {
        $this->misses?->clear();
        $this->firstMisses = null;
        foreach ($this->namespaces as $namespace) {
            $namespace->forgetMisses();
        }
    }

    private function forgetNamespaces(): void
    {
        $owing = array_filter($this->namespaces, static fn(self $namespace): bool => $namespace->owes());
        $this->namespaces = $owing + \array_slice($this->namespaces, -(self::MOST_NAMESPACES >> 1), null, true);
        // Not at each call, where many owe something.
        $this->namespacesAtMost = max(self::MOST_NAMESPACES, 2 * \count($this->namespaces));
    }

    /** Whether the store has missed something that it, or a namespace in it, should have lost. */
    private function owes(): bool
    {
        $owes = $this->gate->owesItself();
        foreach ($this->namespaces as $namespace) {
            $owes = $owes || $namespace->owes();
        }

        return $owes;
    }

    private function beginRequest(): void
    {
        $this->misses?->clear();
        $this->firstMisses = null;
        $this->gate->readJournal();
        foreach ($this->namespaces as $namespace) {
            $namespace->beginRequest();
        }
    }

    /**
     * @param list<string>            $keys
     * @param array<array-key, mixed> $found by key
     */
    private function tellOfReads(array $keys, array $found): void
    {
        if ($this->events !== null) {
            foreach ($keys as $key) {
                $this->events->dispatch(\array_key_exists($key, $found) ? new Hit($key) : new Missed($key));
            }
        }
    }

    /** What an item holds; null: its time is over, though it may still be served stale. */
    private function live(Item $item): ?Envelope
    {
        $found = $this->seals ? Envelope::of($item) : new Envelope($item->value);

        return $found->freshUntil === \INF || $found->freshUntil > ($this->clock)() ? $found : null;
    }

    /**
     * What a sealed value holds, if its time is not over.
     *
     * @param array<mixed> $sealed
     */
    private function opened(string $key, array $sealed, mixed $default): mixed
    {
        $found = Envelope::open($sealed);
        if ($found->freshUntil <= ($this->clock)()) {
            // It may still have been touched, which its expiry in the store tells.
            return $this->look($key, $default);
        }
        $this->misses?->drop($key);

        return $found->value;
    }

    private function taken(Takes $from, string $key, mixed $default): mixed
    {
        $this->forget($key);
        $this->requestToken?->own([$key]);
        $item = $this->gate->attempt(static fn(): ?Item => $from->take($key));
        $found = $item === null ? null : $this->live($item);
        if ($found === null) {
            $this->events?->dispatch(new Missed($key));

            return $default;
        }
        $this->events?->dispatch(new Hit($key));
        $this->events?->dispatch(new Deleted([$key]));

        return $found->value;
    }

    /** @param ?Fetched $known what the store has fetched already */
    private function look(string $key, mixed $default, ?Fetched $known = null): mixed
    {
        $fetched = $known === null ? $this->gate->attempt(static fn(Store $store): Fetched => $store->fetch([$key])) : $this->gate->take($known);
        $found = isset($fetched->items[$key]) ? $this->live($fetched->items[$key]) : null;
        if ($found !== null) {
            $this->misses?->drop($key);
            $this->events?->dispatch(new Hit($key));

            return $found->value;
        }
        if ($fetched === null) {
            $this->noteMisses()?->noteUnknown([$key], $this->ownTags);
        } elseif (isset($fetched->tokens[$key])) {
            $this->noteMisses()?->note($key, $fetched->tokens[$key], $this->ownTags);
        } else {
            $this->notePast($key);
        }
        $this->events?->dispatch(new Missed($key));

        return $default;
    }

    /** Notes the miss of an item whose time is over, though it may still be served stale. The store has it, and so brings no token. */
    private function notePast(string $key): void
    {
        $this->noteMisses()?->note($key, $this->tokenNow($key), $this->ownTags);
    }

    /** @return Token one that refuses every write, if the store is unavailable */
    private function tokenNow(string $key): Token
    {
        return $this->gate->attempt(static fn(Store $store): Token => $store->token($key)) ?? MissTokens::unknown();
    }

    /**
     * @param list<string> $keys
     * @param ?Token       $token as of Store::delete()
     *
     * @return ?list<string> those that held something; null if the store does not know
     */
    private function deleted(array $keys, ?Token $token = null): ?array
    {
        foreach ($keys as $key) {
            $this->forget($key);
        }
        $existed = $this->gate->attempt(static fn(Store $store): array => $store->delete($keys, $token), $keys);
        $this->tellOfNamesakes();
        if ($existed !== null && ($token === null || $existed !== [])) {
            $this->events?->dispatch(new Deleted($keys));
        }

        return $existed;
    }

    /** What a command deletes may stay in another user's pool. Requests of a site are spared the look into others' directories. */
    private function tellOfNamesakes(): void
    {
        if (\PHP_SAPI === 'cli' && !$this->isToldOfNamesakes) {
            $this->isToldOfNamesakes = true;
            if ($this->store instanceof SharedMemoryStore && !($this->strict && $this->logger === null)) {
                Namesakes::tellOf($this->store, $this->logger);
            }
        }
    }
}
