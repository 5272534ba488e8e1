<?php

declare(strict_types=1);

namespace Larder\Cache;

use Larder\Token;

/**
 * The tokens of what was missing in this request, so that a later set of the same key is known for the fill that
 * it is, and judged by the moment before its value was computed. Bounded: when there are too many, the older half
 * goes, and what is set of those is a write like any other. No token of another key can judge it: stores count by key or by
 * groups of keys, and a key that was never missed is no fill at all.
 */
final class Misses
{
    private const MOST = 16_384;

    /** @var array<array-key, Token> */
    private array $tokens = [];

    public function note(string $key, Token $token): void
    {
        // The first miss counts: what is stored later may have been computed since then.
        $this->tokens[$key] ??= $token;
        if (\count($this->tokens) > self::MOST) {
            $this->tokens = \array_slice($this->tokens, self::MOST >> 1, null, true);
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

        return $token;
    }

    public function drop(string $key): void
    {
        unset($this->tokens[$key]);
    }

    public function clear(): void
    {
        $this->tokens = [];
    }
}
