<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Statistics\Summary;

/** Whether a rate is the load generator's own rather than the server's. */
final class Saturation
{
    /** The column of samples that says which share of its processor the generator used. */
    public const SHARE = 'generator share';
    /** What is measured where two generators are compared: there it is part of the comparison whether one is saturated. */
    public const COMPARISON = 'rate seen by two generators';
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

    /** One note for each subject whose rates the generator may have limited. */
    public static function mark(Outcome $outcome): void
    {
        $all = $limited = [];
        foreach ($outcome->measurements as $measurement) {
            if ($measurement->metric !== self::COMPARISON && self::share($measurement) !== null) {
                $all[$measurement->subject] = ($all[$measurement->subject] ?? 0) + 1;
                $limited[$measurement->subject] = ($limited[$measurement->subject] ?? 0) + (int) self::isIn($measurement);
            }
        }
        foreach (array_filter($limited) as $subject => $count) {
            $outcome->notes[] = sprintf(
                'The load generator used more than %d %% of its processor in %d of the %d cases of %s. Those rates may be the generator\'s, not the server\'s; the tables say which.',
                round(100 * self::MOST),
                $count,
                $all[$subject],
                $outcome->titles[$subject] ?? $subject,
            );
        }
    }
}
