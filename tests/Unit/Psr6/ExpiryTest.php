<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Psr6;

use Larder\Cache;
use Larder\Psr6\CacheItem;
use Larder\Psr6\CachePool;
use Larder\Store\ArrayStore;
use Larder\Tests\MemoryLogger;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/** When items expire. The sentences in quotation marks are those of PSR-6. */
#[CoversClass(CachePool::class)]
#[CoversClass(CacheItem::class)]
final class ExpiryTest extends TestCase
{
    /** Seconds by which the store's clock is ahead. */
    private int $later = 0;

    private ArrayStore $store;

    protected function setUp(): void
    {
        $this->store = new ArrayStore(clock: fn(): int => time() + $this->later);
    }

    /** "Implementing Libraries MUST support at minimum TTL functionality as described below with whole-second granularity." */
    public function testATtlIsCountedInWholeSeconds(): void
    {
        $pool = $this->pool();
        $expirations = [
            'seconds' => static fn(CacheItem $item): CacheItem => $item->expiresAfter(10),
            'interval' => static fn(CacheItem $item): CacheItem => $item->expiresAfter(new \DateInterval('PT10S')),
            'moment' => static fn(CacheItem $item): CacheItem => $item->expiresAt(new \DateTime('+10 seconds')),
            'moment elsewhere' => static fn(CacheItem $item): CacheItem => $item->expiresAt(new \DateTimeImmutable('+10 seconds', new \DateTimeZone('Asia/Tokyo'))),
        ];
        foreach ($expirations as $key => $expire) {
            self::assertTrue($pool->save($expire($pool->getItem($key)->set($key))));
        }
        $this->later = 8;
        foreach (array_keys($expirations) as $key) {
            self::assertTrue($pool->hasItem($key), $key);
        }
        $this->later = 11;
        foreach (array_keys($expirations) as $key) {
            self::assertFalse($pool->hasItem($key), $key);
        }
    }

    /**
     * "Implementing Libraries MAY expire an item before its requested Expiration Time, but MUST treat an item as expired once its Expiration Time is reached."
     * "An expired value MUST always be considered a cache miss."
     */
    public function testAnExpiredItemIsAMissEverywhere(): void
    {
        $pool = $this->pool();
        $pool->save($pool->getItem('key')->set('value')->expiresAfter(5));
        $pool->saveDeferred($pool->getItem('deferred')->set('value')->expiresAt(new \DateTime('-1 second')));
        $this->later = 5;
        foreach (['key', 'deferred'] as $key) {
            self::assertFalse($pool->getItem($key)->isHit());
            self::assertFalse($pool->hasItem($key));
            foreach ($pool->getItems([$key]) as $item) {
                self::assertFalse($item->isHit());
                self::assertNull($item->get());
            }
        }
    }

    /** @return iterable<string, array{int|\DateInterval|\DateTimeInterface}> */
    public static function over(): iterable
    {
        yield 'no second' => [0];
        yield 'less' => [-1];
        yield 'least' => [\PHP_INT_MIN];
        $past = new \DateInterval('P1D');
        $past->invert = 1;
        yield 'an interval into the past' => [$past];
        yield 'a past moment' => [new \DateTimeImmutable('-1 day')];
        yield 'the year 1' => [new \DateTimeImmutable('0001-01-01')];
    }

    /** "The point in time after which the item MUST be considered expired." "The period of time from the present after which the item MUST be considered expired." */
    #[DataProvider('over')]
    public function testWhatIsExpiredAlreadyReplacesWhatIsThereByNothing(int|\DateInterval|\DateTimeInterface $expiration): void
    {
        $pool = $this->pool();
        foreach ([true, false] as $isDeferred) {
            $pool->save($pool->getItem('key')->set('old'));
            $item = $pool->getItem('key')->set('new');
            $item = $expiration instanceof \DateTimeInterface ? $item->expiresAt($expiration) : $item->expiresAfter($expiration);
            self::assertTrue($isDeferred ? $pool->saveDeferred($item) && $pool->commit() : $pool->save($item));
            self::assertFalse($pool->hasItem('key'));
        }
    }

    /** "If no default duration has been set, the Implementing Library MUST interpret that as a request to cache the item forever, or for as long as the underlying implementation supports." */
    public function testWithoutADefaultAnItemLivesForEver(): void
    {
        $pool = $this->pool();
        $pool->save($pool->getItem('none')->set(1));
        $pool->save($pool->getItem('null after')->set(1)->expiresAfter(10)->expiresAfter(null));
        $pool->save($pool->getItem('null at')->set(1)->expiresAfter(10)->expiresAt(null));
        $pool->saveDeferred($pool->getItem('deferred')->set(1));
        $pool->commit();
        foreach (['none', 'null after', 'null at', 'deferred'] as $key) {
            self::assertArrayHasKey($key, $this->store->fetch([$key])->items);
            self::assertNull($this->store->fetch([$key])->items[$key]->expiry);
        }
    }

    /** "... specifies a null expiration time or TTL, an Implementing Library MAY use a configured default duration." */
    public function testAConfiguredDefaultIsUsed(): void
    {
        $pool = new CachePool(new Cache($this->store, 60));
        $pool->save($pool->getItem('key')->set(1));
        $pool->save($pool->getItem('longer')->set(1)->expiresAfter(100));
        $this->later = 60;
        self::assertFalse($pool->hasItem('key'));
        self::assertTrue($pool->hasItem('longer'));
    }

    private function pool(?MemoryLogger $logger = null): CachePool
    {
        return new CachePool(new Cache($this->store), $logger);
    }
}
