<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Store\Redis\ClusterConnection;
use Larder\Store\Redis\PredisConnection;
use Larder\Store\RedisStore;
use PHPUnit\Framework\Attributes\CoversClass;

/** By Predis, which asks all masters at once, with PHP's own serializer. */
#[CoversClass(RedisStore::class)]
#[CoversClass(ClusterConnection::class)]
#[CoversClass(PredisConnection::class)]
final class PredisClusterStoreTest extends RedisClusterCase
{
    protected static function client(): string
    {
        return 'client=predis&serializer=php';
    }
}
