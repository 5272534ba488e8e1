<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Fields;
use Larder\Bench\Server\Program;
use Symfony\Component\Process\Process;

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
        return new self([...$placement, self::directory() . '/load']);
    }

    /**
     * Compiles what is in bench/load and has changed since.
     *
     * @return string where the programs are
     */
    public static function directory(): string
    {
        $make = Program::find('make') ?? throw new \RuntimeException('The load generator cannot be compiled because make is not installed: install the packages make and gcc.');
        $build = dirname(__DIR__, 2) . '/build/load';
        $process = new Process([$make, '-s', '-C', dirname(__DIR__) . '/load', "BUILD={$build}"], timeout: null);
        if ($process->run() !== 0) {
            throw new \RuntimeException('The load generator cannot be compiled; install the packages gcc and libc6-dev if the compiler is missing: ' . trim($process->getOutput() . $process->getErrorOutput()));
        }

        return $build;
    }

    /**
     * Requests pages of a web server, each for a while and counted on its own, one after the other.
     *
     * @param non-empty-list<string> $paths one slice each, in this order
     * @param float $seconds of each slice
     * @param list<int> $watched processes whose time is counted
     * @param float $rate requests a second that are due, whether or not the server keeps up; 0: each connection sends
     *                    its next request when it has its answer
     * @param string $header a line of each request's head besides; empty: none
     * @return list<Slice>
     */
    public function pages(int $port, array $paths, int $connections, bool $keepAlive, float $seconds, array $watched = [], float $rate = 0.0, string $header = ''): array
    {
        return $this->slices(self::request($port, $paths, $connections, $keepAlive, $seconds, $watched, $rate, $header));
    }

    /**
     * Requests pages at random for a while, while the caller does something else.
     *
     * @param non-empty-list<string> $paths each request has one of them
     * @return \Closure(): ?Slice what it saw; null: it is still at it
     */
    public function begin(int $port, array $paths, int $connections, bool $keepAlive, float $seconds, string $header = ''): \Closure
    {
        $process = new Process([...$this->command, '--mixed', ...self::request($port, $paths, $connections, $keepAlive, $seconds, [], 0.0, $header)], timeout: null);
        $process->start();

        return static fn(): ?Slice => match (true) {
            $process->isRunning() => null,
            $process->isSuccessful() => self::seen($process->getOutput())[0] ?? throw new \UnexpectedValueException('The load generator counted nothing.'),
            default => throw self::gaveUp($process),
        };
    }

    /**
     * @param non-empty-list<string> $paths
     * @param list<int> $watched
     * @return list<string> arguments
     */
    private static function request(int $port, array $paths, int $connections, bool $keepAlive, float $seconds, array $watched, float $rate, string $header): array
    {
        $arguments = ['--port', (string) $port, '--connections', (string) $connections, '--seconds', (string) $seconds];
        foreach ($paths as $path) {
            array_push($arguments, '--path', $path);
        }
        if ($keepAlive) {
            $arguments[] = '--keep-alive';
        }
        if ($rate > 0) {
            array_push($arguments, '--rate', (string) $rate);
        }
        if ($header !== '') {
            array_push($arguments, '--header', $header);
        }

        return [...$arguments, ...self::watching($watched)];
    }

    /**
     * Makes requests of a store that speaks a protocol of its own; every answer is compared with what was stored.
     *
     * @param 'resp'|'memcached' $protocol
     * @param array<string, string|int> $endpoint `socket` or `port`
     * @param list<int> $watched processes whose time is counted
     * @param bool $isInOrder each key once, in their order, instead of at random
     */
    public function items(
        string $protocol,
        array $endpoint,
        bool $isWrite,
        int $connections,
        int $requests,
        int $keys,
        int $bytes,
        array $watched = [],
        bool $isInOrder = false,
        int $seed = 1,
    ): Slice {
        $address = isset($endpoint['port']) ? ['--port', (string) $endpoint['port']] : ['--socket', (string) ($endpoint['socket'] ?? '')];

        return $this->slices([
            '--protocol', $protocol, ...$address, '--connections', (string) $connections, '--requests', (string) $requests,
            '--keys', (string) $keys, '--value-bytes', (string) $bytes, '--seed', (string) $seed,
            ...($isWrite ? ['--set'] : []), ...($isInOrder ? ['--in-order'] : []), ...self::watching($watched),
        ])[0] ?? throw new \UnexpectedValueException('The load generator counted nothing.');
    }

    /**
     * @param list<string> $arguments
     * @return list<Slice>
     */
    private function slices(array $arguments): array
    {
        $process = new Process([...$this->command, ...$arguments], timeout: null);

        return self::seen($process->run() === 0 ? $process->getOutput() : throw self::gaveUp($process));
    }

    /** @return list<Slice> */
    private static function seen(string $output): array
    {
        return array_map(Slice::from(...), Fields::ofJson($output, 'load')->objects('slices'));
    }

    private static function gaveUp(Process $process): \RuntimeException
    {
        return new \RuntimeException('The load generator gave up: ' . trim($process->getErrorOutput()));
    }

    /**
     * @param list<int> $processes
     * @return list<string>
     */
    private static function watching(array $processes): array
    {
        $arguments = [];
        foreach ($processes as $process) {
            array_push($arguments, '--watch', (string) $process);
        }

        return $arguments;
    }
}
