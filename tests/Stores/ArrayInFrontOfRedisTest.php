<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Bench\Server\RedisFlavour;
use Larder\Reads;
use Larder\Store;
use Larder\Store\ArrayStore;
use Larder\Store\Redis\RedisLog;
use Larder\Tier\TieredStore;
use PHPUnit\Framework\Attributes\CoversClass;

/** By the client Predis, which has no extension, over Valkey where there is one. */
#[CoversClass(TieredStore::class)]
#[CoversClass(RedisLog::class)]
final class ArrayInFrontOfRedisTest extends TierOverRedisCase
{
    protected static function flavour(): RedisFlavour
    {
        return RedisFlavours::last();
    }

    protected static function client(): string
    {
        return 'predis';
    }

    protected function near(string $name): Store&Reads
    {
        return new ArrayStore();
    }
}
