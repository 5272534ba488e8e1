<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Cache;
use Larder\Exception\InvalidOption;
use Larder\Exception\StoreUnavailable;
use Larder\Exception\UnsupportedOperation;
use Larder\Lock;
use Larder\Session\SessionHandler;
use Larder\Store\ChaosStore;
use Larder\Store\Redis\Eviction;
use Larder\Store\Redis\PhpRedisConnection;
use Larder\Store\Redis\Server;
use Larder\Store\RedisStore;
use Larder\Store\Retention;
use Larder\Stores;
use Larder\Tests\Contract\Crowd;
use Larder\Tests\Scratch;
use Larder\Trace\RecordingStore;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProviderExternal;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;

#[CoversClass(Lock::class)]
#[CoversClass(Retention::class)]
#[CoversClass(Eviction::class)]
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
        self::assertTrue($lock->acquire(), 'It is the owner\'s already.');
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
        self::assertFalse($lock->release(), 'Its first holder ends it for no other.');
        self::assertTrue($other->refresh());
        self::assertTrue($cache->lock('another name')->acquire(), 'Locks of other names are others.');
        self::assertFalse($cache->has('name'), 'A lock is no item.');
    }

    #[DataProviderExternal(Place::class, 'retaining')]
    public function testAnOwnerThatSleptPastItsTimeHasALowerNumberThanTheOwnerNow(string $kind): void
    {
        $place = new Place($kind);
        foreach ([Cache::open($place->dsn, strict: true), Cache::open($place->dsn, strict: true)->namespace('part')] as $cache) {
            $sleeper = $cache->lock('name', 0.1);
            self::assertNull($sleeper->fence(), 'It has no lock yet.');
            self::assertTrue($sleeper->acquire());
            $its = $sleeper->fence() ?? 0;
            // So that what comes next does not depend on how quick this machine is.
            $sleeper->release();
            $cache->clear();
            $other = $cache->lock('name', 60.0);
            self::assertTrue($other->acquire());
            self::assertGreaterThan($its, $other->fence());
            self::assertNull($sleeper->fence());
            self::assertGreaterThan($its, $cache->lock('name', 60.0, $other->owner)->fence(), 'A lock that was handed on.');
            self::assertTrue($other->release());
        }
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

    /** The server has given the lock to this owner, who does not know. */
    public function testAProcessThatLosesTheAnswerHasTheLockWithTheNextOne(): void
    {
        $server = CacheServer::redis()->start();
        $connection = new LossyConnection(new PhpRedisConnection(new Server(socket: $server->socket, readTimeout: 10.0, retryAfter: 0.0)));
        $cache = new Cache(new RedisStore($connection, timeout: 10.0));
        $cache->get('warm');
        $lock = $cache->lock('name', 1_000.0);
        $connection->loses = 'lease:';
        self::assertTrue($lock->acquire(30.0));
        self::assertSame(1, $connection->lost);
        self::assertFalse($cache->lock('name', 1_000.0)->acquire());
        self::assertTrue($lock->release());
        $server->stop();
    }

    /** The server has given it the lock, and no process would have it for the rest of its time. */
    public function testALockThatNoProcessKnowsOfIsGivenBack(): void
    {
        $server = CacheServer::redis()->start();
        $connection = new LossyConnection(new PhpRedisConnection(new Server(socket: $server->socket, readTimeout: 10.0, retryAfter: 0.0)));
        $store = new RedisStore($connection, timeout: 10.0);
        $cache = new Cache($store);
        $cache->get('warm');
        $connection->loses = 'lease:';
        self::assertFalse($cache->lock('name', 1_000.0)->acquire());
        self::assertSame(1, $connection->lost);
        $lock = $cache->lock('name', 1_000.0);
        self::assertTrue($lock->acquire());

        $connection->loses = 'lease:';
        self::assertFalse($lock->acquire(), 'It cannot tell.');
        self::assertFalse($cache->lock('name', 1_000.0)->acquire(), 'But what it has had before it has not given back.');
        $connection->loses = 'lease:';
        self::assertFalse($cache->lock('name', 1_000.0, $lock->owner)->acquire());
        self::assertFalse($cache->lock('name', 1_000.0)->acquire(), 'Nor what another process may have.');
        self::assertTrue($lock->release());

        $strict = new Cache($store, strict: true);
        $connection->loses = 'lease:';
        try {
            $strict->lock('name', 1_000.0)->acquire();
            self::fail('A strict cache throws.');
        } catch (StoreUnavailable) {
        }
        self::assertTrue($cache->lock('name', 1_000.0)->acquire());
        $server->stop();
    }

    /** Else no process would have the lock for the rest of its time. */
    public function testALockIsGivenBackAlthoughTheConnectionHasBroken(): void
    {
        $server = CacheServer::redis()->start();
        $cache = Cache::open("redis+unix:{$server->socket}");
        $lock = $cache->lock('name', 1_000.0);
        self::assertTrue($lock->acquire());
        $redis = new \Redis();
        $redis->connect($server->socket);
        $redis->rawCommand('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
        self::assertTrue($lock->release());
        self::assertTrue($cache->lock('name', 1_000.0)->acquire());
        $server->stop();
    }

    public function testALockIsGivenBackWhenTheStoreIsThereAgainWithinASecond(): void
    {
        $scratch = new Scratch();
        $store = new ChaosStore(Stores::open("sqlite:{$scratch->path}/cache.db"));
        $cache = new Cache($store);
        $lock = $cache->lock('name', 1_000.0);
        self::assertTrue($lock->acquire());
        $tries = 0;
        $store->isDown = true;
        $store->before = static function () use ($store, &$tries): void {
            // The first one has waited for as long as the others are to.
            ++$tries === 1 && usleep(1_010_000);
            $store->isDown = $tries < 3;
        };
        self::assertTrue($lock->release());
        self::assertTrue($cache->lock('name', 1_000.0)->acquire());
    }

    public function testNoProcessWaitsLongToGiveALockBackToAStoreThatIsAway(): void
    {
        $scratch = new Scratch();
        $store = new ChaosStore(Stores::open("sqlite:{$scratch->path}/cache.db"));
        $lock = (new Cache($store))->lock('name', 1_000.0);
        self::assertTrue($lock->acquire());
        $store->isDown = true;
        $began = hrtime(true);
        self::assertFalse($lock->release());
        self::assertLessThan(300_000_000_000, hrtime(true) - $began);
        try {
            (new Cache($store, strict: true))->lock('name', 1_000.0, $lock->owner)->release();
            self::fail('A strict cache throws.');
        } catch (StoreUnavailable) {
        }
        $store->isDown = false;
        self::assertTrue($lock->release());
    }

    /** As where a server's clock has been set back. */
    public function testTheNumbersOfLocksGrowByOneWhereTheyAreAheadOfTheServersClock(): void
    {
        $server = CacheServer::redis()->start();
        $lock = Cache::open("redis+unix:{$server->socket}?prefix=shop")->lock('name', 1_000.0);
        self::assertTrue($lock->acquire());
        $redis = new \Redis();
        $redis->connect($server->socket);
        self::assertSame((string) $lock->fence(), $redis->get('shop!fence'));
        $redis->set('shop!fence', '4000000000000000');
        self::assertSame(4_000_000_000_000_001, $lock->fence());
        self::assertSame(4_000_000_000_000_002, $lock->fence());
        $server->stop();
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

    public function testNoProcessWaitsLongForALockOfAStoreThatIsAway(): void
    {
        $scratch = new Scratch();
        $store = new ChaosStore(Stores::open("sqlite:{$scratch->path}/cache.db"));
        $lock = (new Cache($store))->lock('name');
        $store->isDown = true;
        $began = hrtime(true);
        self::assertFalse($lock->acquire(600.0));
        self::assertLessThan(300_000_000_000, hrtime(true) - $began);
        $store->isDown = false;
        self::assertTrue($lock->acquire());
    }

    #[TestWith(['allkeys-lru'])]
    #[TestWith(['volatile-ttl'])]
    public function testAServerThatIsToldToEvictKeepsNoLocksAndNoSessions(string $policy): void
    {
        $server = CacheServer::redis(['--maxmemory', '100mb', '--maxmemory-policy', $policy])->start();
        try {
            [$proxy, $scratch] = [new Proxy($server->socket), new Scratch()];
            $cache = Cache::open("redis+unix:{$proxy->socket}?read_timeout=30");
            $wraps = [
                $cache,
                $cache->namespace('part'),
                new Cache(new ChaosStore($cache->store)),
                new Cache(new RecordingStore($cache->store, "{$scratch->path}/trace")),
            ];
            foreach ([...array_map(static fn(Cache $wrap): \Closure => static fn(): mixed => $wrap->lock('name'), $wraps), static fn(): mixed => new SessionHandler($cache)] as $make) {
                try {
                    $make();
                    self::fail('It was made.');
                } catch (UnsupportedOperation $refusal) {
                    self::assertStringContainsString("({$policy})", $refusal->getMessage());
                }
            }
            $redis = new \Redis();
            $redis->connect($server->socket);
            $redis->config('SET', 'maxmemory-policy', 'noeviction');
            self::assertTrue($cache->lock('name')->acquire());
            $before = $proxy->roundTrips();
            $again = Cache::open("redis+unix:{$proxy->socket}?read_timeout=30");
            $lock = $again->lock('name');
            new SessionHandler($again);
            self::assertSame($before, $proxy->roundTrips(), 'The other one has told.');
            self::assertFalse($lock->acquire());
        } finally {
            // Its process is a fork of this one, which the server's end waits for.
            unset($proxy);
            $server->stop();
        }
    }

    public function testAServerWithoutALimitHasNothingToEvictForAndOneThatIsAwayIsAskedLater(): void
    {
        $server = CacheServer::redis(['--maxmemory', '0', '--maxmemory-policy', 'allkeys-lru'])->start();
        try {
            self::assertTrue(Cache::open("redis+unix:{$server->socket}")->lock('name')->acquire());
        } finally {
            $server->stop();
        }
        self::assertFalse(Cache::open("redis+unix:{$server->socket}.away")->lock('name')->acquire());
    }
}
