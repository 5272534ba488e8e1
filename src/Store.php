<?php

declare(strict_types=1);

namespace Larder;

use Larder\Exception\NotACounter;
use Larder\Exception\StoreUnavailable;
use Larder\Exception\Unstorable;
use Larder\Exception\UnsupportedOperation;

/**
 * A place that holds items: the whole contract between a cache and the software that keeps its values.
 *
 * Batch-first: one key is a batch of one. A batch does exactly what its members would do one by one, in as few round trips as the store
 * can manage. Keys are checked before they come here (see Key). A batch may be empty and may name a key twice: the last item wins then.
 *
 * Everything may throw StoreUnavailable when the store has failed. What happened to the batch is then
 * unknown. Nothing else than the exceptions named here is thrown.
 *
 * A value is as old as the moment its computation began; an invalidation since then kills it. A store that can judge (Capability::Tokens)
 * keeps this rule for every fill. It refuses a fill, or kills it at once, if its key was written or deleted since the fill began. The same
 * holds for an invalidation of one of its tags, and for a clear. It does so whenever the fill arrives. Fills do not move the versions that judge
 * others, so fills that overlap do not refuse each other: the last one stays. A store may lose these versions (by eviction or deletion).
 * That causes misses and refusals, never a stale item.
 *
 * tests/Contract/StoreContract is this text as a test; run it on a store of your own.
 */
interface Store
{
    /** Bytes of the longest key (see Key): here, as each reader of a store has this loaded. */
    public const LONGEST_KEY = 65_535;

    /**
     * The live items among these keys, in their order, and a token for every other key. With the token comes a dead
     * item that may still be served (see invalidateTags()), where there is one.
     *
     * The values are the caller's own: changing one changes nothing in the store. An item that cannot
     * be read back (foreign bytes, a class that is gone) is missing, and in the way of no fill or SaveMode::Add. Methods
     * that need not read it, such as delete() and touch(), may find it live.
     *
     * @param list<string> $keys
     *
     * @throws StoreUnavailable
     */
    public function fetch(array $keys): Fetched;

    /**
     * The version of the store now, by which a later fill of $key is judged: for what is computed anew before it is missing.
     *
     * @throws StoreUnavailable
     */
    public function token(string $key): Token;

    /**
     * Stores items, and judges them by their tokens (see Item) where it can. What refuses an item because of its token is newer,
     * and stays. A fill without a token was computed just now. An item with a token may also name, by its version, the item that it
     * was made from. A store that gives tokens in the middle of another write looks at that.
     *
     * Any other item that is not saved leaves nothing behind in mode Set: its key is then a miss. Where there is no room, a store
     * that can leaves what the key of an item with $keeps holds.
     *
     * An item with a TTL of 0 or less is dead at once: Set and Replace delete the key, Add stores nothing.
     * It counts as saved where the mode's condition held.
     *
     * @param list<Item> $items
     *
     * @return list<string> the keys that were not saved
     *
     * @throws StoreUnavailable
     * @throws Unstorable           before anything is stored
     * @throws UnsupportedOperation if an item has tags and the store cannot keep them
     */
    public function save(array $items, SaveMode $mode = SaveMode::Set): array;

    /**
     * @param list<string> $keys
     * @param ?Token       $token delete a key only if it was not written or deleted since, where tokens are judged
     *
     * @return list<string> those that held something live
     *
     * @throws StoreUnavailable
     */
    public function delete(array $keys, ?Token $token = null): array;

    /**
     * Adds to a counter, atomically; a write. A counter is an item whose value is an int. One that exists keeps its
     * expiry and its tags. Any other is made as $initial + $by with $ttl, also over one that cannot be read back.
     *
     * @param ?int $ttl seconds, as Item::$ttl
     *
     * @return int the new value
     *
     * @throws NotACounter      the value is no int, or would leave the range of int; nothing is changed
     * @throws StoreUnavailable
     */
    public function increment(string $key, int $by = 1, int $initial = 0, ?int $ttl = null): int;

    /**
     * Gives items another time to live; 0 or less deletes them. No write: nothing else about them changes.
     *
     * @param list<string> $keys
     * @param ?int         $ttl  seconds from now on, as Item::$ttl
     *
     * @return list<string> those that held something live
     *
     * @throws StoreUnavailable
     */
    public function touch(array $keys, ?int $ttl): array;

    /**
     * Kills every item that carries one of these tags.
     *
     * @param list<string> $tags       legal ones (see Tag)
     * @param int          $serveStale seconds from now on in which fetch() may still bring the killed items as stale,
     *                                 while one process computes them anew. Where the store cannot do that, they are
     *                                 dead at once
     *
     * @throws StoreUnavailable
     * @throws UnsupportedOperation
     */
    public function invalidateTags(array $tags, int $serveStale = 0): void;

    /**
     * Kills every item of this store, and nothing of anyone else in the same place.
     *
     * @throws StoreUnavailable
     */
    public function clear(): void;

    /**
     * Removes some of what is dead but still takes up room; a bounded amount of work.
     *
     * @return int how many items were removed; call again until it is 0 to remove all
     *
     * @throws StoreUnavailable
     */
    public function prune(): int;

    /**
     * The keys that begin with $prefix and are live. What changes meanwhile may or may not be in it.
     *
     * @return iterable<int, string> no key twice
     *
     * @throws StoreUnavailable
     * @throws UnsupportedOperation
     */
    public function keys(string $prefix = ''): iterable;

    /** @throws StoreUnavailable */
    public function statistics(): StoreStatistics;

    /**
     * All that this store can do beyond reading and writing.
     *
     * @return list<Capability>
     */
    public function capabilities(): array;
}
