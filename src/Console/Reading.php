<?php

declare(strict_types=1);

namespace Larder\Console;

use Larder\StoreStatistics;

/** What happened between two looks at a store's statistics. */
final class Reading
{
    public function __construct(
        public readonly StoreStatistics $known,
        private readonly ?StoreStatistics $before,
        private readonly float $seconds,
    ) {}

    /** Per second; null where the store cannot tell, or there was no look before. */
    public function rate(string $counter): ?float
    {
        $now = get_object_vars($this->known)[$counter] ?? null;
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
