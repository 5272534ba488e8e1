<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Cache;

use Larder\Cache;
use Larder\Cache\Refusal;
use Larder\Store\ArrayStore;
use Larder\Store\ChaosStore;
use Larder\Tests\MemoryLogger;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(Refusal::class)]
final class RefusalTest extends TestCase
{
    public function testALineSaysWhyAStoreRefusesToSave(): void
    {
        $scratch = new Scratch();
        $small = Cache::open('array:?size=1M', logger: $log = new MemoryLogger());
        self::assertFalse($small->set('large', str_repeat('x', 2_000_000)));
        self::assertSame(["warning: The cache's store refuses to save: the value is too large for it."], $log->lines);
        self::assertSame('TooLarge', $log->contexts[0]['refusal']);

        $dsn = "sqlite:{$scratch->path}/cache.db?size=1M&evict=no";
        $full = Cache::open($dsn, logger: $log = new MemoryLogger());
        for ($i = 0; $i < 2_000 && $full->set("key {$i}", random_bytes(1_000)); $i++);
        self::assertSame(["warning: The cache's store refuses to save: it is full, see its size and whether it evicts."], $log->lines);

        $dsn = "sqlite:{$scratch->path}/other.db";
        $late = Cache::open($dsn, logger: $log = new MemoryLogger());
        $late->get('page');
        Cache::open($dsn)->delete('page');
        self::assertFalse($late->set('page', 'old'));
        self::assertSame(["notice: The cache's store refuses to save: the value is outdated, as its key was deleted, overwritten or invalidated since its computation began."], $log->lines);
        self::assertSame([], [...Cache::open($dsn)->store->keys()], 'Nothing is left of the trial.');
    }

    public function testEachReasonIsToldOnceAndNoneHidesAnother(): void
    {
        $cache = Cache::open('array:?size=1M', logger: $log = new MemoryLogger());
        $cache->get('page');
        $other = new Cache($cache->store);
        $other->delete('page');
        self::assertFalse($cache->set('page', 'old'));
        for ($i = 0; $i < 100; $i++) {
            self::assertFalse($cache->set("large {$i}", str_repeat('x', 2_000_000)));
        }
        self::assertSame(['Outdated', 'TooLarge'], array_column($log->contexts, 'refusal'));
    }

    public function testTheReasonOfEverFewerRefusalsIsLookedFor(): void
    {
        $chaos = new ChaosStore(new ArrayStore());
        $chaos->refused = ['key'];
        $cache = new Cache($chaos, logger: new MemoryLogger());
        for ($i = 0; $i < 100; $i++) {
            self::assertFalse($cache->set('key', 'value'));
        }
        // 1, 2, 4, 8, 16, 32 and 64: two saves each.
        self::assertCount(100 + 7 * 2, array_keys($chaos->calls, 'save', true));
    }
}
