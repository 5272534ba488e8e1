<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Statistics\Direction;
use Larder\Bench\Subject\WorkerFailed;

/** Takes turns of scripts, a slice each, and writes down what each slice showed. */
final readonly class WebTurns
{
    /**
     * @param int $start of nginx and php-fpm
     * @param list<string> $columns
     */
    public function __construct(
        private Outcome $outcome,
        private LoadGenerator $generator,
        private Site $site,
        private int $start,
        private array $columns,
    ) {}

    /**
     * @param non-empty-array<int, non-empty-list<string>> $orders the scripts of each turn in the order of their slices; one that
     *                                                             ends with an asterisk is a twin
     * @param array{value: string, keep-alive: string, concurrency: string} $case
     */
    public function take(array $orders, array $case, float $seconds): void
    {
        $names = array_merge(...$orders);
        $paths = array_map(static fn(string $name): string => '/' . rtrim($name, '*') . "-{$case['value']}.php", $names);
        $slices = $this->generator->pages($this->site->port(), $paths, (int) $case['concurrency'], $case['keep-alive'] === 'on', $seconds, $this->site->processIds());
        foreach ($orders as $turn => $order) {
            foreach ($order as $name) {
                $slice = array_shift($slices);
                if ($slice !== null) {
                    $this->add($turn, $name, $case, $slice);
                }
            }
        }
    }

    /** @param array<string, string> $case */
    private function add(int $turn, string $script, array $case, Slice $slice): void
    {
        $name = rtrim($script, '*');
        $isTwin = $name !== $script;
        $this->measurement($case, 'requests per second', 'requests per second', Direction::HigherIsBetter, $name, $isTwin, $this->columns)
            ->add($this->start, $turn, $slice->rate(), ...$slice->columns());
        $this->measurement($case, 'processor time of the servers', 'ns per request', Direction::LowerIsBetter, $name, $isTwin, [])
            ->add($this->start, $turn, $slice->watchedTime());
        if ($slice->errors > 0) {
            $this->outcome->fail($name, WorkerFailed::said($this->outcome->titles[$name] ?? $name, sprintf('%d answers were wrong or missing (%s).', $slice->errors, implode(', ', $case))));
        }
    }

    /**
     * @param array<string, string> $case
     * @param list<string> $columns
     */
    private function measurement(array $case, string $metric, string $unit, Direction $direction, string $name, bool $isTwin, array $columns): Measurement
    {
        return $this->outcome->measurement($case, $metric, $unit, $direction, $name, $isTwin, $columns);
    }
}
