<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Bench\Server\RedisServer;
use Larder\Dsn;
use Larder\Store;
use Larder\Store\Redis\PhpRedisConnection;
use Larder\Store\RedisStore;
use PHPUnit\Framework\Attributes\CoversClass;

/** Redis by the extension redis, over TCP, with igbinary. */
#[CoversClass(RedisStore::class)]
#[CoversClass(PhpRedisConnection::class)]
final class PhpRedisStoreTest extends SharedStoreContract
{
    private static ?RedisServer $server = null;

    private ?Store $store = null;

    public static function setUpBeforeClass(): void
    {
        self::$server = RedisServer::start(RedisFlavours::first());
    }

    public static function tearDownAfterClass(): void
    {
        self::$server?->stop();
        self::$server = null;
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
        $redis = new \Redis();
        $redis->connect(self::$server->socket ?? '');
        $redis->select(3);
        foreach ($redis->keys('test!*') as $name) {
            yield $name => static function () use ($redis, $name): void {
                $redis->del($name);
            };
        }
    }

    private static function named(string $prefix): Store
    {
        $server = self::$server;
        self::assertNotNull($server);

        return Dsn::parse("redis://127.0.0.1:{$server->port}/3?client=phpredis&prefix={$prefix}&serializer=igbinary&read_timeout=10")->open();
    }

    protected function forge(string $key, \Closure $forge): bool
    {
        Forgery::inRedis(self::$server->socket ?? '', 3, "test:{$key}", $forge);

        return true;
    }
}
