<?php

declare(strict_types=1);

namespace Larder\Bench\Finding;

use Larder\Bench\Experiment\Measurement;
use Larder\Bench\Experiment\Outcome;
use Larder\Bench\Experiment\Saturation;
use Larder\Bench\Experiment\Tags;
use Larder\Bench\Statistics\Bootstrap;
use Larder\Bench\Statistics\Direction;
use Larder\Bench\Statistics\Interval;
use Larder\Bench\Statistics\NoiseFloor;
use Larder\Bench\Statistics\PairedRatio;
use Larder\Bench\Statistics\Summary;
use Larder\Bench\Statistics\UnpairedRatio;
use Larder\Bench\Statistics\Verdict;
use Larder\Bench\Subject\Family;
use Larder\Bench\Subject\Operation;

/** What a run shows: figures without the empty loop, ratios, noise floors and verdicts, all computed from the samples. */
final class Findings
{
    /** No time is believed to be less; it keeps a ratio with the empty loop itself finite. */
    private const LEAST_TIME = 0.1;

    /** Experiments whose subjects take turns. */
    public const IN_TURNS = ['gets', 'connect', 'web', 'serializers', 'pins', 'shapes', 'transients', 'pages', 'pagecache', 'hosts'];

    /** What the others are compared with: the first of these that was measured. */
    private const REFERENCES = ['shared-memory', 'apcu-php', 'apcu', 'empty', 'files', 'tag-files'];

    /** @var array<string, Measurement> by experiment, metric, case, subject and twin */
    private array $measurements = [];
    /** @var array<string, array<int, array<int, float>>> values without the empty loop, by the same */
    private array $corrected = [];
    // Each of these is a bootstrap or many, and the report asks for most of them more than once.
    /** @var array<string, Interval> medians, by the same */
    private array $medians = [];
    /** @var array<string, Interval|null> ratios, by what stands above and what below */
    private array $ratios = [];
    /** @var array<string, list<Interval>> by experiment, metric, and whether servers take part */
    private array $twins = [];
    /** @var array<string, NoiseFloor> by the same */
    private array $floors = [];

    public function __construct(public readonly Run $run)
    {
        foreach ($run->outcomes as $outcome) {
            foreach ($outcome->measurements as $measurement) {
                $this->measurements[self::key($outcome->name, $measurement->metric, $measurement->case, $measurement->subject, $measurement->isTwin)] = $measurement;
            }
        }
    }

    /** @param array<string, string> $case */
    public function measurement(string $experiment, string $metric, array $case, string $subject): ?Measurement
    {
        return $this->measurements[self::key($experiment, $metric, $case, $subject, false)] ?? null;
    }

    /**
     * The cases of a metric in the order they were measured.
     *
     * @return list<array<string, string>>
     */
    public function cases(Outcome $outcome, string $metric): array
    {
        $cases = [];
        foreach ($outcome->measurements as $measurement) {
            if ($measurement->metric === $metric) {
                $cases[implode("\n", $measurement->case)] = $measurement->case;
            }
        }

        return array_values($cases);
    }

    /** @return array<string, list<string>> why => the titles of the subjects that were left out for that */
    public function leftOut(Outcome $outcome): array
    {
        $titles = [];
        foreach ($outcome->leftOut as $subject => $why) {
            $titles[$why][] = $this->run->title($subject, $outcome);
        }

        return $titles;
    }

    /**
     * Valkey speaks for Redis in an experiment that measured no Redis, as where only Valkey is installed. What is called after
     * Redis in both cases, such as a script of `web`, the subject `redis-script` or redis-benchmark, is what it is.
     */
    public function spoken(string $experiment, string $subject): string
    {
        if (!str_starts_with($subject, 'redis')) {
            return $subject;
        }
        $valkey = 'valkey' . substr($subject, 5);
        $measured = array_map(static fn(Measurement $measurement): string => $measurement->subject, $this->run->outcome($experiment)->measurements ?? []);

        return !in_array($subject, $measured, true) && in_array($valkey, $measured, true) ? $valkey : $subject;
    }

    /** @return list<string> */
    public function metrics(Outcome $outcome): array
    {
        return array_values(array_unique(array_map(static fn(Measurement $measurement): string => $measurement->metric, $outcome->measurements)));
    }

    /**
     * @param array<string, string> $case
     * @return list<Measurement> twins not among them, the best first, and in the order of the subjects what is equally good
     */
    public function inCase(Outcome $outcome, string $metric, array $case): array
    {
        $found = array_values(array_filter(
            $outcome->measurements,
            static fn(Measurement $measurement): bool => !$measurement->isTwin && $measurement->metric === $metric && $measurement->case === $case,
        ));
        // They were measured in a random order, which tells a reader nothing.
        $order = array_flip([...array_keys($outcome->titles), ...array_diff(array_keys($this->run->subjects), array_keys($outcome->titles))]);
        $rank = [];
        foreach ($found as $measurement) {
            $median = $this->median($outcome->name, $measurement)->estimate;
            // What took less than the empty loop has no figure.
            $rank[$measurement->subject] = is_nan($median) ? INF : ($measurement->direction === Direction::LowerIsBetter ? $median : -$median);
        }
        usort($found, static fn(Measurement $one, Measurement $other): int => [$rank[$one->subject] ?? INF, $order[$one->subject] ?? PHP_INT_MAX] <=> [$rank[$other->subject] ?? INF, $order[$other->subject] ?? PHP_INT_MAX]);

        return $found;
    }

    /**
     * The subject that the others are compared with in these cases, if any was measured.
     *
     * @param list<array<string, string>> $cases
     */
    public function reference(Outcome $outcome, string $metric, array $cases): ?string
    {
        foreach (self::REFERENCES as $subject) {
            foreach ($cases as $case) {
                if ($this->measurement($outcome->name, $metric, $case, $subject) !== null) {
                    return $subject;
                }
            }
        }

        return null;
    }

    /**
     * Values without the empty loop, where there is one.
     *
     * @return array<int, array<int, float>> process => block => value
     */
    public function values(string $experiment, Measurement $measurement): array
    {
        $key = self::key($experiment, $measurement->metric, $measurement->case, $measurement->subject, $measurement->isTwin);

        return $this->corrected[$key] ??= $this->withoutLoop($experiment, $measurement);
    }

    public function median(string $experiment, Measurement $measurement): Interval
    {
        $key = self::key($experiment, $measurement->metric, $measurement->case, $measurement->subject, $measurement->isTwin);
        if (!isset($this->medians[$key])) {
            $processes = $this->processes($experiment, $measurement);
            $this->medians[$key] = $processes === [] ? new Interval(NAN, NAN, NAN) : Bootstrap::median($processes);
        }

        return $this->medians[$key];
    }

    /**
     * One subject in terms of another, by paired blocks where they took turns.
     *
     * @param array<string, string> $case
     */
    public function ratio(string $experiment, string $metric, array $case, string $above, string $below): ?Interval
    {
        return $this->between($experiment, $metric, $case, $above, $case, $below);
    }

    /**
     * One subject in one case in terms of another in another; blocks of the same process and number are paired where
     * they ran in the same turn.
     *
     * @param array<string, string> $case
     * @param array<string, string> $other
     */
    public function between(string $experiment, string $metric, array $case, string $above, array $other, string $below): ?Interval
    {
        $numerator = $this->measurement($experiment, $metric, $case, $above);
        $denominator = $this->measurement($experiment, $metric, $other, $below);

        if ($numerator === null || $denominator === null) {
            return null;
        }
        $key = self::key($experiment, $metric, $case, $above, false) . "\n" . self::key($experiment, $metric, $other, $below, false);
        if (!array_key_exists($key, $this->ratios)) {
            $this->ratios[$key] = $this->divide($experiment, $numerator, $denominator);
        }

        return $this->ratios[$key];
    }

    private function divide(string $experiment, Measurement $numerator, Measurement $denominator): ?Interval
    {
        $ratio = $this->quotient($experiment, $numerator, $denominator);
        $fewest = min(count($numerator->values()), count($denominator->values()));
        $isUnknown = ($fewest < 2 && $numerator->varies()) || $this->isHidden($experiment, $numerator) || $this->isHidden($experiment, $denominator);

        // What was taken once, or is lost in the noise, has an unknown interval: nothing meets or misses it.
        return $ratio !== null && $isUnknown ? self::unknown($ratio) : $ratio;
    }

    /** An interval that meets and misses nothing. */
    public static function unknown(Interval $ratio): Interval
    {
        return new Interval($ratio->estimate, 0.0, INF);
    }

    /** Whether what a measurement took is less than the empty loop around it varies, so that it may be nothing or several times as much. */
    public function isHidden(string $experiment, Measurement $measurement): bool
    {
        $loop = $measurement->subject === 'none' ? null : $this->loop($experiment, $measurement);
        if ($loop === null || $loop->values() === []) {
            return false;
        }
        $empty = $loop->values();
        $left = array_merge(...array_map(array_values(...), array_values($this->values($experiment, $measurement))));
        sort($empty);
        sort($left);

        return $left !== [] && Summary::percentile($left, 0.5) <= max(self::LEAST_TIME, Summary::percentile($empty, 0.75) - Summary::percentile($empty, 0.25));
    }

    private function quotient(string $experiment, Measurement $numerator, Measurement $denominator): ?Interval
    {
        if (self::tookTurns($experiment, $numerator, $denominator)) {
            return PairedRatio::of($this->values($experiment, $numerator), $this->values($experiment, $denominator));
        }
        [$ours, $theirs] = [$this->processes($experiment, $numerator), $this->processes($experiment, $denominator)];

        return $ours === [] || $theirs === [] ? null : UnpairedRatio::of($ours, $theirs);
    }

    /**
     * The values of each process, without the empty loop.
     *
     * @return list<non-empty-list<float>>
     */
    public function processes(string $experiment, Measurement $measurement): array
    {
        $processes = [];
        foreach ($this->values($experiment, $measurement) as $blocks) {
            if ($blocks !== []) {
                $processes[] = array_values($blocks);
            }
        }

        return $processes;
    }

    /** Whether these ran block by block in turns, so that what disturbed one disturbed the other; else they ran one after the other. */
    private static function tookTurns(string $experiment, Measurement $one, Measurement $other): bool
    {
        // In clients the servers do, which one generator loads, and the caches without a server do not.
        return in_array($experiment, self::IN_TURNS, true)
            // In tags a store of many items and one of few do, which the same design keeps.
            || ($one->metric === Tags::CLEAN && $one->subject === $other->subject)
            // As do the gets of one item.
            || ($one->metric === Tags::GET && $other->metric === Tags::GET)
            || ($one->column(Saturation::SHARE) !== [] && $other->column(Saturation::SHARE) !== []);
    }

    /**
     * The subject with the lowest median among those whose names begin so.
     *
     * @param array<string, string> $case
     */
    public function fastest(string $experiment, array $case, string $prefix): ?string
    {
        $fastest = null;
        $least = INF;
        foreach ($this->run->subjects as $subject => $description) {
            $measurement = str_starts_with($subject, $prefix) ? $this->measurement($experiment, 'time', $case, $subject) : null;
            if ($measurement === null) {
                continue;
            }
            $values = array_merge(...array_map(array_values(...), array_values($this->values($experiment, $measurement))));
            sort($values);
            $median = $values === [] ? INF : $values[intdiv(count($values), 2)];
            if ($median < $least) {
                $least = $median;
                $fastest = $subject;
            }
        }

        return $fastest;
    }

    /** The noise that concerns a comparison of these two: a server's twin speaks where a server takes part. */
    public function floor(string $experiment, string $metric, string $one, string $other): NoiseFloor
    {
        $withServer = $this->isServer($one) || $this->isServer($other);

        return $this->floors[self::withServers($experiment, $metric, $withServer)] ??= NoiseFloor::of($this->twins($experiment, $metric, $withServer));
    }

    /** Whether the noise of these was measured: whether one of them ran twice. */
    public function hasTwins(string $experiment, string $metric, bool $withServer): bool
    {
        return $this->twins($experiment, $metric, $withServer) !== [];
    }

    /**
     * Null where one of them was not measured, or a time or a rate of it only once: it may be another the next time.
     *
     * @param array<string, string> $case
     */
    public function verdict(string $experiment, string $metric, array $case, string $ours, string $theirs): ?Verdict
    {
        $ratio = $this->ratio($experiment, $metric, $case, $ours, $theirs);
        $measurement = $this->measurement($experiment, $metric, $case, $ours);
        $other = $this->measurement($experiment, $metric, $case, $theirs);
        if ($ratio === null || $measurement === null || $other === null) {
            return null;
        }
        $fewest = min(count($measurement->values()), count($other->values()));

        return $fewest < 2 && $measurement->varies()
            ? null
            : Verdict::on($ratio, $this->floor($experiment, $metric, $ours, $theirs), $measurement->direction);
    }

    /** @return list<Interval> what subjects differ by from themselves */
    private function twins(string $experiment, string $metric, bool $withServer): array
    {
        $key = self::withServers($experiment, $metric, $withServer);
        if (isset($this->twins[$key])) {
            return $this->twins[$key];
        }
        $twins = [];
        foreach ($this->measurements as $measurement) {
            if (!$measurement->isTwin || $measurement->metric !== $metric || $this->isServer($measurement->subject) !== $withServer) {
                continue;
            }
            $first = $this->measurement($experiment, $metric, $measurement->case, $measurement->subject);
            $second = $this->measurements[self::key($experiment, $metric, $measurement->case, $measurement->subject, true)] ?? null;
            $ratio = $first === null || $second === null ? null : PairedRatio::of($this->values($experiment, $second), $this->values($experiment, $first));
            if ($ratio !== null) {
                $twins[] = $ratio;
            }
        }

        return $this->twins[$key] = $twins;
    }

    private static function withServers(string $experiment, string $metric, bool $withServer): string
    {
        return "{$experiment}\n{$metric}\n" . (int) $withServer;
    }

    /** @return array<int, array<int, float>> */
    private function withoutLoop(string $experiment, Measurement $measurement): array
    {
        $loop = $measurement->subject === 'none' ? null : $this->loop($experiment, $measurement);
        if ($loop === null) {
            return $measurement->byBlock();
        }
        $empty = $loop->values();
        sort($empty);
        $cost = $empty === [] ? 0.0 : $empty[intdiv(count($empty), 2)];

        return array_map(
            static fn(array $blocks): array => array_map(static fn(float $value): float => max(self::LEAST_TIME, $value - $cost), $blocks),
            $measurement->byBlock(),
        );
    }

    private function loop(string $experiment, Measurement $measurement): ?Measurement
    {
        if ($measurement->metric !== 'time' || !isset($measurement->case['operation'])) {
            return null;
        }
        $operation = $measurement->case['operation'] === Operation::Set->value ? Operation::Set : Operation::Get;

        return $this->measurement($experiment, 'time', [...$measurement->case, 'operation' => $operation->value], 'none');
    }

    private function isServer(string $subject): bool
    {
        return ($this->run->subjects[$subject]['family'] ?? '') === Family::Server->value;
    }

    /** @param array<string, string> $case */
    private static function key(string $experiment, string $metric, array $case, string $subject, bool $isTwin): string
    {
        return implode("\n", [$experiment, $metric, ...$case, $subject, $isTwin ? 'again' : '']);
    }
}
