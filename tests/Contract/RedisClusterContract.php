<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Dsn;
use Larder\Store;
use Larder\Store\Redis\Connections;
use Larder\Store\Redis\Layout;
use Larder\Tests\System\RedisCluster;

/** RedisStore over a cluster of three masters, by one client. */
abstract class RedisClusterContract extends SharedStoreContract
{
    private static ?RedisCluster $cluster = null;

    private ?Store $store = null;

    /** @return string options of the DSN */
    abstract protected static function client(): string;

    final public static function setUpBeforeClass(): void
    {
        self::$cluster = new RedisCluster();
    }

    final public static function tearDownAfterClass(): void
    {
        self::$cluster?->stop();
        self::$cluster = null;
    }

    final protected function setUp(): void
    {
        $this->store()->clear();
    }

    final protected function store(): Store
    {
        return $this->store ??= self::named('test');
    }

    final protected function reopened(): Store
    {
        return self::named('test');
    }

    final protected function neighbour(): Store
    {
        return self::named('tes');
    }

    final protected function losses(): iterable
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

        return Dsn::parse(self::$cluster->dsn(static::client() . "&prefix={$prefix}&timeout=10&read_timeout=10"))->open();
    }

    final protected function forge(string $key, \Closure $forge): bool
    {
        $name = (new Layout('test:', Connections::SHARDS))->item($key);
        $cluster = self::$cluster;
        self::assertNotNull($cluster);
        Forgery::inRedis($cluster->nodes[$cluster->owner($name)]->socket, 0, $name, $forge);

        return true;
    }
}
