<?php

declare(strict_types=1);

namespace Larder\Console;

use Larder\StoreStatistics;

/** What happened between two looks at a store's statistics. */
final class Reading
{
    /** Of what happened in all. */
    public readonly StoreStatistics $known;

    /**
     * @param int $hits   of the looking process, which are not to be counted
     * @param int $misses likewise
     */
    public function __construct(
        private readonly StoreStatistics $now,
        private readonly ?StoreStatistics $before,
        private readonly float $seconds,
        int $hits = 0,
        int $misses = 0,
    ) {
        $this->known = new StoreStatistics(
            $now->items,
            $now->bytes,
            $now->capacity,
            $now->hits === null ? null : max(0, $now->hits - $hits),
            $now->misses === null ? null : max(0, $now->misses - $misses),
            $now->evictions,
            $now->expired,
            $now->details,
        );
    }

    /** @return ?int of what happened in all, or what there is; null where the store cannot tell */
    public function figure(string $name): ?int
    {
        return self::in($this->known, $name);
    }

    /** Per second; null where the store cannot tell, or there was no look before. */
    public function rate(string $counter): ?float
    {
        $now = self::in($this->now, $counter);
        $before = $this->before === null ? null : self::in($this->before, $counter);

        // A counter that went back began anew.
        return $now !== null && $before !== null && $now >= $before && $this->seconds > 0 ? ($now - $before) / $this->seconds : null;
    }

    /**
     * The share of hits, since the look before, or if nothing was looked up since, in all.
     *
     * @param string $store "near " for the near store of a tier
     */
    public function hitRatio(string $store = ''): ?float
    {
        $hits = $this->rate("{$store}hits");
        $misses = $this->rate("{$store}misses");
        if ($hits === null || $misses === null || $hits + $misses <= 0.0) {
            $hits = $this->figure("{$store}hits");
            $misses = $this->figure("{$store}misses");
        }

        return $hits === null || $misses === null || $hits + $misses <= 0 ? null : $hits / ($hits + $misses);
    }

    /** Of a tier, what its near store tells is among the details. */
    private static function in(StoreStatistics $known, string $name): ?int
    {
        $figure = property_exists($known, $name) ? $known->{$name} : $known->details[$name] ?? null;

        return \is_int($figure) ? $figure : null;
    }
}
