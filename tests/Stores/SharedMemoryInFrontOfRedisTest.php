<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Reads;
use Larder\Store;
use Larder\Store\Redis\RedisLog;
use Larder\Tier\TieredStore;
use PHPUnit\Framework\Attributes\CoversClass;

#[CoversClass(TieredStore::class)]
#[CoversClass(RedisLog::class)]
final class SharedMemoryInFrontOfRedisTest extends TierOverRedisCase
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
}
