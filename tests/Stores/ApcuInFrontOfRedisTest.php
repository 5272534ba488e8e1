<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Reads;
use Larder\Store;
use Larder\Store\ApcuStore;
use Larder\Store\Redis\RedisLog;
use Larder\Tier\TieredStore;
use PHPUnit\Framework\Attributes\CoversClass;

#[CoversClass(TieredStore::class)]
#[CoversClass(RedisLog::class)]
final class ApcuInFrontOfRedisTest extends TierOverRedisCase
{
    public function isBlockedByTheDead(): bool
    {
        return true;
    }

    protected function near(string $name): Store&Reads
    {
        return new ApcuStore("near-{$name}");
    }
}
