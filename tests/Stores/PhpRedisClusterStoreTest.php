<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Store\Redis\ClusterConnection;
use Larder\Store\Redis\PhpRedisConnection;
use Larder\Store\RedisStore;
use PHPUnit\Framework\Attributes\CoversClass;

/** By the extension redis, which asks one master after the other, with igbinary. */
#[CoversClass(RedisStore::class)]
#[CoversClass(ClusterConnection::class)]
#[CoversClass(PhpRedisConnection::class)]
final class PhpRedisClusterStoreTest extends RedisClusterCase
{
    protected static function client(): string
    {
        return 'client=phpredis&serializer=igbinary';
    }
}
