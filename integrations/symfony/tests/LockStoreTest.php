<?php

declare(strict_types=1);

namespace Larder\Symfony\Tests;

use Larder\Cache;
use Larder\Exception\UnsupportedOperation;
use Larder\Store\ChaosStore;
use Larder\Stores;
use Larder\Symfony\LockStore;
use Larder\Tests\LockRace;
use Larder\Tests\Pools;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Lock\Exception\InvalidTtlException;
use Symfony\Component\Lock\Exception\LockReleasingException;
use Symfony\Component\Lock\Exception\LockStorageException;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\LockFactory;

#[CoversNothing]
final class LockStoreTest extends TestCase
{
    private Pools $pools;

    protected function setUp(): void
    {
        $this->pools = new Pools();
    }

    /** @return iterable<string, array{string}> */
    public static function kinds(): iterable
    {
        foreach (['shared memory that does not evict', 'SQLite', 'files'] as $kind) {
            yield $kind => [$kind];
        }
    }

    #[DataProvider('kinds')]
    public function testOneHasALockForWritingOrManyForReading(string $kind): void
    {
        $first = new LockFactory(new LockStore($this->pools->open($kind)));
        $second = new LockFactory(new LockStore($this->pools->dsn($kind)));
        [$mine, $yours] = [$first->createLock('order'), $second->createLock('order')];
        self::assertTrue($mine->acquire());
        self::assertFalse($yours->acquire());
        self::assertFalse($yours->acquireRead());
        $mine->release();
        self::assertTrue($yours->acquireRead());
        self::assertTrue($mine->acquireRead());
        self::assertFalse($mine->acquire());
        self::assertTrue($mine->isAcquired());
        $yours->release();
        self::assertTrue($mine->acquire());
        self::assertFalse($yours->acquireRead());
        $mine->refresh(50);
        self::assertEqualsWithDelta(50, $mine->getRemainingLifetime(), 2);
        $mine->release();
        self::assertTrue($yours->acquire());
        $yours->release();
    }

    #[DataProvider('kinds')]
    public function testALockEndsWithItsTime(string $kind): void
    {
        $factory = new LockFactory(new LockStore($this->pools->open($kind)));
        $dead = $factory->createLock('order', 0.05, false);
        self::assertTrue($dead->acquire());
        usleep(60_000);
        self::assertFalse($dead->isAcquired());
        self::assertTrue($factory->createLock('order')->acquire());
    }

    #[DataProvider('kinds')]
    public function testOfManyProcessesThatWantALockOneHasIt(string $kind): void
    {
        $open = function () use ($kind): \Closure {
            $factory = new LockFactory(new LockStore($this->pools->dsn($kind)));

            return static function () use ($factory): ?\Closure {
                $lock = $factory->createLock('counter', 30.0);

                return $lock->acquire() ? $lock->release(...) : null;
            };
        };
        self::assertSame(LockRace::COUNTS, LockRace::run("{$this->pools->path()}/counter", $open));
    }

    public function testALockInFrontOfAnotherStoreIsSeenAsItIsNow(): void
    {
        $open = fn(): LockStore => new LockStore("array: > {$this->pools->dsn('SQLite')}");
        $store = $open();
        $other = $open();
        $key = new Key('import');
        $store->save($key);
        self::assertTrue($store->exists($key));
        self::assertTrue($store->exists($key));
        // A lock may be handed over, and is then released elsewhere.
        $other->delete($key);
        self::assertFalse($store->exists($key));
    }

    public function testALockMayHaveAnyName(): void
    {
        $factory = new LockFactory(new LockStore($this->pools->dsn('SQLite')));
        foreach ([str_repeat('x', 70_000), "{}()/\\@:\0", ''] as $name) {
            self::assertTrue($factory->createLock($name, autoRelease: false)->acquire());
            self::assertFalse($factory->createLock($name)->acquire());
            self::assertTrue($factory->createLock("{$name}.")->acquire());
        }
    }

    public function testAStoreThatMayLoseLocksIsRefused(): void
    {
        $this->expectException(UnsupportedOperation::class);
        new LockStore($this->pools->dsn('shared memory'));
    }

    public function testATtlThatIsNoneIsRefused(): void
    {
        $this->expectException(InvalidTtlException::class);
        new LockStore($this->pools->dsn('SQLite'), 0.0);
    }

    public function testAStoreThatFailsIsAnException(): void
    {
        $chaos = new ChaosStore(Stores::open($this->pools->dsn('SQLite')));
        foreach ([false, true] as $strict) {
            $store = new LockStore(new Cache($chaos, strict: $strict));
            $key = new Key("order {$strict}");
            $store->save($key);
            self::assertTrue($store->exists($key));
            $chaos->isDown = true;
            try {
                $store->save(new Key('another'));
                self::fail('It could be saved.');
            } catch (LockStorageException) {
                // It says that the store failed, and not that another process has the lock.
            }
            try {
                $store->delete($key);
                self::fail('It could be deleted.');
            } catch (LockReleasingException $failure) {
                self::assertNotSame('', $failure->getMessage());
            }
            $chaos->isDown = false;
        }
    }
}
