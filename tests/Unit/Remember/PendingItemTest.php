<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Remember;

use Larder\Cache;
use Larder\Item;
use Larder\PendingItem;
use Larder\Remember\StampedeOptions;
use Larder\Store;
use Larder\Store\ArrayStore;
use Larder\Tests\Unit\TwoKindsOfStores;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/** What is remembered, and how the computation shapes it. */
#[CoversClass(PendingItem::class)]
final class PendingItemTest extends TestCase
{
    use TwoKindsOfStores;

    #[DataProvider('stores')]
    public function testRememberComputesOnce(bool $isDirect): void
    {
        $cache = new Cache($this->store($isDirect));
        $computed = 0;
        $compute = static function (PendingItem $pending) use (&$computed): mixed {
            self::assertSame('key', $pending->key);

            return [++$computed];
        };
        $first = $cache->remember('key', $compute);
        $second = $cache->remember('key', $compute);
        self::assertSame([[1], [1]], [$first, $second]);
        self::assertSame([1], $cache->get('key'));
        $cache->delete('key');
        $third = $cache->remember('key', $compute);
        self::assertSame([2], $third);
    }

    public function testAPendingItemShapesTheItem(): void
    {
        $now = time();
        $cache = new Cache(new ArrayStore(clock: static function () use (&$now): int {
            return $now;
        }));
        $cache->remember('short', static function (PendingItem $pending): int {
            self::assertSame(100, $pending->ttl());
            $pending->expireAfter(5);

            return 1;
        }, 100);
        $cache->remember('not kept', static function (PendingItem $pending): int {
            $pending->doNotStore();

            return 2;
        });
        self::assertTrue($cache->has('short'));
        self::assertFalse($cache->has('not kept'));
        $now += 5;
        self::assertFalse($cache->has('short'));
    }

    public function testAComputationThatThrowsStoresNothing(): void
    {
        $cache = new Cache(new ArrayStore());
        try {
            $cache->remember('key', self::broken(...));
            self::fail('What the computation throws must be thrown.');
        } catch (\Exception $failure) {
            self::assertSame('no value', $failure->getMessage());
            self::assertFalse($cache->has('key'));
        }
    }

    public function testAComputationMayUseTheCache(): void
    {
        $cache = new Cache(new ArrayStore());
        self::assertSame(3, $cache->remember('outer', static fn(): int => 1 + $cache->remember('inner', static fn(): int => 2)));
        self::assertSame(2, $cache->get('inner'));
    }

    public function testRememberSavesAFillWithTheTokenOfItsMiss(): void
    {
        $store = self::createMock(Store::class);
        $fetched = (new ArrayStore())->fetch(['key']);
        $store->method('fetch')->willReturn($fetched);
        $store->expects(self::once())->method('save')->willReturnCallback(static function (array $items) use ($fetched): array {
            self::assertCount(1, $items);
            self::assertInstanceOf(Item::class, $items[0]);
            self::assertTrue($items[0]->fill);
            self::assertSame($fetched->tokens['key'], $items[0]->token);
            self::assertGreaterThan(0.0, $items[0]->cost);

            return [];
        });
        (new Cache($store))->remember('key', static fn(): int => 1, stampede: new StampedeOptions(lease: 0.0));
    }

    private static function broken(): mixed
    {
        throw new \DomainException('no value');
    }
}
