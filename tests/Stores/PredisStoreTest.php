<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Bench\Server\RedisFlavour;
use Larder\Bench\Server\RedisServer;
use Larder\Store\Redis\PredisConnection;
use Larder\Store\RedisStore;
use PHPUnit\Framework\Attributes\CoversClass;

/** Redis, or Valkey where both are installed, by Predis, over a unix socket, with PHP's own serializer. */
#[CoversClass(RedisStore::class)]
#[CoversClass(PredisConnection::class)]
final class PredisStoreTest extends RedisCase
{
    protected static function flavour(): RedisFlavour
    {
        return RedisFlavours::last();
    }

    protected static function database(): int
    {
        return 0;
    }

    protected static function dsn(RedisServer $server): string
    {
        return "redis+unix:{$server->socket}?client=predis&serializer=php";
    }
}
