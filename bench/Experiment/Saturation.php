<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Statistics\Summary;

/** Whether a rate is the load generator's own rather than the server's. */
final class Saturation
{
    /** The column of samples that says which share of its processor the generator used. */
    public const SHARE = 'generator share';
    /** Above this share a generator measures itself. */
    private const MOST = 0.9;

    /** The median share of a processor that the generator used; null where no generator made the load. */
    public static function share(Measurement $measurement): ?float
    {
        $shares = $measurement->column(self::SHARE);
        sort($shares);

        return $shares === [] ? null : Summary::percentile($shares, 0.5);
    }

    public static function isIn(Measurement $measurement): bool
    {
        return self::share($measurement) > self::MOST;
    }
}
