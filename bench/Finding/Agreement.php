<?php

declare(strict_types=1);

namespace Larder\Bench\Finding;

use Larder\Bench\Statistics\Interval;
use Larder\Bench\Statistics\Quantity;
use Larder\Bench\Statistics\Verdict;

/**
 * How far two runs say the same: how many of the intervals of their comparisons overlap, and which verdicts turned round.
 *
 * What a run says is what subjects take in terms of each other. A machine as a whole is not equally fast in each run, which a
 * median sees and a comparison within a run does not. So medians that are compared with nothing are counted with the
 * comparisons. The share of all medians' intervals that overlap is told beside that.
 *
 * A figure that was taken once in a run, such as a count of bytes, has no interval. A change between a verdict and a tie is no
 * turn: at the edge of the noise it must happen.
 */
final readonly class Agreement
{
    /** The share of the intervals that must overlap where two runs agree. */
    private const LEAST = 0.9;

    /**
     * @param int $intervals that both runs have: of comparisons, and of medians that are compared with nothing
     * @param int $overlapping of them
     * @param int $verdicts that both runs have
     * @param list<string> $flips which of them are "wins" in one run and "loses" in the other
     * @param float $medians the share of all medians' intervals that overlap
     */
    private function __construct(public int $intervals, public int $overlapping, public int $verdicts, public array $flips, public float $medians) {}

    /** @param list<Change> $changes what both runs measured */
    public static function of(Findings $before, Findings $after, array $changes): self
    {
        $verdicts = 0;
        $flips = $compared = $alone = $medians = [];
        foreach ($changes as $change) {
            $outcome = $after->run->outcome($change->experiment);
            $reference = $outcome === null ? null : $after->reference($outcome, $change->metric, [$change->case]);
            $case = implode("\n", [$change->experiment, $change->metric, ...$change->case]);
            $other = $reference === null || $reference === $change->subject ? null : $reference;
            if ($change->isRepeated) {
                $medians[] = $alone[$case][] = self::overlap($change->before, $change->after);
            }
            $ratios = $other === null ? [] : self::ratios($before, $after, $other, $change);
            if ($change->isRepeated && count($ratios) === 2) {
                $compared[$case][] = self::overlap(...$ratios);
            }
            $pair = $other === null ? null : self::verdicts($before, $after, $other, $change);
            if ($pair === null) {
                continue;
            }
            $verdicts++;
            if (in_array(Verdict::Wins, $pair, true) && in_array(Verdict::Loses, $pair, true)) {
                $flips[] = "{$change->experiment}, {$change->metric}, " . implode(', ', $change->case) . ", {$change->subject}";
            }
        }
        $overlaps = array_merge(...array_values($compared), ...array_values(array_diff_key($alone, $compared)));

        return new self(count($overlaps), count(array_filter($overlaps)), $verdicts, $flips, $medians === [] ? 1.0 : count(array_filter($medians)) / count($medians));
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
            'The two runs %s. Of %s verdicts, %s turned round between "wins" and "loses". Of the intervals of %s comparisons, %s overlap, %s %%. None and at least %d %% are asked for. Of the medians\' own intervals, %s %% overlap. A machine is not equally fast each time, which comparisons within a run do not see.',
            $this->isReached() ? 'agree' : 'do not agree',
            number_format($this->verdicts),
            $this->flips === [] ? 'none' : number_format(count($this->flips)),
            number_format($this->intervals),
            number_format($this->overlapping),
            Quantity::number(100 * $this->share()),
            100 * self::LEAST,
            Quantity::number(100 * $this->medians),
        );
    }

    private static function overlap(Interval $one, Interval $other): bool
    {
        return $one->low <= $other->high && $other->low <= $one->high;
    }

    /** @return list<Interval> the reference over the subject in each run that has both */
    private static function ratios(Findings $before, Findings $after, string $reference, Change $change): array
    {
        $ratio = static fn(Findings $findings): ?Interval => $findings->ratio($change->experiment, $change->metric, $change->case, $reference, $change->subject);

        return array_values(array_filter([$ratio($before), $ratio($after)]));
    }

    /** @return array{Verdict, Verdict}|null what each run says of the reference over the subject; null where one says nothing */
    private static function verdicts(Findings $before, Findings $after, string $reference, Change $change): ?array
    {
        $verdict = static fn(Findings $findings): ?Verdict => $findings->verdict($change->experiment, $change->metric, $change->case, $reference, $change->subject);
        $earlier = $verdict($before);
        $later = $earlier === null ? null : $verdict($after);

        return $earlier === null || $later === null ? null : [$earlier, $later];
    }
}
