<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Leases;
use Larder\Store\ArrayStore;
use Larder\Store\ChaosStore;
use Larder\Store\Redis\RedisLog;
use Larder\Store\RedisStore;
use Larder\Tests\Contract\RequestEachTime;
use Larder\Tier\TieredStore;
use PHPUnit\Framework\Attributes\CoversClass;

/** In front of a cluster, where each shard of keys has a log of its own. */
#[CoversClass(TieredStore::class)]
#[CoversClass(RedisLog::class)]
final class ArrayInFrontOfRedisClusterTest extends RedisClusterCase
{
    protected static function client(): string
    {
        return 'client=phpredis&serializer=igbinary';
    }

    public function leases(): Leases
    {
        $store = $this->store();
        self::assertTrue($store instanceof ChaosStore && $store->store instanceof Leases);

        return $store->store;
    }

    public function forge(string $key, \Closure $forge): bool
    {
        parent::forge($key, $forge);
        // A change of the far store alone is told to no process, and the near one would still have it.
        $this->leave();

        return true;
    }

    protected function named(string $name): ChaosStore
    {
        $far = parent::named($name);
        self::assertInstanceOf(RedisStore::class, $far);

        return RequestEachTime::of(new TieredStore(new ArrayStore(), $far, $far->log()));
    }
}
