<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Server\CpuMeter;
use Larder\Bench\Server\ServerFailed;
use Larder\Bench\Statistics\Direction;
use Larder\Bench\Subject\Operation;
use Larder\Bench\Subject\Subject;
use Larder\Bench\Subject\Value;
use Larder\Bench\Subject\WorkerFailed;
use Random\Randomizer;

/**
 * What a read from a server costs when client and server share a processor, beside what it costs when each has its own.
 *
 * Either may be faster: on two processors the other one has to be woken for each request, on one it must wait its turn.
 */
final readonly class Placements
{
    public const METRIC = 'time of a read by placement';
    private const SERVERS = ['redis-tcp', 'redis-unix', 'valkey-tcp', 'valkey-unix', 'memcached-tcp', 'memcached-unix'];

    public function __construct(private Laboratory $laboratory, private Progress $progress) {}

    /** @param array<string, Subject> $subjects */
    public function run(Outcome $outcome, array $subjects, Value $value): void
    {
        $servers = array_intersect_key($subjects, array_flip(self::SERVERS));
        // With more of them, nothing here says on which of its processors a server is.
        if ($servers === [] || $this->laboratory->placement->processors < 2 || $this->laboratory->placement->ofServers !== 1) {
            return;
        }
        $processes = $this->laboratory->profile->processes();
        $this->progress->begin('Client and server on one processor, and on two', $processes * count($servers));
        for ($process = 0; $process < $processes; $process++) {
            foreach ($servers as $subject) {
                $this->progress->advance($subject->title);
                $this->laboratory->goOn();
                try {
                    $this->compare($outcome, $subject, $value, $process);
                } catch (WorkerFailed|ServerFailed $failure) {
                    $this->laboratory->goOn();
                    $outcome->fail($subject->name, $failure);
                }
            }
        }
        $this->progress->end();
    }

    private function compare(Outcome $outcome, Subject $subject, Value $value, int $process): void
    {
        $workers = ['one processor' => $this->laboratory->worker($subject, isBesideServer: true), 'two processors' => $this->laboratory->worker($subject)];
        $operations = [];
        foreach ($workers as $processors => $worker) {
            $worker->prepare($value, 1);
            $operations[$processors] = $worker->calibrate(Operation::Get, $this->laboratory->profile->blockNanoseconds());
        }
        for ($block = 0; $block < $this->laboratory->profile->blocks(); $block++) {
            foreach ((new Randomizer())->shuffleArray(array_keys($workers)) as $processors) {
                $done = $workers[$processors]->block(Operation::Get, $operations[$processors]);
                $outcome->measurement(['placement' => (string) $processors], self::METRIC, 'ns per operation', Direction::LowerIsBetter, $subject->name, columns: CpuMeter::COLUMNS)
                    ->add($process, $block, $done['nanoseconds'] / $done['operations'], round($done['cpu'] / $done['operations'], 3), round($done['server'] / $done['operations'], 3));
            }
        }
    }
}
