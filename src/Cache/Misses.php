<?php

declare(strict_types=1);

namespace Larder\Cache;

use Larder\Token;

/**
 * The tokens of what was missing in this request, so that a later set of the same key is known for the fill that
 * it is, and judged by the moment before its value was computed. When there are too many, the older half goes, and of
 * those only that they were missed is remembered, in six bytes of a hash each: what is set of them is refused, as nobody
 * knows what has happened since. No token of another key can judge it: stores count by key or by groups of keys, and a
 * key that was never missed is no fill at all.
 */
final class Misses
{
    private const MOST = 16_384;

    /** Bytes of a hash that choose a bucket, and those that are kept in it. */
    private const CHOICE = 2;

    private const REST = 6;

    /** @var array<array-key, Token> */
    private array $tokens = [];

    /** @var array<array-key, string> the rests of the hashes of what has no token any more, by their first bytes */
    private array $forgotten = [];

    public function note(string $key, Token $token): void
    {
        // The first miss counts: what is stored later may have been computed since then.
        if ($this->forgotten !== [] && $this->placeOf($key) !== null) {
            return;
        }
        $this->tokens[$key] ??= $token;
        if (\count($this->tokens) > self::MOST) {
            $this->forgetOlderHalf();
        }
    }

    /**
     * The store could not be asked, so that nobody knows what there was and what has happened since: what is stored later is
     * refused, and leaves nothing under the key.
     *
     * @param list<string> $keys
     */
    public function noteUnknown(array $keys): void
    {
        $unknown = new Token('', 0);
        foreach ($keys as $key) {
            $this->note($key, $unknown);
        }
    }

    /** Whether a token that was taken is that of a miss, and not of what could not be asked. */
    public static function isOfAMiss(?Token $token): bool
    {
        return $token !== null && $token->epoch !== '';
    }

    public function take(string $key): ?Token
    {
        $token = $this->tokens[$key] ?? null;
        unset($this->tokens[$key]);

        return $token ?? ($this->recall($key) ? new Token('', 0) : null);
    }

    public function drop(string $key): void
    {
        unset($this->tokens[$key]);
        $this->recall($key);
    }

    public function clear(): void
    {
        $this->tokens = $this->forgotten = [];
    }

    private function forgetOlderHalf(): void
    {
        foreach (array_keys(\array_slice($this->tokens, 0, self::MOST >> 1, true)) as $key) {
            [$choice, $rest] = self::hashOf((string) $key);
            $this->forgotten[$choice] = ($this->forgotten[$choice] ?? '') . $rest;
        }
        $this->tokens = \array_slice($this->tokens, self::MOST >> 1, null, true);
    }

    /** Whether the key was among what is forgotten; now it is no more. */
    private function recall(string $key): bool
    {
        $place = $this->forgotten === [] ? null : $this->placeOf($key);
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
