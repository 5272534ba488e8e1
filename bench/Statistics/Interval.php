<?php

declare(strict_types=1);

namespace Larder\Bench\Statistics;

/** An estimate and the 95 % interval that goes with it. */
final readonly class Interval
{
    public function __construct(public float $estimate, public float $low, public float $high) {}

    public function contains(float $truth): bool
    {
        return $this->low <= $truth && $truth <= $this->high;
    }
}
