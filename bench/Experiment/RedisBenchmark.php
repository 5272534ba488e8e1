<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Symfony\Component\Process\Process;

/** The generator that comes with Redis or Valkey, to check ours against. */
final readonly class RedisBenchmark
{
    /** @param list<string> $command */
    public function __construct(private array $command, private int $port, private int $keys) {}

    /**
     * @return array{float, float}|null operations a second, and the share of a processor that it used itself while it made them (its start
     *                                  is counted in); null when it failed
     */
    public function run(string $operation, int $clients, int $requests): ?array
    {
        $before = self::cpu();
        $process = new Process([
            ...$this->command, '-h', '127.0.0.1', '-p', (string) $this->port, '-t', strtolower($operation), '-n', (string) $requests,
            '-c', (string) $clients, '-d', '32', '-r', (string) $this->keys, '--csv',
        ], timeout: null);
        $process->run();

        return preg_match("/^\"{$operation}\",\"([\d.]+)\"/m", $process->getOutput(), $match) === 1
            ? [(float) $match[1], round(min(1.0, (self::cpu() - $before) * (float) $match[1] / $requests), 3)]
            : null;
    }

    /** @return float processor time of children that have ended, in s */
    private static function cpu(): float
    {
        /** @var array{'ru_utime.tv_sec': int, 'ru_utime.tv_usec': int, 'ru_stime.tv_sec': int, 'ru_stime.tv_usec': int} $usage */
        $usage = getrusage(1);

        return $usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec'] + ($usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec']) / 1e6;
    }
}
