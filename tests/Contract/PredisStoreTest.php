<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Bench\Server\RedisServer;
use Larder\Dsn;
use Larder\Store;
use Larder\Store\Redis\PredisConnection;
use Larder\Store\RedisStore;
use PHPUnit\Framework\Attributes\CoversClass;

/** Redis, or Valkey where both are installed, by Predis, over a unix socket, with PHP's own serializer. */
#[CoversClass(RedisStore::class)]
#[CoversClass(PredisConnection::class)]
final class PredisStoreTest extends SharedStoreContract
{
    private static ?RedisServer $server = null;

    private ?Store $store = null;

    public static function setUpBeforeClass(): void
    {
        self::$server = RedisServer::start(RedisFlavours::last());
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
        $redis->select(0);
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

        return Dsn::parse("redis+unix:{$server->socket}?client=predis&prefix={$prefix}&serializer=php&read_timeout=10")->open();
    }

    protected function forge(string $key, \Closure $forge): bool
    {
        Forgery::inRedis(self::$server->socket ?? '', 0, "test:{$key}", $forge);

        return true;
    }
}
