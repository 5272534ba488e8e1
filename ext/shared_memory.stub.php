<?php

/**
 * @generate-class-entries
 * @undocumentable
 */

namespace Larder {

    /** Everything that Larder throws. */
    interface Exception extends \Throwable {}

    /**
     * What a miss, or a look at the clock, leaves behind: the logical time by which a later store is judged. Opaque.
     */
    final class Token
    {
        /** One life of one clock: the pool's id, 32 hexadecimal digits. */
        public readonly string $epoch;

        /** The clock's reading, in ticks. */
        public readonly int $clock;

        public function __construct(string $epoch, int $clock) {}
    }

    /**
     * A cache in memory that all processes of a user on this machine share.
     *
     * Reading takes no lock, and hands out arrays and long strings in place, without copying them; they are ordinary
     * values all the same: who changes one gets a copy of its own. Keys are 1 to 65,535 bytes, of any kind; keys given
     * as ints in arrays mean their decimal string. Values are anything but closures, resources and other things that
     * cannot be serialised. A TTL is in seconds; null means that the item does not expire, zero or less deletes it.
     *
     * A full pool evicts what is worth least (S3-FIFO, SOSP 2023). Whatever goes wrong while the pool is in use (it is
     * full of pinned values, another process is stopped) is a miss or a store that returns false, and is counted in
     * statistics(); deletes and clears are never refused. What must not be lost silently throws
     * Larder\Exception\PoolUnusable if the pool cannot be reached: delete, deleteMany, clear, increment, token, statistics.
     * A key that is empty or longer than 65,535 bytes is a ValueError everywhere, a key in an array that is neither string
     * nor int a TypeError; whatever stores a value throws Larder\Exception\Unstorable if it cannot be stored.
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
         * @param int|null $size bytes, 4 MiB to 1 TiB; null: as the ini setting larder.size says, or, if that is 0, as
         *     the pool already is, or else 64 MiB or three quarters of what /dev/shm has free, whichever is less
         * @param bool $evict false: a full pool refuses to store instead of evicting something
         * @throws \ValueError the name or the size is none
         * @throws \Larder\Exception\PoolUnusable it exists with another size or another $evict, does not fit, or cannot
         *     be opened; the message says what to do
         */
        public static function open(string $name = 'default', ?int $size = null, bool $evict = true): SharedMemory {}

        /**
         * Removes a pool for good. Processes that have it open go on with a new, empty one.
         *
         * @return bool was there one
         * @throws \Larder\Exception\PoolUnusable it is there but cannot be removed
         */
        public static function remove(string $name = 'default'): bool {}

        /** The value, or the default if there is none. */
        public function get(string $key, mixed $default = null): mixed {}

        /**
         * @phpstan-param array<array-key,string|int> $keys
         * @phpstan-return array<array-key, mixed> key => value, of those found
         */
        public function getMany(array $keys): array {}

        /**
         * The values with what is known about them.
         *
         * @phpstan-param array<array-key,string|int> $keys
         * @phpstan-return array<array-key, array{mixed, int|null, int}> of those found: key => [value, expiry as Unix time in
         *     seconds (rounded up) or null, stamp: the logical time of its store]
         */
        public function fetch(array $keys): array {}

        /**
         * @return bool false: it was refused (see statistics()), and the key's old value is gone
         * @throws \Larder\Exception\Unstorable the value holds a closure, a resource or the like; nothing was changed
         */
        public function set(string $key, mixed $value, ?int $ttl = null): bool {}

        /**
         * @phpstan-param array<array-key,mixed> $values key => value
         * @phpstan-return list<string> keys that could not be stored
         * @throws \Larder\Exception\Unstorable nothing from that value on was stored
         */
        public function setMany(array $values, ?int $ttl = null): array {}

        /** Stores the value if there is none. @return bool was it stored */
        public function add(string $key, mixed $value, ?int $ttl = null): bool {}

        /** Stores the value if there is one. @return bool was it stored */
        public function replace(string $key, mixed $value, ?int $ttl = null): bool {}

        /**
         * @return bool did it exist
         * @throws \Larder\Exception\PoolUnusable the pool cannot be reached, so nothing was deleted
         */
        public function delete(string $key): bool {}

        /**
         * @phpstan-param array<array-key,string|int> $keys
         * @return int how many of them existed
         */
        public function deleteMany(array $keys): int {}

        /** Is there an item? Counts neither a hit nor a miss. */
        public function has(string $key): bool {}

        /**
         * Adds to a counter, atomically. An existing one keeps its expiry; an absent one is stored as $initial + $by.
         *
         * @return int the new value
         * @throws \Larder\Exception\NotACounter the value is not an int, or the sum is beyond an int; nothing was changed
         */
        public function increment(string $key, int $by = 1, int $initial = 0, ?int $ttl = null): int {}

        /** Gives the item another TTL, from now. @return bool did it exist */
        public function touch(string $key, ?int $ttl): bool {}

        /** Deletes everything in this pool, in constant time. */
        public function clear(): void {}

        /**
         * The keys that begin with the prefix, as they are now, in no order.
         *
         * @phpstan-return list<string>
         */
        public function keys(string $prefix = ''): iterable {}

        /** The logical time now, by which a later store of the key can be judged. */
        public function token(string $key): Token {}

        /**
         * Figures for operators, counted since the pool was made.
         *
         * @phpstan-return array{name: string, id: string, mode: 'zero-copy'|'copy', evict: bool, size: int, capacity: int, items: int,
         *     bytes: int, hits: int, misses: int, sets: int, deletes: int, evictions: int, expired: int, moves: int,
         *     copies: int, conflicts: int, refused: array{full: int, pinned: int, large: int, busy: int},
         *     segments: array{free: int, open: int, sealed: int, limbo: int, tail: int, small: int, main: int, bytes: int},
         *     processes: int, oldest_pin_seconds: float, limbo_bytes: int}
         */
        public function statistics(): array {}
    }
}

namespace Larder\Exception {

    /** A pool cannot be opened, reached or removed; the message says what to do. */
    final class PoolUnusable extends \RuntimeException implements \Larder\Exception {}

    /** A value cannot be stored; the message names the place inside it. */
    final class Unstorable extends \RuntimeException implements \Larder\Exception {}

    /** A key cannot be counted up: its value is not an int, or would leave the range of int. */
    final class NotACounter extends \RuntimeException implements \Larder\Exception {}
}
