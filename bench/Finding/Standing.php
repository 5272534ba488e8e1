<?php

declare(strict_types=1);

namespace Larder\Bench\Finding;

use Larder\Bench\Experiment\Outcome;
use Larder\Bench\Statistics\Interval;
use Larder\Bench\Statistics\NoiseFloor;
use Larder\Bench\Statistics\Verdict;
use Larder\Bench\Subject\Family;

/** How shared memory stands against the others in an experiment: every verdict that there is, and every loss among them. */
final readonly class Standing
{
    /** What has no verdict is shown as a loss from this difference on: what was seen once is not hidden. */
    private const BEHIND = 0.05;
    private const OURS = 'shared-memory';
    /** Scripts that ask no cache, the policy that knows what will be asked for, and an array that ends with the request. */
    private const NO_RIVALS = ['empty', 'empty-plain', 'Belady (the limit)', 'symfony-array'];
    /** No merit of a store: among tags it falls with each clean, and a fast store makes more of these in the same time. */
    private const NO_CONTEST = ['reads that hit'];

    /**
     * @param string $experiment its name
     * @param list<Loss> $losses by metric and rival, those among them that were measured too seldom for a verdict
     */
    private function __construct(public string $experiment, public int $wins, public int $ties, public int $loses, public array $losses) {}

    /** @return list<self> the experiments in which there was something to compare */
    public static function all(Findings $findings): array
    {
        $standings = array_map(static fn(Outcome $outcome): self => self::in($findings, $outcome), $findings->run->outcomes);

        return array_values(array_filter($standings, static fn(self $standing): bool => $standing->compared() > 0 || $standing->losses !== []));
    }

    /** How shared memory stands in a whole run, in words. */
    public static function inWords(Findings $findings): string
    {
        $standings = self::all($findings);
        if ($standings === []) {
            return 'Shared memory was compared with nothing.';
        }
        $sum = static fn(string $field): int => array_sum(array_column($standings, $field));
        $lost = array_map(static fn(self $standing): string => $standing->experiment, array_filter($standings, static fn(self $standing): bool => $standing->loses > $standing->wins));

        return sprintf(
            'Of %s comparisons of shared memory with another store it wins %s, ties in %s and loses %s. %s.',
            number_format($sum('wins') + $sum('ties') + $sum('loses')),
            number_format($sum('wins')),
            number_format($sum('ties')),
            number_format($sum('loses')),
            $lost === [] ? 'In no experiment does it lose more often than it wins' : 'It loses more often than it wins in ' . implode(', ', $lost),
        );
    }

    public function compared(): int
    {
        return $this->wins + $this->ties + $this->loses;
    }

    private static function in(Findings $findings, Outcome $outcome): self
    {
        $verdicts = [Verdict::Wins->value => 0, Verdict::Ties->value => 0, Verdict::Loses->value => 0];
        $compared = [];
        $losses = [];
        foreach (array_diff($findings->metrics($outcome), self::NO_CONTEST) as $metric) {
            foreach ($findings->cases($outcome, $metric) as $case) {
                foreach ($findings->inCase($outcome, $metric, $case) as $other) {
                    $rival = $other->subject;
                    $ratio = self::isRival($findings->run, $outcome, $rival) ? $findings->ratio($outcome->name, $metric, $case, self::OURS, $rival) : null;
                    if ($ratio === null) {
                        continue;
                    }
                    $verdict = $findings->verdict($outcome->name, $metric, $case, self::OURS, $rival);
                    $isJudged = $verdict !== null;
                    $verdict ??= Verdict::on(new Interval($ratio->estimate, $ratio->estimate, $ratio->estimate), new NoiseFloor(self::BEHIND), $other->direction);
                    $verdicts[$verdict->value] += (int) $isJudged;
                    $pair = "{$metric}\n{$rival}\n" . (int) $isJudged;
                    $compared[$pair] = ($compared[$pair] ?? 0) + 1;
                    if ($verdict === Verdict::Loses) {
                        $loss = new Loss($metric, $findings->run->title($rival, $outcome), 1, 1, $ratio, $case, $isJudged);
                        $losses[$pair] = isset($losses[$pair]) ? $losses[$pair]->with($loss) : $loss;
                    }
                }
            }
        }
        foreach ($losses as $pair => $loss) {
            $losses[$pair] = $loss->of($compared[$pair]);
        }

        return new self($outcome->name, $verdicts[Verdict::Wins->value], $verdicts[Verdict::Ties->value], $verdicts[Verdict::Loses->value], array_values($losses));
    }

    /** What is ours is no rival, and neither is what ends with the request or caches nothing. */
    private static function isRival(Run $run, Outcome $outcome, string $subject): bool
    {
        return !str_starts_with($subject, self::OURS) && !str_starts_with($subject, 'cache-') && !str_starts_with($run->title($subject, $outcome), 'Larder')
            && !in_array($subject, self::NO_RIVALS, true)
            && ($run->subjects[$subject]['family'] ?? '') !== Family::Yardstick->value;
    }
}
