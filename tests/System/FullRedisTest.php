<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\SaveMode;
use Larder\Store;
use Larder\Store\RedisStore;
use Larder\Stores;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\TestWith;

/** A server that has as much as it may have, and evicts nothing. */
#[CoversClass(RedisStore::class)]
final class FullRedisTest extends OneRedis
{
    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testAFullServerKeepsWhatIsToStayAndNothingElse(string $client): void
    {
        $store = Stores::open('redis+unix://' . self::server()->socket . "?client={$client}&prefix={$client}");
        $redis = self::redis();
        foreach ([SaveMode::Set, SaveMode::Replace] as $mode) {
            foreach ([100_000, 2_000_000] as $length) {
                $redis->config('SET', 'maxmemory', '0');
                $store->save([new Item('keeps', 'old'), new Item('goes', 'old')]);
                $redis->config('SET', 'maxmemory', '1');
                foreach (['keeps' => true, 'goes' => false] as $key => $keeps) {
                    self::assertFalse(self::isSaved($store, new Item($key, random_bytes($length), keeps: $keeps), $mode));
                }
                self::assertSame(['keeps' => 'old'], array_map(static fn(Item $item): mixed => $item->value, $store->fetch(['keeps', 'goes'])->items), "{$mode->name} of {$length} bytes");
            }
        }
    }

    private static function isSaved(Store $store, Item $item, SaveMode $mode): bool
    {
        try {
            return $store->save([$item], $mode) === [];
        } catch (StoreUnavailable) {
            return false;
        }
    }
}
