<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Crowd;

use Larder\Bench\Experiment\Laboratory;
use Larder\Bench\Subject\Subject;

/** Sends a crowd to work on a subject and sorts what it found. */
final readonly class Crowds
{
    /**
     * @param int $milliseconds of a round
     * @param int $rounds of each number of processes, in a random order
     * @param bool $isWarmed whether each process first visits all of the subject's memory: it must where they write, and takes longer than
     *                       everything else where they are hundreds, which visit what they read instead
     */
    public function __construct(private Laboratory $laboratory, private int $milliseconds, private int $rounds, private bool $isWarmed = true) {}

    /**
     * @param non-empty-list<int> $counts numbers of processes
     * @param int $writes of 100 operations
     * @return list<array{count: int, round: int, rate: float, cpu: float}> operations a second, and ns of the clients'
     *                                                                     processor time for each
     */
    public function run(Subject $subject, array $counts, string $value, int $keys, int $writes): array
    {
        $server = $subject->server === null ? null : $this->laboratory->server($subject->server);
        $found = $this->laboratory->task($subject->title, Crowd::class, [
            'subject' => $subject->name, 'file' => (string) $this->laboratory->subjectFile, 'value' => $value, 'keys' => $keys, 'writes' => $writes,
            'counts' => implode(' ', $counts), 'milliseconds' => $this->milliseconds, 'rounds' => $this->rounds, 'warmed' => (int) $this->isWarmed,
            'bytes' => Laboratory::MEGABYTES << 20, 'endpoint' => json_encode((object) ($server?->endpoint() ?? []), JSON_THROW_ON_ERROR),
        ], [...$subject->settings, 'apc.shm_size' => Laboratory::MEGABYTES . 'M'], false);
        $rows = [];
        foreach ($counts as $count) {
            for ($round = 0; $round < $this->rounds; $round++) {
                $rows[] = ['count' => $count, 'round' => $round, 'rate' => $found->float("rate {$count} {$round}"), 'cpu' => round($found->float("cpu {$count} {$round}"), 1)];
            }
        }

        return $rows;
    }
}
