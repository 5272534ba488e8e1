<?php

declare(strict_types=1);

namespace Larder\Bench\Report;

use Larder\Bench\Experiment\Outcome;
use Larder\Bench\Statistics\Interval;
use Larder\Bench\Statistics\Verdict;

/**
 * How far two runs say the same: how many of the intervals of their medians overlap, and which verdicts turned round.
 *
 * What was taken once in a run has no interval: a count of bytes. A verdict that became a tie, or a tie that became a
 * verdict, has not turned round: at the edge of the noise that must happen.
 */
final readonly class Agreement
{
    /** The share of the intervals that must overlap where two runs agree. */
    private const LEAST = 0.9;

    /**
     * @param int $intervals that both runs have
     * @param int $overlapping of them
     * @param int $verdicts that both runs have
     * @param list<string> $flips which of them are "wins" in one run and "loses" in the other
     */
    private function __construct(public int $intervals, public int $overlapping, public int $verdicts, public array $flips) {}

    /** @param list<Change> $changes what both runs measured */
    public static function of(Findings $before, Findings $after, array $changes): self
    {
        $intervals = $overlapping = $verdicts = 0;
        $flips = [];
        foreach ($changes as $change) {
            if ($change->isRepeated) {
                $intervals++;
                $overlapping += (int) self::overlap($change->before, $change->after);
            }
            $outcome = $after->run->outcome($change->experiment);
            $pair = $outcome === null ? null : self::verdicts($before, $after, $outcome, $change);
            if ($pair === null) {
                continue;
            }
            $verdicts++;
            if (in_array(Verdict::Wins, $pair, true) && in_array(Verdict::Loses, $pair, true)) {
                $flips[] = "{$change->experiment}, {$change->metric}, " . implode(', ', $change->case) . ", {$change->subject}";
            }
        }

        return new self($intervals, $overlapping, $verdicts, $flips);
    }

    /** The share of intervals that overlap; of none, all. */
    public function share(): float
    {
        return $this->intervals === 0 ? 1.0 : $this->overlapping / $this->intervals;
    }

    /** Whether no verdict turned round and enough of the intervals overlap; where there are none, nothing shows it. */
    public function isReached(): bool
    {
        return $this->intervals > 0 && $this->flips === [] && $this->share() >= self::LEAST;
    }

    public function sentence(): string
    {
        if ($this->intervals === 0) {
            return 'The two runs cannot be said to agree: nothing was measured more than once in both.';
        }

        return sprintf(
            'The two runs %s: of %s verdicts %s turned round between "wins" and "loses", and of %s intervals %s overlap, %s %%; none and at least %d %% are asked for.',
            $this->isReached() ? 'agree' : 'do not agree',
            number_format($this->verdicts),
            $this->flips === [] ? 'none' : number_format(count($this->flips)),
            number_format($this->intervals),
            number_format($this->overlapping),
            Quantity::number(100 * $this->share()),
            100 * self::LEAST,
        );
    }

    private static function overlap(Interval $one, Interval $other): bool
    {
        return $one->low <= $other->high && $other->low <= $one->high;
    }

    /** @return array{Verdict, Verdict}|null what each run says of the reference over the subject; null where one says nothing */
    private static function verdicts(Findings $before, Findings $after, Outcome $outcome, Change $change): ?array
    {
        $reference = $after->reference($outcome, $change->metric, [$change->case]);
        if ($reference === null || $reference === $change->subject) {
            return null;
        }
        $verdict = static fn(Findings $findings): ?Verdict => $findings->verdict($change->experiment, $change->metric, $change->case, $reference, $change->subject);
        $earlier = $verdict($before);
        $later = $earlier === null ? null : $verdict($after);

        return $earlier === null || $later === null ? null : [$earlier, $later];
    }
}
