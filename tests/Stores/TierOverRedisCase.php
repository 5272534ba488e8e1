<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Bench\Server\RedisFlavour;
use Larder\Bench\Server\RedisServer;
use Larder\Leases;
use Larder\Reads;
use Larder\Store;
use Larder\Store\ArrayStore;
use Larder\Store\ChaosStore;
use Larder\Store\RedisStore;
use Larder\Stores;
use Larder\Tests\Contract\RequestEachTime;
use Larder\Tier\TieredStore;

/** What a near store in front of Redis or Valkey promises, whichever it is: all that Redis does, and the same to everyone. */
abstract class TierOverRedisCase extends NamedStoreCase
{
    private static ?RedisServer $server = null;

    /** @param string $name one near store for each */
    abstract protected function near(string $name): Store&Reads;

    protected static function flavour(): RedisFlavour
    {
        return RedisFlavours::first();
    }

    protected static function client(): string
    {
        return 'phpredis';
    }

    /** Whether there is an array in front of that. */
    protected function hasThreeTiers(): bool
    {
        return false;
    }

    final public static function setUpBeforeClass(): void
    {
        self::$server = RedisServer::start(static::flavour());
    }

    final public static function tearDownAfterClass(): void
    {
        self::$server?->stop();
        self::$server = null;
    }

    protected function setUp(): void
    {
        $this->tier('test')->clear();
        $this->near('test')->clear();
    }

    final public function losses(): iterable
    {
        $this->store()->fetch(['key']);
        $redis = self::redis();
        foreach ($redis->keys('test!*') as $name) {
            yield $name => static function () use ($redis, $name): void {
                $redis->del($name);
            };
        }
        yield 'the end of the log' => static function () use ($redis): void {
            $redis->xDel('test!log', array_keys($redis->xRevRange('test!log', '+', '-', 1)));
        };
        yield 'everything' => static function () use ($redis): void {
            $redis->flushAll();
        };
        yield 'the near store' => fn() => $this->near('test')->clear();
    }

    public function leases(): Leases
    {
        $store = $this->store();
        self::assertTrue($store instanceof ChaosStore && $store->store instanceof Leases);

        return $store->store;
    }

    public function forge(string $key, \Closure $forge): bool
    {
        Forgery::inRedis(self::server()->socket, 0, "test:{$key}", $forge);
        $this->near('test')->clear();
        // A change of the far store alone is told to no process, and the near one would still have it.
        $this->leave();

        return true;
    }

    protected function named(string $name): ChaosStore
    {
        return RequestEachTime::of($this->tier($name));
    }

    final protected function tier(string $name): TieredStore
    {
        $far = Stores::open('redis://127.0.0.1:' . self::server()->port . '/0?client=' . static::client() . "&prefix={$name}&read_timeout=60");
        self::assertInstanceOf(RedisStore::class, $far);
        $log = $far->log();
        $tier = new TieredStore($this->near($name), $far, $log);

        return $this->hasThreeTiers() ? new TieredStore(new ArrayStore(), $tier, $log) : $tier;
    }

    final protected static function redis(): \Redis
    {
        $redis = new \Redis();
        $redis->connect(self::server()->socket);

        return $redis;
    }

    private static function server(): RedisServer
    {
        self::assertNotNull(self::$server);

        return self::$server;
    }
}
