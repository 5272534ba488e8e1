<?php

declare(strict_types=1);

namespace Larder\Bench\Finding;

use Larder\Bench\Experiment\Outcome;
use Larder\Bench\Experiment\Shapes;
use Larder\Bench\Statistics\Bootstrap;
use Larder\Bench\Statistics\Interval;
use Larder\Bench\Subject\Operation;

/** What shared memory takes in terms of APCu for values of every shape, one by one and in their geometric mean. */
final readonly class ShapeRatios
{
    public function __construct(private Findings $findings) {}

    /** Of all reads, those that are followed by a change among them. */
    public function reads(): ?Interval
    {
        return $this->mean('time', fn(array $case): bool => ($case['operation'] ?? '') !== Operation::Set->value);
    }

    public function stores(): ?Interval
    {
        return $this->mean('time', fn(array $case): bool => ($case['operation'] ?? '') === Operation::Set->value);
    }

    public function fetches(): ?Interval
    {
        return $this->mean(Shapes::ONE, static fn(): bool => true);
    }

    /**
     * The cases of the experiment, with the ratio to APCu of both serialisers.
     *
     * @return list<array{case: array<string, string>, metric: string, php: Interval, igbinary: Interval|null}>
     */
    public function table(Outcome $outcome): array
    {
        $rows = [];
        foreach (['time', Shapes::ONE] as $metric) {
            foreach ($this->findings->cases($outcome, $metric) as $case) {
                $php = $this->findings->ratio($outcome->name, $metric, $case, Shapes::OURS, Shapes::THEIRS);
                if ($php !== null) {
                    $rows[] = ['case' => $case, 'metric' => $metric, 'php' => $php, 'igbinary' => $this->findings->ratio($outcome->name, $metric, $case, Shapes::OURS, 'apcu-igbinary')];
                }
            }
        }

        return $rows;
    }

    /**
     * Each turn has a geometric mean of its own, over the blocks of all cases with the turn's number.
     *
     * @param \Closure(array<string, string>): bool $concerns which cases
     */
    private function mean(string $metric, \Closure $concerns): ?Interval
    {
        $outcome = $this->findings->run->outcome('shapes');
        $logarithms = [];
        $cases = 0;
        $isHidden = false;
        foreach ($outcome === null ? [] : array_filter($this->findings->cases($outcome, $metric), $concerns) as $case) {
            $cases++;
            $isHidden = $isHidden || $this->isHidden($metric, $case);
            [$ours, $theirs] = [$this->values($metric, $case, Shapes::OURS), $this->values($metric, $case, Shapes::THEIRS)];
            foreach ($ours as $process => $blocks) {
                foreach ($blocks as $block => $value) {
                    if (isset($theirs[$process][$block])) {
                        $logarithms[$process][$block][] = log($value / $theirs[$process][$block]);
                    }
                }
            }
        }
        $means = [];
        foreach ($logarithms as $process => $blocks) {
            foreach ($blocks as $those) {
                // A turn that was interrupted is of fewer shapes, and so of others.
                if (count($those) === $cases) {
                    $means[$process][] = exp(array_sum($those) / $cases);
                }
            }
        }

        $mean = $means === [] ? null : Bootstrap::median(array_values($means));

        // One read that is lost in the noise of its loop would pull the mean down.
        return $mean !== null && $isHidden ? Findings::unknown($mean) : $mean;
    }

    /** @param array<string, string> $case */
    private function isHidden(string $metric, array $case): bool
    {
        foreach ([Shapes::OURS, Shapes::THEIRS] as $subject) {
            $measurement = $this->findings->measurement('shapes', $metric, $case, $subject);
            if ($measurement !== null && $this->findings->isHidden('shapes', $measurement)) {
                return true;
            }
        }

        return false;
    }

    /**
     * @param array<string, string> $case
     * @return array<int, array<int, float>> process => block => value
     */
    private function values(string $metric, array $case, string $subject): array
    {
        $measurement = $this->findings->measurement('shapes', $metric, $case, $subject);

        return $measurement === null ? [] : $this->findings->values('shapes', $measurement);
    }
}
