<?php

declare(strict_types=1);

namespace Larder\Cache;

use Larder\Token;

/**
 * The tokens of the keys that were missing in this request. A later set() of the same key is thereby known as a fill, and judged by the
 * moment before its value was computed. No token of another key can judge it: stores count by key or by groups of keys. A key that was
 * never missed is no fill at all.
 *
 * A process may never say that another request begins. So misses are kept in two spans. When the younger one is old enough or full,
 * it takes the place of the older one, which goes. A miss is known for half an hour at least, or until there were 130,000 others.
 */
final class Misses
{
    /** Seconds of a span. */
    private const SPAN = 1_800;

    /** Moments of misses that are remembered. Of a miss without one, all of the process's own invalidations are younger. */
    private const MOST_MOMENTS = 65_536;

    private MissTokens $young;

    private ?MissTokens $old = null;

    /** @var array<array-key, int> of own invalidations the last before the miss, if there was one; by key */
    private array $moments = [];

    /** When the young span began; seconds of the clock. */
    private int $since;

    /** @param ?\Closure(): int $clock seconds that are never set back; for tests that cannot wait */
    public function __construct(
        private readonly ?\Closure $clock = null,
    ) {
        $this->clear();
    }

    /** @param ?OwnTags $own what the process has invalidated itself; null: nothing */
    public function note(string $key, Token $token, ?OwnTags $own = null): void
    {
        if ($own !== null && !$this->has($key)) {
            $this->moments = \count($this->moments) < self::MOST_MOMENTS ? $this->moments : [];
            $this->moments[$key] = $own->moment;
        }
        $age = $this->age();
        if ($age >= self::SPAN || $this->young->isFull()) {
            $this->old = $age < 2 * self::SPAN ? $this->young : null;
            $this->young = new MissTokens();
            $this->since += $age;
        }
        // The first miss counts: a value that is stored later may have been computed since then.
        if ($this->old === null || !$this->old->has($key)) {
            $this->young->note($key, $token);
        }
    }

    /**
     * The store could not be asked, so its content and its changes since then are unknown: a value that is stored later is
     * refused, and leaves nothing under the key.
     *
     * @param list<string> $keys
     * @param ?OwnTags     $own  as of note()
     */
    public function noteUnknown(array $keys, ?OwnTags $own = null): void
    {
        $unknown = MissTokens::unknown();
        foreach ($keys as $key) {
            $this->note($key, $unknown, $own);
        }
    }

    /** Whether a token that was taken is that of a miss, and not of what could not be asked. */
    public static function isOfAMiss(?Token $token): bool
    {
        return $token !== null && $token->epoch !== '';
    }

    /**
     * The token that judges what is now stored under the key. It is used up.
     *
     * @param list<string> $tags of the item. One that the process has invalidated itself since the miss makes the item its own word
     * @param ?OwnTags     $own  as of note()
     *
     * @return ?Token null: nothing judges it
     */
    public function take(string $key, array $tags = [], ?OwnTags $own = null): ?Token
    {
        $moment = $this->moments[$key] ?? 0;
        unset($this->moments[$key]);
        $token = $this->young->take($key);
        $span = 2 * self::SPAN;
        if ($token === null) {
            $token = $this->old?->take($key);
            $span = self::SPAN;
        }

        // A key that was never missed, as most that are written, does not ask the clock.
        return $token !== null && $this->age() < $span && $own?->areSince($moment, $tags) !== true ? $token : null;
    }

    public function drop(string $key): void
    {
        $this->take($key);
    }

    /**
     * Keys that were found are missed no more: a value that is stored then was made of what was found, and is new truth.
     *
     * @param array<array-key, mixed> $found by key
     */
    public function dropAll(array $found): void
    {
        $this->young->dropAll($found);
        $this->old?->dropAll($found);
    }

    public function clear(): void
    {
        $this->young = new MissTokens();
        $this->old = null;
        $this->moments = [];
        $this->since = $this->now();
    }

    private function has(string $key): bool
    {
        return $this->young->has($key) || $this->old?->has($key) === true;
    }

    /** Seconds since the young span began. */
    private function age(): int
    {
        return $this->now() - $this->since;
    }

    private function now(): int
    {
        return $this->clock === null ? intdiv((int) hrtime(true), 1_000_000_000) : ($this->clock)();
    }
}
