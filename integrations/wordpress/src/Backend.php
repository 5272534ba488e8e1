<?php

declare(strict_types=1);

namespace Larder\WordPress;

use Larder\Token;

/**
 * What outlives the request behind an object cache.
 *
 * Nothing is thrown: a store that fails is a miss, or an answer that says so. Keys are 1 to 65,535 bytes. A TTL is in seconds from
 * now on; null means no end. Tags are the names by which groups and sites are flushed.
 */
interface Backend
{
    /**
     * The value, or $absent if there is none.
     *
     * @param bool $anew whether the store is to be asked, whatever was read ahead
     */
    public function get(string $key, mixed $absent, bool $anew = false): mixed;

    /**
     * The value, and by what a change of it is judged: set() takes both.
     *
     * @return array{mixed, ?Token, int} the value or $absent, a token of before it was read, its version; without a token it cannot be changed
     */
    public function getForChange(string $key, mixed $absent): array;

    /**
     * @param list<string> $keys
     * @param bool         $anew whether the store is to be asked, whatever was read ahead
     *
     * @return array<array-key, mixed> key => value, of those found
     */
    public function getMany(array $keys, bool $anew = false): array;

    /**
     * When values end, of those that are there and do so.
     *
     * @param list<string> $keys
     *
     * @return list<int> in Unix seconds
     */
    public function ends(array $keys): array;

    /**
     * By what a value that is made from now on is judged.
     *
     * @return ?Token null: there is none, or the backend itself remembers what was missed
     */
    public function token(string $key): ?Token;

    /**
     * By what a value is judged that was made in this request before the key was asked for.
     *
     * @return ?Token null: the store cannot judge that
     */
    public function requestToken(string $key): ?Token;

    /**
     * Keeps what was made because of misses. What others have written or deleted since is refused.
     *
     * @param list<Fill> $fills
     *
     * @return bool whether all of them are in the store
     */
    public function fill(array $fills): bool;

    /**
     * @param list<string> $tags
     * @param ?Token       $token with one, what the value was made from may have changed meanwhile: then the key holds nothing
     *                            afterwards
     * @param int          $version of the item that the value was made from, which must still be there; 0: it was made from none
     */
    public function set(string $key, mixed $value, ?int $ttl, array $tags, ?Token $token = null, int $version = 0): bool;

    /**
     * @param array<array-key, mixed> $values key => value
     * @param list<string>            $tags   of each
     */
    public function setMany(array $values, ?int $ttl, array $tags): void;

    /**
     * Stores what is not there: of several processes one does.
     *
     * @param list<string> $tags
     *
     * @return ?bool whether it was; null: the store cannot keep it, or tell
     */
    public function add(string $key, mixed $value, ?int $ttl, array $tags): ?bool;

    /** @return ?bool whether it is there; null: the store cannot tell */
    public function has(string $key): ?bool;

    /**
     * @param list<string> $keys
     *
     * @return list<string> those that were there
     */
    public function delete(array $keys): array;

    /**
     * Adds to a number, atomically; below zero is zero. What is no number counts as zero. It keeps its expiry.
     *
     * @param list<string> $tags of what has to be stored anew
     *
     * @return int|float|false|null the sum; false: there is none; null: the store cannot tell
     */
    public function count(string $key, int $by, array $tags): int|float|false|null;

    /**
     * Kills what carries one of these tags.
     *
     * @param list<string> $tags
     * @param int          $stale seconds for which a pool still gives what this kills to a caller that asks for stale values; others never do
     *
     * @return bool whether the store knows, or hears of it before it gives anything out
     */
    public function invalidate(array $tags, int $stale = 0): bool;

    /** Kills everything that is in the store. */
    public function clear(): bool;

    /** What failed in this request, in a sentence; null: nothing. */
    public function trouble(): ?string;

    /**
     * For administration.
     *
     * @return iterable<string> the keys that begin with the prefix
     */
    public function keys(string $prefix): iterable;

    /**
     * For administration.
     *
     * @return array<string, int|float|string> by name; empty where it cannot be asked
     */
    public function statistics(): array;
}
