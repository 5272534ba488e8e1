<?php

declare(strict_types=1);

namespace Larder\Bench\Statistics;

/**
 * How much one subject takes in terms of another: the median ratio of paired blocks and its 95 % interval.
 *
 * A pair is two blocks that ran in the same turn, so that a disturbance of the machine disturbed both. The quotient of two
 * averages would not know.
 */
final class PairedRatio
{
    /**
     * @param array<int, array<int, float>> $above process => block => value, the numerators
     * @param array<int, array<int, float>> $below the same of the denominators
     * @return Interval|null null where no block of the two is paired, or all denominators are nothing
     */
    public static function of(array $above, array $below): ?Interval
    {
        $ratios = [];
        foreach ($above as $process => $blocks) {
            foreach ($blocks as $block => $value) {
                // A count may be nothing, and nothing has no ratio to anything.
                if (($below[$process][$block] ?? 0.0) > 0) {
                    $ratios[$process][] = $value / $below[$process][$block];
                }
            }
        }

        return $ratios === [] ? null : Bootstrap::median(array_values($ratios));
    }
}
