<?php

declare(strict_types=1);

namespace Larder\Bench\Statistics;

/**
 * The interval of so few samples that a bootstrap cannot have one. At its widest, a bootstrap's reaches from the least to the
 * greatest. With three samples that holds the median in 75 of 100 cases, with five in 94.
 *
 * It is Student's (The Probable Error of a Mean, Biometrika 1908), of the logarithms: what times and rates are
 * disturbed by multiplies them.
 */
final class FewSamples
{
    /** From here on the least and the greatest are far enough apart: 1 - 2 / 2^6 is 97 %. */
    public const ENOUGH = 6;
    /** The 97.5th percentile of Student's distribution, by the samples that the spread was taken from. */
    private const T = [2 => 12.706, 3 => 4.303, 4 => 3.182, 5 => 2.776];

    /** @param non-empty-list<float> $samples fewer than ENOUGH; a single one has no interval and is returned as its own */
    public static function median(array $samples): Interval
    {
        $middle = Summary::middle($samples);
        $t = self::T[count($samples)] ?? 0.0;
        // What may be nothing is a count or a share, which is not multiplied by anything.
        $isPositive = min($samples) > 0;
        $summary = Summary::of($isPositive ? array_map(log(...), $samples) : $samples);
        $half = $t * $summary->stdev / sqrt(count($samples));

        return $isPositive
            ? new Interval($middle, exp($summary->mean - $half), exp($summary->mean + $half))
            : new Interval($middle, $summary->mean - $half, $summary->mean + $half);
    }

    /**
     * Whether there is one level only, one process or one sample of each, and few samples in it.
     *
     * @param non-empty-list<non-empty-list<float>> $processes
     */
    public static function are(array $processes): bool
    {
        $count = array_sum(array_map(count(...), $processes));

        return $count < self::ENOUGH && (count($processes) === 1 || count($processes) === $count);
    }

    /**
     * One in terms of another, of one of which there are few: Welch's interval of the logarithms, with the freedom of the fewer.
     *
     * @param non-empty-list<float> $above
     * @param non-empty-list<float> $below
     * @return Interval|null null where something is nothing, which has no logarithm
     */
    public static function ratio(array $above, array $below): ?Interval
    {
        if (min($above) <= 0 || min($below) <= 0) {
            return null;
        }
        [$one, $other] = [Summary::of(array_map(log(...), $above)), Summary::of(array_map(log(...), $below))];
        $t = self::T[min(count($above), count($below))] ?? 0.0;
        $half = $t * sqrt($one->stdev ** 2 / count($above) + $other->stdev ** 2 / count($below));
        $middle = $one->mean - $other->mean;

        return new Interval(Summary::middle($above) / Summary::middle($below), exp($middle - $half), exp($middle + $half));
    }
}
