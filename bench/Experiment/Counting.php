<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Server\ServerFailed;
use Larder\Bench\Statistics\Direction;
use Larder\Bench\Subject\Operation;
use Larder\Bench\Subject\Subject;
use Larder\Bench\Subject\Value;
use Larder\Bench\Subject\WorkerFailed;

/**
 * Counts what cannot be timed: system calls and instructions of the client for one read.
 *
 * The same worker runs twice under the counter, once with more reads; the difference belongs to those reads alone.
 */
final readonly class Counting
{
    /** Reads that both runs do: as many as the worker's list of keys is long, so that both build the same list. */
    private const FEW = 1_000;

    public function __construct(private Laboratory $laboratory, private Progress $progress) {}

    /** @param array<string, Subject> $subjects */
    public function run(Outcome $outcome, array $subjects, Value $value): void
    {
        $counters = [];
        foreach ([Counter::systemCalls(), Counter::instructions($this->laboratory->profile)] as $counter) {
            if ($counter instanceof Counter) {
                $counters[] = $counter;
            } else {
                $outcome->notes[] = $counter;
            }
        }
        if ($counters === [] || $subjects === []) {
            return;
        }
        $this->progress->begin('System calls and instructions of one read', count($subjects) * count($counters));
        foreach ($subjects as $subject) {
            foreach ($counters as $counter) {
                $this->progress->advance("{$counter->title} of {$subject->title}");
                $this->laboratory->goOn();
                try {
                    $difference = $this->count($subject, $value, self::FEW + $counter->reads, $counter)
                        - $this->count($subject, $value, self::FEW, $counter);
                } catch (CountingFailed|WorkerFailed|ServerFailed $failure) {
                    $this->laboratory->goOn();
                    $outcome->notes[] = "No {$counter->title} were counted of {$subject->title}: {$failure->getMessage()}";
                    continue;
                }
                $case = (new Step($value, [Operation::Get]))->case(Operation::Get);
                $outcome->measurement($case, $counter->title, "{$counter->title} per operation", Direction::LowerIsBetter, $subject->name)
                    ->add(0, 0, $difference / $counter->reads);
            }
        }
        $this->progress->end();
    }

    private function count(Subject $subject, Value $value, int $reads, Counter $counter): int
    {
        $file = (string) tempnam(sys_get_temp_dir(), 'larder-bench-');
        try {
            $worker = $this->laboratory->worker($subject, wrapper: $counter->before($file));
            $worker->prepare($value, 1);
            $worker->block(Operation::Get, $reads);
            unset($worker);

            return $counter->read((string) file_get_contents($file));
        } finally {
            unlink($file);
        }
    }
}
