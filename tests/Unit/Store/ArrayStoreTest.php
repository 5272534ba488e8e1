<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Store;

use Larder\Cache;
use Larder\Exception\InvalidOption;
use Larder\Item;
use Larder\SaveMode;
use Larder\Store\ArrayStore;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;
use Random\Engine\Mt19937;
use Random\Randomizer;

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

    public function testItNeverHoldsMoreBytesThanItMay(): void
    {
        $values = [
            'strings' => static fn(int $i): mixed => str_repeat(\chr(97 + $i % 26), 20_000),
            'arrays' => static fn(int $i): mixed => ['number' => $i, 'parts' => array_map(static fn(int $n): string => str_repeat('x', $n), range(1, 200))],
            'objects' => static fn(int $i): mixed => (object) ['text' => str_repeat('x', 20_000 + $i)],
            'many small ones' => static fn(int $i): mixed => [$i],
        ];
        foreach ($values as $what => $value) {
            $store = new ArrayStore(100_000, size: 1 << 20);
            $before = memory_get_usage();
            for ($i = 0; $i < 5_000; $i++) {
                $store->save([new Item("key {$i}", $value($i), tags: ['a tag'])]);
                self::assertNotNull($store->read("key {$i}"), 'What was just saved is there.');
                self::assertLessThanOrEqual(1 << 20, $store->statistics()->bytes);
            }
            // Besides the values, it remembers ten thousand keys and more.
            self::assertLessThan(6 << 20, memory_get_usage() - $before, $what);
            self::assertGreaterThan(10, $store->statistics()->items, $what);
        }
    }

    public function testASizeAloneIsTheOnlyBound(): void
    {
        $cache = Cache::open('array:?size=16M');
        for ($i = 0; $i < 20_000; $i++) {
            $cache->set("key {$i}", $i);
        }
        self::assertSame(20_000, $cache->statistics()?->items);
        for (; $i < 100_000; $i++) {
            $cache->set("key {$i}", $i);
        }
        $statistics = $cache->statistics();
        self::assertGreaterThan(20_000, $statistics->items);
        self::assertLessThanOrEqual(16 << 20, $statistics->bytes);
        self::assertGreaterThan(14 << 20, $statistics->bytes);
        self::assertNull($cache->get('key 0'));
        self::assertSame(99_999, $cache->get('key 99999'));
    }

    /** Half of it to twice as much is what an estimate may be wrong by. */
    #[TestWith(['number'])]
    #[TestWith(['text'])]
    #[TestWith(['row'])]
    #[TestWith(['object'])]
    #[TestWith(['tagged'])]
    public function testItTakesAboutAsMuchOfPhpsMemoryAsItSays(string $kind): void
    {
        $cache = Cache::open('array:?size=8M');
        // What is once, such as classes.
        $cache->set('key', new \DateTimeImmutable());
        $before = memory_get_usage();
        for ($i = 0; $i < 40_000; $i++) {
            $value = match ($kind) {
                'number' => $i,
                'text' => str_repeat('x', 1_000) . $i,
                'row' => ['id' => $i, 'title' => "title {$i}", 'parts' => [$i, "part {$i}"]],
                'object' => new \DateTimeImmutable("@{$i}"),
                default => "value {$i}",
            };
            $cache->set("key {$i}", $value, tags: $kind === 'tagged' ? ['all', "tag {$i}", 'third'] : []);
        }
        self::assertGreaterThan(0, $cache->statistics()?->evictions, 'It is not full.');
        self::assertGreaterThan(4 << 20, memory_get_usage() - $before);
        self::assertLessThan(16 << 20, memory_get_usage() - $before);
    }

    public function testWhatIsLargerThanAllOfItIsNotStoredAndLeavesNothing(): void
    {
        $store = new ArrayStore(size: 1 << 20);
        $store->save([new Item('key', 'old'), new Item('other', 'kept')]);
        self::assertSame(['key'], $store->save([new Item('key', str_repeat('x', 1 << 20))]));
        self::assertNull($store->read('key'));
        self::assertSame('kept', $store->read('other'));
        self::assertSame(['key'], $store->save([new Item('key', str_repeat('x', 1 << 20))], SaveMode::Add));
        self::assertSame([], $store->save([new Item('key', str_repeat('x', 1 << 19))]));
    }

    public function testItsBytesAreThoseOfWhatItHolds(): void
    {
        $seed = random_int(0, \PHP_INT_MAX);
        $random = new Randomizer(new Mt19937($seed));
        $now = 1_000;
        $store = new ArrayStore(200, 1 << 20, static function () use (&$now): int {
            return $now;
        });
        for ($step = 0; $step < 3_000; $step++) {
            $key = "key {$random->getInt(0, 300)}";
            match ($random->getInt(0, 8)) {
                0 => $store->delete([$key]),
                1 => $store->touch([$key], $random->getInt(0, 5)),
                2 => $store->prune(),
                3 => $store->fetch([$key]),
                4 => $now += $random->getInt(0, 1),
                5 => $store->invalidateTags(['tag']),
                6 => $store->increment("n {$random->getInt(0, 9)}"),
                default => $store->save([new Item($key, str_repeat('x', $random->getInt(0, 20_000)), $random->getInt(-1, 9), $random->getInt(0, 1) === 0 ? [] : ['tag'])]),
            };
            self::assertLessThanOrEqual(1 << 20, $store->statistics()->bytes, "seed {$seed}");
        }
        self::assertGreaterThan(0, $store->statistics()->bytes, "seed {$seed}");
        $store->delete([...$store->keys()]);
        $store->prune();
        self::assertSame([0, 0], [$store->statistics()->items, $store->statistics()->bytes], "seed {$seed}");
        $store->save([new Item('key', 'value')]);
        $store->clear();
        self::assertSame(0, $store->statistics()->bytes);
    }

    public function testItLeavesTheApplicationMostOfWhatPhpMayUse(): void
    {
        $limit = (string) \ini_get('memory_limit');
        try {
            foreach (['512M' => 64 << 20, '128M' => 32 << 20, '-1' => 64 << 20] as $limited => $share) {
                ini_set('memory_limit', (string) $limited);
                self::assertSame($share, (new ArrayStore())->statistics()->capacity);
            }
        } finally {
            ini_set('memory_limit', $limit);
        }
        $this->expectException(InvalidOption::class);
        new ArrayStore(size: 1_000);
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

    public function testTagsThatNoItemCarriesAreForgottenAndKillNothingButFillsThatAreInFlight(): void
    {
        $store = new ArrayStore();
        $store->save([new Item('killed', 1, tags: ['x', 'all']), new Item('kept', 1, tags: ['all', 'y']), new Item('stale', 1, tags: ['z'])]);
        $late = $store->token('fill');
        $store->invalidateTags(['x']);
        $store->invalidateTags(['z'], 1_000);
        $store->save([new Item('again', 1, tags: ['x'])]);
        for ($i = 0; $i < 30; $i++) {
            $store->invalidateTags(array_map(static fn(int $tag): string => "{$i} {$tag}", range(0, 999)));
        }
        self::assertLessThan(11_000, $store->statistics()->details['tags']);
        $fetched = $store->fetch(['killed', 'kept', 'stale', 'again']);
        self::assertSame([['kept', 'again'], ['stale']], [array_keys($fetched->items), array_keys($fetched->stale)]);
        self::assertSame(['fill'], $store->save([new Item('fill', 1, tags: ['0 7'], token: $late, fill: true)]));
        self::assertSame([], $store->save([new Item('untagged', 1, token: $late, fill: true)]));
        self::assertSame([], $store->save([new Item('fill', 1, tags: ['0 7'], token: $store->token('fill'), fill: true)]));
        $store->invalidateTags(['y', 'x']);
        self::assertSame([], $store->fetch(['kept', 'again'])->items);
    }
}
