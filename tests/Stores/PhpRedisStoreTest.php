<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Bench\Server\RedisFlavour;
use Larder\Bench\Server\RedisServer;
use Larder\Store\Redis\PhpRedisConnection;
use Larder\Store\RedisStore;
use PHPUnit\Framework\Attributes\CoversClass;

/** Redis by the extension redis, over TCP, with igbinary. */
#[CoversClass(RedisStore::class)]
#[CoversClass(PhpRedisConnection::class)]
final class PhpRedisStoreTest extends RedisCase
{
    protected static function flavour(): RedisFlavour
    {
        return RedisFlavours::first();
    }

    protected static function database(): int
    {
        return 3;
    }

    protected static function dsn(RedisServer $server): string
    {
        return "redis://127.0.0.1:{$server->port}/3?client=phpredis&serializer=igbinary";
    }
}
