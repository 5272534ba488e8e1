<?php

declare(strict_types=1);

namespace Larder;

use Larder\Exception\NotACounter;
use Larder\Exception\StoreUnavailable;
use Larder\Exception\Unstorable;
use Larder\Exception\UnsupportedOperation;

/**
 * A place that holds items: the whole contract between a cache and whatever keeps its values.
 *
 * Batch-first: one key is a batch of one, and a batch does exactly what its members would do one by one,
 * in as few round trips as the store can manage. Keys are legal when they come here (see Key); a batch may
 * be empty and may name a key twice, in which case the last item wins.
 *
 * Everything may throw StoreUnavailable when the store has failed. What happened to the batch is then
 * unknown. Nothing else than the exceptions named here is thrown.
 *
 * tests/Contract/StoreContract is this text as a test; run it on a store of your own.
 */
interface Store
{
    /**
     * The live items among these keys, in their order, and a token for every other key.
     *
     * The values are the caller's own: changing one changes nothing in the store. What cannot be read back
     * (foreign bytes, a class that is gone) is missing.
     *
     * @param list<string> $keys
     *
     * @throws StoreUnavailable
     */
    public function fetch(array $keys): Fetched;

    /**
     * Stores items. An item that is not saved leaves nothing older behind in mode Set: its key is then a miss.
     *
     * An item with a TTL of 0 or less is dead at once: Set and Replace delete the key, Add stores nothing;
     * it counts as saved where the mode's condition held.
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
     * @param ?Token       $token delete only what is not newer than this, where tokens are judged
     *
     * @return list<string> those that held something live
     *
     * @throws StoreUnavailable
     */
    public function delete(array $keys, ?Token $token = null): array;

    /**
     * Adds to a counter, atomically. A counter is an item whose value is an int. One that exists keeps its
     * expiry; one that does not is made as $initial + $by with $ttl.
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
     * Gives items another time to live; 0 or less deletes them.
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
     * @param list<string> $tags
     *
     * @throws StoreUnavailable
     * @throws UnsupportedOperation
     */
    public function invalidateTags(array $tags): void;

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
     * What this store can do beyond reading and writing. What is not in the list it cannot.
     *
     * @return list<Capability>
     */
    public function capabilities(): array;
}
