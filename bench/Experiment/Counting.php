<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Server\Program;
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
        $counters = array_filter([
            'system calls' => $this->strace($outcome),
            'user-mode instructions' => $this->perf($outcome),
        ]);
        if ($counters === [] || $subjects === []) {
            return;
        }
        $this->progress->begin('System calls and instructions of one read', count($subjects) * count($counters));
        foreach ($subjects as $subject) {
            foreach ($counters as $what => [$wrapper, $count, $reads]) {
                $this->progress->advance("{$what} of {$subject->title}");
                $this->laboratory->goOn();
                try {
                    $difference = $this->count($subject, $value, self::FEW + $reads, $wrapper, $count)
                        - $this->count($subject, $value, self::FEW, $wrapper, $count);
                } catch (WorkerFailed|ServerFailed $failure) {
                    $outcome->notes[] = "No {$what} were counted of {$subject->title}: {$failure->getMessage()}";
                    continue;
                }
                $case = (new Step($value, [Operation::Get]))->case(Operation::Get);
                $outcome->measurement($case, $what, "{$what} per operation", Direction::LowerIsBetter, $subject->name)
                    ->add(0, 0, $difference / $reads);
            }
        }
        $this->progress->end();
    }

    /**
     * @param \Closure(string): list<string> $wrapper the command, given the file it shall write to
     * @param \Closure(string): int $count reads the count from what was written
     */
    private function count(Subject $subject, Value $value, int $reads, \Closure $wrapper, \Closure $count): int
    {
        $file = (string) tempnam(sys_get_temp_dir(), 'larder-bench-');
        try {
            $worker = $this->laboratory->worker($subject, wrapper: $wrapper($file));
            $worker->prepare($value, 1);
            $worker->block(Operation::Get, $reads);
            unset($worker);

            return $count((string) file_get_contents($file));
        } finally {
            unlink($file);
        }
    }

    /** @return array{\Closure(string): list<string>, \Closure(string): int, int}|null how to count, how to read the count, reads to count */
    private function strace(Outcome $outcome): ?array
    {
        $strace = Program::find('strace');
        if ($strace === null || !self::works([$strace, '-c', '-o', '/dev/null', 'true'])) {
            $outcome->notes[] = $strace === null
                ? 'System calls were not counted, because strace is not installed.'
                : 'System calls were not counted, because strace may not trace processes here.';

            return null;
        }

        return [
            static fn(string $file): array => [$strace, '-f', '-c', '-U', 'calls,name', '-o', $file],
            static fn(string $report): int => preg_match('/^\s*(\d+)\s+total$/m', $report, $match) === 1 ? (int) $match[1] : 0,
            1_000,
        ];
    }

    /** @return array{\Closure(string): list<string>, \Closure(string): int, int}|null how to count, how to read the count, reads to count */
    private function perf(Outcome $outcome): ?array
    {
        $perf = Program::find('perf');
        $options = ['stat', '-x', ',', '-e', 'instructions:u'];
        if ($perf === null || !self::works([$perf, ...$options, '-o', '/dev/null', 'true'])) {
            $outcome->notes[] = $perf === null
                ? 'Instructions were not counted, because perf is not installed.'
                : 'Instructions were not counted, because perf cannot count them here.';

            return null;
        }

        return [
            static fn(string $file): array => [$perf, ...$options, '-o', $file],
            static fn(string $report): int => preg_match('/^(\d+),.*instructions/m', $report, $match) === 1 ? (int) $match[1] : 0,
            10_000,
        ];
    }

    /** @param list<string> $command */
    private static function works(array $command): bool
    {
        $nothing = ['file', '/dev/null', 'w'];
        $process = proc_open($command, [['file', '/dev/null', 'r'], $nothing, $nothing], $pipes);

        return $process !== false && proc_close($process) === 0;
    }
}
