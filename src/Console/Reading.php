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
     * @param int $hits   of whoever looks, which are not to be counted
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

    /** Per second; null where the store cannot tell, or there was no look before. */
    public function rate(string $counter): ?float
    {
        $now = get_object_vars($this->now)[$counter] ?? null;
        $before = $this->before === null ? null : get_object_vars($this->before)[$counter] ?? null;

        // A counter that went back began anew.
        return \is_int($now) && \is_int($before) && $now >= $before && $this->seconds > 0 ? ($now - $before) / $this->seconds : null;
    }

    /** The share of hits, since the look before, or if nothing was looked up since, in all. */
    public function hitRatio(): ?float
    {
        $hits = $this->rate('hits');
        $misses = $this->rate('misses');
        if ($hits === null || $misses === null || $hits + $misses <= 0.0) {
            $hits = $this->known->hits;
            $misses = $this->known->misses;
        }

        return $hits === null || $misses === null || $hits + $misses <= 0 ? null : $hits / ($hits + $misses);
    }
}
