<?php

declare(strict_types=1);

namespace Larder\Bench\Statistics;

use Random\Engine\Xoshiro256StarStar;
use Random\Randomizer;

/**
 * How much one thing takes in terms of another that was measured at another time: the ratio of the medians and its 95 %
 * interval. The interval is bootstrapped over the processes and the samples of both, or Welch's where samples are few.
 *
 * Two that were measured side by side are compared by PairedRatio, which does not see what disturbed both.
 */
final class UnpairedRatio
{
    private const RESAMPLES = 500;

    /**
     * As of(), of times and rates. What was taken once, of either, has an unknown interval: nothing follows from it.
     *
     * @param non-empty-list<non-empty-list<float>> $above the samples of each process
     * @param non-empty-list<non-empty-list<float>> $below
     * @return Interval|null null when the median of the latter is nothing
     */
    public static function ofWhatVaries(array $above, array $below): ?Interval
    {
        $ratio = self::of($above, $below);
        $fewest = min(array_sum(array_map(count(...), $above)), array_sum(array_map(count(...), $below)));

        return $ratio !== null && $fewest < 2 ? new Interval($ratio->estimate, 0.0, INF) : $ratio;
    }

    /**
     * @param non-empty-list<non-empty-list<float>> $above the samples of each process
     * @param non-empty-list<non-empty-list<float>> $below
     * @return Interval|null null when the median of the latter is nothing
     */
    public static function of(array $above, array $below): ?Interval
    {
        $denominator = Summary::middle(array_merge(...$below));
        if ($denominator <= 0) {
            return null;
        }
        $few = FewSamples::are($above) || FewSamples::are($below) ? FewSamples::ratio(array_merge(...$above), array_merge(...$below)) : null;
        if ($few !== null) {
            return $few;
        }
        $random = new Randomizer(new Xoshiro256StarStar(20_252));
        $ratios = [];
        for ($i = 0; $i < self::RESAMPLES; $i++) {
            $drawn = Summary::middle(Bootstrap::draw($below, $random));
            if ($drawn > 0) {
                $ratios[] = Summary::middle(Bootstrap::draw($above, $random)) / $drawn;
            }
        }
        if ($ratios === []) {
            return null;
        }
        sort($ratios);

        return new Interval(Summary::middle(array_merge(...$above)) / $denominator, Summary::percentile($ratios, 0.025), Summary::percentile($ratios, 0.975));
    }
}
