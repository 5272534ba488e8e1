<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Store;

use Larder\Item;
use Larder\Store\ArrayStore;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(ArrayStore::class)]
final class ArrayStoreTest extends TestCase
{
    public function testItNeverHoldsMoreThanItMay(): void
    {
        foreach ([1, 2, 16, 100] as $most) {
            $store = new ArrayStore($most);
            for ($i = 0; $i < 1_000; $i++) {
                $store->save([new Item("key {$i}", $i)]);
                self::assertSame($i, $store->read("key {$i}"), 'What was just saved is there.');
                self::assertLessThanOrEqual($most, $store->statistics()->items);
            }
            self::assertGreaterThan(0, $store->statistics()->evictions);
            self::assertGreaterThanOrEqual(1_000 - $most, $store->statistics()->evictions);
        }
    }

    public function testWhatIsReadOftenStays(): void
    {
        $store = new ArrayStore(100);
        $store->save([new Item('hot', 'x')]);
        for ($i = 0; $i < 10_000; $i++) {
            $store->save([new Item("cold {$i}", $i)]);
            self::assertSame('x', $store->read('hot'));
        }
    }

    public function testItCountsWhatHappened(): void
    {
        $now = 1_000;
        $store = new ArrayStore(clock: static function () use (&$now): int {
            return $now;
        });
        $store->save([new Item('a', 1, 10), new Item('b', 2)]);
        $store->read('a');
        $store->fetch(['a', 'b', 'c']);
        $store->read('c');
        $now = 1_010;
        $store->read('a');
        $statistics = $store->statistics();
        self::assertSame([3, 3, 1, 1], [$statistics->hits, $statistics->misses, $statistics->expired, $statistics->items]);
    }

    public function testPlainArraysAreNotCopied(): void
    {
        $store = new ArrayStore();
        $store->save([new Item('key', range(1, 100_000))]);
        $before = memory_get_usage();
        $first = $store->read('key');
        $second = $store->read('key');
        self::assertSame($first, $second);
        self::assertLessThan(100_000, memory_get_usage() - $before);
    }
}
