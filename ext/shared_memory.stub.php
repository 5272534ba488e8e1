<?php

/**
 * @generate-class-entries
 * @undocumentable
 */

namespace Larder {

    /** Everything that Larder throws. */
    interface Exception extends \Throwable {}

    /**
     * What a miss, or a look at the clock, leaves behind: the version of the pool, by which a later store is judged. Opaque.
     */
    final class Token
    {
        /** The epoch of the clock: the pool's id, 32 hexadecimal digits. */
        public readonly string $epoch;

        /** The pool's version at that moment: the reading of its clock, in ticks. */
        public readonly int $version;

        public function __construct(string $epoch, int $version) {}
    }

    /**
     * A computation that remember() has asked for: its key, and all that the computation may say of its item.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Computation
    {
        /** As remember() was given it. */
        public readonly string $key;

        /** Seconds for which the value is kept, from its store on; null: for ever. */
        public ?int $ttl = null;

        /** @var array<array-key,string|int> of the item */
        public array $tags = [];

        /** Whether the value is stored. */
        public bool $isStored = true;

        /** Whether the returned value only stands in for the one that could not be computed. Then it is not stored, and no process tries again for $retry seconds. */
        public bool $hasFailed = false;

        private function __construct() {}

        /**
         * The value that may be served in place of a new one. If this is early, it is still good; else it is stale, as
         * remember() has it. The default if there is neither, or the computation is over.
         */
        public function old(mixed $default = null): mixed {}
    }

    /**
     * A cache in memory that all processes of a user on this machine share. With the ini setting larder.group, those of all
     * members of that group share it.
     *
     * Reading takes no lock, and hands out arrays and long strings in place, without copying them. They are ordinary
     * values all the same: code that changes one gets a copy of its own. Keys are 1 to 65,535 bytes, of any kind; keys given
     * as ints in arrays mean their decimal string. A TTL is in seconds; null means that the item does not expire, zero or
     * less deletes it.
     *
     * Values are anything that PHP can serialise and make the same again. Closures, resources, generators and objects of
     * anonymous classes are none, nor are objects of PHP's own that keep more than serialize() shows. Objects that say themselves what of them is
     * stored (__serialize, __sleep, Serializable) are asked once a store. A value is a miss
     * if its class is gone or declares other properties. The same holds if something is thrown while the value is made
     * again (by an autoloader, __unserialize, __wakeup).
     *
     * A full pool evicts the items that are worth least (S3-FIFO, SOSP 2023). A pool may be full of pinned values while
     * it is in use, and another process may be stopped. Then there are misses, and stores that return false, which
     * statistics() counts. Deletes and clears are never refused. A pool that does not evict refuses when it is full, or kept busy
     * by others for seconds, and leaves its items as they were. So that nothing is lost silently,
     * these throw Larder\Exception\PoolUnusable if the pool cannot be reached: set, setMany, replace, delete, deleteMany,
     * invalidateTags, clear, increment, token, statistics.
     *
     * A value is as old as the moment its computation began; an invalidation since then kills it. A *write* brings
     * new truth: increment, replace, and a set of a key that this request has not missed. A *fill* only keeps a value that
     * was computed because of a miss: fill, add and remember. So does the first set of a key after this request missed it
     * (get, getMany, fetch or has found nothing). A fill is refused if another process has written or deleted the key
     * since the fill began, invalidated one of its tags, or cleared. It is also refused if it began while the pool could not be reached. Fills that
     * overlap do not refuse each other.
     *
     * A tag is a name, 1 to 65,535 bytes, that many items carry, up to 4,096 each. Invalidating it kills all of them in
     * constant time.
     *
     * A key that is empty or longer than 65,535 bytes is a ValueError everywhere. A key in an array that is neither string
     * nor int is a TypeError. A value that cannot be stored is a Larder\Exception\Unstorable.
     *
     * @strict-properties
     * @not-serializable
     */
    final class SharedMemory
    {
        private function __construct() {}

        /**
         * Opens the pool of that name, making it if there is none. Pools of one user are shared by all of that user's
         * processes, PHP-FPM and the command line alike.
         *
         * @param string $name 1 to 64 letters, digits, dots, dashes and underscores
         * @param int|null $size bytes, 4 MiB to 1 TiB, of a pool that is made. A pool that is there with another size is used as it
         *     is, and PHP's log says so once a process. Null: as the ini setting larder.size says, or, if that is 0, as
         *     the pool already is, or else 64 MiB or three quarters of what /dev/shm has free, whichever is less
         * @param bool $evict false: a full pool refuses to store instead of evicting something
         * @throws \ValueError the name or the size is none
         * @throws \Larder\Exception\PoolUnusable it exists with another $evict, does not fit, or cannot be opened; the message
         *     says what to do
         */
        public static function open(string $name = 'default', ?int $size = null, bool $evict = true): SharedMemory {}

        /**
         * Removes a pool for good, and its snapshot. Processes that have it open go on with a new, empty one. The pool NAME.locks
         * goes along, where the library keeps the locks of a pool that does not evict.
         *
         * @return bool was there one
         * @throws \Larder\Exception\PoolUnusable it is there but cannot be removed
         */
        public static function remove(string $name = 'default'): bool {}

        /**
         * The pools of this user.
         *
         * @phpstan-return list<string>
         * @throws \Larder\Exception\PoolUnusable their directory cannot be read
         */
        public static function names(): array {}

        /**
         * Writes what lives in a pool to a file that outlives the machine's memory, and ends the pool. The next one of its name
         * begins with all of that, tags, expiries and counters included. The file is used once at most, and is gone then. While it
         * is loaded, a pool that does not evict is closed as well.
         *
         * Until it is done the pool is closed to all processes: reads miss, fills are refused, and changes that must not be lost
         * throw PoolUnusable. The file lies in the directory larder-<uid> within larder.snapshot. What a new pool began with, or why
         * with nothing, is in statistics()['snapshot'].
         *
         * @phpstan-return array{path: string, items: int, bytes: int}|null null: there is no such pool
         * @throws \ValueError the name is none
         * @throws \Larder\Exception\PoolUnusable it cannot be saved, and is as it was; the message says what to do
         */
        public static function save(string $name = 'default'): ?array {}

        /**
         * Gives a pool another size, and keeps what lives in it. The pool is saved. The next one of its name is made in that
         * size and loaded, with no other process in between. If it gets smaller, it evicts what has no room.
         *
         * While it is saved, the pool is closed to all processes, as by save(). While the next one is loaded, others use it already,
         * if it evicts. One that does not evict stays closed until all is loaded.
         * It fails before anything is changed where /dev/shm has too little room, or a pool that must not evict holds too much.
         *
         * @param int $size bytes, 4 MiB to 1 TiB
         * @phpstan-return array{before: int, size: int, loaded: int, dropped: int}|null bytes of the pool before and now, and how many
         *     items it kept and lost; null: there is no such pool
         * @throws \ValueError the name or the size is none
         * @throws \Larder\Exception\PoolUnusable it cannot be resized; the message says why, and what to do
         */
        public static function resize(string $name, int $size): ?array {}

        /**
         * The part of this pool whose keys begin with the prefix and whose items carry the tag. It is used like a pool of its own.
         * Its keys are given and told without the prefix, and clear() kills its items in constant time. Tags, the beginning and
         * the end of a request, and the figures are the whole pool's. A part may have parts, up to 64 in
         * each other; a clear of one kills what is in those, too.
         *
         * @param string $prefix no other part's may begin with it
         * @throws \ValueError one of the two is empty or too long
         */
        public function part(string $prefix, string $tag): SharedMemory {}

        /** The value, or the default if there is none. */
        public function get(string $key, mixed $default = null): mixed {}

        /**
         * @phpstan-param array<array-key,string|int> $keys
         * @param string|null $except arrays whose element 0 is this string are left out, as if they were not found
         * @phpstan-return array<array-key, mixed> key => value, of those found
         */
        public function getMany(array $keys, ?string $except = null): array {}

        /**
         * The values with what is known about them.
         *
         * @phpstan-param array<array-key,string|int> $keys
         * @phpstan-return array<array-key, array{mixed, int|null, int}> of those found: key => [value, expiry as Unix time in
         *     seconds (rounded up) or null, version: the item's]
         */
        public function fetch(array $keys): array {}

        /**
         * The first set of a key that this request has missed, and not read since, is a fill. If others wrote or deleted
         * the key since the miss, it is refused, and their value stays. New truth of such a key is set with a token of this moment.
         *
         * @phpstan-param array<array-key,string|int> $tags
         * @param \Larder\Token|null $token taken before reading what the value was made from: the value is refused, and what
         *     the key holds stays, if others wrote or deleted the key since, or invalidated one of the tags
         * @param bool|null $keep whether the old value stays if there is no room for the new one, or no time; null: it stays
         *     in a pool that does not evict, and goes in others
         * @param int|null $version with a token: the version of the item that the value was made from, as fetch() tells it, or -1 if
         *     there was none: the value is refused as well if that is not what the key holds. null: not known. Of processes
         *     that fetch, change and set one item at once, the version is what lets exactly one through
         * @return bool false: it was refused (see statistics()). Unless it is kept, the key's old value is gone, but not what
         *     others stored since the miss, or the token
         * @throws \ValueError a version without a token
         * @throws \Larder\Exception\Unstorable the value holds a closure, a resource or the like, or threw something when it
         *     was asked for its state; nothing was changed
         * @throws \Larder\Exception\PoolUnusable the pool cannot be reached, so the old value may still be there for others
         */
        public function set(string $key, mixed $value, ?int $ttl = null, array $tags = [], ?Token $token = null, ?bool $keep = null, ?int $version = null): bool {}

        /**
         * @phpstan-param array<array-key,mixed> $values key => value
         * @phpstan-param array<array-key,string|int> $tags of each
         * @param \Larder\Token|null $token as of set(), for each
         * @param bool|null $keep as of set()
         * @phpstan-return list<string> keys that could not be stored
         * @throws \Larder\Exception\Unstorable nothing was stored
         * @throws \Larder\Exception\PoolUnusable as set()
         */
        public function setMany(array $values, ?int $ttl = null, array $tags = [], ?Token $token = null, ?bool $keep = null): array {}

        /**
         * Stores the value if there is none, or none that can be read: get() has nothing of an object whose class is gone
         * either. An object that is there is made and dropped again to find out.
         *
         * @phpstan-param array<array-key,string|int> $tags
         * @param \Larder\Token|null $token it is a fill, judged by this; null: by this request's miss of the key, if any
         * @return bool was it stored
         */
        public function add(string $key, mixed $value, ?int $ttl = null, array $tags = [], ?Token $token = null): bool {}

        /**
         * Stores the value if there is one.
         *
         * @phpstan-param array<array-key,string|int> $tags
         * @param \Larder\Token|null $token as of set()
         * @param bool|null $keep as of set()
         * @return bool was it stored
         */
        public function replace(string $key, mixed $value, ?int $ttl = null, array $tags = [], ?Token $token = null, ?bool $keep = null): bool {}

        /**
         * Keeps what was computed since the token, unless others have written or deleted the key since then, or invalidated
         * one of the tags, or cleared. A refused one changes nothing.
         *
         * @phpstan-param array<array-key,string|int> $tags
         * @param float $cost seconds that the computation took, by which remember() decides how early to compute anew; 0:
         *     not known
         * @return bool was it stored
         * @throws \Larder\Exception\Unstorable
         */
        public function fill(string $key, mixed $value, Token $token, ?int $ttl = null, array $tags = [], float $cost = 0.0): bool {}

        /**
         * The value; if there is none, what $compute returns, which is kept for $ttl seconds from then on.
         *
         * Of all processes that miss the key at once, one computes. The others wait for it, or serve a stale value. That
         * is one that expired less than $grace seconds ago, or that an invalidation lets be served. Shortly before the item
         * expires, one process computes it anew while the others go on with it: the sooner, the longer the computation took.
         * (XFetch: Vattani, Chierichetti, Lowenstein: "Optimal Probabilistic Cache Stampede Prevention", VLDB 2015.) If the
         * computation throws an \Exception, and a value is still there, or a stale one, that is returned.
         *
         * @phpstan-template T
         * @phpstan-template TGiven
         * @phpstan-param callable(TGiven): T $compute is given a Computation, and may say in it what it learns of the item only
         *     now; called without a lock, so it may use the cache
         * @phpstan-param array<array-key,string|int> $tags
         * @param float $beta above 1 computes earlier, 0 never early
         * @param int $grace seconds for which something expired may be served where nothing fresh can be had
         * @phpstan-param (\Closure(callable(TGiven): T, Computation): mixed)|null $through is called in place of $compute, with it and
         *     with what it would be given; so one closure serves many calls, and may give it something else
         * @param float $lease seconds that a computation may take before another process begins one as well, up to 3,600;
         *     one that is killed is noticed at once; 0: no lease, each process that misses computes
         * @param float|null $missWait seconds to wait for another's computation before computing in spite of it; null: twice $lease
         * @param float $staleWait seconds to wait for it although something stale could be served
         * @param float $retry seconds in which no process tries again after a computation has thrown and the present value
         *     was served
         * @phpstan-return T
         * @throws \Throwable what $compute throws
         * @throws \Larder\Exception\Unstorable
         */
        public function remember(string $key, callable $compute, ?int $ttl = null, array $tags = [], float $beta = 1.0, int $grace = 0, ?\Closure $through = null, float $lease = 30.0, ?float $missWait = null, float $staleWait = 0.0, float $retry = 1.0): mixed {}

        /**
         * Takes the right to compute the key's value while others wait. It ends with release(), this request, this process or the
         * time.
         *
         * @param float $seconds up to 3,600
         * @return bool false: another process has it
         */
        public function lease(string $key, float $seconds = 10.0): bool {}

        /** Gives the lease back, and wakes those who wait for it. */
        public function release(string $key): void {}

        /**
         * Waits until no process has the key's lease, but not for long.
         *
         * @param float $seconds at most
         * @return bool is it free
         */
        public function awaitLease(string $key, float $seconds = 10.0): bool {}

        /**
         * @param int|null $version only what has this version, as fetch() tells it, and nothing that was stored since; null:
         *     whatever there is
         * @return bool did it exist
         * @throws \ValueError
         * @throws \Larder\Exception\PoolUnusable the pool cannot be reached, so nothing was deleted
         */
        public function delete(string $key, ?int $version = null): bool {}

        /**
         * Reads an item and deletes exactly that one, atomically. Of several processes that take at once one gets it,
         * and nothing that is stored meanwhile is deleted. An item that cannot be read stays.
         *
         * @phpstan-return array{mixed, int|null, int}|null what fetch() says of it; null: there is none, or other processes
         *     replaced it a thousand times while this one tried
         * @throws \Larder\Exception\PoolUnusable the pool cannot be reached, so nothing was taken; or it was lost
         *     meanwhile, so it may have been
         */
        public function take(string $key): ?array {}

        /**
         * @phpstan-param array<array-key,string|int> $keys
         * @return int how many of them existed
         */
        public function deleteMany(array $keys): int {}

        /**
         * The value, alive or stale: invalidated in such a way that it may be served for a while, or expired less than $grace seconds
         * ago. Counts neither a hit nor a miss.
         *
         * @phpstan-return array{mixed, bool, int|null, int}|null [value, whether it is stale, seconds for which it may be served from
         *     now on (rounded up) or null for ever, version: the item's]; null: nothing may be served
         * @throws \ValueError $grace is negative
         */
        public function stale(string $key, int $grace = 0): ?array {}

        /** Is there an item? Counts neither a hit nor a miss. */
        public function has(string $key): bool {}

        /**
         * Adds to a counter, atomically. An existing one keeps its expiry and its tags; an absent one is stored as $initial + $by.
         *
         * @param int|null $min a sum below it is it
         * @param bool $create false: an absent one is not made
         * @param int $version of a value that is no int, as fetch() says it. If the key still has it, it counts as $number; 0: none
         * @return int|null the new value; null: there is none, and none was to be made
         * @throws \Larder\Exception\NotACounter the value is not an int, or the sum is beyond an int; nothing was changed
         * @throws \Larder\Exception\PoolUnusable the pool is full, kept busy by others, or cannot be reached, as the message
         *     says; nothing was counted, unless it says otherwise
         */
        public function increment(string $key, int $by = 1, int $initial = 0, ?int $ttl = null, ?int $min = null, bool $create = true, int $version = 0, int $number = 0): ?int {}

        /**
         * Gives the item another TTL, from now.
         *
         * @return bool did it exist
         * @throws \Larder\Exception\PoolUnusable the pool cannot be reached, so it keeps the TTL it had
         */
        public function touch(string $key, ?int $ttl): bool {}

        /**
         * Kills every item that carries one of these tags, in constant time.
         *
         * With $serveStale, stale() and remember() may still serve for so long what this kills. If a tag was invalidated that way
         * a moment ago, the end of that time stays for both. Any other invalidation, delete or clear ends it, and eviction may.
         *
         * @phpstan-param array<array-key,string|int> $tags
         * @param int $serveStale seconds; 0: the killed items are never served again
         * @throws \ValueError $serveStale is negative
         * @throws \Larder\Exception\PoolUnusable the pool cannot be reached, so nothing was invalidated
         */
        public function invalidateTags(array $tags, int $serveStale = 0): void {}

        /** Deletes everything in this pool, in constant time. */
        public function clear(): void {}

        /**
         * The keys that begin with the prefix, as they are now, in no order.
         *
         * @phpstan-return list<string>
         */
        public function keys(string $prefix = ''): iterable {}

        /**
         * For processes that serve many requests (queue workers, application servers): another request begins. What the last
         * one missed and its leases end; values that were read stay as they are. Where a request ends with its script, PHP does it.
         * A process that never calls this forgets a miss after five to ten minutes.
         */
        public function beginRequest(): void {}

        /** The version of the pool now, by which a later store of the key can be judged. */
        public function token(string $key): Token {}

        /**
         * Figures for operators, counted since the pool was made.
         *
         * @phpstan-return array{name: string, id: string, mode: 'zero-copy'|'copy', path: string, evict: bool, size: int, capacity: int, items: int,
         *     bytes: int, hits: int, misses: int, sets: int, deletes: int, evictions: int, expired: int, moves: int,
         *     copies: int, conflicts: int, private_pages: int, refused: array{full: int, pinned: int, large: int, busy: int},
         *     segments: array{free: int, open: int, sealed: int, limbo: int, tail: int, small: int, main: int, bytes: int},
         *     processes: int, oldest_pin_seconds: float, oldest_pin_process: int, pinned_bytes: int, limbo_bytes: int,
         *     snapshot: array{loaded: int, dropped: int, reason: string|null}} the process by the id that it has in its own
         *     container, 0 if nothing is pinned for long; pinned_bytes as far as requests keep them until they end
         */
        public function statistics(): array {}
    }
}

namespace Larder\Exception {

    /** A pool cannot be opened, reached or removed; the message says what to do. */
    final class PoolUnusable extends \RuntimeException implements \Larder\Exception {}

    /**
     * A value cannot be stored; the message names the key and the place inside the value. What the value itself throws when
     * it is asked for its state is the previous exception.
     */
    final class Unstorable extends \RuntimeException implements \Larder\Exception {}

    /** A key cannot be counted up: its value is not an int, or would leave the range of int. */
    final class NotACounter extends \RuntimeException implements \Larder\Exception {}
}
