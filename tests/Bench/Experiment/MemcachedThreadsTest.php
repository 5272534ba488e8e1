<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Experiment;

use Larder\Bench\Experiment\LoadGenerator;
use Larder\Bench\Experiment\MemcachedThreads;
use Larder\Bench\Experiment\Placement;
use Larder\Bench\Experiment\Slice;
use Larder\Bench\Server\MemcachedServer;
use Larder\Tests\Bench\RealServers;
use PHPUnit\Framework\Attributes\TestWith;

final class MemcachedThreadsTest extends RealServers
{
    private const KEYS = 200;

    public function testEachNumberOfThreadsRunsOnEachNumberOfProcessorsAndIsPutBack(): void
    {
        self::need('memcached');
        $placement = Placement::ofThisMachine();
        $generator = LoadGenerator::build($placement->client);
        $servers = [];
        $seen = $expected = [];
        try {
            foreach ([1, 2] as $threads) {
                $servers["memcached-{$threads}"] = $server = MemcachedServer::onPort(64, $placement->server, $threads);
                $generator->items('memcached', $server->endpoint(), true, 1, self::KEYS, self::KEYS, 32, [], true);
            }
            (new MemcachedThreads($generator, $placement, $servers, self::KEYS, 1_000))->run(
                2,
                static function (array $case, string $subject, int $loop, Slice $slice) use (&$seen, $servers): void {
                    self::assertSame([1_000, 0], [$slice->requests, $slice->errors]);
                    $seen[] = implode(' ', [...$case, $subject, $loop, ...self::places($servers[$subject])]);
                },
                static function (): void {},
            );
            foreach ($servers as $server) {
                self::assertSame([self::place($placement->ofServer() ?: Placement::allowed())], self::places($server));
            }
        } finally {
            array_map(static fn(MemcachedServer $server) => $server->stop(), $servers);
        }
        foreach ($placement->choices() as $choice => $processors) {
            foreach (['GET', 'SET'] as $operation) {
                foreach (array_keys($servers) as $subject) {
                    foreach ([0, 1] as $loop) {
                        $expected[] = implode(' ', [$operation, $choice, $subject, $loop, self::place($processors)]);
                    }
                }
            }
        }

        self::assertEqualsCanonicalizing($expected, $seen);
    }

    /**
     * @param list<int> $processors
     * @param array<list<int>> $choices
     */
    #[TestWith([[3], []])]
    #[TestWith([[0, 1], ['1' => [1], '2, one of them the load generator\'s' => [1, 0]]])]
    #[TestWith([[2, 3, 5, 7], ['1' => [3], '3' => [3, 5, 7]]])]
    public function testAServerHasOneProcessorOrAllThatAreNotTheClients(array $processors, array $choices): void
    {
        self::assertSame($choices, Placement::on($processors, '/usr/bin/taskset')->choices());
        self::assertSame([], Placement::on($processors, null)->choices());
    }

    /** @return list<string> where the kernel lets the threads of a server run, each place once */
    private static function places(MemcachedServer $server): array
    {
        $places = [];
        foreach ($server->processIds() as $process) {
            foreach (glob("/proc/{$process}/task/*") ?: [] as $thread) {
                $places[] = self::place(Placement::allowed(substr($thread, strlen('/proc/'))));
            }
        }

        return array_values(array_unique($places));
    }

    /** @param list<int> $processors */
    private static function place(array $processors): string
    {
        sort($processors);

        return implode(',', $processors);
    }
}
