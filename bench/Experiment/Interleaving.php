<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Server\CpuMeter;
use Larder\Bench\Server\ServerFailed;
use Larder\Bench\Statistics\Direction;
use Larder\Bench\Subject\Subject;
use Larder\Bench\Subject\WorkerFailed;
use Larder\Bench\Subject\WorkerProcess;

/**
 * Runs all subjects side by side, in fresh processes, one block of each in turn and each turn in another random order.
 *
 * So a disturbance of the machine slows all subjects down, and a comparison of two blocks of one turn does not see it. Some
 * subjects have a twin, in this machine's memory and behind a server: what a subject and its twin differ by is noise.
 */
final readonly class Interleaving
{
    private const TWINS = ['apcu-php', 'redis-tcp', 'valkey-tcp'];

    public function __construct(private Laboratory $laboratory, private Progress $progress) {}

    /**
     * @param array<string, Subject> $subjects
     * @param non-empty-list<Step> $steps
     */
    public function run(Outcome $outcome, array $subjects, array $steps): void
    {
        $profile = $this->laboratory->profile;
        $processes = $profile->processes();
        $this->progress->begin(
            $outcome->title,
            $processes * array_sum(array_map(static fn(Step $step): int => 1 + count($step->operations), $steps)),
        );
        /** @var array<string, int> $operations operations in a block, by case and subject */
        $operations = [];
        for ($process = 0; $process < $processes; $process++) {
            $workers = $this->workers($subjects, $outcome);
            foreach ($steps as $step) {
                $this->laboratory->goOn();
                $this->progress->advance("process {$this->of($process, $processes)}: storing {$step->value->title}");
                $takingPart = array_filter($workers, static fn(WorkerProcess $worker): bool => $step->concerns($worker->subject));
                $this->each($takingPart, $outcome, static fn(WorkerProcess $worker) => $worker->prepare($step->value, $step->keys));
                foreach ($step->operations as $operation) {
                    $this->progress->advance("process {$this->of($process, $processes)}: {$operation->value}, {$step->value->title}");
                    $able = array_filter(
                        $takingPart,
                        static fn(WorkerProcess $worker): bool => $worker->subject->exempt($operation, $step->value) === null,
                    );
                    $case = $step->case($operation);
                    $this->each($able, $outcome, static function (WorkerProcess $worker, string $id) use (&$operations, $case, $operation, $profile): void {
                        $key = implode('/', [...$case, $id]);
                        // Every block of a case is as long as the first calibration found, in all processes.
                        $operations[$key] ??= $worker->calibrate($operation, $profile->blockNanoseconds());
                    });
                    for ($block = 0; $block < $profile->blocks(); $block++) {
                        $this->laboratory->goOn();
                        $turn = array_intersect_key($able, $workers);
                        $this->each(Shuffled::of($turn), $outcome, static function (WorkerProcess $worker, string $id) use (&$operations, $outcome, $case, $operation, $process, $block): void {
                            $key = implode('/', [...$case, $id]);
                            $done = $worker->block($operation, $operations[$key]);
                            self::measurement($outcome, $case, $worker)->add(
                                $process,
                                $block,
                                $done['nanoseconds'] / $done['operations'],
                                $done['operations'],
                                round($done['cpu'] / $done['operations'], 3),
                                round($done['server'] / $done['operations'], 3),
                            );
                        });
                    }
                    $workers = array_filter($workers, static fn(WorkerProcess $worker): bool => !isset($outcome->leftOut[$worker->subject->name]));
                }
            }
            unset($workers, $takingPart, $able, $turn);
        }
        $this->progress->end();
    }

    /** @param array<string, string> $case */
    private static function measurement(Outcome $outcome, array $case, WorkerProcess $worker): Measurement
    {
        return $outcome->measurement(
            $case,
            'time',
            'ns per operation',
            Direction::LowerIsBetter,
            $worker->subject->name,
            $worker->isTwin,
            ['operations', ...CpuMeter::COLUMNS],
        );
    }

    private function of(int $process, int $processes): string
    {
        return ($process + 1) . " of {$processes}";
    }

    /**
     * @param array<string, Subject> $subjects
     * @return array<string, WorkerProcess> by the subject's name, a twin's with an addition
     */
    private function workers(array $subjects, Outcome $outcome): array
    {
        $workers = [];
        foreach ($subjects as $subject) {
            if (isset($outcome->leftOut[$subject->name])) {
                continue;
            }
            $missing = $subject->missing();
            if ($missing !== null) {
                $outcome->lack($subject->name, $missing);
                continue;
            }
            try {
                $workers[$subject->name] = $this->laboratory->worker($subject);
                if (in_array($subject->name, self::TWINS, true)) {
                    $workers["{$subject->name} again"] = $this->laboratory->worker($subject, true);
                }
            } catch (ServerFailed $failure) {
                $outcome->fail($subject->name, $failure);
            }
        }

        return $workers;
    }

    /**
     * Does it with each worker; one that fails is left out from there on.
     *
     * @param array<string, WorkerProcess> $workers
     * @param \Closure(WorkerProcess, string): void $do
     */
    private function each(array $workers, Outcome $outcome, \Closure $do): void
    {
        foreach ($workers as $id => $worker) {
            if (isset($outcome->leftOut[$worker->subject->name])) {
                continue;
            }
            try {
                $do($worker, $id);
            } catch (WorkerFailed $failure) {
                // A signal to all of a group ends workers that have only just begun.
                $this->laboratory->goOn();
                $outcome->fail($worker->subject->name, $failure);
            }
        }
    }
}
