<?php

declare(strict_types=1);

namespace Larder\Bench\WordPress;

/** What a request of a site took. */
final readonly class Cost
{
    /**
     * @param float $time    ns on the clock, until the worker was ready for the next request
     * @param float $workers ns of php-fpm's processor time
     * @param float $servers ns of the database's and the store's
     */
    public function __construct(public float $time, public float $workers, public float $servers) {}

    /** @return float ns of processor time of all processes */
    public function processors(): float
    {
        return $this->workers + $this->servers;
    }
}
