<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Experiment\Crowd\Crowds;
use Larder\Bench\Server\ServerFailed;
use Larder\Bench\Statistics\Direction;
use Larder\Bench\Subject\WorkerFailed;

/** What more processes gain: readers and writers from one to twice the processors. */
final class Scale implements Experiment
{
    public const VALUE = 'string-1k';
    public const MIXES = ['reads only' => 0, '95 % reads' => 5, '50 % reads' => 50];
    private const SUBJECTS = ['array', 'shared-memory', 'apcu-php', 'sqlite', 'file-disk', 'redis-unix', 'valkey-unix', 'memcached-unix'];
    private const KEYS = 1_000;

    public function name(): string
    {
        return 'scale';
    }

    public function title(): string
    {
        return 'What more processes gain';
    }

    public function recreates(): string
    {
        return 'The comments under source C say that one core and one thread are unfair to what can use several. Processes that '
            . 'are forked from one parent, as those of PHP-FPM are, read and write items of 1 KiB under ' . number_format(self::KEYS)
            . ' keys at the same time, on all processors. A PHP array, of which each process has its own, shows what the '
            . 'machine gains when nothing is shared: two processors may be two halves of one.';
    }

    public function needs(Profile $profile): Needs
    {
        return new Needs(300, 1_024, $profile === Profile::Quick ? 36 : 255);
    }

    public function run(Laboratory $laboratory, Progress $progress, Outcome $outcome): void
    {
        $isQuick = $laboratory->profile === Profile::Quick;
        $counts = self::counts($laboratory->placement->processors);
        $starts = $isQuick ? 2 : 6;
        [$milliseconds, $rounds] = $isQuick ? [40, 3] : [80, 6];
        $outcome->parameters = ['processes' => implode(', ', $counts), 'keys' => self::KEYS, 'starts of all processes' => $starts, 'milliseconds a round' => $milliseconds, 'rounds in each start' => $rounds, Placement::PARAMETER => Placement::ON_ALL];
        $crowds = new Crowds($laboratory, $milliseconds, $rounds);
        $subjects = array_filter(self::SUBJECTS, static fn(string $name): bool => $outcome->includes($laboratory, $name, $name));
        $progress->begin($this->title(), $starts * count(self::MIXES) * count($subjects));
        for ($start = 0; $start < $starts; $start++) {
            foreach (self::MIXES as $mix => $writes) {
                foreach (Shuffled::of($subjects) as $name) {
                    $progress->advance("{$mix}, {$laboratory->subjects[$name]->title}");
                    if (isset($outcome->leftOut[$name])) {
                        continue;
                    }
                    try {
                        $rows = $crowds->run($laboratory->subjects[$name], $counts, self::VALUE, self::KEYS, $writes);
                    } catch (WorkerFailed|ServerFailed $failure) {
                        $outcome->fail($name, $failure);
                        continue;
                    }
                    foreach ($rows as ['count' => $count, 'round' => $round, 'rate' => $rate, 'cpu' => $cpu]) {
                        $outcome->measurement(['mix' => $mix, 'processes' => (string) $count], 'rate', 'operations per second', Direction::HigherIsBetter, $name, columns: ['client cpu'])
                            ->add($start, $round, $rate, $cpu);
                    }
                }
            }
        }
        $progress->end();
    }

    /** @return non-empty-list<int> */
    private static function counts(int $processors): array
    {
        $counts = [];
        for ($count = 1; $count < 2 * $processors; $count *= 2) {
            $counts[] = $count;
        }

        return [...$counts, 2 * $processors];
    }
}
