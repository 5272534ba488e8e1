<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Bench\Server\RedisFlavour;
use Larder\Bench\Server\RedisServer;
use Larder\Store\Redis\ApcuMemory;
use Larder\Store\Redis\NearTags;
use Larder\Store\Redis\Span;
use Larder\Store\RedisStore;
use PHPUnit\Framework\Attributes\CoversClass;

/** Redis by the extension redis, with tags that the host judges by itself, in APCu. */
#[CoversClass(RedisStore::class)]
#[CoversClass(NearTags::class)]
#[CoversClass(Span::class)]
#[CoversClass(ApcuMemory::class)]
final class NearTagsRedisStoreTest extends RedisCase
{
    protected static function flavour(): RedisFlavour
    {
        return RedisFlavours::last();
    }

    protected static function database(): int
    {
        return 5;
    }

    protected static function dsn(RedisServer $server): string
    {
        return "redis+unix:{$server->socket}?database=5&client=phpredis&tags=near";
    }
}
