<?php

declare(strict_types=1);

namespace Larder\Laravel\Tests;

use Illuminate\Cache\CacheManager;
use Illuminate\Cache\CacheServiceProvider;
use Illuminate\Cache\Console\ClearCommand;
use Illuminate\Cache\Console\PruneStaleTagsCommand;
use Illuminate\Cache\Events\CacheHit;
use Illuminate\Cache\Events\CacheMissed;
use Illuminate\Cache\Events\KeyForgotten;
use Illuminate\Cache\Events\KeyWritten;
use Illuminate\Cache\MemoizedStore;
use Illuminate\Cache\RateLimiter;
use Illuminate\Cache\Repository;
use Illuminate\Config\Repository as Configuration;
use Illuminate\Console\Command;
use Illuminate\Contracts\Cache\LockTimeoutException;
use Illuminate\Contracts\Debug\ExceptionHandler;
use Illuminate\Contracts\Events\Dispatcher;
use Illuminate\Contracts\Queue\Job;
use Illuminate\Contracts\Queue\Queue;
use Illuminate\Filesystem\FilesystemServiceProvider;
use Illuminate\Foundation\Application;
use Illuminate\Foundation\CacheBasedMaintenanceMode;
use Illuminate\Queue\Connectors\ConnectorInterface;
use Illuminate\Queue\Events\JobExceptionOccurred;
use Illuminate\Queue\Events\JobProcessed;
use Illuminate\Queue\Events\JobProcessing;
use Illuminate\Queue\Events\Looping;
use Illuminate\Queue\Jobs\SyncJob;
use Illuminate\Queue\NullQueue;
use Illuminate\Queue\QueueManager;
use Illuminate\Queue\Worker;
use Illuminate\Queue\WorkerOptions;
use Illuminate\Session\SessionManager;
use Illuminate\Session\SessionServiceProvider;
use Illuminate\Session\Store;
use Illuminate\Support\Carbon;
use Illuminate\Support\Facades\Facade;
use Illuminate\Support\Sleep;
use Illuminate\Support\Str;
use Larder\Cache;
use Larder\Capability;
use Larder\Exception\StoreUnavailable;
use Larder\Exception\Unstorable;
use Larder\Laravel\Caches;
use Larder\Laravel\LarderServiceProvider;
use Larder\Laravel\LarderStore;
use Larder\Laravel\SerializableClasses;
use Larder\Log;
use Larder\Log\News;
use Larder\Session\SessionHandler;
use Larder\Store\ArrayStore;
use Larder\Store\ChaosStore;
use Larder\Stores;
use Larder\Tests\Contract\Crowd;
use Larder\Tests\LockRace;
use Larder\Tests\Pools;
use Larder\Tier\TieredStore;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Psr\Log\NullLogger;
use Symfony\Component\Console\Input\ArrayInput;
use Symfony\Component\Console\Output\BufferedOutput;

#[CoversNothing]
final class LarderStoreTest extends TestCase
{
    private Pools $pools;

    protected function setUp(): void
    {
        $this->pools = new Pools();
    }

    protected function tearDown(): void
    {
        Facade::clearResolvedInstances();
    }

    /** @return iterable<string, array{string}> */
    public static function kinds(): iterable
    {
        foreach (Pools::KINDS as $kind) {
            yield $kind => [$kind];
        }
    }

    /** @return iterable<string, array{string}> */
    public static function kindsOfBytes(): iterable
    {
        yield 'SQLite' => ['SQLite'];
        yield 'files' => ['files'];
    }

    #[DataProvider('kinds')]
    public function testValuesArePutAndHad(string $kind): void
    {
        $cache = $this->cache($kind);
        foreach (['text' => 'x', 'int' => 7, 'zero' => 0, 'false' => false, 'float' => 1.5, 'infinite' => \INF, 'array' => ['a' => [1]], 'object' => new \ArrayObject([1])] as $key => $value) {
            self::assertTrue($cache->put($key, $value, 100));
            self::assertEquals($value, $cache->get($key));
            self::assertTrue($cache->has($key));
        }
        self::assertSame(['text' => 'x', 'absent' => null, 'int' => 7], $cache->many(['text', 'absent', 'int']));
        self::assertTrue($cache->putMany(['a' => 1, '7' => 2], 100));
        self::assertSame([1, 2], [$cache->get('a'), $cache->get('7')]);
        self::assertTrue($cache->putMany(['b' => 3]));
        self::assertTrue($cache->forever('always', 'here'));
        self::assertSame('default', $cache->get('absent', 'default'));
        self::assertTrue($cache->add('added', 1, 100));
        self::assertFalse($cache->add('added', 2, 100));
        self::assertSame(1, $cache->pull('added'));
        self::assertNull($cache->get('added'));
        self::assertTrue($cache->forget('a'));
        self::assertFalse($cache->forget('a'));
        self::assertTrue($cache->put('text', 'x', 0));
        self::assertNull($cache->get('text'));
        self::assertSame('computed', $cache->remember('computed', 100, static fn(): string => 'computed'));
        self::assertSame('computed', $cache->rememberForever('computed', static fn(): string => 'again'));
        self::assertSame('laravel:', $cache->getStore()->getPrefix());
    }

    #[DataProvider('kinds')]
    public function testWhatIsUnderTagsIsHadUnderTheSameTagsAloneAndFlushedByEach(string $kind): void
    {
        $cache = $this->cache($kind);
        $cache->put('name', 'plain', 100);
        $cache->tags(['people', 'artists'])->put('name', 'John', 100);
        $cache->tags('people')->forever('name', 'Anne');
        $cache->tags(['authors'])->putMany(['name' => 'Jane', 'age' => 30], 100);
        $names = static fn(): array => [$cache->get('name'), $cache->tags(['people', 'artists'])->get('name'), $cache->tags(['people'])->get('name'), $cache->tags('authors')->get('name')];
        self::assertSame(['plain', 'John', 'Anne', 'Jane'], $names());
        self::assertTrue($cache->tags('artists')->flush());
        self::assertSame(['plain', null, 'Anne', 'Jane'], $names());
        $cache->tags(['people', 'artists'])->put('name', 'John', 100);
        $cache->tags(['people'])->flush();
        self::assertSame(['plain', null, null, 'Jane'], $names());
        self::assertSame(1, $cache->tags('votes')->increment('anne'));
        self::assertSame(3, $cache->tags('votes')->increment('anne', 2));
        self::assertSame(2, $cache->tags('votes')->decrement('anne'));
        self::assertTrue($cache->tags('votes')->add('john', 1, 100));
        self::assertTrue($cache->tags('votes')->forget('john'));
        $cache->tags('votes')->flush();
        self::assertNull($cache->tags('votes')->get('anne'));
        self::assertSame('Jane', $cache->tags('authors')->remember('name', 100, static fn(): string => 'Other'));
        $cache->flush();
        self::assertSame([null, null, null, null], $names());
    }

    #[DataProvider('kinds')]
    public function testTagsThatDifferForLaravelNeverShareAnItem(string $kind): void
    {
        $cache = $this->cache($kind);
        $lists = [['a', 'b'], ['a|b'], ['a:b'], ['1:a'], ['a1:b'], [''], ['', ''], [Str::of('tenant 1')], [Str::of('tenant 2')], [7], [1.5], [Capability::Tags], [Capability::Keys], ["a\0b"], ["a\0", 'b'], ["a\1", 'b'], ["a\1\0b"], ["a\1", "\1b"], ["a\1\1b"], ["\1\0"], ["\0\1"], [str_repeat('x', 38)], [str_repeat('x', 39)], [str_repeat('x', 19), str_repeat('x', 18)], [str_repeat('x', 199)], [str_repeat('x', 200)], [str_repeat('x', 99), str_repeat('x', 99)], [str_repeat('x', 99), str_repeat('x', 100)], ['a'], ['a', "\1b"]];
        $keys = ['key', "b\0key", "b\0\1key", "\1key", "\0\1key", "\1b\0\1key"];
        foreach ($lists as $number => $tags) {
            foreach ($keys as $key) {
                self::assertNull($cache->tags($tags)->get($key));
                $cache->tags($tags)->put($key, "{$number}{$key}", 100);
                $cache->put($key, 'plain', 100);
            }
            $cache->tags($tags)->put('key', $number, 100);
        }
        foreach ($lists as $number => $tags) {
            self::assertSame($number, $cache->tags($tags)->get('key'));
            foreach (\array_slice($keys, 1) as $key) {
                self::assertSame("{$number}{$key}", $cache->tags($tags)->get($key));
            }
        }
        self::assertSame(7, $cache->tags('tenant 1')->get('key'));
        $cache->tags([Str::of('tenant 1')])->flush();
        self::assertNull($cache->tags('tenant 1')->get('key'));
        self::assertSame(8, $cache->tags(Str::of('tenant 2'))->get('key'));
        $cache->tags('a')->flush();
        self::assertNull($cache->tags(['a', 'b'])->get('key'));
        self::assertSame(1, $cache->tags('a|b')->get('key'));
        $this->expectExceptionObject(new \InvalidArgumentException('A tag of the cache is stdClass; give its name as a string.'));
        self::store($cache)->tags([new \stdClass()]);
    }

    #[DataProvider('kinds')]
    public function testAFlushLeavesOtherPrefixesAndLocks(string $kind): void
    {
        $larder = Cache::open($this->pools->dsn($kind));
        $shop = new Repository(new LarderStore($larder, 'shop:'));
        $blog = new Repository(new LarderStore($larder, 'blog:'));
        $lock = self::store($shop)->lock('import', 100);
        self::assertTrue($lock->get());
        foreach ([$shop, $blog] as $each) {
            $each->put('key', 1, 100);
            $each->tags('red')->put('tagged', 1, 100);
        }
        $blog->tags('red')->flush();
        self::assertSame([1, 1], [$shop->get('key'), $shop->tags('red')->get('tagged')]);
        $shop->flush();
        self::assertSame([null, 1], [$shop->get('key'), $blog->get('key')]);
        self::assertFalse(self::store($shop)->lock('import', 100)->get());
        self::assertTrue(self::store($shop)->flushLocks());
        self::assertTrue(self::store($shop)->lock('import', 100)->get());
        (new LarderStore($larder))->flush();
        self::assertNull($blog->get('key'));
    }

    /** As packages for tenants do, which change the prefix of stores that others have in their hands already. */
    #[DataProvider('kinds')]
    public function testAPrefixThatIsSetIsThatOfAllThatTheStoreHasHandedOut(string $kind): void
    {
        $cache = $this->cache($kind);
        $store = self::store($cache);
        $red = $cache->tags('red');
        $memo = class_exists(MemoizedStore::class) ? new Repository(new MemoizedStore('larder', $cache)) : $cache;
        $lock = $store->lock('import', 100);
        self::assertTrue($lock->get());
        $state = static fn(): array => [$cache->get('key'), $cache->many(['key'])['key'], $red->get('key'), $cache->tags('red')->get('key'), $memo->get('key'), $cache->get('count')];
        foreach (['laravel:', 'tenant-7:', ''] as $number => $prefix) {
            $store->setPrefix($prefix);
            self::assertSame($prefix, $store->getPrefix());
            self::assertSame([null, null, null, null, null, null], $state());
            self::assertTrue($memo->put('key', "plain {$number}", 100));
            self::assertTrue($number === 0 ? $red->put('key', "red {$number}", 100) : $cache->tags('red')->putMany(['key' => "red {$number}"], 100));
            self::assertSame($number + 1, $cache->increment('count', $number + 1));
        }
        foreach (['laravel:', 'tenant-7:', ''] as $number => $prefix) {
            $store->setPrefix($prefix);
            self::assertSame(["plain {$number}", "plain {$number}", "red {$number}", "red {$number}", "plain {$number}", $number + 1], $state());
        }
        self::assertTrue($store->lock('import', 100)->get());
        $store->setPrefix('tenant-7:');
        self::assertTrue($store->lock('import', 100)->get());
        self::assertTrue($store->flushLocks());
        // A lock is that of the prefix that it was made under.
        self::assertTrue($lock->isOwnedByCurrentProcess());
        self::assertTrue($red->flush());
        self::assertSame([null, null], [$red->get('key'), $cache->tags('red')->get('key')]);
        self::assertTrue($cache->add('added', 1, 100));
        self::assertTrue($cache->forget('added'));
        self::assertTrue($store->flush());
        self::assertNull($cache->get('key'));
        $store->setPrefix('laravel:');
        self::assertSame(['plain 0', 'red 0'], [$cache->get('key'), $red->get('key')]);
        self::assertFalse($store->lock('import', 100)->get());
        // What a tagged cache is told is told to its store, as with Laravel's own.
        self::store($red)->setPrefix('tenant-7:');
        self::assertSame('tenant-7:', $store->getPrefix());
        self::assertNull($cache->get('key'));
    }

    /** Laravel clones a repository, and its store, for sessions, and Octane has several stores for the life of its worker. */
    public function testAPrefixThatIsSetLeavesOtherStoresOfThePlace(): void
    {
        $larder = Cache::open($this->pools->dsn('array'));
        $cache = new Repository(new LarderStore($larder, 'laravel:'));
        $red = $cache->tags('red');
        $red->put('key', 'red', 100);
        $other = new Repository(new LarderStore($larder, 'laravel:'));
        $clone = clone $cache;
        self::store($clone)->setPrefix('sessions:');
        self::assertSame(['sessions:', 'laravel:', 'laravel:', 'laravel:'], array_map(static fn(Repository $each): string => self::store($each)->getPrefix(), [$clone, $cache, $other, $red]));
        self::assertSame(['red', 'red', null], [$red->get('key'), $other->tags('red')->get('key'), $clone->tags('red')->get('key')]);
        $scarlet = clone $red;
        self::assertSame('red', $scarlet->get('key'));
        self::store($scarlet)->setPrefix('tenant-7:');
        self::assertSame(['tenant-7:', 'laravel:', 'laravel:', 'laravel:'], array_map(static fn(Repository $each): string => self::store($each)->getPrefix(), [$scarlet, $red, $cache, $other]));
        $scarlet->put('key', 'scarlet', 100);
        self::assertTrue($red->flush());
        self::assertSame([null, 'scarlet'], [$red->get('key'), $scarlet->get('key')]);
        $red->put('key', 'red', 100);
        self::assertTrue($scarlet->flush());
        self::assertSame(['red', null], [$red->get('key'), $scarlet->get('key')]);
        $crimson = clone $red;
        self::store($cache)->setPrefix(7);
        self::assertSame('laravel:', self::store($crimson)->getPrefix());
        self::assertSame(['7', 'laravel:'], [self::store($red)->getPrefix(), self::store($other)->getPrefix()]);
        self::store($cache)->setPrefix(null);
        self::assertSame('', self::store($red)->getPrefix());
    }

    #[DataProvider('kinds')]
    public function testACounterIsAtomicAndKeepsItsTime(string $kind): void
    {
        $cache = $this->cache($kind);
        self::assertSame(1, $cache->increment('new'));
        self::assertSame(-2, $cache->decrement('other', 2));
        $cache->put('timed', 5, 100);
        self::assertSame(8, $cache->increment('timed', 3));
        $store = self::store($cache);
        $expiry = static fn(string $key): ?int => $store->cache->fetch(["laravel:{$key}"])->items["laravel:{$key}"]->expiry ?? null;
        self::assertEqualsWithDelta(time() + 100, $expiry('timed'), 2);
        self::assertNull($expiry('new'));
        $cache->put('numeric', '41', 100);
        self::assertSame(42, $cache->increment('numeric'));
        self::assertEqualsWithDelta(time() + 100, $expiry('numeric'), 2);
        $cache->put('text', 'no number', 100);
        self::assertFalse($cache->increment('text'));
        self::assertSame('no number', $cache->get('text'));
    }

    #[DataProvider('kinds')]
    public function testACounterChangesByWholeNumbersAndLosesNoPartOfOthers(string $kind): void
    {
        $cache = $this->cache($kind);
        $cache->put('hits', 10, 100);
        foreach ([[2.0, 12], ['3', 15], ['1e1', 25], [true, 26], [null, 26], [-1, 25]] as [$by, $sum]) {
            self::assertSame($sum, self::store($cache)->increment('hits', $by));
        }
        self::assertSame(23, self::store($cache)->decrement('hits', 2.0));
        foreach ([[1.5, '1.5'], ['0.5', '0.5'], [\INF, 'INF'], [\NAN, 'NAN'], [1e300, '1.0E+300'], ['text', 'string'], [[], 'array']] as [$by, $named]) {
            foreach (['increment', 'decrement'] as $way) {
                try {
                    self::store($cache)->{$way}('hits', $by);
                    self::fail("A counter changed by {$named}.");
                } catch (\InvalidArgumentException $mistake) {
                    self::assertSame("A counter of the cache has whole numbers alone, so it cannot change by {$named}; count in a smaller unit.", $mistake->getMessage());
                }
            }
        }
        self::assertSame(23, $cache->get('hits'));
    }

    #[DataProvider('kinds')]
    public function testKeysAndLocksMayHaveAnyLength(string $kind): void
    {
        $cache = $this->cache($kind);
        $long = str_repeat('k', 70_000);
        $longer = $long . 'k';
        self::assertNull($cache->get($long));
        self::assertTrue($cache->put($long, 'long', 100));
        self::assertTrue($cache->putMany([$longer => 'longer', 'short' => 'short'], 100));
        self::assertSame(['long', 'longer'], [$cache->get($long), $cache->get($longer)]);
        self::assertSame(['short' => 'short', $long => 'long', "{$long}absent" => null, $longer => 'longer'], $cache->many(['short', $long, "{$long}absent", $longer]));
        self::assertFalse($cache->add($long, 'other', 100));
        self::assertTrue($cache->forget($long));
        self::assertTrue($cache->forever($long, 1));
        self::assertSame(3, $cache->increment($long, 2));
        self::assertSame(2, $cache->decrement($long));
        self::assertTrue(self::store($cache)->touch($long, 100));
        self::assertTrue($cache->tags('red')->put($long, 'tagged', 100));
        self::assertSame(['tagged', 2], [$cache->tags('red')->get($long), $cache->get($long)]);
        $lock = self::store($cache)->lock($long, 100);
        self::assertTrue($lock->get());
        self::assertFalse(self::store($cache)->lock($long, 100)->get());
        self::assertTrue(self::store($cache)->lock($longer, 100)->get());
        self::assertTrue(self::store($cache)->restoreLock($long, $lock->owner())->release());
        $cache->flush();
        self::assertSame([null, null, null], [$cache->get($long), $cache->get($longer), $cache->tags('red')->get($long)]);
    }

    public function testANumericStringIsCountedByManyProcessesWithoutALoss(): void
    {
        $open = fn(): LarderStore => new LarderStore(Cache::open($this->pools->dsn('shared memory')), 'laravel:');
        for ($round = 0; $round < 40; $round++) {
            $open()->put("votes {$round}", '0', 100);
        }
        Crowd::of(4, static function () use ($open): void {
            $store = $open();
            for ($round = 0; $round < 40; $round++) {
                // They meet, as only the first counts are those of a string.
                $store->increment("there {$round}");
                while ($store->get("there {$round}") < 4);
                for ($count = 0; $count < 5; $count++) {
                    $store->increment("votes {$round}");
                }
            }
        });
        for ($round = 0; $round < 40; $round++) {
            self::assertSame(20, $open()->get("votes {$round}"));
        }
    }

    #[DataProvider('kinds')]
    public function testALockHasOneOwnerThatMayPassItOn(string $kind): void
    {
        $store = self::store($this->cache($kind));
        $lock = $store->lock('import', 100);
        self::assertTrue($lock->get());
        self::assertFalse($store->lock('import', 100)->get());
        self::assertFalse($store->lock('import', 100)->release());
        self::assertTrue($lock->isOwnedByCurrentProcess());
        $restored = $store->restoreLock('import', $lock->owner());
        self::assertTrue($restored->isOwnedByCurrentProcess());
        self::assertTrue($restored->refresh(200));
        self::assertFalse($store->lock('import', 100)->refresh());
        self::assertTrue($restored->release());
        self::assertFalse($lock->refresh());
        self::assertSame('done', $store->lock('import', 100)->get(static fn(): string => 'done'));
        self::assertTrue($store->lock('import')->get());
        $store->lock('import')->forceRelease();
        self::assertTrue($store->lock('import', 1)->get());
        Sleep::fake();
        try {
            $store->lock('import', 1)->block(0);
            self::fail('It has two owners.');
        } catch (LockTimeoutException) {
            self::assertFalse($store->lock('import')->isOwnedByCurrentProcess());
        } finally {
            Sleep::fake(false);
        }
    }

    #[DataProvider('kinds')]
    public function testALockTakesOwnersAndTimesOfAnyTypeThatLaravelTakes(string $kind): void
    {
        $store = self::store($this->cache($kind));
        foreach ([[1, 2], [1.5, 2.5], [Str::of('me'), Str::of('you')], ['0', '1']] as $number => [$owner, $other]) {
            $lock = $store->lock("import {$number}", 100, $owner);
            self::assertTrue($lock->get());
            self::assertFalse($store->lock("import {$number}", 100, $other)->get());
            self::assertFalse($store->restoreLock("import {$number}", $other)->release());
            self::assertTrue($store->restoreLock("import {$number}", (string) $owner)->isOwnedByCurrentProcess());
            self::assertTrue($lock->isOwnedByCurrentProcess());
            self::assertTrue($lock->refresh('100'));
            self::assertTrue($lock->release());
        }
        Carbon::setTestNow(Carbon::now());
        try {
            foreach (['100' => '100', 'half' => 0.5, 'none' => null] as $name => $seconds) {
                self::assertTrue($store->lock("time {$name}", $seconds)->get());
                self::assertFalse($store->lock("time {$name}", $seconds)->get());
            }
            Carbon::setTestNow(Carbon::now()->addSecond());
            self::assertFalse($store->lock('time 100', '100')->get());
            self::assertTrue($store->lock('time half', 0.5)->get());
            Carbon::setTestNow(Carbon::now()->addSeconds(99));
            self::assertTrue($store->lock('time 100', '100')->get());
            self::assertFalse($store->lock('time none')->get());
        } finally {
            Carbon::setTestNow();
        }
    }

    #[DataProvider('kinds')]
    public function testALockLastsItsWholeTimeAndNoLonger(string $kind): void
    {
        $store = self::store($this->cache($kind));
        // What is read from APCu has an expiry that may be a second early.
        $expiry = static fn(): int => ($store->cache->fetch(["\0lock:laravel:import"])->items["\0lock:laravel:import"]->expiry ?? 0) + ($kind === 'APCu' ? 1 : 0);
        $began = microtime(true);
        Carbon::setTestNow(Carbon::now());
        try {
            $lock = $store->lock('import', 100);
            self::assertTrue($lock->get());
            self::assertGreaterThanOrEqual($began + 100, $expiry());
            Carbon::setTestNow(Carbon::now()->addSeconds(100)->subMicrosecond());
            self::assertTrue($lock->isOwnedByCurrentProcess());
            self::assertFalse($store->lock('import', 1)->get());
            self::assertTrue($lock->refresh(200));
            self::assertGreaterThanOrEqual($began + 200, $expiry());
            Carbon::setTestNow(Carbon::now()->addSeconds(200)->subMicrosecond());
            self::assertFalse($store->lock('import', 1)->get());
            Carbon::setTestNow(Carbon::now()->addMicrosecond());
            self::assertFalse($lock->isOwnedByCurrentProcess());
            self::assertFalse($lock->refresh());
            self::assertTrue($store->lock('import', 1)->get());
        } finally {
            Carbon::setTestNow();
        }
    }

    #[DataProvider('kinds')]
    public function testALockThatWasSeenToBeFreeIsAcquiredThoughAnotherProcessHasHadItSince(string $kind): void
    {
        $store = self::store($this->cache($kind));
        self::assertFalse($store->lock('import', 100)->isOwnedByCurrentProcess());
        $this->elsewhere($kind, $store, static fn(LarderStore $other): mixed => $other->lock('import', 100)->get(static fn(): int => 1));
        self::assertTrue($store->lock('import', 100)->get());
    }

    #[DataProvider('kinds')]
    public function testAKeyThatWasSeenToBeFreeIsAddedThoughAnotherProcessHasHadItSince(string $kind): void
    {
        $store = self::store($this->cache($kind));
        foreach ([static fn(LarderStore $by): Repository => new Repository($by), static fn(LarderStore $by): Repository => (new Repository($by))->tags('red')] as $in) {
            $mine = $in($store);
            self::assertNull($mine->get('import'));
            $this->elsewhere($kind, $store, static fn(LarderStore $other): array => [$in($other)->add('import', 1, 100), $in($other)->forget('import')]);
            self::assertTrue($mine->add('import', 1, 100));
            self::assertFalse($mine->add('import', 2, 100));
            self::assertTrue($mine->forget('import'));
            self::assertNull($mine->get('import'));
            $this->elsewhere($kind, $store, static fn(LarderStore $other): array => [$in($other)->add('import', 3, 100)]);
            self::assertFalse($mine->add('import', 4, 100));
            self::assertSame(3, $mine->get('import'));
            self::assertTrue($mine->forget('import'));
        }
    }

    public function testALockInFrontOfAnotherStoreIsSeenAsItIsNow(): void
    {
        $open = fn(): LarderStore => new LarderStore(Cache::open("array: > {$this->pools->dsn('SQLite')}"), 'laravel:');
        $store = $open();
        $lock = $store->lock('import', 100);
        self::assertTrue($lock->get());
        self::assertTrue($lock->isOwnedByCurrentProcess());
        self::assertTrue($lock->isOwnedByCurrentProcess());
        $other = $open();
        $other->lock('import')->forceRelease();
        self::assertFalse($lock->isOwnedByCurrentProcess());
        self::assertTrue($other->lock('import', 100)->get());
        self::assertFalse($lock->isOwnedByCurrentProcess());
        self::assertFalse($lock->release());
    }

    public function testALockThatAnotherHasTakenOverIsNotItsFormerOwnersWhileTheLogOfATierCannotBeRead(): void
    {
        $log = new class implements Log {
            public bool $fails = false;

            public function since(?string $position): News
            {
                return $this->fails ? throw new StoreUnavailable('The log fails.') : new News('1', [], $position === '1');
            }

            public function isOfHistory(string $position): bool
            {
                return true;
            }
        };
        $key = "\0lock:laravel:import";
        $far = $this->pools->dsn('SQLite');
        $tier = new TieredStore(new ArrayStore(), Stores::open($far), $log, grace: 100);
        $lock = (new LarderStore(new Cache($tier), 'laravel:'))->lock('import', 100);
        self::assertTrue($lock->get());
        $held = $tier->fetch([$key])->items[$key]->value;
        $log->fails = true;
        $other = new LarderStore(Cache::open($far), 'laravel:');
        $other->lock('import')->forceRelease();
        $taken = $other->lock('import', 100);
        self::assertTrue($taken->get());
        self::assertSame($held, $tier->fetch([$key])->items[$key]->value, 'The near store knows nothing of that.');
        self::assertFalse($lock->refresh());
        self::assertFalse($lock->release());
        self::assertTrue($taken->isOwnedByCurrentProcess());
    }

    #[DataProvider('kinds')]
    public function testACounterThatIsMadeAfterAnotherProcessHasFlushedItsTagsHasThese(string $kind): void
    {
        $store = self::store($this->cache($kind));
        $cache = new Repository($store);
        foreach (['flushed' => static fn(LarderStore $other): bool => $other->tags('red')->flush(), 'forgotten' => static fn(LarderStore $other): bool => (new Repository($other))->tags('red')->forget('forgotten')] as $key => $end) {
            self::assertNull($cache->tags('red')->get($key));
            $this->elsewhere($kind, $store, static fn(LarderStore $other): array => [(new Repository($other))->tags('red')->increment($key), $end($other)]);
            self::assertSame(1, $cache->tags('red')->increment($key));
            self::assertSame(2, $cache->tags('red')->increment($key));
            self::assertTrue($cache->tags('red')->flush());
            self::assertNull($cache->tags('red')->get($key), $key);
            self::assertNull($cache->get($key));
            $this->elsewhere($kind, $store, static fn(LarderStore $other): array => [(new Repository($other))->increment($key), (new Repository($other))->forget($key)]);
            self::assertSame(1, $cache->increment($key));
            self::assertTrue($store->flush());
            self::assertNull($cache->get($key), $key);
        }
    }

    public function testALockOfADeadOwnerEndsWithItsTime(): void
    {
        $store = self::store($this->cache('SQLite'));
        self::assertTrue($store->lock('import', 1)->get());
        self::assertTrue($store->lock('import', 1)->block(3));
    }

    public function testALockThatAnotherProcessTakesBetweenTheLookAndTheWriteIsNotTakenAgain(): void
    {
        $store = self::store($this->cache('shared memory'));
        // Seen free, so that the addition is refused once another process has had it.
        self::assertFalse($store->lock('import')->isOwnedByCurrentProcess());
        $this->elsewhere('shared memory', $store, static fn(LarderStore $other): bool => ($lock = $other->lock('import', 100))->get() && $lock->release());
        $asked = 0;
        Carbon::setTestNow(function () use (&$asked, $store): \DateTimeImmutable {
            // The lock asks for the time when it is added, and again when it was found free.
            if (++$asked === 2) {
                $this->elsewhere('shared memory', $store, static fn(LarderStore $other): array => [$other->lock('import')->isOwnedByCurrentProcess(), $other->lock('import', 100)->get()]);
            }

            return new \DateTimeImmutable();
        });
        try {
            $isTaken = $store->lock('import', 100)->get();
        } finally {
            Carbon::setTestNow();
        }
        self::assertGreaterThanOrEqual(2, $asked);
        self::assertFalse($isTaken);
    }

    public function testOfManyProcessesThatWantALockOneHasIt(): void
    {
        $open = function (): \Closure {
            $store = new LarderStore(Cache::open($this->pools->dsn('shared memory')), 'laravel:');

            return static function () use ($store): ?\Closure {
                $lock = $store->lock('counter', 30);

                return $lock->get() ? $lock->release(...) : null;
            };
        };
        self::assertSame(LockRace::COUNTS, LockRace::run("{$this->pools->path()}/counter", $open));
    }

    public function testFlexibleServesWhatIsStaleAndComputesItAfterTheResponse(): void
    {
        $application = $this->application(['dsn' => $this->pools->dsn('array')]);
        $cache = self::opened($application);
        if (version_compare($application->version(), '11.23', '<')) {
            self::assertFalse((new \ReflectionClass($cache))->hasMethod('flexible'));

            return;
        }
        $application->singleton(\Illuminate\Support\Defer\DeferredCallbackCollection::class);
        self::assertSame(1, $cache->flexible('key', [100, 200], static fn(): int => 1));
        self::assertSame(1, $cache->flexible('key', [100, 200], static fn(): int => 2));
        $this->travel($cache, 'key');
        self::assertSame(1, $cache->flexible('key', [100, 200], static fn(): int => 3));
        \Illuminate\Support\defer()->invoke();
        self::assertSame(3, $cache->flexible('key', [100, 200], static fn(): int => 4));
    }

    public function testMemoRemembersWithinARequest(): void
    {
        $application = $this->application(['dsn' => $this->pools->dsn('array')]);
        $caches = $application->make(CacheManager::class);
        if (version_compare($application->version(), '12.9', '<')) {
            self::assertFalse((new \ReflectionClass($caches))->hasMethod('memo'));

            return;
        }
        $memo = $caches->memo('larder');
        $memo->put('key', 1, 100);
        $first = $memo->get('key');
        self::opened($application)->put('key', 2, 100);
        self::assertSame([1, 1], [$first, $memo->get('key')]);
    }

    public function testEventsAreDispatchedWithTheNameOfTheStore(): void
    {
        $application = $this->application(['dsn' => $this->pools->dsn('array')]);
        $seen = [];
        $application->make(Dispatcher::class)->listen([CacheMissed::class, KeyWritten::class, CacheHit::class, KeyForgotten::class], static function (object $event) use (&$seen): void {
            $seen[] = (new \ReflectionClass($event))->getShortName();
            // Laravel 10 does not say which store it was.
            self::assertSame('larder', property_exists($event, 'storeName') ? $event->storeName : 'larder');
        });
        $cache = self::opened($application);
        $cache->get('key');
        $cache->put('key', 1, 100);
        $cache->get('key');
        $cache->forget('key');
        $cache->tags('red')->get('key');
        self::assertSame(['CacheMissed', 'KeyWritten', 'CacheHit', 'KeyForgotten', 'CacheMissed'], $seen);
    }

    public function testForgettingAsksTheStoreOnce(): void
    {
        $chaos = new ChaosStore(new ArrayStore());
        $store = new LarderStore(new Cache($chaos), 'shop:');
        $store->put('key', 1, 100);
        $chaos->calls = [];
        self::assertSame([true, false], [$store->forget('key'), $store->forget('key')]);
        self::assertSame(['delete', 'delete'], $chaos->calls);
    }

    public function testWithoutEventsATaggedReadComesToTheSame(): void
    {
        $cache = new Repository(new LarderStore(Cache::open($this->pools->dsn('array')), 'shop:'));
        $tagged = $cache->tags(['red', 'round']);
        $tagged->put('key', 'value', 100);
        self::assertSame(['value', 'default', 'computed', null], [$tagged->get('key'), $tagged->get('none', 'default'), $tagged->get('none', static fn(): string => 'computed'), $cache->get('key')]);
        self::assertSame(['key' => 'value', 'none' => null], $tagged->get(['key', 'none']));
        self::assertSame('value', $cache->tags('red', 'round')->get('key'));
        self::assertNull($cache->tags(['round', 'red'])->get('key'));
    }

    public function testTheRateLimiterCounts(): void
    {
        $limiter = new RateLimiter($this->cache('SQLite'));
        self::assertTrue($limiter->attempt('login', 2, static fn(): bool => true));
        self::assertSame(2, $limiter->hit('login'));
        self::assertTrue($limiter->tooManyAttempts('login', 2));
        self::assertFalse($limiter->attempt('login', 2, static fn(): bool => true));
        self::assertGreaterThan(50, $limiter->availableIn('login'));
        $limiter->clear('login');
        self::assertSame(2, $limiter->remaining('login', 2));
    }

    public function testTheStoresOfThePageForUsersAreKeptApart(): void
    {
        preg_match('/^```\n(.*?)^```$/ms', (string) file_get_contents(__DIR__ . '/../../../docs/laravel.md'), $block);
        $near = $this->pools->dsn('shared memory');
        /** @var array{stores: array<string, array<string, string>>} */
        $config = eval('return [' . strtr($block[1] ?? '', ['shm:site' => $near, 'shm: >' => "{$near} >", 'redis://cache.internal' => $this->pools->dsn('SQLite')]) . '];');
        $application = $this->application([]);
        $configuration = $application->make('config');
        self::assertInstanceOf(Configuration::class, $configuration);
        $configuration->set('cache.stores', $config['stores']);
        self::assertSame(['larder', 'fleet'], array_keys($config['stores']));
        $caches = $application->make(CacheManager::class);
        foreach (['larder', 'fleet'] as $name) {
            self::assertTrue($caches->store($name)->put('key', $name, 60));
        }
        foreach (['larder', 'fleet'] as $name) {
            self::assertSame($name, $caches->store($name)->get('key'));
        }
    }

    /** Laravel begins an empty one where none can be read, and saves it in the end. */
    public function testASessionOutlivesAMomentInWhichItsStoreDoesNotAnswer(): void
    {
        $chaos = new ChaosStore(Cache::open($this->pools->dsn('SQLite'))->store);
        $handler = new SessionHandler(new Cache($chaos), locking: false, logger: new NullLogger());
        $request = static function (bool $isDown) use ($handler, $chaos): mixed {
            $session = new Store('shop', $handler, str_repeat('a', 40));
            $chaos->isDown = $isDown;
            $session->start();
            $chaos->isDown = false;
            $before = $session->get('cart');
            $session->put($isDown ? 'visits' : 'cart', 2);
            $session->save();

            return $before;
        };
        self::assertSame([null, null, 2], [$request(false), $request(true), $request(false)]);
    }

    public function testSessionsAreKept(): void
    {
        $application = $this->application(['dsn' => $this->pools->dsn('array')], $this->pools->dsn('SQLite'));
        $session = self::session($application);
        $session->start();
        $session->put('user', 7);
        $session->save();
        $again = self::session($this->application(['dsn' => $this->pools->dsn('array')], $this->pools->dsn('SQLite')));
        $again->setId($session->getId());
        $again->start();
        self::assertSame(7, $again->get('user'));
        $again->migrate(true);
        $again->save();
        $gone = self::session($application);
        $gone->setId($session->getId());
        $gone->start();
        self::assertNull($gone->get('user'));
    }

    public function testLaravelsCommandsReachTheStore(): void
    {
        $application = $this->application(['dsn' => $this->pools->dsn('SQLite')]);
        $cache = self::opened($application);
        $cache->put('key', 1, 100);
        $cache->tags('red')->put('key', 1, 100);
        $run = static function (Command $command, array $arguments) use ($application): int {
            $command->setLaravel($application);

            return $command->run(new ArrayInput($arguments), new BufferedOutput());
        };
        // Before version 12, Laravel says of every store but that of Redis that nothing is to be pruned, and fails.
        self::assertSame(version_compare($application->version(), '12', '<') ? 1 : 0, $run($application->make(PruneStaleTagsCommand::class), ['store' => 'larder']));
        self::assertSame(1, $cache->tags('red')->get('key'));
        self::assertSame(0, $run($application->make(ClearCommand::class), ['store' => 'larder', '--tags' => 'red']));
        self::assertSame([1, null], [$cache->get('key'), $cache->tags('red')->get('key')]);
        self::assertSame(0, $run($application->make(ClearCommand::class), ['store' => 'larder']));
        self::assertNull($cache->get('key'));
    }

    public function testFlushingStaleTagsRemovesWhatHasExpiredAndNothingElse(): void
    {
        $now = time();
        $array = new ArrayStore(clock: static function () use (&$now): int {
            return $now;
        });
        $cache = new Repository(new LarderStore(new Cache($array), 'laravel:'));
        $cache->tags('red')->put('expired', 1, 10);
        $cache->tags('red')->put('key', 1, 100);
        $cache->put('key', 2, 100);
        $now += 50;
        self::assertSame(3, $array->statistics()->items);
        self::assertTrue(self::store($cache)->tags(['red', 'round'])->flushStale());
        self::assertSame(2, $array->statistics()->items);
        self::assertSame([1, 2], [$cache->tags('red')->get('key'), $cache->get('key')]);
    }

    /** A request begins in a worker of Octane: what the last one has missed judges nothing any more. */
    public function testAWorkerBeginsEachRequestWithWhatOthersHaveDone(): void
    {
        $dsn = $this->pools->dsn('SQLite');
        $application = $this->application(['dsn' => $dsn]);
        $cache = self::opened($application);
        $other = new Repository(new LarderStore(Cache::open($dsn), 'laravel:'));
        self::assertNull($cache->get('key'));
        $other->put('key', 'theirs', 100);
        self::assertFalse($cache->put('key', 'outdated', 100));
        self::assertNull($cache->get('second'));
        $other->put('second', 'theirs', 100);
        $application->make(Dispatcher::class)->dispatch('Laravel\Octane\Events\RequestReceived');
        self::assertTrue($cache->put('second', 'mine', 100));
        self::assertSame('mine', $other->get('second'));
        self::assertSame($application->make(Caches::class)->at($dsn), self::store($cache)->cache);
    }

    /** Octane clones the application for each request. What is opened in one has to be known to those that follow. */
    public function testAStoreThatARequestOfOctaneIsTheFirstToUseBeginsEachRequestThatFollows(): void
    {
        $dsn = "array: > {$this->pools->dsn('SQLite')}";
        $application = $this->application(['dsn' => $dsn]);
        $caches = $application->make(CacheManager::class);
        $other = new Repository(new LarderStore(Cache::open($dsn), 'laravel:'));
        $seen = [];
        foreach ([1, 2, 3] as $value) {
            $other->forever('key', $value);
            $sandbox = clone $application;
            $caches->setApplication($sandbox);
            $sandbox->make(Dispatcher::class)->dispatch('Laravel\Octane\Events\RequestReceived');
            $seen[] = $caches->store('larder')->get('key');
        }
        self::assertSame([1, 2, 3], $seen);
    }

    /** @return iterable<string, array{?string, int}> what happens in the job that the worker has, if it has one, and after how many looks at the queue at most the worker stops */
    public static function jobs(): iterable
    {
        yield 'no job' => [null, 3];
        yield 'a job that ends' => ['', 1];
        yield 'a job that fails' => ['It fails.', 1];
    }

    #[DataProvider('jobs')]
    public function testAWorkerOfAQueueStopsWhenItIsToldTo(?string $failure, int $longest): void
    {
        $dsn = "array: > {$this->pools->dsn('SQLite')}";
        $application = $this->application(['dsn' => $dsn]);
        $other = new Repository(new LarderStore(Cache::open($dsn), 'laravel:'));
        // The signal of an earlier deployment is what the worker keeps near.
        $other->forever('illuminate:queue:restart', 1);
        $other->forever('what the job needs', 1);
        $cache = self::opened($application);
        // It lies near from now on: a miss would look at what others have done.
        self::assertSame(1, $cache->get('what the job needs'));
        $signal = static function () use ($cache, $other): void {
            $cache->get('what the job needs');
            $other->forever('illuminate:queue:restart', 2);
        };
        $job = new class ($signal, (string) $failure) {
            /** @param \Closure(): void $signal */
            public function __construct(private readonly \Closure $signal, private readonly string $failure) {}

            public function fire(Job $job): void
            {
                ($this->signal)();
                $this->failure === '' || throw new \RuntimeException($this->failure);
                $job->delete();
            }
        };
        $application->instance('job', $job);
        $queue = new class ($failure === null ? null : self::job($application)) extends NullQueue {
            public function __construct(private ?Job $job) {}

            public function pop($queue = null): ?Job
            {
                [$job, $this->job] = [$this->job, null];

                return $job;
            }
        };
        $manager = new QueueManager($application);
        $manager->addConnector('null', static fn(): ConnectorInterface => new class ($queue) implements ConnectorInterface {
            public function __construct(private readonly Queue $queue) {}

            /** @param array<mixed> $config */
            public function connect(array $config): Queue
            {
                return $this->queue;
            }
        });
        $handler = self::createStub(ExceptionHandler::class);
        $worker = new Worker($manager, $application->make(Dispatcher::class), $handler, static fn(): bool => false);
        // From Laravel 12 on a worker asks whether its queue is paused, which is a miss as well.
        $class = new \ReflectionClass($worker);
        $pausable = $class->hasProperty('pausable') ? $class->getProperty('pausable') : null;
        $pausable?->setValue(null, false);
        $looks = 0;
        $application->make(Dispatcher::class)->listen(Looping::class, static function () use (&$looks, $worker, $failure, $job): void {
            $looks++;
            if ($looks === 2 && $failure === null) {
                $job->fire(self::createStub(Job::class));
            }
            $worker->shouldQuit = $looks === 5;
        });
        $worker->setCache($cache)->daemon('null', 'default', new WorkerOptions(memory: 4_096, timeout: 0, sleep: 0));
        $pausable?->setValue(null, true);
        self::assertLessThanOrEqual($longest, $looks);
    }

    /** A worker that is paused for maintenance dispatches no events. */
    public function testAWorkerThatIsDownForMaintenanceSeesTheEndOfIt(): void
    {
        $dsn = "array: > {$this->pools->dsn('SQLite')}";
        $application = $this->application(['dsn' => $dsn]);
        $maintenance = new CacheBasedMaintenanceMode($application->make(CacheManager::class), 'larder', 'illuminate:foundation:down');
        $other = new Repository(new LarderStore(Cache::open($dsn), 'laravel:'));
        $other->forever('illuminate:foundation:down', ['status' => 503]);
        $pauses = 0;
        $down = static function () use ($maintenance, $other, &$pauses): bool {
            $pauses++;
            $isDown = $maintenance->active();
            $other->forget('illuminate:foundation:down');

            return $isDown && $pauses < 5;
        };
        $worker = new Worker(new QueueManager($application), $application->make(Dispatcher::class), self::createStub(ExceptionHandler::class), $down);
        $application->make(Dispatcher::class)->listen(Looping::class, static function () use ($worker): false {
            $worker->shouldQuit = true;

            return false;
        });
        $worker->daemon('null', 'default', new WorkerOptions(memory: 4_096, timeout: 0, sleep: 1));
        self::assertLessThan(5, $pauses);
    }

    public function testACommandThatWaitsForASignalSeesIt(): void
    {
        $dsn = "array: > {$this->pools->dsn('SQLite')}";
        $cache = self::opened($this->application(['dsn' => $dsn]));
        $other = new Repository(new LarderStore(Cache::open($dsn), 'laravel:'));
        foreach ([
            static fn(): mixed => $cache->get('signal'),
            static fn(): mixed => $cache->many(['another', 'signal'])['signal'],
            static fn(): mixed => $cache->tags('signals')->get('signal'),
        ] as $number => $read) {
            $others = $number === 2 ? $other->tags('signals') : $other;
            $others->forever('signal', 'go on');
            $cache->get('missing');
            for ($tries = 0; $tries < 30 && $read() !== 'stop'; $tries++) {
                $others->forever('signal', 'stop');
                usleep(100_000);
            }
            self::assertSame('stop', $read(), (string) $number);
            // What was missing is still judged.
            $other->put('missing', 'theirs', 100);
            self::assertFalse($cache->put('missing', 'outdated', 100));
            $other->forget('missing');
            self::assertNull($cache->get('missing'));
        }
    }

    public function testAJobThatARequestRunsItselfLeavesTheRequestItsMisses(): void
    {
        $dsn = $this->pools->dsn('SQLite');
        $application = $this->application(['dsn' => $dsn]);
        $other = new Repository(new LarderStore(Cache::open($dsn), 'laravel:'));
        $events = $application->make(Dispatcher::class);
        foreach ([[new SyncJob($application, '{}', 'sync', 'default'), 'theirs'], [self::job($application), 'mine']] as [$job, $kept]) {
            $cache = self::opened($application);
            self::assertNull($cache->get($kept));
            $other->put($kept, 'theirs', 100);
            foreach ([new JobProcessing('any', $job), new JobProcessed('any', $job), new JobExceptionOccurred('any', $job, new \Exception())] as $event) {
                $events->dispatch($event);
            }
            self::assertSame($kept === 'mine', $cache->put($kept, 'mine', 100));
            self::assertSame($kept, $other->get($kept));
        }
    }

    public function testAPrefixMayBeANumber(): void
    {
        // A store that took it for none would flush the whole cache.
        $cache = self::opened($this->application(['dsn' => 'array:', 'prefix' => 5]));
        self::assertSame('5', $cache->getStore()->getPrefix());
    }

    public function testAStoreWithoutAPlaceIsToldWhatToSet(): void
    {
        $this->expectException(\InvalidArgumentException::class);
        $this->expectExceptionMessage('set "dsn" to a DSN of Larder');
        self::opened($this->application([]));
    }

    public function testAMisspeltOptionIsToldWithTheRightOne(): void
    {
        $this->expectException(\InvalidArgumentException::class);
        $this->expectExceptionMessage('set "dsn" instead of "dns"');
        self::opened($this->application(['dns' => 'array:']));
    }

    /** Such as that of an environment variable that is not set. */
    public function testAnOptionWithoutAValueIsNotToldToBeMisspelt(): void
    {
        $this->expectException(\InvalidArgumentException::class);
        $this->expectExceptionMessage('There is no place for the cache store; set "dsn" to a DSN');
        self::opened($this->application(['dsn' => null]));
    }

    public function testAnOptionThatIsMisspeltIsNamedWithTheOneThatIsMeant(): void
    {
        foreach (['perfix' => 'prefix', 'prefixe' => 'prefix', 'event' => 'events', 'Events' => 'events'] as $misspelt => $option) {
            try {
                self::opened($this->application(['dsn' => 'array:', $misspelt => 'shop:']));
                self::fail("The option {$misspelt} was taken.");
            } catch (\InvalidArgumentException $mistake) {
                self::assertSame("The cache store has no option \"{$misspelt}\"; set \"{$option}\" instead.", $mistake->getMessage());
            }
        }
    }

    /** Those of Laravel's own stores, and whatever an application keeps there for itself. */
    public function testOtherOptionsAreNoMistakes(): void
    {
        $others = ['attributes', 'connection', 'endpoint', 'key', 'limiter', 'lock_connection', 'lock_lottery', 'lock_path', 'lock_table', 'lock_timeout', 'name', 'options', 'path', 'permission', 'permissions', 'persistent_id', 'region', 'sasl', 'secret', 'serializable_classes', 'serialize', 'servers', 'store', 'stores', 'table', 'token', 'ttl', 'url', '0'];
        self::assertSame('laravel:', self::opened($this->application(['dsn' => 'array:'] + array_fill_keys($others, 'value')))->getStore()->getPrefix());
        self::assertSame('shop:', self::opened($this->application(['dsn' => 'array:', 'prefix' => 'shop:', 'prefixes' => 'value', 'dsn_of_reads' => 'value']))->getStore()->getPrefix());
    }

    public function testAPrefixThatIsNoneIsRefused(): void
    {
        $this->expectException(\InvalidArgumentException::class);
        $this->expectExceptionMessage('The option "prefix" of the cache store is no name but array');
        self::opened($this->application(['dsn' => 'array:', 'prefix' => ['shop']]));
    }

    public function testAStoreThatFailsIsMissesAndFalse(): void
    {
        $cache = new Repository(new LarderStore(Cache::open("redis+unix:{$this->pools->path()}/nobody.sock?timeout=1"), 'laravel:'));
        self::assertNull($cache->get('key'));
        self::assertFalse($cache->put('key', 1, 100));
        self::assertFalse($cache->increment('key'));
        self::assertFalse($cache->forget('key'));
        self::assertFalse($cache->flush());
        self::assertFalse($cache->tags('red')->flush());
        self::assertFalse(self::store($cache)->tags('red')->flushStale());
        self::assertSame(['key' => null], $cache->many(['key']));
        self::assertFalse(self::store($cache)->lock('import', 10)->get());
        self::assertSame(5, $cache->remember('key', 100, static fn(): int => 5));
    }

    /** Laravel's driver "failover" goes on with its next store when one throws. */
    public function testAStrictStoreThatFailsThrowsSoThatLaravelTakesItsNextStore(): void
    {
        $dsn = "redis+unix:{$this->pools->path()}/nobody.sock?timeout=1";
        $application = $this->application(['dsn' => $dsn, 'strict' => true]);
        $cache = self::opened($application);
        foreach (['get', 'forget'] as $way) {
            try {
                $cache->{$way}('key');
                self::fail('A strict store took a failure for a miss.');
            } catch (StoreUnavailable) {
            }
        }
        // The same place without that option stays misses.
        $application->make(Configuration::class)->set('cache.stores.lenient', ['driver' => 'larder', 'dsn' => $dsn]);
        $caches = $application->make(CacheManager::class);
        self::assertNull($caches->store('lenient')->get('key'));
        $application->make(Caches::class)->begin();
        if (version_compare($application->version(), '12.34', '<')) {
            return;
        }
        $application->make(Configuration::class)->set('cache.stores.spare', ['driver' => 'array']);
        $application->make(Configuration::class)->set('cache.stores.chain', ['driver' => 'failover', 'stores' => ['larder', 'spare']]);
        $chain = $caches->store('chain');
        self::assertTrue($chain->put('key', 'kept', 100));
        self::assertSame(['kept', 'kept'], [$chain->get('key'), $caches->store('spare')->get('key')]);
    }

    /** A job that cannot prolong its lock must not go on as if it had it. */
    public function testALockOfAStrictStoreThatFailsThrowsWhereItIsWantedAndIsNotHeldOtherwise(): void
    {
        $application = $this->application(['dsn' => "redis+unix:{$this->pools->path()}/nobody.sock?timeout=1", 'strict' => true]);
        $lock = self::store(self::opened($application))->lock('import', 10);
        self::assertSame([false, false], [$lock->release(), $lock->refresh()]);
        foreach (['get' => [], 'block' => [1]] as $way => $arguments) {
            try {
                $lock->{$way}(...$arguments);
                self::fail('A strict store took a failure for a lock of another.');
            } catch (StoreUnavailable) {
            }
        }
    }

    public function testStrictIsASwitch(): void
    {
        self::assertNull(self::opened($this->application(['dsn' => 'array:', 'strict' => null]))->get('key'));
        $this->expectExceptionObject(new \InvalidArgumentException('The option "strict" of the cache store is string; set it to true or false.'));
        self::opened($this->application(['dsn' => 'array:', 'strict' => 'no']));
    }

    #[DataProvider('kinds')]
    public function testOnlySerializableClassesOfLaravelAreStored(string $kind): void
    {
        $dsn = $this->pools->dsn($kind);
        foreach ([true, null] as $all) {
            $store = $this->limited($dsn, $all);
            self::assertTrue($store->put('date', new \DateTimeImmutable('2026-01-01'), 100));
            self::assertEquals(new \DateTimeImmutable('2026-01-01'), $store->get('date'));
        }
        foreach ([false, [], ['\ArrayObject', \ArrayIterator::class]] as $some) {
            $store = $this->limited($dsn, $some);
            $date = new \DateTimeImmutable();
            $ways = [
                static fn(): bool => $store->put('key', $date, 100),
                static fn(): bool => $store->put('key', ['a' => [1, $date]], 100),
                static fn(): bool => $store->putMany(['7' => $date], 100),
                static fn(): bool => $store->add('key', $date, 100),
                static fn(): bool => $store->forever('key', $date),
                static fn(): bool => $store->tags('red')->put('key', $date, 100),
            ];
            foreach ($ways as $way) {
                try {
                    $way();
                    self::fail('An object of a class that is not allowed was stored.');
                } catch (Unstorable $refusal) {
                    self::assertStringContainsString('the class DateTimeImmutable is not among the allowed ones', $refusal->getMessage());
                }
            }
            self::assertSame([null, null, null], [$store->get('key'), $store->get('7'), $store->tags('red')->get('key')]);
            self::assertTrue($store->put('plain', ['a' => [1, null, 'O:8:"stdClass":0:{}']], 100));
            self::assertSame(['a' => [1, null, 'O:8:"stdClass":0:{}']], $store->get('plain'));
            self::assertSame(1, $store->increment('hits'));
            self::assertTrue($store->lock('lock', 100)->get());
            self::assertTrue($store->flushLocks());
            $store->flush();
        }
        self::assertTrue($store->put('list', new \ArrayObject([1]), 100));
        self::assertEquals(new \ArrayObject([1]), $store->get('list'));
    }

    /** What another process has stored without the limit is not made again. */
    #[DataProvider('kindsOfBytes')]
    public function testWhatIsNotSerializableForLaravelIsAMiss(string $kind): void
    {
        $dsn = $this->pools->dsn($kind);
        foreach (['', '?serializer=php'] as $options) {
            $this->limited($dsn . $options, null)->put('date', new \DateTimeImmutable(), 100);
            foreach (['', '?', $options] as $others) {
                self::assertNull($this->limited($dsn . $others, false)->get('date'));
                self::assertNull($this->limited($dsn . $others, [\ArrayObject::class])->get('date'));
            }
        }
        // The DSN has the last word.
        self::assertInstanceOf(\DateTimeImmutable::class, $this->limited("{$dsn}?classes=DateTimeImmutable", false)->get('date'));
        self::assertNull($this->limited("{$dsn}?classes=ArrayObject", null)->get('date'));
    }

    public function testSerializableClassesThatAreNoneAreRefused(): void
    {
        foreach (['none', [1], [''], ['a b'], 0] as $setting) {
            try {
                SerializableClasses::of($setting);
                self::fail('Something else was taken for classes.');
            } catch (\InvalidArgumentException $mistake) {
                self::assertStringStartsWith('The option "cache.serializable_classes" is neither', $mistake->getMessage());
            }
        }
        $this->expectExceptionObject(new \InvalidArgumentException('The DSN of the cache store has "serializer=igbinary", but igbinary cannot be limited to "cache.serializable_classes"; remove the one, or set the other to true.'));
        $this->limited('sqlite:/nowhere/cache.db?serializer=igbinary', false);
    }

    /** @param \Closure(LarderStore): mixed $do in another process, where the store is one that processes share */
    private function elsewhere(string $kind, LarderStore $store, \Closure $do): void
    {
        $kind === 'array' ? $do($store) : Crowd::of(1, fn(): int => (int) ($do(self::store($this->cache($kind))) === null));
    }

    private function cache(string $kind): Repository
    {
        return new Repository(new LarderStore(Cache::open($this->pools->dsn($kind)), 'laravel:'));
    }

    /** @param list<string>|bool|null $allowed */
    private function limited(string $dsn, array|bool|null $allowed): LarderStore
    {
        $application = $this->application(['dsn' => $dsn]);
        $application->make(Configuration::class)->set('cache.serializable_classes', $allowed);

        return self::store(self::opened($application));
    }

    /** A job of a queue that others fill; the instance "job" of the application does it. */
    private static function job(Application $application): Job
    {
        return new class ($application) extends \Illuminate\Queue\Jobs\Job implements Job {
            public function __construct(Application $application)
            {
                $this->container = $application;
                $this->connectionName = 'null';
                $this->queue = 'default';
            }

            public function getJobId(): string
            {
                return '1';
            }

            public function getRawBody(): string
            {
                return '{"job":"job","data":[]}';
            }

            public function attempts(): int
            {
                return 1;
            }
        };
    }

    private static function opened(Application $application): Repository
    {
        $cache = $application->make(CacheManager::class)->store('larder');
        self::assertInstanceOf(Repository::class, $cache);

        return $cache;
    }

    private static function session(Application $application): Store
    {
        $driver = $application->make(SessionManager::class)->driver();
        self::assertInstanceOf(Store::class, $driver);

        // A manager keeps its drivers; another request has one of its own.
        return clone $driver;
    }

    private static function store(object $cache): LarderStore
    {
        self::assertInstanceOf(Repository::class, $cache);
        $store = $cache->getStore();
        self::assertInstanceOf(LarderStore::class, $store);

        return $store;
    }

    /** As if the value had been made some time ago. */
    private function travel(object $cache, string $key): void
    {
        self::assertInstanceOf(Repository::class, $cache);
        $cache->put("illuminate:cache:flexible:created:{$key}", time() - 150, 50);
    }

    /** @param array<mixed> $store the options of the cache store besides its driver */
    private function application(array $store, string $sessions = ''): Application
    {
        $application = new Application($this->pools->path());
        $application->instance('config', new Configuration([
            'cache' => ['default' => 'larder', 'prefix' => 'laravel:', 'stores' => ['larder' => ['driver' => 'larder'] + $store]],
            'session' => ['driver' => 'larder', 'larder' => $sessions, 'lifetime' => 10, 'cookie' => 'session', 'serialization' => 'php', 'encrypt' => false],
            'logging' => ['default' => 'null', 'channels' => ['null' => ['driver' => 'monolog', 'handler' => \Monolog\Handler\NullHandler::class]]],
            'app' => ['maintenance' => ['driver' => 'file']],
            'queue' => ['default' => 'null', 'connections' => ['null' => ['driver' => 'null']]],
        ]));
        Facade::setFacadeApplication($application);
        foreach ([FilesystemServiceProvider::class, CacheServiceProvider::class, SessionServiceProvider::class, LarderServiceProvider::class] as $provider) {
            $application->register($provider);
        }
        $application->boot();

        return $application;
    }
}
