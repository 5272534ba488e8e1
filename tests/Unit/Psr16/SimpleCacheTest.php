<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Psr16;

use Larder\Cache;
use Larder\Psr16\InvalidArgument;
use Larder\Psr16\SimpleCache;
use Larder\Store\ArrayStore;
use Larder\Store\ChaosStore;
use Larder\Store\FileStore;
use Larder\Tests\Scratch;
use Larder\Tests\Unit\Psr\Keys;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProviderExternal;
use PHPUnit\Framework\TestCase;
use Psr\SimpleCache\CacheException;
use Psr\SimpleCache\CacheInterface;
use Psr\SimpleCache\InvalidArgumentException;

/** The sentences in quotation marks are those of PSR-16. */
#[CoversClass(SimpleCache::class)]
#[CoversClass(InvalidArgument::class)]
final class SimpleCacheTest extends TestCase
{
    private int $now = 0;

    /**
     * "The Implementing Library MUST provide a class implementing the Psr\SimpleCache\CacheInterface interface."
     * "The final implementations MAY decorate the objects with more functionality than the one proposed but they MUST implement the indicated interfaces/functionality first."
     */
    public function testTheCacheImplementsTheInterface(): void
    {
        self::assertInstanceOf(CacheInterface::class, $this->cache());
    }

    public function testGetReturnsTheDefaultForWhatIsMissing(): void
    {
        $cache = $this->cache();
        self::assertNull($cache->get('key'));
        self::assertSame('default', $cache->get('key', 'default'));
        self::assertFalse($cache->has('key'));
    }

    /**
     * "Implementing libraries MUST support all serializable PHP data types"
     * "All data passed into the Implementing Library MUST be returned exactly as passed. That includes the variable type."
     */
    public function testEveryTypeComesBackExactly(): void
    {
        $cache = $this->cache();
        foreach (['text', '', 0, -5, 1.5, true, false, null, [], ['a' => [1]], new \DateTimeImmutable('2020-02-02')] as $value) {
            self::assertTrue($cache->set('key', $value));
            self::assertEquals($value, $cache->get('key', 'default'));
            self::assertSame(get_debug_type($value), get_debug_type($cache->get('key', 'default')));
            self::assertTrue($cache->has('key'));
        }
    }

    /** "Libraries are responsible for their own escaping of key strings as appropriate, but MUST be able to return the original unmodified key string." */
    public function testTheKeysThatMustBeSupportedAreAndComeBackUnmodified(): void
    {
        $cache = $this->cache();
        foreach (Keys::legal() as $key) {
            self::assertTrue($cache->set($key, $key));
            self::assertSame($key, $cache->get($key));
        }
        $seen = [];
        foreach ($cache->getMultiple(Keys::legal()) as $key => $value) {
            self::assertSame($key, $value);
            $seen[] = $key;
        }
        self::assertSame(Keys::legal(), $seen);
        foreach (Keys::legal() as $key) {
            self::assertTrue($cache->delete($key));
            self::assertFalse($cache->has($key));
        }
    }

    /**
     * "MUST be thrown if the $key string is not a legal value."
     * "When an invalid argument is passed it must throw an exception which implements this interface"
     */
    #[DataProviderExternal(Keys::class, 'illegal')]
    public function testAnIllegalKeyThrowsThePsrsException(string $key): void
    {
        $cache = $this->cache();
        $calls = [
            static fn(): mixed => $cache->get($key),
            static fn(): mixed => $cache->set($key, 1),
            static fn(): mixed => $cache->delete($key),
            static fn(): mixed => $cache->has($key),
            static fn(): mixed => $cache->getMultiple(['fine', $key]),
            static fn(): mixed => $cache->setMultiple(['fine' => 1, $key => 1]),
            static fn(): mixed => $cache->deleteMultiple(new \ArrayIterator(['fine', $key])),
        ];
        foreach ($calls as $call) {
            try {
                $call();
                self::fail('An illegal key was taken.');
            } catch (InvalidArgumentException $mistake) {
                self::assertInstanceOf(CacheException::class, $mistake);
            }
        }
        self::assertFalse($cache->has('fine'));
    }

    #[DataProviderExternal(Keys::class, 'ofOtherTypes')]
    public function testAKeyOfAnotherTypeThrowsThePsrsException(mixed $key): void
    {
        $cache = $this->cache();
        foreach ([static fn(): mixed => $cache->getMultiple(['fine', $key]), static fn(): mixed => $cache->deleteMultiple([$key])] as $call) {
            try {
                $call();
                self::fail('A key that is no string was taken.');
            } catch (InvalidArgumentException $mistake) {
                self::assertStringContainsString(get_debug_type($key), $mistake->getMessage());
            }
        }
    }

    /** "If a negative or zero TTL is provided, the item MUST be deleted from the cache if it exists, as it is expired already." */
    public function testADeadTtlDeletes(): void
    {
        $cache = $this->cache();
        $past = new \DateInterval('P1D');
        $past->invert = 1;
        foreach ([0, -1, $past] as $ttl) {
            $cache->setMultiple(['a' => 1, 'b' => 1]);
            self::assertTrue($cache->set('a', 2, $ttl));
            self::assertTrue($cache->setMultiple(['b' => 2], $ttl));
            self::assertFalse($cache->has('a'));
            self::assertFalse($cache->has('b'));
        }
    }

    /** "Implementing Libraries MUST support at minimum TTL functionality as described below with whole-second granularity." */
    public function testATtlIsSecondsOrAnInterval(): void
    {
        $cache = $this->cache();
        $cache->set('seconds', 1, 10);
        $cache->set('interval', 1, new \DateInterval('PT20S'));
        $cache->setMultiple(['many' => 1], 10);
        $cache->set('default', 1);
        $this->now += 10;
        self::assertSame(
            ['seconds' => null, 'interval' => 1, 'many' => null, 'default' => 1],
            $cache->getMultiple(['seconds', 'interval', 'many', 'default']),
        );
    }

    /**
     * "MUST be thrown if $keys is neither an array nor a Traversable, or if any of the $keys are not a legal value."
     * "MUST be thrown if $values is neither an array nor a Traversable, or if any of the $values are not a legal value."
     */
    public function testWhatIsNoIterableThrowsThePsrsException(): void
    {
        $cache = $this->cache();
        foreach (['key', 7, null, new \stdClass()] as $given) {
            $calls = [
                static fn(): mixed => $cache->getMultiple($given),
                static fn(): mixed => $cache->setMultiple($given),
                static fn(): mixed => $cache->deleteMultiple($given),
            ];
            foreach ($calls as $call) {
                try {
                    $call();
                    self::fail('Something else was iterated.');
                } catch (InvalidArgumentException $mistake) {
                    self::assertStringContainsString(get_debug_type($given), $mistake->getMessage());
                }
            }
        }
    }

    /**
     * "If no user-specified default is provided implementations MUST default to the maximum legal value allowed by the underlying implementation."
     * "If no default duration has been set, the Implementing Library MUST interpret that as a request to cache the item forever, or for as long as the underlying implementation supports."
     */
    public function testWithoutADefaultAnItemLivesForEver(): void
    {
        $store = new ArrayStore();
        $cache = new SimpleCache(new Cache($store));
        $cache->set('key', 1);
        $cache->setMultiple(['many' => 1]);
        foreach ($store->fetch(['key', 'many'])->items as $item) {
            self::assertNull($item->expiry);
        }
        $cache = new SimpleCache(new Cache($store, 60));
        $cache->set('key', 1);
        self::assertNotNull($store->fetch(['key'])->items['key']->expiry ?? null);
    }

    /** "If the underlying implementation does not support TTL, the user-specified TTL MUST be silently ignored." Here it is some TTLs that none supports. */
    public function testATtlThatIsLongerThanAnyStoreKeepsIsSilentlyNone(): void
    {
        $store = new ArrayStore();
        $cache = new SimpleCache(new Cache($store));
        foreach ([\PHP_INT_MAX, new \DateInterval('P9999Y')] as $ttl) {
            self::assertTrue($cache->set('key', 1, $ttl));
            self::assertTrue($cache->setMultiple(['many' => 1], $ttl));
            foreach ($store->fetch(['key', 'many'])->items as $item) {
                self::assertNull($item->expiry);
            }
            self::assertSame(['key' => 1, 'many' => 1], $cache->getMultiple(['key', 'many']));
        }
    }

    /** "Implementing Libraries MAY expire an item before its requested Expiration Time, but MUST treat an item as expired once its Expiration Time is reached." */
    public function testAnExpiredItemIsAMissEverywhere(): void
    {
        $cache = $this->cache();
        $cache->set('key', 1, 5);
        $this->now += 4;
        self::assertTrue($cache->has('key'));
        $this->now++;
        self::assertFalse($cache->has('key'));
        self::assertSame('default', $cache->get('key', 'default'));
        self::assertSame(['key' => 'default'], $cache->getMultiple(['key'], 'default'));
    }

    /** "If it is not possible to return the exact saved value for any reason, implementing libraries MUST respond with a cache miss rather than corrupted data." */
    public function testWhatIsDamagedIsAMiss(): void
    {
        $scratch = new Scratch();
        $cache = new SimpleCache(new Cache(new FileStore($scratch->path)));
        $cache->set('key', ['value']);
        foreach (glob("{$scratch->path}/[0-9a-f][0-9a-f]/*") ?: [] as $file) {
            file_put_contents($file, substr((string) file_get_contents($file), 0, -3));
        }
        self::assertSame('default', $cache->get('key', 'default'));
    }

    /** "Different CacheInterface instances MAY be backed by the same datastore, but MUST be logically independent." */
    public function testInstancesInOnePlaceAreIndependent(): void
    {
        $scratch = new Scratch();
        $one = new SimpleCache(Cache::open("sqlite:{$scratch->path}/cache.db?prefix=one"));
        $other = new SimpleCache(Cache::open("sqlite:{$scratch->path}/cache.db?prefix=other"));
        $one->set('key', 'one');
        self::assertFalse($other->has('key'));
        $other->set('key', 'other');
        self::assertTrue($other->clear());
        self::assertSame('one', $one->get('key'));
    }

    /** "Interface used for all types of exceptions thrown by the implementing library." */
    public function testAStrictCacheThrowsThePsrsException(): void
    {
        $store = new ChaosStore();
        $store->isDown = true;
        $this->expectException(CacheException::class);
        (new SimpleCache(new Cache($store, strict: true)))->get('key');
    }

    /** "A list of key => value pairs. Cache keys that do not exist or are stale will have $default as value." */
    public function testManyAtOnceFromArraysAndTraversables(): void
    {
        $cache = $this->cache();
        $values = static function (): iterable {
            yield 'a' => 1;
            yield 'null' => null;
            yield '7' => 'seven';
        };
        self::assertTrue($cache->setMultiple($values()));
        $keys = static function (): iterable {
            yield 'null';
            yield 'absent';
            yield '7';
            yield 'a';
        };
        // The one key that would not stay a string in an array.
        $found = [];
        foreach ($cache->getMultiple($keys(), 'default') as $key => $value) {
            $found[] = [$key, $value];
        }
        self::assertSame([['null', null], ['absent', 'default'], ['7', 'seven'], ['a', 1]], $found);
        self::assertSame(['null' => null, 'a' => 1], $cache->getMultiple(['null', 'a']));
        self::assertSame([], $cache->getMultiple([]));
        self::assertTrue($cache->setMultiple(['0' => 'zero', '1' => 'one']));
        self::assertSame('zero', $cache->get('0'));
        self::assertTrue($cache->deleteMultiple($keys()));
        self::assertFalse($cache->has('a'));
        self::assertTrue($cache->has('0'));
        self::assertTrue($cache->deleteMultiple([]));
    }

    /** "True if the item was successfully removed. False if there was an error." */
    public function testDeletingWhatIsNotThereIsNoError(): void
    {
        self::assertTrue($this->cache()->delete('absent'));
        self::assertTrue($this->cache()->deleteMultiple(['absent']));
    }

    public function testClearLeavesNothing(): void
    {
        $cache = $this->cache();
        $cache->set('a', 1);
        self::assertTrue($cache->clear());
        self::assertFalse($cache->has('a'));
    }

    public function testWhatWasStoredIsNotChangedThroughTheObject(): void
    {
        $cache = $this->cache();
        $object = new \stdClass();
        $object->value = 'stored';
        $cache->set('key', $object);
        $object->value = 'changed';
        $fetched = $cache->get('key');
        self::assertInstanceOf(\stdClass::class, $fetched);
        self::assertSame('stored', $fetched->value);
    }

    public function testWhatCannotBeStoredThrowsThePsrsException(): void
    {
        $this->expectException(InvalidArgumentException::class);
        $this->cache()->set('key', ['callback' => static fn(): int => 1]);
    }

    public function testOfManyWithSomethingUnstorableNothingIsStored(): void
    {
        $cache = $this->cache();
        try {
            $cache->setMultiple(['a' => 1, 'b' => static fn(): int => 1]);
            self::fail('A closure was stored.');
        } catch (InvalidArgumentException) {
            self::assertFalse($cache->has('a'));
        }
    }

    public function testAStoreThatIsDownIsFalseAndADefault(): void
    {
        $store = new ChaosStore();
        $store->isDown = true;
        $cache = new SimpleCache(new Cache($store));
        self::assertSame('default', $cache->get('key', 'default'));
        self::assertSame(['a' => 0, 'b' => 0], $cache->getMultiple(['a', 'b'], 0));
        self::assertFalse($cache->has('key'));
        self::assertFalse($cache->set('key', 1));
        self::assertFalse($cache->setMultiple(['key' => 1]));
        self::assertFalse($cache->delete('key'));
        self::assertFalse($cache->deleteMultiple(['key']));
        self::assertFalse($cache->clear());
    }

    private function cache(): SimpleCache
    {
        $this->now = time();

        return new SimpleCache(new Cache(new ArrayStore(clock: fn(): int => $this->now)));
    }
}
