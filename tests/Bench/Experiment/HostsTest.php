<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Experiment;

use Larder\Bench\Experiment\ChildProcess;
use Larder\Bench\Experiment\HostCache;
use Larder\Bench\Experiment\HostFollowers;
use Larder\Bench\Experiment\HostNetwork;
use Larder\Bench\Experiment\HostPages;
use Larder\Bench\Experiment\HostRequests;
use Larder\Bench\Experiment\Hosts;
use Larder\Bench\Experiment\Relay;
use Larder\Bench\Fields;
use Larder\Tests\Bench\RealServers;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\TestWith;
use Redis;

final class HostsTest extends RealServers
{
    private const DELAY_US = 3_000;

    private static function network(): HostNetwork
    {
        if (posix_geteuid() !== 0) {
            self::markTestSkipped('Only root may make hosts of a machine; run this as root.');
        }

        return new HostNetwork(2);
    }

    /** Its hosts wait for each other, and a checker counts: APCu is told of nothing, a near store of everything. */
    #[TestWith([HostCache::REDIS, false])]
    #[TestWith([HostCache::APCU, true])]
    #[TestWith([HostCache::CHAIN, true])]
    #[TestWith([HostCache::TIER_APCU, false])]
    #[TestWith([HostCache::TIER_POOL, false])]
    public function testStaleReadsAreThoseOfHostsThatAreToldOfNothing(string $subject, bool $isStale): void
    {
        $network = self::network();
        $server = Hosts::redis([], $network);
        $scratch = new Scratch();
        $hosts = [];
        try {
            for ($host = 0; $host < 2; $host++) {
                $hosts[] = ChildProcess::start($subject, HostRequests::class, [
                    'folder' => $scratch->path, 'host' => $host, 'hosts' => 2, 'subject' => $subject, 'address' => $network->address(), 'port' => $server->port,
                    'server port' => $server->port, 'milliseconds' => 300, 'writes in 1,000' => 100, 'seed' => 1 + $host,
                ], ['memory_limit' => '1G', 'apc.shm_size' => '64M'], $network->on($host));
            }
            $found = array_map(static fn(ChildProcess $host): Fields => $host->answer(), $hosts);
        } finally {
            $server->stop();
        }
        $stale = array_sum(array_map(static fn(Fields $its): int => $its->int('stale'), $found));

        foreach ($found as $its) {
            self::assertGreaterThan(0, $its->int('requests'));
            self::assertGreaterThan(0, $its->int('reads'));
        }
        $isStale ? self::assertGreaterThan(0, $stale) : self::assertSame(0, $stale);
    }

    public function testARoundTripWaitsForTheDelayAndIsCounted(): void
    {
        $server = self::redis();
        $relay = new Relay('127.0.0.1', $server->port, self::DELAY_US, []);
        $redis = new Redis();
        $redis->connect('127.0.0.1', $relay->port);
        $redis->set('key', $value = str_repeat('x', 3 << 20));
        $before = $relay->trips();
        $began = hrtime(true);
        for ($trip = 0; $trip < 10; $trip++) {
            self::assertSame($value, $redis->get('key'));
        }
        $taken = hrtime(true) - $began;
        // A pipeline is one.
        $redis->pipeline();
        for ($command = 0; $command < 50; $command++) {
            $redis->get('nothing');
        }
        $redis->exec();

        self::assertGreaterThanOrEqual(10 * self::DELAY_US * 1e3, $taken);
        self::assertSame(11, $relay->trips() - $before);
        $server->stop();
    }

    public function testWhatARelayPassesOnIsBrokenWhereTheServerEnds(): void
    {
        $server = self::redis();
        $relay = new Relay('127.0.0.1', $server->port, 0, []);
        $redis = new Redis();
        $redis->connect('127.0.0.1', $relay->port);
        $redis->ping();
        $server->stop();

        $this->expectException(\RedisException::class);
        $redis->ping();
    }

    public function testALargeRequestIsMeasuredInEachWay(): void
    {
        $network = self::network();
        $server = Hosts::redis([], $network);
        try {
            $found = ChildProcess::run('pages', HostPages::class, ['address' => $network->address(), 'port' => $server->port, 'blocks' => 1], ['memory_limit' => '1G'], $network->on(0));
        } finally {
            $server->stop();
        }

        foreach ([HostPages::TIER, HostPages::GET, HostPages::MGET, HostPages::GETS, HostPages::NEAR, HostPages::ALONE] as $way) {
            self::assertGreaterThan(0.0, $found->objects('blocks')[0]->float($way), $way);
        }
    }

    public function testWritesAreMeasuredWithEachNumberOfHosts(): void
    {
        $server = self::redis(['--maxmemory-policy', 'noeviction']);
        try {
            $found = ChildProcess::run('followers', HostFollowers::class, ['address' => '127.0.0.1', 'port' => $server->port, 'blocks' => 1]);
        } finally {
            $server->stop();
        }

        foreach (Hosts::SIMULATED as $hosts) {
            self::assertGreaterThan(0.0, $found->objects('blocks')[0]->float($hosts), $hosts);
        }
    }

    public function testHostsOfANetworkReachThisMachineAndHaveAMemoryOfTheirOwn(): void
    {
        $network = self::network();
        self::assertNull(HostNetwork::lack());
        $listener = stream_socket_server("tcp://{$network->address()}:0") ?: self::fail('Nothing can listen there.');
        $said = [];
        foreach ([0, 1] as $host) {
            exec(implode(' ', array_map(escapeshellarg(...), [...$network->on($host), 'sh', '-c', 'ls -A /dev/shm; touch /dev/shm/mine'])), $said, $code);
            self::assertSame(0, $code);
            $words = [PHP_BINARY, '-r', 'echo stream_get_contents(stream_socket_client("tcp://" . $argv[1]));', (string) stream_socket_get_name($listener, false)];
            $process = proc_open([...$network->on($host), ...$words], [1 => ['pipe', 'w']], $pipes) ?: self::fail('It does not start.');
            $client = stream_socket_accept($listener, 60) ?: self::fail("Host {$host} does not come.");
            fwrite($client, "hello {$host}");
            fclose($client);
            self::assertSame("hello {$host}", stream_get_contents($pipes[1]));
            proc_close($process);
        }

        self::assertSame([], $said, 'What a host keeps in /dev/shm is its own.');
    }

    public function testAUserWithoutRootIsToldSo(): void
    {
        $isRoot = posix_geteuid() === 0;
        $isRoot && posix_seteuid(65_534);
        try {
            self::assertSame('only root can make several hosts of one machine (network namespaces): run it as root', HostNetwork::lack());
        } finally {
            $isRoot && posix_seteuid(0);
        }
    }
}
