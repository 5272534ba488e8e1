<?php

declare(strict_types=1);

namespace Larder\Bench\Statistics;

use Random\Engine\Xoshiro256StarStar;
use Random\Randomizer;

/**
 * The median of samples that were taken in several processes, and its 95 % interval.
 *
 * The bootstrap has two levels (Davison and Hinkley, Bootstrap Methods and their Application, 3.8). First it draws processes
 * with replacement, then samples within each of them. The reason: the samples of one process share its memory layout and its
 * luck. The interval is that of the percentiles. Where there is one level with few samples, it is Student's.
 */
final class Bootstrap
{
    private const RESAMPLES = 1000;

    /**
     * Numbers are drawn from a fixed seed: the same samples give the same interval.
     *
     * @param non-empty-list<non-empty-list<float>> $processes the samples of each process
     */
    public static function median(array $processes): Interval
    {
        $samples = array_merge(...$processes);
        if (FewSamples::are($processes)) {
            return FewSamples::median($samples);
        }
        $random = new Randomizer(new Xoshiro256StarStar(20_251));
        $medians = [];
        for ($i = 0; $i < self::RESAMPLES; $i++) {
            $medians[] = Summary::middle(self::draw($processes, $random));
        }
        sort($medians);

        return new Interval(
            Summary::middle($samples),
            Summary::percentile($medians, 0.025),
            Summary::percentile($medians, 0.975),
        );
    }

    /**
     * As many samples as there are: from as many processes as there are, drawn with replacement, each drawn anew.
     *
     * @param non-empty-list<non-empty-list<float>> $processes
     * @return non-empty-list<float>
     */
    public static function draw(array $processes, Randomizer $random): array
    {
        $lastProcess = count($processes) - 1;
        $drawn = [];
        for ($p = 0; $p <= $lastProcess; $p++) {
            $samples = $processes[$random->getInt(0, $lastProcess)];
            $last = count($samples) - 1;
            for ($s = 0; $s <= $last; $s++) {
                $drawn[] = $samples[$random->getInt(0, $last)];
            }
        }

        return $drawn;
    }
}
