<?php

declare(strict_types=1);

namespace Larder\Tests\Unit;

use Larder\Cache;
use Larder\Exception;
use Larder\Exception\InvalidKey;
use Larder\Exception\InvalidOption;
use Larder\Exception\NotACounter;
use Larder\Exception\Unstorable;
use Larder\Exception\UnsupportedOperation;
use Larder\PendingItem;
use Larder\Store\ArrayStore;
use Larder\Store\ChaosStore;
use Larder\Tests\EventList;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

#[CoversClass(Cache::class)]
final class CacheTest extends TestCase
{
    use TwoKindsOfStores;

    #[DataProvider('stores')]
    public function testWhatIsSetIsGot(bool $isDirect): void
    {
        $cache = new Cache($this->store($isDirect));
        self::assertNull($cache->get('key'));
        self::assertSame('default', $cache->get('key', 'default'));
        self::assertFalse($cache->has('key'));
        self::assertTrue($cache->set('key', ['value']));
        self::assertSame(['value'], $cache->get('key', 'default'));
        self::assertTrue($cache->has('key'));
        self::assertTrue($cache->delete('key'));
        self::assertFalse($cache->has('key'));
        self::assertTrue($cache->delete('key'), 'The store knows that there is nothing.');
    }

    #[DataProvider('stores')]
    public function testAStoredNullIsAHit(bool $isDirect): void
    {
        $cache = new Cache($this->store($isDirect));
        $cache->set('null', null);
        self::assertNull($cache->get('null', 'default'));
        self::assertTrue($cache->has('null'));
        self::assertSame(['null' => null], $cache->getMany(['null', 'absent']));
        self::assertNull($cache->remember('null', self::computed(...)));
        self::assertFalse($cache->add('null', 'added'));
    }

    #[DataProvider('stores')]
    public function testManyAtOnce(bool $isDirect): void
    {
        $cache = new Cache($this->store($isDirect));
        $values = static function (): iterable {
            yield '7' => 'seven';
            yield '007' => 'agent';
            yield 8 => 'eight';
        };
        self::assertTrue($cache->setMany($values()));
        self::assertSame(['007' => 'agent', 7 => 'seven', 8 => 'eight'], $cache->getMany(new \ArrayIterator(['007', 7, 'absent', '8'])));
        self::assertTrue($cache->deleteMany(['007', 8, 'absent']));
        self::assertSame([7 => 'seven'], $cache->getMany(['007', 7, 8]));
        self::assertTrue($cache->clear());
        self::assertSame([], $cache->getMany(['7']));
        self::assertSame([], $cache->getMany([]));
        self::assertTrue($cache->setMany([]));
    }

    public function testAddAndReplace(): void
    {
        $cache = new Cache(new ArrayStore());
        self::assertFalse($cache->replace('key', 1));
        self::assertTrue($cache->add('key', 2));
        self::assertFalse($cache->add('key', 3));
        self::assertTrue($cache->replace('key', 4));
        self::assertSame(4, $cache->get('key'));
    }

    public function testPullTakesWhatIsThereAway(): void
    {
        $cache = new Cache(new ArrayStore());
        $cache->setMany(['key' => 'value', 'null' => null]);
        self::assertSame('value', $cache->pull('key', 'default'));
        self::assertSame('default', $cache->pull('key', 'default'));
        self::assertNull($cache->pull('null', 'default'));
        self::assertFalse($cache->has('null'));
    }

    public function testWhatAnotherProcessPulledFirstIsNotPulledTwice(): void
    {
        $store = new ChaosStore();
        $cache = new Cache($store);
        $cache->set('key', 'value');
        $store->before = static function (string $call) use ($store): void {
            if ($call === 'delete') {
                $store->store->delete(['key']);
            }
        };
        self::assertSame('default', $cache->pull('key', 'default'));
    }

    public function testEventsTellWhatHappened(): void
    {
        $list = new EventList();
        $store = new ChaosStore();
        $cache = new Cache($store, events: $list);
        $cache->get('a');
        $cache->set('a', 1);
        $cache->get('a');
        $cache->getMany(['a', 'b']);
        $cache->setMany(['b' => 1, 'c' => 1]);
        $cache->add('c', 2);
        $cache->add('d', 2);
        $cache->replace('d', 3);
        $cache->delete('d');
        $cache->remember('a', static fn(): int => 2);
        $cache->remember('e', static fn(): int => 2);
        $cache->clear();
        $store->isDown = true;
        $cache->set('a', 1);
        $cache->delete('a');
        $cache->clear();
        $said = array_map(static fn(object $event): string => (new \ReflectionClass($event))->getShortName()
            . (isset($event->key) && \is_string($event->key) ? " {$event->key}" : '')
            . (isset($event->keys) && \is_array($event->keys) ? ' ' . implode(',', array_filter($event->keys, is_string(...))) : ''), $list->events);
        self::assertSame([
            'Missed a', 'Written a', 'Hit a', 'Hit a', 'Missed b', 'Written b,c', 'Written d', 'Written d', 'Deleted d',
            'Hit a', 'Missed e', 'Computed e', 'Written e', 'Cleared',
        ], $said);
    }

    public function testAKeyOfTheCachesOwnIsNotTakenFromOutside(): void
    {
        $cache = new Cache(new ArrayStore());
        foreach (['set', 'add', 'replace'] as $method) {
            try {
                $cache->{$method}("\0larder:lease:key", 'mine');
                self::fail('A key of the cache\'s own was taken.');
            } catch (InvalidKey $mistake) {
                self::assertStringContainsString('is one of the cache\'s own; take another beginning.', $mistake->getMessage());
            }
        }
        self::assertTrue($cache->set("\0larder", 'is another'));
    }

    public function testALockNeedsAStoreThatRetainsIt(): void
    {
        $this->expectException(UnsupportedOperation::class);
        $this->expectExceptionMessage('ArrayStore may remove items before their time is over; take one that keeps them, such as "shm:name?evict=no", ');
        (new Cache(new ArrayStore()))->lock('name');
    }

    public function testAnInvalidatedTagKillsWhatCarriesIt(): void
    {
        $cache = new Cache(new ArrayStore());
        $cache->set('set', 1, tags: ['a', 'b', 'a']);
        $cache->setMany(['many' => 1], tags: ['a']);
        $cache->add('added', 1, tags: ['b']);
        $cache->replace('added', 2, tags: ['a']);
        $cache->remember('remembered', static function (PendingItem $pending): int {
            $pending->tag('a');

            return 1;
        }, tags: ['c']);
        $cache->set('free', 1);
        self::assertTrue($cache->invalidateTags([]));
        self::assertTrue($cache->invalidateTags(['unknown']));
        self::assertCount(5, $cache->getMany(['set', 'many', 'added', 'remembered', 'free']));
        self::assertTrue($cache->invalidateTags(['a', 'unknown']));
        self::assertSame(['free' => 1], $cache->getMany(['set', 'many', 'added', 'remembered', 'free']));
    }

    public function testWhatATagKilledMayBeServedStale(): void
    {
        $now = 1_000;
        $store = new ArrayStore(clock: static function () use (&$now): int {
            return $now;
        });
        $cache = new Cache($store, clock: static function () use (&$now): float {
            return $now;
        });
        $other = new Cache($store);
        $cache->set('key', 'old', 100, ['tag']);
        $cache->invalidateTags(['tag'], serveStale: 10);
        self::assertFalse($cache->has('key'));
        $value = $cache->remember('key', static function () use ($other): string {
            self::assertSame('old', $other->remember('key', static fn(): mixed => self::computed()));

            return 'new';
        }, 100, ['tag']);
        self::assertSame('new', $value);
        self::assertSame('new', $other->get('key'));
        $cache->invalidateTags(['tag'], serveStale: 10);
        $now += 11;
        self::assertSame('computed', $cache->remember('key', static fn(): mixed => self::computed()));
    }

    public function testWhatATagKillsCannotBeServedForLessThanNoTime(): void
    {
        $this->expectException(InvalidOption::class);
        (new Cache(new ArrayStore()))->invalidateTags(['tag'], -1);
    }

    public function testCounters(): void
    {
        $cache = new Cache(new ArrayStore());
        self::assertSame(1, $cache->increment('n'));
        self::assertSame(11, $cache->increment('n', 10));
        self::assertSame(8, $cache->decrement('n', 3));
        self::assertSame(99, $cache->decrement('m', 1, 100));
        self::assertSame(8, $cache->get('n'));
        $cache->set('text', 'x');
        $this->expectException(NotACounter::class);
        $cache->increment('text');
    }

    public function testTheLeastIntCannotBeSubtracted(): void
    {
        $this->expectException(NotACounter::class);
        (new Cache(new ArrayStore()))->decrement('n', \PHP_INT_MIN);
    }

    public function testAKeyThatIsNoStringIsRefused(): void
    {
        $this->expectException(InvalidKey::class);
        (new Cache(new ArrayStore()))->getMany(['ok', 1.5]);
    }

    public function testAnythingUnstorableIsAnErrorNotAMiss(): void
    {
        $this->expectException(Unstorable::class);
        (new Cache(new ArrayStore()))->set('key', ['x' => static fn(): int => 1]);
    }

    public function testOpenTakesADsn(): void
    {
        $cache = Cache::open('array:?items=5');
        self::assertInstanceOf(ArrayStore::class, $cache->store);
        self::assertTrue($cache->set('key', 1));
        $this->expectException(Exception::class);
        Cache::open('nonsense');
    }

    private static function computed(): mixed
    {
        return 'computed';
    }
}
