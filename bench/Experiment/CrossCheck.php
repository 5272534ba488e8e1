<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Server\CpuMeter;
use Larder\Bench\Server\Server;
use Larder\Bench\Statistics\Direction;

/**
 * Our generator and redis-benchmark in turns on the same server: they should agree where both of them wait.
 *
 * Where one is busy nearly all the time and the other is not, they do not see the same server: waking a generator that
 * sleeps takes a server longer than answering, and one that is awake spares it that. redis-benchmark takes twice as
 * long for a request as ours, so that it is awake with fewer clients, and used up with many. What a request took of the
 * server stands beside each rate.
 */
final readonly class CrossCheck
{
    public const RATE = 'rate seen by two generators';
    /** The share of its processor beyond which a generator hardly waits. */
    public const BUSY = 0.75;

    /** @param int $keys that the server holds, with values of 32 bytes */
    public function __construct(private LoadGenerator $generator, private RedisBenchmark $other, private Server $server, private int $keys) {}

    /**
     * Leaves values of redis-benchmark's own under the keys.
     *
     * @param list<int> $counts of clients
     * @param \Closure(): void $goOn called before each pair; throws where somebody wants to stop
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
        $requests = min(20_000, 4_000 * $clients);
        $case = ['operation' => $operation, 'clients' => (string) $clients];
        $runs = Shuffled::of(['generator' => $this->ours(...), 'redis-benchmark' => $this->theirs(...)]);
        foreach ($runs as $name => $run) {
            $meter = CpuMeter::start($this->server->processIds());
            [$rate, $share] = $run($operation, $isWrite, $clients, $requests, 1 + $block);
            [, $server] = $meter->perOperation($requests);
            $outcome->measurement($case, self::RATE, Clients::RATE, Direction::HigherIsBetter, $name, columns: ['server cpu', Saturation::SHARE])->add(0, $block, $rate, $server, $share);
        }
    }

    /** @return array{float, float} operations a second, and the share of a processor that making them took */
    private function ours(string $operation, bool $isWrite, int $clients, int $requests, int $seed): array
    {
        $slice = $this->generator->items('resp', $this->server->endpoint(), $isWrite, $clients, $requests, $this->keys, 32, seed: $seed);
        if ($slice->errors > 0) {
            throw new \RuntimeException("{$slice->errors} of {$requests} answers to {$operation} were wrong while the generator was checked against redis-benchmark: its figures would be worth nothing; look at what the server logged.");
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
