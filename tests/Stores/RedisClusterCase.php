<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Store;
use Larder\Store\Redis\Connections;
use Larder\Store\Redis\Layout;
use Larder\Stores;
use Larder\Tests\System\RedisCluster;

/** RedisStore over a cluster of three masters, by one client. */
abstract class RedisClusterCase extends NamedStoreCase
{
    private static ?RedisCluster $cluster = null;

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

    final public function losses(): iterable
    {
        foreach (['*clock' => 'the clocks', '*tags' => 'the tags', '*key_versions' => 'the key versions', '*log' => 'the logs'] as $pattern => $name) {
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

    protected function named(string $name): Store
    {
        self::assertNotNull(self::$cluster);

        return Stores::open(self::$cluster->dsn(static::client() . "&prefix={$name}&timeout=10&read_timeout=60"));
    }

    public function forge(string $key, \Closure $forge): bool
    {
        $name = (new Layout('test:', Connections::SHARDS))->item($key);
        $cluster = self::$cluster;
        self::assertNotNull($cluster);
        Forgery::inRedis($cluster->nodes[$cluster->owner($name)]->socket, 0, $name, $forge);

        return true;
    }
}
