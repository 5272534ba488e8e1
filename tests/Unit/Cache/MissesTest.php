<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Cache;

use Larder\Cache;
use Larder\Cache\Misses;
use Larder\Cache\MissTokens;
use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\Psr16\SimpleCache;
use Larder\Psr6\CachePool;
use Larder\Store\ArrayStore;
use Larder\Store\ChaosStore;
use Larder\Store\FileStore;
use Larder\Store\NamespacedStore;
use Larder\Store\SqliteStore;
use Larder\Tests\Scratch;
use Larder\Token;
use Larder\Trace\RecordingStore;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

/** By what a fill is judged that follows a miss. */
#[CoversClass(Misses::class)]
#[CoversClass(MissTokens::class)]
final class MissesTest extends TestCase
{
    public function testAFillThatWasOvertakenIsRefused(): void
    {
        $store = new ArrayStore();
        $overtaken = [
            static fn(Cache $other): bool => $other->delete('key'),
            static fn(Cache $other): bool => $other->set('key', 'theirs'),
            static fn(Cache $other): bool => $other->clear(),
            static fn(Cache $other): bool => $other->invalidateTags(['tag']),
        ];
        foreach ($overtaken as $overtake) {
            $mine = new Cache($store);
            $other = new Cache($store);
            $fills = [
                static fn(): bool => $mine->set('key', 'stale', tags: ['tag']),
                static fn(): bool => $mine->setMany(['key' => 'stale'], tags: ['tag']),
                static fn(): bool => $mine->add('key', 'stale', tags: ['tag']),
            ];
            foreach ($fills as $fill) {
                foreach ([static fn(): mixed => $mine->get('key'), static fn(): mixed => $mine->getMany(['key']), static fn(): mixed => $mine->has('key')] as $miss) {
                    $other->delete('key');
                    $miss();
                    self::assertTrue($overtake($other));
                    self::assertFalse($fill());
                    self::assertNotSame('stale', $other->get('key'));
                    $other->delete('key');
                    self::assertTrue($mine->set('key', 'mine'), 'A token judges one fill.');
                }
            }
            $other->delete('key');
            $mine->remember('key', static function () use ($overtake, $other): string {
                $overtake($other);

                return 'stale';
            }, tags: ['tag']);
            self::assertNotSame('stale', $other->get('key'));
        }
    }

    public function testWhatARequestDidItselfRefusesNothing(): void
    {
        $cache = new Cache(new ArrayStore());
        $own = [
            static fn(): mixed => $cache->delete('key'),
            static fn(): mixed => $cache->set('key', 1),
            static fn(): mixed => $cache->increment('key'),
            static fn(): mixed => $cache->replace('key', 1),
            static fn(): mixed => $cache->clear(),
            static fn(): mixed => $cache->invalidateTags(['tag']),
            $cache->refresh(...),
        ];
        foreach ($own as $do) {
            $cache->delete('key');
            self::assertNull($cache->get('key'));
            $do();
            self::assertTrue($cache->set('key', 'new', tags: ['tag']));
            self::assertSame('new', $cache->get('key'));
        }
    }

    public function testInAnotherRequestAMissJudgesNothingAnyMore(): void
    {
        $store = new ArrayStore();
        $cache = new Cache($store);
        foreach ([$cache->refresh(...), (new SimpleCache($cache))->reset(...), (new CachePool($cache))->reset(...)] as $begin) {
            self::assertNull($cache->get('key'));
            (new Cache($store))->set('key', 'theirs');
            $begin();
            self::assertTrue($cache->set('key', 'mine'));
            $cache->delete('key');
        }
    }

    public function testInAnotherRequestAMissJudgesNothingEvenIfTheStoreFailsWhileItBegins(): void
    {
        $store = new ChaosStore(new ArrayStore());
        $cache = new Cache($store, strict: true);
        foreach ([$cache->refresh(...), (new SimpleCache($cache))->reset(...)] as $begin) {
            self::assertNull($cache->get('key'));
            (new Cache($store->store))->set('key', 'theirs');
            $store->isDown = true;
            try {
                $begin();
            } catch (StoreUnavailable) {
            }
            $store->isDown = false;
            self::assertTrue($cache->set('key', 'mine'));
            $cache->delete('key');
        }
    }

    public function testAStoreLearnsOfAnotherRequestThroughOthersInFrontOfIt(): void
    {
        $chaos = new ChaosStore(new ArrayStore(), 1);
        $inner = new ChaosStore($chaos);
        $scratch = new Scratch();
        $cache = new Cache(new NamespacedStore(new RecordingStore($inner, "{$scratch->path}/trace"), 'site'));
        $cache->refresh();
        self::assertSame(['beginRequest'], array_values(array_intersect($chaos->calls, ['beginRequest'])));
    }

    public function testALateFillIsRefusedAfterThousandsOfOtherMisses(): void
    {
        $store = new ArrayStore();
        $cache = new Cache($store);
        for ($i = 0; $i < 16_000; $i++) {
            $cache->get("key {$i}");
        }
        (new Cache($store))->delete('key 0');
        self::assertFalse($cache->set('key 0', 'stale'));
        self::assertTrue($cache->set('key 1', 'fine'));
        self::assertTrue($cache->set('key 15999', 'fine'));
    }

    public function testALateFillIsRefusedHoweverManyOtherMissesThereWere(): void
    {
        $store = new ArrayStore();
        $cache = new Cache($store);
        for ($i = 0; $i < 40_000; $i += 1_000) {
            $cache->getMany(array_map(static fn(int $n): string => "key {$n}", range($i, $i + 999)));
        }
        $other = new Cache($store);
        foreach ([0, 1, 8_191, 8_192, 20_000, 39_999] as $i) {
            $other->set("key {$i}", 'theirs');
            $other->delete("key {$i}");
            self::assertFalse($cache->set("key {$i}", 'stale'), "key {$i}");
            self::assertNull($other->get("key {$i}"));
            self::assertTrue($cache->set("key {$i}", 'mine'), 'What was forgotten refuses one fill.');
        }
        self::assertTrue($cache->set('key 39998', 'a fill of which the token is there'));
        // A second miss is no younger than the first.
        self::assertNull($cache->get('key 2'));
        self::assertFalse($cache->set('key 2', 'computed after the first miss'));
        self::assertTrue($cache->delete('key 3'));
        self::assertTrue($cache->set('key 3', 'new'));
        $cache->refresh();
        self::assertTrue($cache->set('key 4', 'of another request'));
    }

    public function testEachOfThousandsThatAreForgottenIsKnownOnceAndNoOther(): void
    {
        $misses = new Misses();
        $token = new Token('epoch', 1);
        for ($i = 0; $i < 100_000; $i++) {
            $misses->note((string) $i, $token);
        }
        $tokens = 0;
        for ($i = 0; $i < 100_000; $i++) {
            $taken = $misses->take((string) $i);
            self::assertNotNull($taken);
            $tokens += Misses::isOfAMiss($taken) ? 1 : 0;
            self::assertNull($misses->take((string) $i));
            self::assertNull($misses->take("other {$i}"));
        }
        self::assertGreaterThanOrEqual(16_384, $tokens);
        self::assertLessThanOrEqual(32_768, $tokens);
    }

    public function testThousandsThatWereMissedCanAllBeSet(): void
    {
        $scratch = new Scratch();
        foreach ([new ArrayStore(), new SqliteStore("{$scratch->path}/cache.db")] as $store) {
            $cache = new SimpleCache(new Cache($store));
            $keys = array_map(static fn(int $i): string => "key {$i}", range(1, 20_000));
            self::assertCount(20_000, [...$cache->getMultiple($keys)]);
            self::assertTrue($cache->setMultiple(array_fill_keys($keys, 'value')));
            self::assertSame(array_fill_keys($keys, 'value'), $cache->getMultiple($keys));
        }
    }

    /** As in a worker that never says that a request begins. */
    public function testWhatWasMissedTakesNoMoreMemoryAndJudgesNothingAfterManyOtherMisses(): void
    {
        $misses = new Misses();
        $token = new Token('epoch', 1);
        $most = [0, 0];
        for ($i = 0; $i < 1_000_000; $i++) {
            $misses->note("key {$i}", $token);
            if ($i % 1_000 === 0) {
                $most[intdiv($i, 500_000)] = max($most[intdiv($i, 500_000)], memory_get_usage());
            }
        }
        self::assertLessThan(1 << 20, $most[1] - $most[0]);
        self::assertNull($misses->take('key 0'));
        self::assertNotNull($misses->take('key 870000'));
    }

    public function testAMissJudgesNothingAnyMoreWhenItIsAnHourOld(): void
    {
        $now = 1_000;
        $misses = new Misses(static function () use (&$now): int {
            return $now;
        });
        $first = new Token('epoch', 1);
        foreach ([[1_799, true], [3_600, false], [100_000, false]] as [$later, $isKnown]) {
            $misses->clear();
            $misses->note('key', $first);
            $now += $later;
            self::assertSame($isKnown ? $first : null, $misses->take('key'), "{$later} seconds later");
        }
        $misses->clear();
        $misses->note('key', $first);
        $misses->note('other', $first);
        $now += 1_800;
        // A second miss is no younger than the first.
        $misses->note('key', new Token('epoch', 2));
        self::assertSame($first, $misses->take('key'));
        self::assertNull($misses->take('key'));
        $now += 1_800;
        self::assertNull($misses->take('other'));
        $misses->note('other', new Token('epoch', 3));
        self::assertSame(3, $misses->take('other')?->version);
    }

    public function testWhatWasNeverMissedIsAWriteHoweverManyOtherMissesThereWere(): void
    {
        $scratch = new Scratch();
        foreach ([new ArrayStore(), new FileStore("{$scratch->path}/cache")] as $store) {
            $import = new Cache($store);
            for ($i = 0; $i < 20_000; $i += 1_000) {
                $import->getMany(array_map(static fn(int $n): string => "absent {$n}", range($i, $i + 999)));
            }
            self::assertTrue($import->set('written', 1));
            self::assertTrue($import->delete('written'));
            self::assertTrue($import->set('written', 2));
            self::assertTrue($import->set('written', 3));

            $other = new Cache($store);
            self::assertNull($other->get('key'));
            self::assertTrue($import->set('key', 'new'));
            self::assertFalse($other->set('key', 'computed before'));
            // The refusal leaves nothing, or the new value; never the old one.
            self::assertNotSame('computed before', $import->get('key'));
        }
    }

    public function testAnOutageWithManyReadsRefusesOnlyWhatWasRead(): void
    {
        $chaos = new ChaosStore(new ArrayStore());
        $cache = new Cache($chaos);
        $chaos->isDown = true;
        for ($i = 0; $i < 20_000; $i++) {
            $cache->get("key {$i}");
        }
        $chaos->isDown = false;
        self::assertFalse($cache->set('key 19999', 'stale'));
        self::assertTrue($cache->set('never read', 'fine'));
        self::assertSame('fine', $cache->get('never read'));
    }

    /** What was computed meanwhile may be older than what others have stored since, and what was there is older than it. */
    public function testWhatIsSetAfterAReadThatFailedIsRefusedAndLeavesNothing(): void
    {
        $reads = [
            static fn(Cache $cache): mixed => $cache->get('key'),
            static fn(Cache $cache): mixed => $cache->getMany(['key', 'other']),
            static fn(Cache $cache): mixed => $cache->has('key'),
        ];
        foreach ($reads as $read) {
            $store = new ChaosStore();
            $cache = new Cache($store);
            $cache->set('key', 'before');
            $store->isDown = true;
            $read($cache);
            $store->isDown = false;
            self::assertFalse($cache->set('key', 'computed while it was away'));
            self::assertNull($cache->get('key'));
            self::assertTrue($cache->set('key', 'computed after a miss'));
            self::assertSame('computed after a miss', $cache->get('key'));
        }
    }

    public function testWhatIsComputedWhileTheStoreIsAwayIsNotStored(): void
    {
        $store = new ChaosStore();
        $cache = new Cache($store);
        $store->isDown = true;
        self::assertSame('computed', $cache->remember('key', static function () use ($store): string {
            $store->isDown = false;
            $store->save([new Item('key', 'written meanwhile')]);

            return 'computed';
        }));
        self::assertSame('written meanwhile', $cache->get('key'));
    }

    public function testANamespaceKnowsWhatItMissedAndOwesWhereverItIsAskedForAnew(): void
    {
        $store = new ChaosStore();
        $mine = new Cache($store);
        $other = new Cache($store->store);
        self::assertNull($mine->namespace('menus')->get('key'));
        $other->namespace('menus')->delete('key');
        self::assertFalse($mine->namespace('menus')->set('key', 'stale'));

        $other->namespace('menus')->set('key', 'old');
        $store->isDown = true;
        self::assertFalse($mine->namespace('menus')->delete('key'));
        $store->isDown = false;
        self::assertNull($mine->namespace('menus')->get('key'));
    }

    public function testWhatBeginsANewRequestOrKillsAllDoesSoInNamespacesToo(): void
    {
        $store = new ArrayStore();
        $mine = new Cache($store);
        $other = new Cache($store);
        foreach ([static fn(): bool => $mine->clear(), $mine->refresh(...)] as $begin) {
            $mine->namespace('menus')->delete('key');
            $mine->namespace('menus')->get('key');
            $other->namespace('menus')->delete('key');
            $begin();
            self::assertTrue($mine->namespace('menus')->set('key', 'mine'));
        }
    }

    public function testOfManyNamespacesThoseThatOweNothingAreForgotten(): void
    {
        $store = new ChaosStore();
        $cache = new Cache($store);
        $debtor = $cache->namespace('debtor');
        $debtor->set('key', 'old');
        $store->isDown = true;
        $debtor->delete('key');
        $store->isDown = false;
        $first = \WeakReference::create($cache->namespace('first'));
        unset($debtor);
        for ($i = 0; $i < 2_000; $i++) {
            $cache->namespace("namespace{$i}");
        }
        self::assertNull($first->get());
        self::assertNull($cache->namespace('debtor')->get('key'));
    }

    public function testWhileAStoreIsAwayOnlyADebtorIsRemembered(): void
    {
        $store = new ChaosStore();
        $cache = new Cache($store);
        foreach (['debtor', 'holder'] as $name) {
            $cache->namespace($name)->set('key', 'old');
        }
        $cache->namespace('holder')->namespace('inner')->set('key', 'old');
        $store->isDown = true;
        $cache->namespace('debtor')->delete('key');
        $cache->namespace('holder')->namespace('inner')->invalidateTags(['tag']);
        $reader = \WeakReference::create($cache->namespace('reader'));
        $reader->get()?->get('key');
        for ($i = 0; $i < 3_000; $i++) {
            $cache->namespace("namespace{$i}")->get('key');
        }
        self::assertNull($reader->get());
        self::assertTrue($cache->namespace('debtor')->health()->isFlagged());
        self::assertTrue($cache->namespace('holder')->namespace('inner')->health()->isFlagged());
        $store->isDown = false;
        self::assertNull($cache->namespace('debtor')->get('key'));
    }
}
