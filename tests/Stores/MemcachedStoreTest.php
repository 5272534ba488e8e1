<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Store\MemcachedStore;
use Larder\Tests\System\CacheServer;
use PHPUnit\Framework\Attributes\CoversClass;

/** One server. */
#[CoversClass(MemcachedStore::class)]
final class MemcachedStoreTest extends MemcachedCase
{
    protected static function servers(): array
    {
        return [CacheServer::memcached()->start()];
    }
}
