<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Dsn;
use Larder\Store;
use Larder\Store\Redis\ClusterConnection;
use Larder\Store\Redis\Connections;
use Larder\Store\Redis\Layout;
use Larder\Store\RedisStore;
use Larder\Tests\System\RedisCluster;
use PHPUnit\Framework\Attributes\CoversClass;

/** A cluster of three masters, by Predis, which asks them all at once. */
#[CoversClass(RedisStore::class)]
#[CoversClass(ClusterConnection::class)]
final class RedisClusterStoreTest extends SharedStoreContract
{
    private static ?RedisCluster $cluster = null;

    private ?Store $store = null;

    public static function setUpBeforeClass(): void
    {
        self::$cluster = new RedisCluster();
    }

    public static function tearDownAfterClass(): void
    {
        self::$cluster?->stop();
        self::$cluster = null;
    }

    protected function setUp(): void
    {
        $this->store()->clear();
    }

    protected function store(): Store
    {
        return $this->store ??= self::named('test');
    }

    protected function reopened(): Store
    {
        return self::named('test');
    }

    protected function neighbour(): Store
    {
        return self::named('tes');
    }

    protected function losses(): iterable
    {
        foreach (['*clock' => 'the clocks', '*tags' => 'the tags', '*}[0-9]*' => 'the guards'] as $pattern => $name) {
            yield $name => static function () use ($pattern): void {
                foreach (self::$cluster->nodes ?? [] as $node) {
                    $redis = new \Redis();
                    $redis->connect($node->socket);
                    foreach ($redis->keys("test!{$pattern}") as $key) {
                        $redis->del($key);
                    }
                }
            };
        }
    }

    private static function named(string $prefix): Store
    {
        self::assertNotNull(self::$cluster);

        return Dsn::parse(self::$cluster->dsn("client=predis&prefix={$prefix}&serializer=php&timeout=10&read_timeout=10"))->open();
    }

    protected function forge(string $key, \Closure $forge): bool
    {
        $name = (new Layout('test:', Connections::SHARDS))->item($key);
        $cluster = self::$cluster;
        self::assertNotNull($cluster);
        Forgery::inRedis($cluster->nodes[$cluster->owner($name)]->socket, 0, $name, $forge);

        return true;
    }
}
