<?php

declare(strict_types=1);

namespace Larder\Bench\Finding;

use Larder\Bench\Experiment\Measurement;
use Larder\Bench\Experiment\Outcome;
use Larder\Bench\Statistics\Interval;
use Larder\Bench\Statistics\NoiseFloor;
use Larder\Bench\Statistics\UnpairedRatio;
use Larder\Bench\Statistics\Verdict;
use Larder\Bench\Subject\Family;

/**
 * What got faster or slower from one run to another, beyond the noise.
 *
 * An experiment of which both runs have figures is compared if its parameters are the same. Those that say how often and how
 * long it measured may differ. But "many keys" are not as many in a quick run as in a thorough one.
 *
 * The yardsticks are PHP's own and cannot have changed. So the noise between runs is their change, or the difference of
 * subjects from themselves within each run. The greater of the two counts.
 */
final readonly class Comparison
{
    /** No smaller difference between two runs is believed, however quiet both were. */
    private const LEAST = 0.05;

    /**
     * @param list<Change> $changes all that both runs measured
     * @param NoiseFloor $floor what counts as no change
     * @param Agreement $agreement how far the two say the same
     * @param list<string> $differences in which circumstances the two differ
     * @param array<string, list<string>> $refused experiments that measured different things under the same names => by which parameters
     */
    private function __construct(public array $changes, public NoiseFloor $floor, public Agreement $agreement, public array $differences, public array $refused) {}

    /** @param list<string> $patterns of subjects; none: all */
    public static function of(Findings $before, Findings $after, array $patterns = []): self
    {
        $refused = self::refused($before->run, $after->run);
        $outcomes = array_values(array_filter($after->run->outcomes, static fn(Outcome $outcome): bool => !isset($refused[$outcome->name])));
        $floor = self::floor($before, $after, $outcomes);
        $changes = [];
        foreach ($outcomes as $outcome) {
            foreach ($outcome->measurements as $measurement) {
                $earlier = $measurement->isTwin ? null : $before->measurement($outcome->name, $measurement->metric, $measurement->case, $measurement->subject);
                if ($earlier === null || !self::matches($measurement->subject, $patterns)) {
                    continue;
                }
                $ratio = self::ratio($before, $earlier, $after, $measurement, $outcome->name);
                if ($ratio !== null) {
                    $changes[] = new Change(
                        $outcome->name,
                        $measurement->metric,
                        $measurement->case,
                        $measurement->subject,
                        $measurement->unit,
                        $before->median($outcome->name, $earlier),
                        $after->median($outcome->name, $measurement),
                        count($earlier->values()) > 1 && count($measurement->values()) > 1,
                        $ratio,
                        Verdict::on($ratio, $floor, $measurement->direction),
                    );
                }
            }
        }

        return new self($changes, $floor, Agreement::of($before, $after, $changes), Circumstances::differences($before->run, $after->run), $refused);
    }

    /** @return list<Change> */
    public function with(Verdict $verdict): array
    {
        return array_values(array_filter($this->changes, static fn(Change $change): bool => $change->verdict === $verdict));
    }

    /** @return array<string, list<string>> */
    private static function refused(Run $before, Run $after): array
    {
        $refused = [];
        foreach ($before->outcomes as $outcome) {
            $later = $after->outcome($outcome->name);
            $refused[$outcome->name] = $later === null ? [] : Circumstances::others($outcome, $later);
        }

        return array_filter($refused);
    }

    /** @param list<Outcome> $outcomes of the later run, which the earlier can be compared with */
    private static function floor(Findings $before, Findings $after, array $outcomes): NoiseFloor
    {
        $shares = [self::LEAST];
        foreach ([$before, $after] as $findings) {
            foreach (['apcu-php', 'redis-tcp'] as $twin) {
                $shares[] = $findings->floor('gets', 'time', $twin, $twin)->share;
            }
        }
        $yardsticks = [];
        foreach ($outcomes as $outcome) {
            foreach ($outcome->measurements as $measurement) {
                $isYardstick = ($after->run->subjects[$measurement->subject]['family'] ?? '') === Family::Yardstick->value;
                $earlier = $isYardstick ? $before->measurement($outcome->name, $measurement->metric, $measurement->case, $measurement->subject) : null;
                // The empty loop without itself is nothing, and nothing has no ratio.
                $ratio = $earlier === null || $measurement->subject === 'none' ? null : self::ratio($before, $earlier, $after, $measurement, $outcome->name);
                if ($ratio !== null) {
                    $yardsticks[] = $ratio;
                }
            }
        }
        $shares[] = NoiseFloor::of($yardsticks)->share;

        return new NoiseFloor(max($shares));
    }

    private static function ratio(Findings $before, Measurement $earlier, Findings $after, Measurement $later, string $experiment): ?Interval
    {
        $above = $after->processes($experiment, $later);
        $below = $before->processes($experiment, $earlier);

        return match (true) {
            $above === [] || $below === [] => null,
            $later->varies() => UnpairedRatio::ofWhatVaries($above, $below),
            default => UnpairedRatio::of($above, $below),
        };
    }

    /** @param list<string> $patterns */
    private static function matches(string $subject, array $patterns): bool
    {
        return $patterns === [] || array_filter($patterns, static fn(string $pattern): bool => fnmatch($pattern, $subject)) !== [];
    }
}
