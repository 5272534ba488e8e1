<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Bench\Server\RedisFlavour;
use Larder\Bench\Server\RedisServer;
use Larder\Item;
use Larder\SaveMode;
use Larder\Store;
use Larder\Store\Redis\Entry;
use Larder\Store\Tags;
use Larder\Stores;

/** RedisStore over one server, by one client. */
abstract class RedisCase extends NamedStoreCase
{
    private static ?RedisServer $server = null;

    abstract protected static function flavour(): RedisFlavour;

    abstract protected static function database(): int;

    /** @return string the DSN of the database, with options but without a prefix */
    abstract protected static function dsn(RedisServer $server): string;

    final public static function setUpBeforeClass(): void
    {
        self::$server = RedisServer::start(static::flavour());
    }

    final public static function tearDownAfterClass(): void
    {
        self::$server?->stop();
        self::$server = null;
    }

    final protected function setUp(): void
    {
        $this->store()->clear();
    }

    final public function losses(): iterable
    {
        $redis = new \Redis();
        $redis->connect(self::server()->socket);
        $redis->select(static::database());
        foreach ($redis->keys('test!*') as $name) {
            yield $name => static function () use ($redis, $name): void {
                $redis->del($name);
            };
        }
    }

    final public function forge(string $key, \Closure $forge): bool
    {
        Forgery::inRedis(self::server()->socket, static::database(), "test:{$key}", $forge);

        return true;
    }

    /** The server reads the tags itself, once one was invalidated. */
    final public function testWhatIsCutOffInItsTagsIsAMissAndNoErrorToAnyOperation(): void
    {
        $item = new Item('key', 'value', 1_000, ['first', 'second']);
        $end = Entry::HEAD + \strlen(Tags::pack($item->tags));
        for ($length = 0; $length < $end; $length++) {
            self::assertSame([], $this->store()->save([$item]));
            $this->store()->invalidateTags(['another']);
            $this->forge('key', static fn(string $bytes): string => substr($bytes, 0, $length));
            self::assertSame([], $this->reopened()->fetch(['key'])->items, "cut after {$length}");
            self::assertSame([], $this->store()->touch(['key'], 2_000), "cut after {$length}");
            self::assertSame([], $this->store()->delete(['key']), "cut after {$length}");
            self::assertSame([], $this->store()->save([$item], SaveMode::Add), "cut after {$length}");
            self::assertSame('value', $this->value('key'), "cut after {$length}");
        }
    }

    final protected function named(string $name): Store
    {
        return Stores::open(static::dsn(self::server()) . "&prefix={$name}&read_timeout=60");
    }

    private static function server(): RedisServer
    {
        self::assertNotNull(self::$server);

        return self::$server;
    }
}
