<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Raw;

/** A store by its own client, with nothing of the library's in between; values are strings. */
interface RawStore
{
    /** @return bool false: it was refused */
    public function set(string $key, string $value): bool;

    public function get(string $key): ?string;

    /**
     * Stores one value under all these keys.
     *
     * @param non-empty-list<string> $keys
     * @return bool false: the store is full, that is, it refused or evicted something
     */
    public function fill(array $keys, string $value): bool;

    /**
     * How many of these are there, found by asking for them.
     *
     * @param non-empty-list<string> $keys
     */
    public function count(array $keys): int;

    /** @param non-empty-list<string> $keys */
    public function delete(array $keys): void;

    /** Removes everything. */
    public function clear(): void;

    /** How many items it holds, by its own figure. */
    public function items(): int;
}
