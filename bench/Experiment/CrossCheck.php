<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Server\CpuMeter;
use Larder\Bench\Server\RedisServer;
use Larder\Bench\Server\Server;
use Larder\Bench\Server\ServerProcess;
use Larder\Bench\Statistics\Direction;

/**
 * Our generator and redis-benchmark in turns on the same server: they should agree where both of them wait.
 *
 * Where one is busy nearly all the time and the other is not, they do not see the same server. Waking a generator that sleeps
 * takes a server longer than answering does. The tool redis-benchmark takes twice as long for a request as ours. So it is awake
 * with fewer clients, and used up with many. What a request took of the server stands beside each rate.
 *
 * So they are also compared at a server that takes longer for a request than either of them. Then both wait, however many
 * clients there are. The rate is the server's. It is on one processor, or its other threads would help it.
 */
final readonly class CrossCheck
{
    /** The share of its processor beyond which a generator hardly waits. */
    public const BUSY = 0.75;

    private const UNIT = 'operations per second';

    public const AS_IT_IS = 'as it is';
    public const SLOW = 'slower than both';
    /** Each takes some tens of nanoseconds, and all of them several times what redis-benchmark takes for a request. */
    private const PATTERNS = 800;

    /**
     * @param int $keys that the server holds, with values of 32 bytes
     * @param string $kind of the server, which the cases say
     */
    public function __construct(private LoadGenerator $generator, private RedisBenchmark $other, private Server $server, private int $keys, private string $kind = self::AS_IT_IS) {}

    /**
     * Makes a server take longer for each command with a key: it compares the key with patterns that it does not have, before
     * the one that lets it pass. That is the processor's work alone, the same for each key and each client.
     *
     * @return bool whether it has such access control lists
     */
    public static function slowDown(RedisServer $server): bool
    {
        $patterns = implode(' ', array_map(static fn(int $number): string => "~*!{$number}", range(1, self::PATTERNS)));

        return ServerProcess::replies("unix://{$server->socket}", "ACL SETUSER default resetkeys {$patterns} ~key:*\r\n", '+OK');
    }

    /**
     * Leaves values of redis-benchmark's own under the keys.
     *
     * @param list<int> $counts of clients
     * @param \Closure(): void $goOn called before each pair; throws where the user wants to stop
     * @throws \RuntimeException when an answer was wrong
     */
    public function run(Outcome $outcome, array $counts, int $blocks, \Closure $goOn): void
    {
        // Reads first: redis-benchmark writes its own values under the names that we use, where ours would find them wrong.
        foreach (['GET' => false, 'SET' => true] as $operation => $isWrite) {
            for ($block = 0; $block < $blocks; $block++) {
                foreach ($counts as $clients) {
                    $goOn();
                    $this->pair($outcome, $operation, $isWrite, $clients, $block);
                }
            }
        }
    }

    private function pair(Outcome $outcome, string $operation, bool $isWrite, int $clients, int $block): void
    {
        $requests = $this->kind === self::SLOW ? 4_000 : min(20_000, 4_000 * $clients);
        $case = ['operation' => $operation, 'clients' => (string) $clients, 'server' => $this->kind];
        $runs = Shuffled::of(['generator' => $this->ours(...), 'redis-benchmark' => $this->theirs(...)]);
        foreach ($runs as $name => $run) {
            $meter = CpuMeter::start($this->server->processIds());
            [$rate, $share] = $run($operation, $isWrite, $clients, $requests, 1 + $block);
            [, $server] = $meter->perOperation($requests);
            $outcome->measurement($case, Saturation::COMPARISON, self::UNIT, Direction::HigherIsBetter, $name, columns: ['server cpu', Saturation::SHARE])->add(0, $block, $rate, $server, $share);
        }
    }

    /** @return array{float, float} operations a second, and the share of a processor that making them took */
    private function ours(string $operation, bool $isWrite, int $clients, int $requests, int $seed): array
    {
        $slice = $this->generator->items('resp', $this->server->endpoint(), $isWrite, $clients, $requests, $this->keys, 32, seed: $seed);
        if ($slice->errors > 0) {
            throw new \RuntimeException("{$slice->errors} of {$requests} answers to {$operation} were wrong while the generator was checked against redis-benchmark. Its figures would be worth nothing; look at the server's log.");
        }

        return [$slice->rate(), $slice->generatorShare()];
    }

    /** @return array{float, float} */
    private function theirs(string $operation, bool $isWrite, int $clients, int $requests): array
    {
        return $this->other->run($operation, $clients, $requests)
            ?? throw new \RuntimeException("redis-benchmark failed at {$operation} with {$clients} clients, so the generator could not be checked: run it by hand to see why.");
    }
}
