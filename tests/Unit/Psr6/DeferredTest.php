<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Psr6;

use Larder\Cache;
use Larder\Psr6\CachePool;
use Larder\Store\ArrayStore;
use Larder\Store\ChaosStore;
use Larder\Tests\MemoryLogger;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;
use Psr\Cache\CacheException;

/** What is deferred, which a commit persists at the latest. The sentences in quotation marks are those of PSR-6. */
#[CoversClass(CachePool::class)]
final class DeferredTest extends TestCase
{
    /** Seconds by which the store's clock is ahead. */
    private int $later = 0;

    private ArrayStore $store;

    protected function setUp(): void
    {
        $this->store = new ArrayStore(clock: fn(): int => time() + $this->later);
    }

    /** "A Pool MUST ensure that any deferred cache items are eventually persisted and data is not lost, and MAY persist them before a Calling Library requests that they be persisted." */
    public function testWhatIsDeferredIsPersistedWhenThePoolGoes(): void
    {
        $pool = $this->pool();
        self::assertTrue($pool->saveDeferred($pool->getItem('key')->set('value')));
        self::assertFalse($this->pool()->hasItem('key'));
        unset($pool);
        self::assertSame('value', $this->pool()->getItem('key')->get());
    }

    /** "A Pool MUST ensure that any deferred cache items are eventually persisted and data is not lost" */
    public function testWhatIsDeferredDoesNotPileUp(): void
    {
        $pool = $this->pool();
        for ($i = 0; $i < 1_000; $i++) {
            self::assertTrue($pool->saveDeferred($pool->getItem("key {$i}")->set($i)));
        }
        self::assertSame(0, $this->pool()->getItem('key 0')->get());
        self::assertSame(999, $this->pool()->getItem('key 999')->get());
    }

    /** "When a Calling Library invokes the commit() method all outstanding deferred items MUST be persisted." */
    public function testACommitPersistsAllThatIsDeferred(): void
    {
        $pool = $this->pool();
        foreach (['a' => 10, 'b' => 20, 'c' => null, '7' => 10] as $key => $ttl) {
            self::assertTrue($pool->saveDeferred($pool->getItem((string) $key)->set("value {$key}")->expiresAfter($ttl)));
        }
        self::assertTrue($pool->commit());
        $other = $this->pool();
        foreach (['a', 'b', 'c', '7'] as $key) {
            self::assertSame("value {$key}", $other->getItem($key)->get());
        }
        self::assertTrue($pool->commit(), 'Nothing is deferred any more.');
        $this->later = 11;
        self::assertFalse($other->hasItem('a'));
        self::assertTrue($other->hasItem('b'));
    }

    /** "Requests for a cache item that has been deferred MUST return the deferred but not-yet-persisted item." */
    public function testADeferredItemIsFound(): void
    {
        $pool = $this->pool();
        $pool->save($pool->getItem('key')->set('old'));
        $item = $pool->getItem('key')->set('new');
        $pool->saveDeferred($item);
        self::assertTrue($pool->hasItem('key'));
        self::assertTrue($pool->getItem('key')->isHit());
        self::assertSame('new', $pool->getItem('key')->get());
        foreach ($pool->getItems(['key', 'absent']) as $key => $found) {
            self::assertSame($key === 'key' ? 'new' : null, $found->get());
        }
        // What is done to one of them later was not deferred.
        $item->set('changed');
        $pool->getItem('key')->set('changed, too');
        self::assertSame('new', $pool->getItem('key')->get());
        $pool->commit();
        self::assertSame('new', $this->pool()->getItem('key')->get());
    }

    public function testADeferredItemHandsDownNeitherExpiryNorTagsAsAStoredOneDoesNot(): void
    {
        foreach ([true, false] as $isDeferred) {
            $pool = $this->pool();
            $this->later = 0;
            $first = $pool->getItem('key')->set('first')->expiresAfter(10)->tag('tag');
            self::assertTrue($isDeferred ? $pool->saveDeferred($first) : $pool->save($first));
            foreach ($pool->getItems(['key']) as $found) {
                self::assertSame([], $found->tags());
            }
            self::assertTrue($pool->save($pool->getItem('key')->set('second')));
            self::assertTrue($pool->invalidateTags(['tag']));
            $this->later = 20;
            self::assertSame('second', $pool->getItem('key')->get());
        }
    }

    public function testWhatIsDoneLaterOverridesWhatIsDeferred(): void
    {
        $pool = $this->pool();
        $later = [
            'saved' => static fn(): bool => $pool->save($pool->getItem('saved')->set('newer')),
            'deleted' => static fn(): bool => $pool->deleteItem('deleted'),
            'cleared' => static fn(): bool => $pool->clear(),
        ];
        foreach ($later as $key => $do) {
            $pool->saveDeferred($pool->getItem($key)->set('deferred'));
            self::assertTrue($do());
            $pool->commit();
            self::assertSame($key === 'saved' ? 'newer' : null, $pool->getItem($key)->get());
        }
        $pool->saveDeferred($pool->getItem('key')->set('first'));
        $pool->saveDeferred($pool->getItem('key')->set('second'));
        $pool->commit();
        self::assertSame('second', $pool->getItem('key')->get());
    }

    /** "A Pool MUST ensure that any deferred cache items are eventually persisted and data is not lost" */
    public function testWhatCannotBeStoredTakesNothingElseAlong(): void
    {
        $chaos = new ChaosStore($this->store);
        $pool = new CachePool(new Cache($chaos, strict: true));
        foreach ([10, 20, 30] as $ttl) {
            $pool->saveDeferred($pool->getItem("key {$ttl}")->set($ttl === 20 ? static fn(): int => 20 : $ttl)->expiresAfter($ttl));
        }
        self::assertFalse($pool->commit());
        self::assertSame([10, null, 30], array_map(fn(int $ttl): mixed => $this->pool()->getItem("key {$ttl}")->get(), [10, 20, 30]));
        $pool->saveDeferred($pool->getItem('key 40')->set(40));
        $chaos->isDown = true;
        try {
            $pool->commit();
            self::fail('A strict cache kept a failure to itself.');
        } catch (CacheException) {
        }
        $chaos->isDown = false;
        self::assertTrue($pool->commit(), 'Nothing is deferred any more.');
        self::assertFalse($pool->hasItem('key 40'));
    }

    public function testAResetStoresWhatIsDeferredByTheRulesOfItsOwnRequest(): void
    {
        $pool = $this->pool();
        self::assertFalse($pool->getItem('overtaken')->isHit());
        $pool->saveDeferred($pool->getItem('overtaken')->set('stale'));
        $pool->saveDeferred($pool->getItem('key')->set('value'));
        $this->pool()->deleteItem('overtaken');
        $pool->reset();
        self::assertFalse($this->pool()->hasItem('overtaken'));
        self::assertSame('value', $this->pool()->getItem('key')->get());
    }

    public function testAResetOfAStrictCacheWhoseStoreIsAwayThrowsNothingAndBeginsAnew(): void
    {
        $chaos = new ChaosStore($this->store);
        $pool = new CachePool(new Cache($chaos, strict: true));
        self::assertFalse($pool->getItem('key')->isHit());
        $this->pool()->save($this->pool()->getItem('key')->set('theirs'));
        $pool->saveDeferred($pool->getItem('deferred')->set('value'));
        $chaos->isDown = true;
        $pool->reset();
        $chaos->isDown = false;
        self::assertTrue($pool->save($pool->getItem('key')->set('of the next request')));
    }

    public function testACloneDefersNothingOfItsModel(): void
    {
        $pool = $this->pool();
        $pool->saveDeferred($pool->getItem('key')->set(1));
        $clone = clone $pool;
        self::assertFalse($clone->hasItem('key'));
        self::assertTrue($pool->hasItem('key'));
    }

    private function pool(?MemoryLogger $logger = null): CachePool
    {
        return new CachePool(new Cache($this->store), $logger);
    }
}
