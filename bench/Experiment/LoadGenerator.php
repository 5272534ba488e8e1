<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Report\Fields;
use Larder\Bench\Server\Program;

/** The load generator of bench/load, compiled when it is first needed. */
final readonly class LoadGenerator
{
    /** @param list<string> $command */
    private function __construct(private array $command) {}

    /**
     * @param list<string> $placement a command that runs its arguments where clients run
     * @throws \RuntimeException when it cannot be compiled
     */
    public static function build(array $placement): self
    {
        $make = Program::find('make') ?? throw new \RuntimeException('The load generator cannot be compiled because make is not installed: install the packages make and gcc.');
        $build = dirname(__DIR__, 2) . '/build/load';
        $process = proc_open([$make, '-s', '-C', dirname(__DIR__) . '/load', "BUILD={$build}"], [['file', '/dev/null', 'r'], ['pipe', 'w'], ['pipe', 'w']], $pipes);
        if ($process === false) {
            throw new \RuntimeException('The load generator cannot be compiled because make could not be started.');
        }
        $output = stream_get_contents($pipes[1]) . stream_get_contents($pipes[2]);
        if (proc_close($process) !== 0) {
            throw new \RuntimeException("The load generator cannot be compiled: {$output}");
        }

        return new self([...$placement, "{$build}/load"]);
    }

    /**
     * Requests one path for a while, each connection sending its next request when it has its answer.
     *
     * @return array{requests: int, errors: int, seconds: float, cpu: float, p50: int, p99: int} `cpu`: the generator's
     *                                                                                          own processor time in s; latencies in ns
     */
    public function run(int $port, string $path, int $connections, bool $keepAlive, float $seconds): array
    {
        $answer = Fields::ofJson($this->output([
            '--port', (string) $port, '--path', $path, '--connections', (string) $connections, '--seconds', (string) $seconds,
            ...($keepAlive ? ['--keep-alive'] : []),
        ]), 'load');
        $latency = $answer->object('latency_ns');

        return [
            'requests' => $answer->int('requests'),
            'errors' => $answer->int('errors'),
            'seconds' => $answer->float('seconds'),
            'cpu' => $answer->float('cpu_seconds'),
            'p50' => $latency->int('p50'),
            'p99' => $latency->int('p99'),
        ];
    }

    /** @param list<string> $arguments */
    private function output(array $arguments): string
    {
        $process = proc_open([...$this->command, ...$arguments], [['file', '/dev/null', 'r'], ['pipe', 'w'], STDERR], $pipes);
        if ($process === false) {
            throw new \RuntimeException('The load generator could not be started: too many processes may be running.');
        }
        $output = (string) stream_get_contents($pipes[1]);

        return proc_close($process) === 0 ? $output : throw new \RuntimeException('The load generator gave up; what it said stands above.');
    }
}
