<?php

declare(strict_types=1);

namespace Larder\WordPress\Tests;

use Larder\SharedMemory;
use Larder\Tests\Contract\Crowd;
use Larder\WordPress\ObjectCache;
use Larder\WordPress\PoolBackend;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

/** What WordPress's documentation says of each function, and what this cache promises besides. */
#[CoversClass(ObjectCache::class)]
final class ObjectCacheTest extends TestCase
{
    private SharedMemory $pool;

    private ObjectCache $cache;

    protected function setUp(): void
    {
        $this->pool = SharedMemory::open('wordpress-test-' . getmypid(), 8 << 20);
        $this->pool->clear();
        $this->cache = new ObjectCache(new PoolBackend($this->pool));
    }

    protected function tearDown(): void
    {
        wp_suspend_cache_addition(false);
        SharedMemory::remove('wordpress-test-' . getmypid());
    }

    public function testAddStoresOnlyWhatIsNotThere(): void
    {
        self::assertTrue($this->cache->add('key', 1));
        self::assertFalse($this->cache->add('key', 2));
        self::assertSame(1, $this->nextRequest()->get('key'));
        self::assertFalse($this->cache->add('key', 3));
    }

    public function testAddDoesNothingWhileAdditionsAreSuspended(): void
    {
        wp_suspend_cache_addition(true);
        self::assertFalse($this->cache->add('key', 1));
        self::assertTrue($this->cache->set('key', 2));
    }

    public function testReplaceStoresOnlyWhatIsThere(): void
    {
        self::assertFalse($this->cache->replace('key', 1));
        $this->cache->set('key', 1);
        $this->nextRequest();
        self::assertTrue($this->cache->replace('key', 2));
        self::assertSame(2, $this->nextRequest()->get('key'));
    }

    public function testItTellsWhenEntriesEnd(): void
    {
        $this->cache->set('a', 1, 'transient', 60);
        $this->cache->set('b', 1, 'transient');
        $ends = $this->nextRequest()->ends('transient', ['a', 'b', 'c']);
        self::assertCount(1, $ends);
        self::assertEqualsWithDelta(time() + 60, $ends[0], 3);
    }

    public function testFalseAndNullAreValuesAndFoundTellsThem(): void
    {
        foreach ([false, null] as $value) {
            $this->cache->set('key', $value, 'posts');
            self::assertSame($value, $this->nextRequest()->get('key', 'posts', false, $found));
            self::assertTrue($found);
        }
        self::assertFalse($this->cache->get('absent', 'posts', false, $found));
        self::assertFalse($found);
    }

    public function testAnIntAndItsStringAreOneKeyAndLeadingZerosMakeAnother(): void
    {
        $this->cache->set(7, 'seven');
        $this->cache->set('007', 'bond');
        self::assertSame(['seven', 'seven', 'bond'], array_map($this->nextRequest()->get(...), [7, '7', '007']));
    }

    public function testKeysThatAreBlankOrOfAnotherTypeAreRefused(): void
    {
        foreach (['', '  ', null, 1.5, true] as $key) {
            foreach (['set', 'add', 'replace', 'get', 'delete', 'incr', 'decr'] as $method) {
                self::assertFalse((new \ReflectionMethod($this->cache, $method))->invoke($this->cache, $key, 1));
            }
        }
    }

    public function testObjectsAreClonedInAndOut(): void
    {
        $object = (object) ['title' => 'before'];
        $this->cache->set('key', $object, 'posts');
        $object->title = 'after';
        $read = $this->cache->get('key', 'posts');
        self::assertEquals((object) ['title' => 'before'], $read);
        self::assertNotSame($read, $this->cache->get('key', 'posts'));
        self::assertEquals((object) ['title' => 'before'], $this->nextRequest()->get('key', 'posts'));
    }

    public function testIncrAndDecrCountNumbersAndStopAtZero(): void
    {
        self::assertFalse($this->cache->incr('key'));
        $this->cache->set('key', '5');
        $this->nextRequest();
        self::assertSame(8, $this->cache->incr('key', 3));
        self::assertSame(0, $this->cache->decr('key', 20));
        $this->cache->set('text', 'no number');
        self::assertSame(2, $this->cache->incr('text', 2));
        self::assertSame(0, $this->nextRequest()->get('key'));
    }

    public function testCountersOfTwoRequestsLoseNothing(): void
    {
        $other = new ObjectCache(new PoolBackend($this->pool));
        $this->cache->set('hits', 0, 'shop');
        for ($i = 0; $i < 10; $i++) {
            $this->cache->incr('hits', 1, 'shop');
            $other->incr('hits', 1, 'shop');
        }
        self::assertSame(20, $this->cache->get('hits', 'shop', true));
    }

    public function testTheMultipleFamilyDoesWhatTheOthersDoForEach(): void
    {
        self::assertSame(['a' => true, 'b' => true], $this->cache->set_multiple(['a' => 1, 'b' => 2], 'shop'));
        self::assertSame(['b' => false, 'c' => true], $this->cache->add_multiple(['b' => 9, 'c' => 3], 'shop'));
        self::assertSame(['c' => 3, 'x' => false, 'a' => 1], $this->nextRequest()->get_multiple(['c', 'x', 'a'], 'shop'));
        self::assertSame(['a' => true, 'x' => false], $this->cache->delete_multiple(['a', 'x'], 'shop'));
        self::assertFalse($this->nextRequest()->get('a', 'shop'));
    }

    public function testDeleteTellsWhetherItWasThere(): void
    {
        $this->cache->set('key', 1);
        $this->nextRequest();
        self::assertTrue($this->cache->delete('key'));
        self::assertFalse($this->cache->delete('key'));
    }

    public function testFlushEmptiesEverythingAndFlushGroupAGroup(): void
    {
        $this->cache->set('key', 1, 'shop');
        $this->cache->set('key', 2, 'other');
        self::assertTrue($this->cache->flush_group('shop'));
        self::assertFalse($this->cache->get('key', 'shop'));
        self::assertSame(2, $this->nextRequest()->get('key', 'other'));
        self::assertFalse($this->cache->get('key', 'shop'));
        self::assertTrue($this->cache->flush());
        self::assertFalse($this->nextRequest()->get('key', 'other'));
    }

    public function testFlushLeavesGroupsThatTheConfigurationKeeps(): void
    {
        $open = fn(): ObjectCache => new ObjectCache(new PoolBackend($this->pool), 'a:', 'a:everything', null, ['kept' => true]);
        $cache = $open();
        $cache->set('key', 1, 'kept');
        $cache->set('key', 1, 'other');
        $cache->flush();
        self::assertSame([1, false], [$open()->get('key', 'kept'), $open()->get('key', 'other')]);
    }

    public function testFlushRuntimeForgetsTheRequestOnly(): void
    {
        $this->cache->add('key', 1, 'posts');
        $this->cache->flush_runtime();
        self::assertSame([], $this->cache->cache);
        self::assertSame(1, $this->cache->get('key', 'posts'));
    }

    public function testLocalGroupsDoNotOutliveTheRequest(): void
    {
        $this->cache->add_non_persistent_groups('counts');
        $this->cache->set('key', 1, 'counts');
        self::assertSame(1, $this->cache->get('key', 'counts'));
        self::assertFalse($this->nextRequest()->get('key', 'counts'));
    }

    public function testTermsThatWooCommerceKeepsOfAProductDoNotOutliveTheRequest(): void
    {
        $group = 'wc_cache_0.04486700_1795911286_96b020763e46a843_181';
        self::assertFalse($this->cache->get('wc_pa_color', $group));
        $this->cache->add('wc_pa_color', ['red'], $group);
        self::assertSame(['red'], $this->cache->get('wc_pa_color', $group));
        self::assertFalse($this->nextRequest()->get('wc_pa_color', $group));
        $this->cache->set('wc_pa_size', ['small'], $group);
        self::assertFalse($this->nextRequest()->get('wc_pa_size', $group));
    }

    public function testAGroupAndAKeyNeverMeetAnotherGroupAndKey(): void
    {
        $this->cache->set('b:c', 1, 'a');
        $this->cache->set('c', 2, 'a:b');
        $this->cache->set('c', 3, 'a%3Ab');
        $next = $this->nextRequest();
        self::assertSame([1, 2, 3], [$next->get('b:c', 'a'), $next->get('c', 'a:b'), $next->get('c', 'a%3Ab')]);
    }

    public function testForceAsksTheStore(): void
    {
        $this->cache->set('key', 1, 'shop');
        (new ObjectCache(new PoolBackend($this->pool)))->set('key', 2, 'shop');
        self::assertSame(1, $this->cache->get('key', 'shop'));
        self::assertSame(2, $this->cache->get('key', 'shop', true));
    }

    public function testAnExpiryEndsAnItem(): void
    {
        $this->cache->set('key', 1, 'shop', 1);
        $this->cache->set('long', 1, 'shop', 100);
        usleep(2_100_000);
        self::assertSame([false, 1], [$this->nextRequest()->get('key', 'shop'), $this->cache->get('long', 'shop')]);
    }

    public function testWhatNoStoreCanKeepIsReadableInItsOwnRequestAndLeavesNothingOlder(): void
    {
        $this->cache->set('key', 'older', 'shop');
        $unstorable = static fn(): int => 1;
        self::assertTrue($this->cache->set('key', $unstorable, 'shop'));
        self::assertInstanceOf(\Closure::class, $this->cache->get('key', 'shop', true));
        self::assertFalse($this->nextRequest()->get('key', 'shop'));
    }

    public function testFillsGoOutWhenTheRequestEnds(): void
    {
        $this->cache->get('7', 'posts');
        $this->cache->add('7', 'a post', 'posts');
        self::assertFalse($this->pool->has('posts:7'));
        $this->cache->commit();
        self::assertSame('a post', $this->pool->get('posts:7'));
    }

    public function testAFillIsRefusedIfAnotherProcessHasDeletedTheKeySince(): void
    {
        $this->cache->get('7', 'posts');
        $this->cache->add('7', 'as it was', 'posts');
        $this->elsewhere(static fn(ObjectCache $other): bool => $other->delete('7', 'posts'));
        $this->cache->commit();
        self::assertSame('as it was', $this->cache->get('7', 'posts'));
        self::assertFalse($this->nextRequest()->get('7', 'posts'));
    }

    public function testWhatIsAddedWithoutALookIsJudgedByTheBeginningOfTheRequest(): void
    {
        $this->elsewhere(static fn(ObjectCache $other): bool => $other->delete('7', 'posts'));
        $this->cache->add_multiple(['7' => 'read before it was changed'], 'posts');
        $this->cache->commit();
        self::assertFalse($this->nextRequest()->get('7', 'posts'));
    }

    public function testAChangeOfWhatAnotherProcessHasChangedTakesTheEntryWithIt(): void
    {
        $this->cache->set('alloptions', ['a' => 1], 'options');
        $this->nextRequest();
        $all = $this->cache->get('alloptions', 'options');
        $this->elsewhere(static fn(ObjectCache $other): bool => $other->set('alloptions', ['a' => 1, 'b' => 2], 'options'));
        self::assertIsArray($all);
        $this->cache->set('alloptions', ['c' => 3] + $all, 'options');
        self::assertSame(['c' => 3, 'a' => 1], $this->cache->get('alloptions', 'options'));
        self::assertFalse($this->nextRequest()->get('alloptions', 'options'));
    }

    public function testAChangeIsJudgedByWhatAForcedReadHasRead(): void
    {
        $this->cache->get('alloptions', 'options');
        $this->elsewhere(static function (ObjectCache $other): void {
            $other->get('alloptions', 'options');
            $other->add('alloptions', ['b' => 2], 'options');
            $other->commit();
        });
        $all = $this->cache->get('alloptions', 'options', true);
        self::assertSame(['b' => 2], $all);
        $this->cache->set('alloptions', $all + ['c' => 3], 'options');
        self::assertSame(['b' => 2, 'c' => 3], $this->nextRequest()->get('alloptions', 'options'));
    }

    public function testAChangeAfterAnotherProcesssChangeThatWasReadIsKept(): void
    {
        $this->cache->set('alloptions', ['a' => 1], 'options');
        $this->nextRequest();
        // Both judged, and the second made from what the first left.
        $this->elsewhere(static function (ObjectCache $other): void {
            $other->get('alloptions', 'options');
            $other->set('alloptions', ['a' => 2], 'options');
        });
        self::assertSame(['a' => 2], $this->cache->get('alloptions', 'options'));
        $this->cache->set('alloptions', ['a' => 3], 'options');
        $this->cache->set('alloptions', ['a' => 4], 'options');
        self::assertSame(['a' => 4], $this->nextRequest()->get('alloptions', 'options'));
    }

    public function testOutsideCoresGroupsTheLastWriteWins(): void
    {
        $this->cache->get('cart', 'shop');
        $this->elsewhere(static fn(ObjectCache $other): bool => $other->set('cart', 'theirs', 'shop'));
        $this->cache->set('cart', 'ours', 'shop');
        self::assertSame('ours', $this->nextRequest()->get('cart', 'shop'));
    }

    public function testALockIsFreeAgainOnceAnotherProcessGivesItBack(): void
    {
        $this->cache->add('lock', 1, 'locks');
        $this->elsewhere(static fn(ObjectCache $other): bool => $other->delete('lock', 'locks'));
        self::assertTrue($this->cache->add('lock', 2, 'locks'));
        self::assertFalse($this->cache->add('lock', 3, 'locks'));
    }

    /** @param \Closure(ObjectCache): mixed $do */
    private function elsewhere(\Closure $do): void
    {
        Crowd::of(1, static function () use ($do): void {
            $do(new ObjectCache(new PoolBackend(SharedMemory::open('wordpress-test-' . posix_getppid()))));
        });
    }

    private function nextRequest(): ObjectCache
    {
        $this->cache->commit();
        $this->pool->beginRequest();

        return $this->cache = new ObjectCache(new PoolBackend($this->pool));
    }
}
