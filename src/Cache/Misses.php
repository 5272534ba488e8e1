<?php

declare(strict_types=1);

namespace Larder\Cache;

use Larder\Token;

/**
 * The tokens of what was missing in this request, so that a later set of the same key is known for the fill that
 * it is, and judged by the moment before its value was computed. Bounded: when there are too many, the older half
 * goes, and the oldest of those judges whatever is not in the table.
 */
final class Misses
{
    private const MOST = 1_024;

    /** @var array<array-key, Token> */
    private array $tokens = [];

    private ?Token $floor = null;

    public function note(string $key, Token $token): void
    {
        // The first miss counts: what is stored later may have been computed since then.
        $this->tokens[$key] ??= $token;
        if (\count($this->tokens) > self::MOST) {
            $this->floor ??= $this->tokens[array_key_first($this->tokens)];
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
        foreach ($keys as $key) {
            $this->note($key, new Token('', 0));
        }
    }

    /** Whether a token that was taken is that of a miss, and not of what could not be asked. */
    public static function isOfAMiss(?Token $token): bool
    {
        return $token !== null && $token->epoch !== '';
    }

    public function take(string $key): ?Token
    {
        $token = $this->tokens[$key] ?? $this->floor;
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
        $this->floor = null;
    }
}
