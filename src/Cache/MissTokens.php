<?php

declare(strict_types=1);

namespace Larder\Cache;

use Larder\Token;

/**
 * The misses of a span of time. When there are too many tokens, the older half goes. Of those keys, only a hash of a few bytes stays: a
 * fill of them is refused, as it is unknown what has happened since.
 */
final class MissTokens
{
    private const MOST_TOKENS = 32_768;

    private const MOST_FORGOTTEN = 131_072;

    /** Bytes of a hash that choose a bucket, and those that are kept in it. */
    private const CHOICE = 1;

    private const REST = 7;

    /** @var array<array-key, Token> */
    private array $tokens = [];

    /** @var array<array-key, string> the rests of the hashes of what has no token any more, by their first bytes */
    private array $forgotten = [];

    /** How many it has forgotten, those included that were taken since. */
    private int $count = 0;

    /** The token by which every fill is refused. */
    public static function unknown(): Token
    {
        return new Token('', 0);
    }

    public function note(string $key, Token $token): void
    {
        // The first miss counts: a value that is stored later may have been computed since then.
        if ($this->forgotten !== [] && $this->placeOf($key) !== null) {
            return;
        }
        $this->tokens[$key] ??= $token;
        if (\count($this->tokens) > self::MOST_TOKENS) {
            $this->forgetOlderHalf();
        }
    }

    public function has(string $key): bool
    {
        return isset($this->tokens[$key]) || ($this->forgotten !== [] && $this->placeOf($key) !== null);
    }

    public function isFull(): bool
    {
        return $this->count >= self::MOST_FORGOTTEN;
    }

    /** @return ?Token null: the key was not missed; self::unknown(): more than that is not known */
    public function take(string $key): ?Token
    {
        $token = $this->tokens[$key] ?? null;
        unset($this->tokens[$key]);

        return $token ?? ($this->forgotten !== [] && $this->recall($key) ? self::unknown() : null);
    }

    /** @param array<array-key, mixed> $found by key */
    public function dropAll(array $found): void
    {
        foreach ($this->tokens === [] ? [] : array_intersect_key($found, $this->tokens) as $key => $_) {
            unset($this->tokens[$key]);
        }
        foreach ($this->forgotten === [] ? [] : $found as $key => $_) {
            $this->recall((string) $key);
        }
    }

    private function forgetOlderHalf(): void
    {
        foreach (array_keys(\array_slice($this->tokens, 0, self::MOST_TOKENS >> 1, true)) as $key) {
            [$choice, $rest] = self::hashOf((string) $key);
            $this->forgotten[$choice] = ($this->forgotten[$choice] ?? '') . $rest;
            $this->count++;
        }
        $this->tokens = \array_slice($this->tokens, self::MOST_TOKENS >> 1, null, true);
    }

    /** Whether the key was among what is forgotten; now it is no more. */
    private function recall(string $key): bool
    {
        $place = $this->placeOf($key);
        if ($place === null) {
            return false;
        }
        $choice = self::hashOf($key)[0];
        $this->forgotten[$choice] = substr_replace($this->forgotten[$choice], '', $place, self::REST);

        return true;
    }

    /** Where the key is in its bucket; null if it is not there. */
    private function placeOf(string $key): ?int
    {
        [$choice, $rest] = self::hashOf($key);
        $bucket = $this->forgotten[$choice] ?? '';
        // What begins within one rest and ends in the next is neither.
        $place = strpos($bucket, $rest);
        while ($place !== false && $place % self::REST !== 0) {
            $place = strpos($bucket, $rest, $place + 1);
        }

        return $place === false ? null : $place;
    }

    /** @return array{string, string} */
    private static function hashOf(string $key): array
    {
        $hash = hash('xxh3', $key, true);

        return [substr($hash, 0, self::CHOICE), substr($hash, self::CHOICE)];
    }
}
