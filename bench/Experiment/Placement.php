<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Server\Program;

/**
 * Which processors clients and servers run on.
 *
 * Whether a client and its server share a core changes a round trip several times over. So it is not left to the scheduler, and
 * the report states it. Clients are on the first processor allowed to us, servers on the others.
 */
final readonly class Placement
{
    /** Where it is not as in the other experiments, an experiment says so among its parameters. */
    public const PARAMETER = 'placement';
    public const ON_ALL = 'clients on all processors, the first on the first, the second on the second, and so on; servers where they always are';

    /**
     * @param list<string> $client a command that runs its arguments where clients run
     * @param list<string> $server the same for servers
     * @param int $processors how many there are for us
     * @param int $ofServers on how many of them servers run
     * @param list<int> $all the processors, the clients' first; none where servers are not kept from it
     */
    private function __construct(public array $client, public array $server, public string $description, public int $processors, public int $ofServers, private array $all = []) {}

    public static function ofThisMachine(): self
    {
        return self::on(self::allowed(), Program::find('taskset'));
    }

    /** @param list<int> $processors those allowed to us */
    public static function on(array $processors, ?string $taskset): self
    {
        return match (true) {
            $taskset === null => new self([], [], 'left to the scheduler, because taskset is not installed (package util-linux)', count($processors), count($processors)),
            count($processors) < 2 => new self([], [], 'clients and servers share the only processor', 1, 1),
            default => new self(
                [$taskset, '-c', (string) $processors[0]],
                [$taskset, '-c', implode(',', array_slice($processors, 1))],
                "clients on processor {$processors[0]}, servers on " . implode(', ', array_slice($processors, 1)),
                count($processors),
                count($processors) - 1,
                $processors,
            ),
        };
    }

    /** @return list<int> the processors that servers run on; none where they are not kept from that of clients */
    public function ofServer(): array
    {
        return array_slice($this->all, 1);
    }

    /**
     * How many processors a server may be given: one, and all but the clients' – or that one, too, where there is only one other.
     *
     * @return array<non-empty-list<int>> by what the report calls them; none where servers are not kept from the clients' processor
     */
    public function choices(): array
    {
        $others = $this->ofServer();

        return match (count($others)) {
            0 => [],
            1 => ['1' => $others, '2, one of them the load generator\'s' => [...$others, $this->all[0]]],
            default => ['1' => [$others[0]], (string) count($others) => $others],
        };
    }

    /** @return list<string> a command that runs its arguments on one of the processors where servers run */
    public function oneOfServers(): array
    {
        $processors = array_slice($this->server, -1)[0] ?? '';

        return $this->server === [] ? [] : [...array_slice($this->server, 0, -1), explode(',', $processors)[0]];
    }

    /**
     * Moves this process to one of the processors allowed to it: with the same number always to the same one, so that whether it
     * shares one with its server is no luck.
     */
    public static function stay(int $number): void
    {
        $processors = self::allowed();
        if (count($processors) > 1) {
            self::move([$processors[$number % count($processors)]]);
        }
    }

    /**
     * Moves this process to these processors; what it forks from now on begins there.
     *
     * @param non-empty-list<int> $processors
     */
    public static function move(array $processors): void
    {
        self::moveProcess((int) getmypid(), $processors);
    }

    /**
     * Moves a process, with all of its threads, to these processors.
     *
     * @param list<int> $processors
     */
    public static function moveProcess(int $process, array $processors): void
    {
        $taskset = Program::find('taskset');
        if ($taskset === null) {
            return;
        }
        exec(sprintf('%s -acp %s %d 2>&1', escapeshellarg($taskset), implode(',', $processors), $process), $said, $code);
        if ($code !== 0) {
            throw new \RuntimeException('A process could not be moved to a processor of its own: ' . implode(' ', $said));
        }
    }

    /**
     * @param string $process below /proc: the number of one, or `1/task/2` for a thread
     * @return list<int> the processors that it may run on; none where the kernel does not say
     */
    public static function allowed(string $process = 'self'): array
    {
        preg_match('/^Cpus_allowed_list:\s*(\S+)$/m', (string) @file_get_contents("/proc/{$process}/status"), $match);

        return self::processors($match[1] ?? '');
    }

    /** @return list<int> from the kernel's notation, `0-3,8` */
    private static function processors(string $ranges): array
    {
        $processors = [];
        foreach (array_filter(explode(',', $ranges), static fn(string $range): bool => $range !== '') as $range) {
            $ends = explode('-', $range);
            array_push($processors, ...range((int) $ends[0], (int) ($ends[1] ?? $ends[0])));
        }

        return $processors;
    }
}
