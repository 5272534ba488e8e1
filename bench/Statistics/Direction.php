<?php

declare(strict_types=1);

namespace Larder\Bench\Statistics;

/** Which end of a scale is the good one. */
enum Direction: string
{
    case LowerIsBetter = 'lower';
    case HigherIsBetter = 'higher';

    public function inWords(): string
    {
        return $this->value . ' is better';
    }
}
