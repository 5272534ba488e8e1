<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Psr6;

use Larder\Cache;
use Larder\Item;
use Larder\Psr6\CacheItem;
use Larder\Psr6\CachePool;
use Larder\Psr6\Failure;
use Larder\Psr6\InvalidArgument;
use Larder\Store\ArrayStore;
use Larder\Store\ChaosStore;
use Larder\Store\FileStore;
use Larder\Tests\Contract\Value\Product;
use Larder\Tests\MemoryLogger;
use Larder\Tests\Scratch;
use Larder\Tests\Unit\Psr\Keys;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\DataProviderExternal;
use PHPUnit\Framework\TestCase;
use Psr\Cache\CacheException;
use Psr\Cache\CacheItemInterface;
use Psr\Cache\CacheItemPoolInterface;
use Psr\Cache\InvalidArgumentException;

/** The sentences in quotation marks are those of PSR-6: each that says MUST and speaks to the implementing library. */
#[CoversClass(CachePool::class)]
#[CoversClass(CacheItem::class)]
#[CoversClass(InvalidArgument::class)]
#[CoversClass(Failure::class)]
final class CachePoolTest extends TestCase
{
    /** Seconds by which the store's clock is ahead. */
    private int $later = 0;

    private ArrayStore $store;

    protected function setUp(): void
    {
        $this->store = new ArrayStore(clock: fn(): int => time() + $this->later);
    }

    /** "The Implementing Library MUST provide classes which implement the Cache\CacheItemPoolInterface and Cache\CacheItemInterface interfaces." */
    public function testPoolAndItemsImplementTheInterfaces(): void
    {
        $pool = $this->pool();
        self::assertInstanceOf(CacheItemPoolInterface::class, $pool);
        self::assertInstanceOf(CacheItemInterface::class, $pool->getItem('key'));
    }

    /**
     * "Libraries are responsible for their own escaping of key strings as appropriate, but MUST be able to return the original unmodified key string."
     * "Each Item object MUST be associated with a specific key, which can be set according to the implementing system and is typically passed by the Cache\CacheItemPoolInterface object."
     */
    public function testTheKeysThatMustBeSupportedAreAndComeBackUnmodified(): void
    {
        $pool = $this->pool();
        $keys = Keys::legal();
        foreach ($keys as $key) {
            self::assertSame($key, $pool->getItem($key)->getKey());
            self::assertTrue($pool->save($pool->getItem($key)->set($key)));
        }
        $seen = [];
        foreach ($pool->getItems($keys) as $key => $item) {
            self::assertSame($key, $item->getKey());
            self::assertSame($key, $item->get());
            $seen[] = $key;
        }
        self::assertSame($keys, $seen);
        foreach ($keys as $key) {
            self::assertTrue($pool->deleteItem($key));
            self::assertFalse($pool->hasItem($key));
        }
    }

    /**
     * "If the $key string is not a legal value a \Psr\Cache\InvalidArgumentException MUST be thrown."
     * "If any of the keys in $keys are not a legal value a \Psr\Cache\InvalidArgumentException MUST be thrown."
     * "Any time an invalid argument is passed into a method it must throw an exception class which implements Psr\Cache\InvalidArgumentException."
     */
    #[DataProviderExternal(Keys::class, 'illegal')]
    public function testAnIllegalKeyThrowsThePsrsException(string $key): void
    {
        $pool = $this->pool();
        $pool->save($pool->getItem('fine')->set(1));
        $calls = [
            static fn(): mixed => $pool->getItem($key),
            static fn(): mixed => $pool->getItems(['fine', $key]),
            static fn(): mixed => $pool->hasItem($key),
            static fn(): mixed => $pool->deleteItem($key),
            static fn(): mixed => $pool->deleteItems(['fine', $key]),
        ];
        foreach ($calls as $call) {
            try {
                $call();
                self::fail('An illegal key was taken.');
            } catch (InvalidArgumentException $mistake) {
                self::assertInstanceOf(CacheException::class, $mistake);
                self::assertMatchesRegularExpression('/^The key .+ is not legal in PSR-6; use .+\.$/', $mistake->getMessage());
            }
        }
        self::assertTrue($pool->hasItem('fine'), 'Nothing is deleted of a batch with an illegal key.');
    }

    /** "If any of the keys in $keys are not a legal value a \Psr\Cache\InvalidArgumentException MUST be thrown." */
    #[DataProviderExternal(Keys::class, 'ofOtherTypes')]
    public function testAKeyOfAnotherTypeThrowsThePsrsException(mixed $key): void
    {
        $pool = $this->pool();
        foreach ([static fn(): mixed => $pool->getItems(['fine', $key]), static fn(): mixed => $pool->deleteItems([$key])] as $call) {
            try {
                $call();
                self::fail('A key that is no string was taken.');
            } catch (InvalidArgumentException $mistake) {
                self::assertStringContainsString(get_debug_type($key), $mistake->getMessage());
            }
        }
    }

    /** @return iterable<string, array{mixed}> */
    public static function values(): iterable
    {
        yield 'a string' => ['text'];
        yield 'an empty string' => [''];
        yield 'a large string' => [str_repeat("\0\xff", 1_000_000)];
        yield 'an integer' => [5];
        yield 'a numeric string' => ['5'];
        yield 'the largest integer' => [\PHP_INT_MAX];
        yield 'the smallest integer' => [\PHP_INT_MIN];
        yield 'a float' => [0.1];
        yield 'a whole float' => [5.0];
        yield 'minus zero' => [-0.0];
        yield 'infinity' => [-\INF];
        yield 'true' => [true];
        yield 'false' => [false];
        yield 'null' => [null];
        yield 'a list' => [[1, '1', 1.0, [true, [null]]]];
        yield 'a map' => [['a' => ['b' => ['c' => []]], 7 => 'seven', '' => 'empty']];
        yield 'an object' => [new Product('shirt', new Product('tie'))];
        yield 'a date' => [new \DateTimeImmutable('2024-02-29 12:00:00.123456', new \DateTimeZone('Europe/Rome'))];
    }

    /**
     * "Implementing libraries MUST support all serializable PHP data types"
     * "All data passed into the Implementing Library MUST be returned exactly as passed. That includes the variable type."
     * "Cache\CacheItemInterface objects MUST be able to store and retrieve any type of PHP value defined in the Data section of the specification."
     * "The value returned must be identical to the value originally stored by set()."
     */
    #[DataProvider('values')]
    public function testAValueComesBackExactlyAsPassed(mixed $value): void
    {
        $scratch = new Scratch();
        foreach ([$this->store, new FileStore($scratch->path)] as $store) {
            $pool = new CachePool(new Cache($store));
            self::assertTrue($pool->save($pool->getItem('key')->set($value)));
            $item = $pool->getItem('key');
            self::assertTrue($item->isHit());
            self::assertTrue($pool->hasItem('key'));
            self::assertSame(serialize($value), serialize($item->get()));
        }
    }

    /** "If it is not possible to return the exact saved value for any reason, implementing libraries MUST respond with a cache miss rather than corrupted data." */
    public function testWhatIsDamagedIsAMiss(): void
    {
        $scratch = new Scratch();
        $pool = new CachePool(new Cache(new FileStore($scratch->path)));
        $pool->save($pool->getItem('key')->set(['value']));
        foreach (glob("{$scratch->path}/[0-9a-f][0-9a-f]/*") ?: [] as $file) {
            file_put_contents($file, substr((string) file_get_contents($file), 0, -3));
        }
        self::assertFalse($pool->getItem('key')->isHit());
        self::assertFalse($pool->hasItem('key'));
    }

    /** "The key is the primary unique identifier for an Item and MUST be immutable." */
    public function testTheKeyOfAnItemIsImmutable(): void
    {
        self::assertTrue((new \ReflectionProperty(CacheItem::class, 'key'))->isReadOnly());
    }

    /** "Implementing Libraries MUST NOT throw exceptions other than those defined by the interface, and SHOULD trap any errors or exceptions triggered by an underlying data store and not allow them to bubble." */
    public function testAStoreThatIsDownIsAMissAndFalse(): void
    {
        $store = new ChaosStore();
        $logger = new MemoryLogger();
        $pool = new CachePool(new Cache($store, logger: $logger));
        $store->isDown = true;
        self::assertFalse($pool->getItem('key')->isHit());
        self::assertFalse($pool->hasItem('key'));
        foreach ($pool->getItems(['a', 'b']) as $item) {
            self::assertFalse($item->isHit());
        }
        self::assertFalse($pool->save($pool->getItem('key')->set(1)));
        self::assertTrue($pool->saveDeferred($pool->getItem('key')->set(1)));
        self::assertFalse($pool->commit());
        self::assertFalse($pool->deleteItem('key'));
        self::assertFalse($pool->deleteItems(['key']));
        self::assertFalse($pool->clear());
        self::assertGreaterThan(0, \count($logger->lines));
    }

    /** "Any exception thrown by an Implementing Library MUST implement this interface." */
    public function testAStrictCacheThrowsThePsrsException(): void
    {
        $store = new ChaosStore();
        $store->isDown = true;
        $pool = new CachePool(new Cache($store, strict: true));
        foreach ([static fn(): mixed => $pool->getItem('key'), static fn(): mixed => $pool->clear()] as $call) {
            try {
                $call();
                self::fail('A strict cache was silent.');
            } catch (CacheException $failure) {
                self::assertStringContainsString('is unavailable', $failure->getMessage());
            }
        }
        $pool->saveDeferred((new CachePool(new Cache($this->store)))->getItem('key')->set(1));
        unset($pool);
    }

    /** "Implementing Libraries MUST NOT throw exceptions other than those defined by the interface" */
    public function testAValueThatCannotBeStoredIsFalseAndLoggedAndTheOthersAreStored(): void
    {
        $logger = new MemoryLogger();
        $pool = $this->pool($logger);
        self::assertFalse($pool->save($pool->getItem('closure')->set(static fn(): int => 1)));
        self::assertCount(1, $logger->lines);
        $pool->saveDeferred($pool->getItem('a')->set(1));
        $pool->saveDeferred($pool->getItem('closure')->set(static fn(): int => 1));
        $pool->saveDeferred($pool->getItem('b')->set(2));
        self::assertFalse($pool->commit());
        self::assertSame([1, null, 2], array_map(static fn(string $key): mixed => $pool->getItem($key)->get(), ['a', 'closure', 'b']));
        self::assertCount(2, $logger->lines);
    }

    public function testAnItemOfAnotherLibraryIsNotSaved(): void
    {
        $item = self::createStub(CacheItemInterface::class);
        $item->method('getKey')->willReturn('key');
        self::assertFalse($this->pool()->save($item));
        self::assertFalse($this->pool()->saveDeferred($item));
        self::assertFalse($this->pool()->hasItem('key'));
    }

    /** "If a Calling Library requests that one or more Items be deleted, or that a pool be cleared, it MUST NOT be considered an error condition if the specified key does not exist." */
    public function testDeletingWhatIsNotThereIsNoError(): void
    {
        $pool = $this->pool();
        self::assertTrue($pool->deleteItem('absent'));
        self::assertTrue($pool->deleteItems(['absent', 'too']));
        self::assertTrue($pool->deleteItems([]));
        self::assertTrue($pool->clear());
        $pool->save($pool->getItem('key')->set(1));
        self::assertTrue($pool->clear());
        self::assertFalse($pool->hasItem('key'));
    }

    /** "If isHit() returns false, this method MUST return null." */
    public function testAMissIsNullAndWhatIsSetIsGot(): void
    {
        $item = $this->pool()->getItem('absent');
        self::assertFalse($item->isHit());
        self::assertNull($item->get());
        self::assertSame($item, $item->set('value'));
        self::assertSame('value', $item->get());
        self::assertTrue($item->isHit());
        $pool = $this->pool();
        $pool->save($pool->getItem('null')->set(null));
        self::assertTrue($pool->getItem('null')->isHit());
        self::assertNull($pool->getItem('null')->get());
    }

    /** "This method MUST NOT have a race condition between calling isHit() and calling get()." */
    public function testWhatHappensAfterTheLookUpDoesNotChangeTheItem(): void
    {
        $pool = $this->pool();
        $pool->save($pool->getItem('key')->set('value')->expiresAfter(10));
        $hit = $pool->getItem('key');
        $miss = $pool->getItem('other');
        $pool->deleteItem('key');
        $pool->save($pool->getItem('other')->set('value'));
        $this->later = 11;
        self::assertTrue($hit->isHit());
        self::assertSame('value', $hit->get());
        self::assertFalse($miss->isHit());
        self::assertNull($miss->get());
    }

    /**
     * "This method must always return a CacheItemInterface object, even in case of a cache miss. It MUST NOT return null."
     * "A Cache item will be returned for each key, even if that key is not found. However, if no keys are specified then an empty traversable MUST be returned instead."
     */
    public function testThereIsAnItemForEveryKeyAndNoneForNoKey(): void
    {
        $pool = $this->pool();
        $pool->save($pool->getItem('a')->set(1));
        self::assertSame('absent', $pool->getItem('absent')->getKey());
        $found = [];
        foreach ($pool->getItems(['absent', 'a']) as $key => $item) {
            $found[$key] = [$item->getKey(), $item->isHit()];
        }
        self::assertSame(['absent' => ['absent', false], 'a' => ['a', true]], $found);
        self::assertSame([], [...$pool->getItems()]);
        self::assertSame([], [...$pool->getItems([])]);
    }

    /** Doctrine's ORM asks for an item anew before it saves it. */
    public function testAnItemThatIsAskedForAgainIsAsOldAsItsFirstMiss(): void
    {
        $store = new ArrayStore();
        $pool = new CachePool(new Cache($store));
        $other = new Cache($store);
        $save = static fn(string $value): bool => $pool->save($pool->getItem('key')->set($value)->tag('red'));
        $found = static fn(): mixed => $other->get('key');
        self::assertFalse($pool->getItem('key')->isHit());
        $other->delete('key');
        self::assertFalse($save('computed before'));
        self::assertNull($found());
        // It is judged once.
        self::assertTrue($save('computed anew'));
        self::assertSame('computed anew', $found());
        $other->delete('key');
        foreach ($pool->getItems(['key', 'another']) as $item) {
            self::assertFalse($item->isHit());
        }
        $other->invalidateTags(['red']);
        self::assertFalse($pool->hasItem('key'));
        self::assertFalse($save('computed before'));
        // What another process has stored meanwhile was seen, and is replaced.
        self::assertFalse($pool->getItem('key')->isHit());
        $other->set('key', 'theirs');
        self::assertTrue($save('ours'));
        self::assertSame('ours', $found());
        // What is missed after that is another miss.
        $other->delete('key');
        self::assertFalse($pool->getItem('key')->isHit());
        $other->set('key', 'theirs');
        self::assertTrue($pool->getItem('key')->isHit());
        $other->delete('key');
        self::assertTrue($save('computed since'));
    }

    /** @return iterable<string, array{\Closure(CachePool, Cache): mixed}> */
    public static function ownWords(): iterable
    {
        yield 'a delete' => [static fn(CachePool $pool): bool => $pool->deleteItem('key')];
        yield 'a clear' => [static fn(CachePool $pool): bool => $pool->clear()];
        yield 'an invalidation of a tag' => [static fn(CachePool $pool): bool => $pool->invalidateTags(['red'])];
        yield 'the end of a request' => [static fn(CachePool $pool) => $pool->reset()];
        yield 'a delete of the cache' => [static fn(CachePool $pool, Cache $cache): bool => $cache->delete('key')];
        yield 'a delete of several of the cache' => [static fn(CachePool $pool, Cache $cache): bool => $cache->deleteMany(['other', 'key'])];
        yield 'a clear of the cache' => [static fn(CachePool $pool, Cache $cache): bool => $cache->clear()];
        yield 'an invalidation of the cache' => [static fn(CachePool $pool, Cache $cache): bool => $cache->invalidateTags(['red'])];
        yield 'an invalidation in a namespace' => [static fn(CachePool $pool, Cache $cache): bool => $cache->namespace('part')->invalidateTags(['red'])];
        yield 'a set of the cache' => [static fn(CachePool $pool, Cache $cache): bool => $cache->set('key', 1)];
        yield 'a set of several of the cache' => [static fn(CachePool $pool, Cache $cache): bool => $cache->setMany(['key' => 1])];
        yield 'a save of the cache' => [static fn(CachePool $pool, Cache $cache): array => $cache->saveMany([new Item('key', 1)])];
        yield 'an add of the cache' => [static fn(CachePool $pool, Cache $cache): bool => $cache->add('key', 1)];
        yield 'a replacement of the cache' => [static fn(CachePool $pool, Cache $cache): bool => $cache->replace('key', 1)];
        yield 'a touch that deletes' => [static fn(CachePool $pool, Cache $cache): bool => $cache->touch('key', 0)];
        yield 'a count of the cache' => [static fn(CachePool $pool, Cache $cache): int|false => $cache->increment('key')];
        yield 'an update of the cache' => [static fn(CachePool $pool, Cache $cache): bool => $cache->update('key', static fn(): int => 1)];
        yield 'a value that the cache remembers' => [static fn(CachePool $pool, Cache $cache): mixed => $cache->remember('key', static fn(): int => 1)];
        yield 'the end of a request of the cache' => [static fn(CachePool $pool, Cache $cache) => $cache->refresh()];
    }

    /** @param \Closure(CachePool, Cache): mixed $do */
    #[DataProvider('ownWords')]
    public function testWhatTheProcessItselfHasDoneSinceTheFirstMissRefusesNothing(\Closure $do): void
    {
        $store = new ArrayStore();
        $other = new Cache($store);
        $cache = new Cache($store);
        $pool = new CachePool($cache);
        foreach ([$pool, new CachePool($cache), clone $pool] as $doer) {
            self::assertFalse($pool->getItem('key')->isHit());
            $other->delete('key');
            $do($doer, $cache);
            // What was stored is gone again before the pool is asked.
            $other->delete('key');
            self::assertTrue($pool->save($pool->getItem('key')->set('computed since')->tag('red')));
            self::assertSame('computed since', $pool->getItem('key')->get());
            $other->delete('key');
        }
    }

    public function testAnInvalidationInTheCacheRefusesNothingInANamespaceOfIt(): void
    {
        $store = new ArrayStore();
        $cache = new Cache($store);
        $pool = new CachePool($cache->namespace('part'));
        foreach ([static fn(): bool => $cache->invalidateTags(['red']), $cache->clear(...), $cache->refresh(...)] as $do) {
            self::assertFalse($pool->getItem('key')->isHit());
            (new Cache($store))->namespace('part')->delete('key');
            $do();
            self::assertTrue($pool->save($pool->getItem('key')->set('computed since')->tag('red')));
            $pool->deleteItem('key');
        }
    }

    public function testAnItemIsAsOldAsItsFirstMissInAnyPoolOfTheCache(): void
    {
        $store = new ArrayStore();
        $cache = new Cache($store);
        $pool = new CachePool($cache);
        foreach ([new CachePool($cache), clone $pool] as $asked) {
            self::assertFalse($asked->getItem('key')->isHit());
            (new Cache($store))->delete('key');
            self::assertFalse($pool->save($pool->getItem('key')->set('computed before')));
            self::assertTrue($pool->save($pool->getItem('key')->set('computed anew')));
            $pool->deleteItem('key');
        }
    }

    public function testATagThatIsNotLegalThrowsThePsrsException(): void
    {
        $pool = $this->pool();
        foreach (['', str_repeat('t', 256)] as $tag) {
            foreach ([static fn(): mixed => $pool->getItem('key')->tag('fine', $tag), static fn(): mixed => $pool->invalidateTags([$tag])] as $call) {
                try {
                    $call();
                    self::fail('An illegal tag was taken.');
                } catch (InvalidArgumentException $mistake) {
                    self::assertMatchesRegularExpression('/^The tag .+; .+\.$/', $mistake->getMessage());
                }
            }
        }
        $this->expectException(InvalidArgumentException::class);
        $pool->invalidateTags([7]);
    }

    private function pool(?MemoryLogger $logger = null): CachePool
    {
        return new CachePool(new Cache($this->store), $logger);
    }
}
