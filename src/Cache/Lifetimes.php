<?php

declare(strict_types=1);

namespace Larder\Cache;

use Larder\Exception\InvalidOption;
use Larder\Ttl;

/** What a cache's TTLs are in seconds. */
final class Lifetimes
{
    /**
     * @param int|\DateInterval|Ttl $default what null means
     * @param float                 $jitter  up to this share is taken off at random
     *
     * @throws InvalidOption
     */
    public function __construct(
        private readonly int|\DateInterval|Ttl $default,
        private readonly float $jitter,
    ) {
        $seconds = Ttl::seconds($default);
        if ($seconds !== null && $seconds <= 0) {
            throw InvalidOption::range('defaultTtl', $seconds, 'more than 0 seconds, or Ttl::Forever');
        }
        if (!($jitter >= 0.0 && $jitter <= 0.5)) {
            throw InvalidOption::range('jitter', $jitter, '0.0 to 0.5');
        }
    }

    /** @return ?int null: no end */
    public function seconds(int|\DateInterval|Ttl|null $ttl): ?int
    {
        $seconds = Ttl::seconds($ttl ?? $this->default);
        if ($this->jitter > 0.0 && $seconds !== null && $seconds > 1) {
            return $seconds - (int) ($seconds * $this->jitter * (random_int(0, 1_000_000) / 1_000_000));
        }

        return $seconds;
    }
}
