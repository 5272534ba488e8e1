<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Server\Server;
use Larder\Bench\Statistics\Direction;

/** Our generator and redis-benchmark in turns on the same server: they should agree where neither of them is what limits the rate. */
final readonly class CrossCheck
{
    public const RATE = 'rate seen by two generators';

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
        $ours = $this->generator->items('resp', $this->server->endpoint(), $isWrite, $clients, $requests, $this->keys, 32, seed: 1 + $block);
        if ($ours->errors > 0) {
            throw new \RuntimeException("{$ours->errors} of {$requests} answers to {$operation} were wrong while the generator was checked against redis-benchmark: its figures would be worth nothing; look at what the server logged.");
        }
        $theirs = $this->other->run($operation, $clients, $requests)
            ?? throw new \RuntimeException("redis-benchmark failed at {$operation} with {$clients} clients, so the generator could not be checked: run it by hand to see why.");
        foreach (['generator' => [$ours->rate(), $ours->generatorShare()], 'redis-benchmark' => $theirs] as $name => [$rate, $share]) {
            $outcome->measurement($case, self::RATE, Clients::RATE, Direction::HigherIsBetter, $name, columns: [Saturation::SHARE])->add(0, $block, $rate, $share);
        }
    }
}
