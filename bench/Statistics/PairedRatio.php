<?php

declare(strict_types=1);

namespace Larder\Bench\Statistics;

use Random\Engine\Xoshiro256StarStar;
use Random\Randomizer;

/**
 * How much one subject takes in terms of another: the median ratio of paired blocks and a bootstrapped 95 % interval.
 *
 * A pair is two blocks that ran in the same round, so that what disturbed the machine disturbed both. The bootstrap has
 * two levels (Davison and Hinkley, Bootstrap Methods and their Application, 3.8): first processes are drawn with
 * replacement, then blocks within each of them, because blocks of one process share its memory layout and luck.
 */
final class PairedRatio
{
    private const RESAMPLES = 1000;

    /**
     * Numbers are drawn from a fixed seed: the same samples give the same interval.
     *
     * @param array<int, array<int, float>> $above process => block => value, the numerators
     * @param array<int, array<int, float>> $below the same of the denominators; values above zero
     * @return Interval|null null where no block of the two is paired
     */
    public static function of(array $above, array $below): ?Interval
    {
        $ratios = [];
        foreach ($above as $process => $blocks) {
            foreach ($blocks as $block => $value) {
                if (isset($below[$process][$block])) {
                    $ratios[$process][] = $value / $below[$process][$block];
                }
            }
        }

        return $ratios === [] ? null : self::interval(array_values($ratios));
    }

    /** @param non-empty-list<non-empty-list<float>> $ratios a list for each process */
    private static function interval(array $ratios): Interval
    {
        $random = new Randomizer(new Xoshiro256StarStar(20_251));
        $lastProcess = count($ratios) - 1;
        $medians = [];
        for ($i = 0; $i < self::RESAMPLES; $i++) {
            $drawn = [];
            for ($p = 0; $p <= $lastProcess; $p++) {
                $blocks = $ratios[$random->getInt(0, $lastProcess)];
                $lastBlock = count($blocks) - 1;
                for ($b = 0; $b <= $lastBlock; $b++) {
                    $drawn[] = $blocks[$random->getInt(0, $lastBlock)];
                }
            }
            $medians[] = self::median($drawn);
        }
        sort($medians);

        return new Interval(
            self::median(array_merge(...$ratios)),
            Summary::percentile($medians, 0.025),
            Summary::percentile($medians, 0.975),
        );
    }

    /** @param non-empty-list<float> $values */
    private static function median(array $values): float
    {
        sort($values);

        return Summary::percentile($values, 0.5);
    }
}
