<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Store\Redis\ApcuMemory;
use Larder\Store\Redis\ClusterConnection;
use Larder\Store\Redis\NearTags;
use Larder\Store\Redis\Span;
use Larder\Store\RedisStore;
use PHPUnit\Framework\Attributes\CoversClass;

/** A cluster by the extension redis, with tags that the host judges by itself, of each shard for itself, in APCu. */
#[CoversClass(RedisStore::class)]
#[CoversClass(ClusterConnection::class)]
#[CoversClass(NearTags::class)]
#[CoversClass(Span::class)]
#[CoversClass(ApcuMemory::class)]
final class NearTagsRedisClusterStoreTest extends RedisClusterCase
{
    protected static function client(): string
    {
        return 'client=phpredis&tags=near';
    }
}
