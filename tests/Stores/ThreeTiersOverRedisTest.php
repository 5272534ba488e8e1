<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Reads;
use Larder\Store;
use Larder\Store\Redis\RedisLog;
use Larder\Tier\TieredStore;
use PHPUnit\Framework\Attributes\CoversClass;

/** An array in front of shared memory in front of Redis. */
#[CoversClass(TieredStore::class)]
#[CoversClass(RedisLog::class)]
final class ThreeTiersOverRedisTest extends TierOverRedisCase
{
    private ?Pools $pools = null;

    protected function tearDown(): void
    {
        parent::tearDown();
        $this->pools?->remove();
        $this->pools = null;
    }

    protected function near(string $name): Store&Reads
    {
        return ($this->pools ??= new Pools(8 << 20))->open($name);
    }

    protected function hasThreeTiers(): bool
    {
        return true;
    }
}
