<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Store\MemcachedStore;
use Larder\Tests\System\CacheServer;
use PHPUnit\Framework\Attributes\CoversClass;

/** Three servers that share the keys. */
#[CoversClass(MemcachedStore::class)]
final class MemcachedServersTest extends MemcachedCase
{
    protected static function servers(): array
    {
        return [CacheServer::memcached()->start(), CacheServer::memcached()->start(), CacheServer::memcached()->start()];
    }
}
