<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Cache;
use Larder\Dsn;
use Larder\Exception\InvalidOption;
use Larder\Lock;
use Larder\Store\ChaosStore;
use Larder\Tests\Contract\Crowd;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProviderExternal;
use PHPUnit\Framework\TestCase;

#[CoversClass(Lock::class)]
final class LockTest extends TestCase
{
    #[DataProviderExternal(Place::class, 'retaining')]
    public function testOneProcessAtATimeHasALock(string $kind): void
    {
        $place = new Place($kind);
        $scratch = new Scratch();
        $file = "{$scratch->path}/count";
        file_put_contents($file, '0');
        $reports = Crowd::of(8, static function () use ($place, $file): int {
            $cache = Cache::open($place->dsn, strict: true);
            for ($done = 0; $done < 5; $done++) {
                $added = $cache->lock('count', 60.0)->run(static function () use ($file): bool {
                    $count = (int) file_get_contents($file);
                    usleep(2_000);

                    return file_put_contents($file, (string) ($count + 1)) > 0;
                }, 60.0);
                self::assertTrue($added);
            }

            return $done;
        });
        self::assertSame(40, array_sum($reports));
        self::assertSame('40', file_get_contents($file));
    }

    #[DataProviderExternal(Place::class, 'retaining')]
    public function testALockIsRefreshedRestoredAndReleasedByItsOwnerOnly(string $kind): void
    {
        $place = new Place($kind);
        $cache = Cache::open($place->dsn, strict: true);
        $lock = $cache->lock('name', 60.0);
        self::assertTrue($lock->acquire());
        self::assertFalse($lock->acquire(), 'A lock is not taken twice, not even by its owner.');
        $other = Cache::open($place->dsn, strict: true)->lock('name', 60.0);
        self::assertFalse($other->acquire());
        self::assertFalse($other->acquire(0.02));
        self::assertFalse($other->refresh());
        self::assertFalse($other->release());
        self::assertTrue($lock->refresh());
        $restored = Cache::open($place->dsn, strict: true)->lock('name', 60.0, $lock->owner);
        self::assertTrue($restored->refresh(30.0));
        self::assertTrue($restored->release());
        self::assertFalse($lock->refresh());
        self::assertTrue($other->acquire());
        self::assertFalse($lock->release(), 'Whoever had it first ends it for nobody.');
        self::assertTrue($other->refresh());
        self::assertTrue($cache->lock('another name')->acquire(), 'Locks of other names are others.');
        self::assertFalse($cache->has('name'), 'A lock is no item.');
    }

    #[DataProviderExternal(Place::class, 'retaining')]
    public function testTheLockOfADeadProcessIsFreeWhenItsTimeIsOver(string $kind): void
    {
        $place = new Place($kind);
        [$owner] = Crowd::of(1, static function () use ($place): string {
            $lock = Cache::open($place->dsn, strict: true)->lock('name', 1.0);
            self::assertTrue($lock->acquire());

            return $lock->owner;
        });
        $cache = Cache::open($place->dsn, strict: true);
        self::assertTrue($cache->lock('name', 30.0)->acquire(60.0));
        self::assertFalse($cache->lock('name', 1.0, $owner)->release(), 'It belongs to another now.');
        self::assertFalse($cache->lock('name')->acquire());
    }

    public function testWorkThatThrowsGivesTheLockBack(): void
    {
        $place = new Place('SQLite');
        $cache = Cache::open($place->dsn);
        try {
            $cache->lock('name')->run(self::broken(...));
            self::fail('The exception was lost.');
        } catch (\DomainException) {
        }
        self::assertSame('done', $cache->lock('name')->run(static fn(): string => 'done'));
        $held = $cache->lock('name');
        $held->acquire();
        self::assertNull($cache->lock('name')->run(self::broken(...)));
    }

    public function testAStoreThatIsDownGivesNoLock(): void
    {
        $server = CacheServer::redis()->start();
        $cache = Cache::open("redis+unix:{$server->socket}?retry_after=0");
        $lock = $cache->lock('name');
        self::assertTrue($lock->acquire());
        $server->kill();
        self::assertFalse($lock->refresh());
        self::assertFalse($lock->release());
        self::assertFalse($lock->acquire());
        self::assertFalse($cache->health()->available);
    }

    public function testWrongOptionsAreOneClearError(): void
    {
        $place = new Place('SQLite');
        $cache = Cache::open($place->dsn);
        foreach ([0.0, -1.0, \NAN, \INF] as $seconds) {
            foreach ([static fn(): mixed => $cache->lock('name', $seconds), static fn(): mixed => $cache->lock('name')->refresh($seconds)] as $call) {
                try {
                    $call();
                    self::fail('A wrong time was taken.');
                } catch (InvalidOption $mistake) {
                    self::assertStringContainsString('"seconds"', $mistake->getMessage());
                }
            }
        }
        $this->expectException(InvalidOption::class);
        $cache->lock('name', 1.0, '');
    }

    private static function broken(): mixed
    {
        throw new \DomainException('the work failed');
    }

    public function testNobodyWaitsLongForALockOfAStoreThatIsAway(): void
    {
        $scratch = new Scratch();
        $store = new ChaosStore(Dsn::parse("sqlite:{$scratch->path}/cache.db")->open());
        $lock = (new Cache($store))->lock('name');
        $store->isDown = true;
        $began = hrtime(true);
        self::assertFalse($lock->acquire(600.0));
        self::assertLessThan(300_000_000_000, hrtime(true) - $began);
        $store->isDown = false;
        self::assertTrue($lock->acquire());
    }
}
