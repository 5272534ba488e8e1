<?php

declare(strict_types=1);

namespace Larder\WordPress;

/**
 * What a list of times looks like.
 *
 * Percentiles interpolate linearly between the two nearest. *mad* is the mean absolute deviation from the mean, *stdev* the sample's
 * standard deviation (n - 1).
 */
final class Distribution
{
    private function __construct() {}

    /**
     * @param non-empty-list<int|float> $times in any order
     *
     * @return array{n: int, min: float, p1: float, p5: float, median: float, mean: float, p95: float, p99: float, max: float, range: float, mad: float, stdev: float} in the unit of the times
     */
    public static function of(array $times): array
    {
        sort($times);
        $n = \count($times);
        $mean = array_sum($times) / $n;
        $absolute = $squares = 0.0;
        foreach ($times as $time) {
            $absolute += abs($time - $mean);
            $squares += ($time - $mean) ** 2;
        }

        return [
            'n' => $n,
            'min' => (float) $times[0],
            'p1' => self::at($times, 0.01),
            'p5' => self::at($times, 0.05),
            'median' => self::at($times, 0.5),
            'mean' => $mean,
            'p95' => self::at($times, 0.95),
            'p99' => self::at($times, 0.99),
            'max' => (float) $times[$n - 1],
            'range' => (float) ($times[$n - 1] - $times[0]),
            'mad' => $absolute / $n,
            'stdev' => $n > 1 ? sqrt($squares / ($n - 1)) : 0.0,
        ];
    }

    /**
     * @param non-empty-list<int|float> $sorted in ascending order
     * @param float                     $share  from 0, the least, to 1, the greatest
     */
    public static function at(array $sorted, float $share): float
    {
        $position = $share * (\count($sorted) - 1);
        $below = (int) $position;
        $above = min($below + 1, \count($sorted) - 1);

        return $sorted[$below] + ($position - $below) * ($sorted[$above] - $sorted[$below]);
    }
}
