<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Cache;
use Larder\Exception\InvalidKey;
use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\Key;
use Larder\SaveMode;
use Larder\Store;
use Larder\Store\ApcuStore;
use Larder\Store\ArrayStore;
use Larder\Store\ChaosStore;
use Larder\Store\Redis\PhpRedisConnection;
use Larder\Store\Redis\RedisLog;
use Larder\Store\Redis\Server;
use Larder\Store\RedisStore;
use Larder\Stores;
use Larder\Tests\MemoryLogger;
use Larder\Tests\Scratch;
use Larder\Tests\Stores\Pools;
use Larder\Tier\Follower;
use Larder\Tier\TieredStore;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\TestWith;
use Symfony\Component\Process\Process;

/** What the log of a RedisStore says, what it costs to follow it, and when a near store begins anew. */
#[CoversClass(RedisLog::class)]
#[CoversClass(Follower::class)]
#[CoversClass(TieredStore::class)]
final class RedisLogTest extends OneRedis
{
    protected function setUp(): void
    {
        self::redis()->flushAll();
    }

    public function testAChangeIsOneEventAndAFillOfAMissingKeyIsNone(): void
    {
        $far = self::far();
        $log = $far->log();
        $position = $log->since(null)->position;
        $events = static function (\Closure $change) use ($log, &$position): array {
            $change();
            $news = $log->since($position);
            self::assertTrue($news->isComplete);
            $position = $news->position;

            return array_map(static fn($event): array => [$event->keys, $event->tags], $news->events);
        };
        $token = $far->token('filled');
        self::assertSame([], $events(fn() => $far->save([new Item('filled', 1, 100, ['t'], $token, true)])));
        self::assertSame([[['filled'], []]], $events(fn() => $far->save([new Item('filled', 2, 100, ['t'], $far->token('filled'), true)])), 'Something was there.');
        self::assertSame([[['a', 'b'], []]], $events(fn() => $far->save([new Item('a', 1), new Item('b', 2)])));
        self::assertSame([[['c'], []]], $events(fn() => $far->save([new Item('c', 1)], SaveMode::Add)));
        self::assertSame([], $events(fn() => $far->save([new Item('c', 1)], SaveMode::Add)), 'It was not added.');
        self::assertSame([], $events(fn() => $far->save([new Item('absent', 1)], SaveMode::Replace)), 'It was not replaced.');
        self::assertSame([[['c'], []]], $events(fn() => $far->save([new Item('c', 2)], SaveMode::Replace)));
        self::assertSame([[['a', 'absent'], []]], $events(fn() => $far->delete(['a', 'absent'])), 'A near store may have what the far one has evicted.');
        self::assertSame([[['n'], []]], $events(fn() => $far->increment('n')));
        self::assertSame([[['n'], []]], $events(fn() => $far->increment('n')));
        self::assertSame([[['n'], []]], $events(fn() => $far->touch(['n', 'absent'], 100)));
        self::assertSame([[[], ['t', 'u']]], $events(fn() => $far->invalidateTags(['t', 'u'])));
        self::assertSame([], $events(fn() => $far->fetch(['b', 'absent'])));
        $large = array_map(static fn(int $i): string => str_repeat((string) ($i % 10), 60_000), range(0, 9));
        $far->delete($large);
        self::assertSame([true], array_column($log->since($position)->events, 'isEverything'), 'To name it all would take longer than to begin anew.');
        $far->clear();
        self::assertFalse($log->since($position)->isComplete);
    }

    /** @param \Closure(Cache): mixed $fill */
    #[DataProvider('fills')]
    public function testWhatTakesThePlaceOfAnEvictedItemIsReadOnHostsThatStillHaveThat(\Closure $fill): void
    {
        $server = CacheServer::redis(['--maxmemory', '4mb', '--maxmemory-policy', 'volatile-lru'])->start();
        try {
            $redis = new \Redis();
            $redis->connect($server->socket);
            $host = static fn(): Cache => Cache::open("array: > redis+unix:{$server->socket}?prefix=test");
            [$one, $other] = [$host(), $host()];
            $one->set('key', 'evicted', 3_600);
            $one->refresh();
            self::assertSame('evicted', $one->get('key'), 'Its near store has it.');
            for ($i = 0; $redis->exists('test:key') === 1; $i++) {
                $redis->setex("ballast:{$i}", 3_600, str_repeat('x', 10_000));
            }
            // So the server has room, and does not evict the new item at once: it takes any of those that it looks at that were used in one second.
            $redis->del(array_map(static fn(int $of): string => "ballast:{$of}", range(0, $i)));
            $fill($other);
            $one->refresh();
            self::assertSame('new', $one->get('key'));
        } finally {
            $server->stop();
        }
    }

    /** @return iterable<string, array{\Closure(Cache): mixed}> */
    public static function fills(): iterable
    {
        yield 'remember' => [static fn(Cache $cache): mixed => $cache->remember('key', static fn(): string => 'new', 3_600)];
        yield 'set after a miss' => [static fn(Cache $cache): bool => $cache->get('key') === null && $cache->set('key', 'new', 3_600)];
        yield 'add by the token of a miss' => [static fn(Cache $cache): bool => $cache->add('key', 'new', 3_600, token: $cache->token('key'))];
    }

    public function testAStoreThatIsNotFollowedHasNoLogAndWritesOfAProcessWithoutANearStoreAreHeardOf(): void
    {
        $alone = self::far();
        $alone->save([new Item('key', 'old', 100, ['t'])]);
        self::assertSame(0, self::redis()->exists('test!log'));
        $tier = self::tier(new ArrayStore());
        self::assertSame('old', $tier->read('key'));
        foreach (['new', 'newer'] as $value) {
            $alone->save([new Item('key', $value, 100, ['t'])]);
            $tier->beginRequest();
            self::assertSame($value, $tier->read('key'));
        }
        $alone->invalidateTags(['t']);
        $tier->beginRequest();
        self::assertNull($tier->read('key'));
    }

    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testARequestIsOneRoundTripIfItReadsAndNoneIfNot(string $client): void
    {
        $proxy = new Proxy(self::server()->socket);
        $tier = self::tier(new ArrayStore(), "redis+unix:{$proxy->socket}?client={$client}&prefix=test");
        $other = self::far();
        $other->save([new Item('a', 1), new Item('b', 1), new Item('c', 1)]);
        $tier->fetch(['a', 'b']);
        $trips = static function (\Closure $request) use ($proxy, $tier): int {
            $tier->beginRequest();
            $before = $proxy->roundTrips();
            $request();

            return $proxy->roundTrips() - $before;
        };
        self::assertSame(0, $trips(static fn() => null));
        self::assertSame(1, $trips(function () use ($tier): void {
            for ($i = 0; $i < 10; $i++) {
                self::assertSame([1, 1], [$tier->read('a'), $tier->read('b')]);
                self::assertCount(2, $tier->fetch(['a', 'b'])->items);
            }
        }), 'All is near.');
        self::assertSame(1, $trips(fn() => self::assertSame([1, 1, 1], array_column($tier->fetch(['a', 'b', 'c'])->items, 'value'))), 'The log is read along with what is far.');
        self::assertSame(1, $trips(fn() => self::assertCount(3, $tier->fetch(['a', 'b', 'c'])->items)));
        $other->save([new Item('a', 2)]);
        self::assertSame(1, $trips(fn() => self::assertSame(1, $tier->read('b'))), 'There are news, but not of this.');
        self::assertSame(1, $trips(fn() => self::assertSame(2, $tier->read('a'))), 'It was forgotten before.');
        $other->save([new Item('a', 3)]);
        self::assertSame(2, $trips(fn() => self::assertSame(3, $tier->read('a'))), 'The news are of just this.');
        $other->save([new Item('a', 4)]);
        self::assertSame(1, $trips(function () use ($tier): void {
            self::assertSame('none', $tier->read('absent', 'none'));
            self::assertSame(1, $tier->read('b'));
        }), 'The log is read along with what is missing, too.');
        self::assertSame(1, $trips(fn() => self::assertSame(4, $tier->read('a'))));
        self::assertSame(3, $trips(function () use ($tier): void {
            self::assertSame(4, $tier->read('a'));
            $tier->save([new Item('a', 5)]);
            self::assertSame([5, 1, 5], [$tier->read('a'), $tier->read('b'), $tier->read('a')]);
        }), 'The log, the write, and what was written: an own write does not make it read the log again.');
        self::assertSame(2, $trips(function () use ($tier): void {
            $tier->delete(['c']);
            self::assertSame('none', $tier->read('c', 'none'));
        }));
    }

    public function testProcessesShareAReadingThatWasAskedForSinceTheirRequestBegan(): void
    {
        $proxy = new Proxy(self::server()->socket);
        $pools = new Pools(8 << 20);
        try {
            $tiers = array_map(fn(int $i): TieredStore => self::tier($pools->open('test'), "redis+unix:{$proxy->socket}?prefix=test"), range(0, 2));
            $other = self::far();
            $other->save([new Item('key', 1)]);
            foreach ($tiers as $tier) {
                $tier->read('key');
            }
            for ($i = 2; $i < 10; $i++) {
                $tiers[0]->beginRequest();
                $other->save([new Item('key', $i)]);
                $tiers[1]->beginRequest();
                $tiers[2]->beginRequest();
                usleep(2_000);
                self::assertSame($i, $tiers[1]->read('key'));
                $before = $proxy->roundTrips();
                self::assertSame([$i, $i], [$tiers[0]->read('key'), $tiers[2]->read('key')]);
                self::assertSame($before, $proxy->roundTrips());
                $other->save([new Item('key', 'later')]);
                $tiers[2]->beginRequest();
                self::assertSame('later', $tiers[2]->read('key'), 'A reading of before a request is nothing to it.');
            }
        } finally {
            $pools->remove();
        }
    }

    public function testAPositionIsToldAgainIfAnotherRequestCouldUseItAndOnceASecond(): void
    {
        [$near, $far] = [new ArrayStore(), self::far()];
        $follower = new Follower($near, $far->log(), false, 0, time(...), '');
        $withGrace = new Follower($near, $far->log(), false, 1, time(...), '');
        self::assertTrue($follower->bringUpToDate());
        $told = $follower->followed()->sent;
        $tells = static function (float $sent, float $began, Follower $by) use ($told, $follower): bool {
            $at = $told + (int) ($sent * 1e6);
            self::assertTrue($by->bringUpToDate(null, $at, $told + (int) ($began * 1e6)));

            return $follower->followed()->sent === $at;
        };
        self::assertFalse($tells(10.0, 10.0, $follower), 'It asks as it begins, and others do, too.');
        self::assertFalse($tells(10.0, 9.1, $follower));
        self::assertTrue($tells(10.0, 8.9, $follower), 'It has begun a while before.');
        self::assertFalse($tells(10.9, 0.0, $follower), 'It was told just now.');
        self::assertTrue($tells(12.0, 12.0, $withGrace), 'With a time of grace it is told when the log was read.');
        self::assertFalse($tells(1_011.0, 1_011.0, $follower));
        self::assertTrue($tells(1_013.0, 1_013.0, $follower));
        self::assertTrue($tells(1.0, 1.0, $follower), 'What was told is of another boot.');
        $far->save([new Item('key', 1)]);
        self::assertTrue($tells(1.1, 1.1, $follower), 'There are news.');
    }

    #[TestWith([false, 2])]
    #[TestWith([false, 3])]
    #[TestWith([true, 2])]
    #[TestWith([true, 3])]
    public function testWhatIsFoundNearIsNoOlderThanThePositionThatTheLogIsAskedFrom(bool $isBatch, int $before): void
    {
        $shared = new ArrayStore();
        $near = new ChaosStore($shared);
        [$tier, $second, $other] = [self::tier($near), self::tier($shared), self::far()];
        $other->save([new Item('key', 'old')]);
        self::assertSame('old', $tier->read('key'));
        $other->save([new Item('key', 'new')]);
        $tier->beginRequest();
        $second->beginRequest();
        $calls = 0;
        $near->before = static function () use (&$calls, $before, $second): void {
            if (++$calls === $before) {
                self::assertSame('new', $second->read('key'), 'Another process brings the near store up to date.');
            }
        };
        self::assertSame('new', $isBatch ? $tier->fetch(['key'])->items['key']->value ?? null : $tier->read('key'));
        self::assertGreaterThan(3, $calls);
    }

    public function testAnAnswerThatWasGivenBeforeIsJudgedByThePositionAndByTheServersLife(): void
    {
        $far = self::far();
        $log = $far->log();
        $log->since(null);
        $far->save([new Item('key', 1)]);
        $position = $log->since($log->since(null)->position)->position;
        self::assertTrue($log->since($position)->isComplete);
        [$id, $mark, $life] = explode(' ', $position);
        foreach ([[$id, strrev($mark), $life], [$id, $mark, strrev($life)]] as $other) {
            self::assertFalse($log->since(implode(' ', $other))->isComplete);
            self::assertTrue($log->since($position)->isComplete);
        }
        $redis = new \Redis();
        $redis->connect(self::server()->socket);
        $redis->rawCommand('REPLICAOF', '127.0.0.1', '1');
        $redis->rawCommand('REPLICAOF', 'NO', 'ONE');
        $far->beginRequest();
        self::assertFalse($log->since($position)->isComplete, 'The same process, and the same log, but it was a replica in between.');
    }

    public function testAReadingCountsFromWhenItWasAskedForAlongWithAFarReadAndNotFromItsEnd(): void
    {
        $shared = new ArrayStore();
        $near = new ChaosStore($shared);
        [$tier, $second, $other] = [self::tier($near), self::tier($shared), self::far()];
        $other->save([new Item('key', 'old'), new Item('far', 1), new Item('another', 1)]);
        self::assertCount(2, $tier->fetch(['key', 'another'])->items);
        $tier->beginRequest();
        $near->before = static function (string $call) use ($near, $other, $second): void {
            if ($call === 'save') {
                $near->before = null;
                $other->save([new Item('key', 'new')]);
                $second->beginRequest();
            }
        };
        $other->delete(['another']);
        self::assertSame(1, $tier->read('far'));
        self::assertNull($near->before, 'The answer is here, and what was far is about to be kept.');
        self::assertSame('new', $second->read('key'));
    }

    #[TestWith(['array:', 'there'])]
    #[TestWith(['array:', 'absent'])]
    #[TestWith(['array: > array:', 'there'])]
    #[TestWith(['array: > array:', 'absent'])]
    public function testWhatASignalsHandlerThrowsIntoTheFirstReadMakesNoOtherReadOld(string $near, string $first): void
    {
        $dsn = 'redis+unix:' . self::server()->socket . '?prefix=test&read_timeout=30';
        [$worker, $other] = [Cache::open("{$near} > {$dsn}"), Cache::open($dsn)];
        $other->setMany(['key' => 'old', 'there' => 'old']);
        for ($request = 0; $request < 3; $request++) {
            $worker->refresh();
            self::assertSame(['old', 'old'], [$worker->get('key'), $worker->get('there')], 'They are near.');
        }
        $other->set('key', 'new');
        $worker->refresh();
        self::assertTrue(Interruptions::thrownInto(self::server(), static fn(): mixed => $worker->get($first)));
        self::assertSame('new', $worker->get('key'));
        $other->set('key', 'newer');
        $worker->refresh();
        self::assertSame('newer', $worker->get('key'), 'What the other request was answered counts no more.');
    }

    public function testAnAnswerThatCameAlongWithAFarReadThatFailedIsForgotten(): void
    {
        $redis = self::redis();
        $redis->rawCommand('ACL', 'SETUSER', 'limited', 'on', '>secret', '~*', '+@all');
        $tier = self::tier(new ArrayStore(), 'redis+unix://limited:secret@' . self::server()->socket . '?prefix=test&client=predis');
        $other = self::far();
        $other->save([new Item('key', 'old')]);
        self::assertSame('old', $tier->read('key'));
        $tier->beginRequest();
        $redis->rawCommand('ACL', 'SETUSER', 'limited', '-mget', '-evalsha');
        try {
            $tier->read('absent');
            self::fail('It may not be read.');
        } catch (StoreUnavailable) {
            $redis->rawCommand('ACL', 'SETUSER', 'limited', '+@all');
        }
        $other->save([new Item('key', 'new')]);
        $tier->beginRequest();
        self::assertSame('new', $tier->read('key'));
    }

    /** @return iterable<string, array{string, bool}> near store, and whether what is missing is read in one batch with what is near */
    public static function misses(): iterable
    {
        foreach (['array', 'apcu', 'shm', 'array > shm'] as $near) {
            yield "{$near}, one by one" => [$near, false];
            yield "{$near}, in a batch" => [$near, true];
        }
    }

    /** Of two items one is made of the other, and both carry a tag. */
    #[DataProvider('misses')]
    public function testNothingThatIsReadWithAMissOrAfterItIsOlderThanItsToken(string $near, bool $isBatch): void
    {
        $pools = new Pools(8 << 20);
        try {
            $tier = self::tier(match ($near) {
                'array' => new ArrayStore(),
                'apcu' => new ApcuStore('test'),
                default => $pools->open('test'),
            });
            $cache = new Cache($near === 'array > shm' ? new TieredStore(new ArrayStore(), $tier, $tier->log) : $tier);
            $other = new Cache(self::far());
            $write = static function (string $part) use ($other): void {
                $other->invalidateTags(['tag']);
                $other->set('part', $part, 100, ['tag']);
            };
            $write('old');
            self::assertSame(['old', 'old'], [$cache->get('part'), $cache->get('part')], 'It is near.');
            $cache->refresh();
            self::assertSame('old', $cache->get('part'), 'The log has been read.');
            $write('new');
            if ($isBatch) {
                $part = $cache->getMany(['part', 'whole'])['part'] ?? null;
            } else {
                self::assertNull($cache->get('whole'));
                $part = $cache->get('part');
            }
            self::assertTrue($cache->set('whole', ['made of', $part], 100, ['tag']));
            self::assertSame(['made of', 'new'], $other->get('whole'));
        } finally {
            $pools->remove();
        }
    }

    public function testAMissCostsNoQuestionToTheLogWhereNothingHasChanged(): void
    {
        $proxy = new Proxy(self::server()->socket);
        $cache = Cache::open("array: > redis+unix:{$proxy->socket}?prefix=test");
        $other = new Cache(self::far());
        $other->setMany(['part' => 1, 'more' => 1]);
        self::assertSame(['part' => 1, 'more' => 1], $cache->getMany(['part', 'more']));
        $make = static function (string $whole) use ($cache): void {
            self::assertNull($cache->get($whole));
            self::assertTrue($cache->set($whole, ['made of', $cache->get('part'), $cache->get('more')]));
        };
        // The server knows the scripts from then on.
        $make('the first');
        $cache->token('part');
        self::assertSame(3, $proxy->roundTripsOf(static function () use ($cache, $make): void {
            $cache->refresh();
            self::assertSame(1, $cache->get('part'));
            $make('whole');
        }), 'The log, the miss, and the fill.');
        self::assertSame(2, $proxy->roundTripsOf(static fn() => $make('another')), 'A fill changes nothing.');
        self::assertSame(2, $proxy->roundTripsOf(static function () use ($cache): void {
            self::assertSame(['part' => 1], $cache->getMany(['part', 'missing']));
            self::assertSame(1, $cache->get('more'));
            $cache->token('part');
            self::assertSame(1, $cache->get('part'));
        }), 'The miss and the token.');
        $other->set('else', 2);
        self::assertSame(3, $proxy->roundTripsOf(static fn() => $make('a third')), 'It might have been one of these.');
    }

    /** @return iterable<string, array{\Closure(Cache): mixed, mixed}> what another process does once, and what it leaves */
    public static function changesBeforeAMiss(): iterable
    {
        yield 'set' => [static fn(Cache $other) => $other->set('part', 2, 100, ['tag']), 2];
        yield 'set of several' => [static fn(Cache $other) => $other->setMany(['a' => 1, 'part' => 2, 'b' => 1]), 2];
        yield 'delete' => [static fn(Cache $other) => $other->delete('part'), null];
        yield 'increment' => [static fn(Cache $other) => $other->increment('part'), 2];
        yield 'update' => [static fn(Cache $other) => $other->update('part', static fn(): int => 2), 2];
        yield 'set for no time' => [static fn(Cache $other) => $other->set('part', 2, 0), null];
        yield 'invalidation of a tag' => [static fn(Cache $other) => $other->invalidateTags(['tag']), null];
        yield 'clear' => [static fn(Cache $other) => $other->clear(), null];
    }

    /** @param \Closure(Cache): mixed $change */
    #[DataProvider('changesBeforeAMiss')]
    public function testEachChangeIsSeenThatWasBeforeAMiss(\Closure $change, mixed $left): void
    {
        foreach (['one by one', 'in a batch', 'token'] as $way) {
            $cache = Cache::open(sprintf('array: > redis+unix:%s?prefix=test', self::server()->socket));
            $other = new Cache(self::far());
            $other->set('part', 1, 100, ['tag']);
            self::assertSame([1, 1], [$cache->get('part'), $cache->get('part')], 'It is near.');
            $cache->refresh();
            self::assertSame(1, $cache->get('part'), 'The log has been read.');
            $change($other);
            if ($way === 'in a batch') {
                self::assertSame($left, $cache->getMany(['part', 'absent'])['part'] ?? null);
            } else {
                $way === 'token' ? $cache->token('absent') : self::assertNull($cache->get('absent'));
                self::assertSame($left, $cache->get('part'), $way);
            }
        }
    }

    public function testANearStoreThatAnotherProcessHasBroughtFurtherIsNoOlderThanAMiss(): void
    {
        $proxy = new Proxy(self::server()->socket);
        $pools = new Pools(8 << 20);
        try {
            $far = "redis+unix:{$proxy->socket}?prefix=test";
            [$tier, $neighbour] = [self::tier($pools->open('test'), $far), self::tier($pools->open('test'), $far)];
            $other = self::far();
            $other->save([new Item('part', 1), new Item('else', 1)]);
            self::assertSame([1, 1], [$tier->read('part'), $tier->read('else')]);
            $tier->beginRequest();
            self::assertSame(1, $tier->read('part'));
            $other->save([new Item('else', 2)]);
            $neighbour->beginRequest();
            self::assertSame(1, $neighbour->read('part'));
            self::assertSame(1, $proxy->roundTripsOf(static function () use ($tier): void {
                self::assertNull($tier->read('absent'));
                self::assertSame(1, $tier->read('part'));
            }));
        } finally {
            $pools->remove();
        }
    }

    #[TestWith(['array:'])]
    #[TestWith(['array: > array:'])]
    public function testAnAdditionIsJudgedByAMomentBeforeAllThatWasReadNear(string $near): void
    {
        $proxy = new Proxy(self::server()->socket);
        $far = "redis+unix:{$proxy->socket}?prefix=test";
        $other = new Cache(self::far());
        $cache = Cache::open("{$near} > {$far}", judgesAdds: true);
        $other->setMany(['part' => 'old', 'whole' => 'made of old', 'far' => 1]);
        self::assertSame(['old', 'old'], [$cache->get('part'), $cache->get('part')], 'It is near.');
        $trips = 0;
        for ($request = 0; $request < 2; $request++) {
            $trips = $proxy->roundTripsOf(static function () use ($cache): void {
                $cache->refresh();
                self::assertSame('old', $cache->get('part'));
            });
        }
        self::assertSame($near === 'array:' ? 1 : 2, $trips);
        $other->set('part', 'new');
        $other->delete('whole');
        self::assertSame(1, $cache->get('far'));
        self::assertFalse($cache->add('whole', 'made of old'));
        self::assertNull($other->get('whole'));
    }

    public function testTheLogIsReadBehindTheMissThatItIsReadAlongWith(): void
    {
        $connection = new OvertakenConnection(new PhpRedisConnection(new Server(socket: self::server()->socket)));
        $far = new RedisStore($connection, 'test');
        $cache = new Cache(new TieredStore(new ArrayStore(), $far, $far->log()));
        $other = new Cache(self::far());
        $other->set('part', 'old', 100, ['tag']);
        self::assertSame(['old', null], [$cache->get('part'), $cache->get('missing')]);
        $cache->refresh();
        $connection->overtake = static function () use ($other): void {
            $other->invalidateTags(['tag']);
            $other->set('part', 'new', 100, ['tag']);
        };
        $part = $cache->getMany(['part', 'whole'])['part'] ?? null;
        self::assertNull($connection->overtake);
        $cache->set('whole', ['made of', $part], 100, ['tag']);
        self::assertContains($other->get('whole'), [null, ['made of', 'new']]);
    }

    #[TestWith(['array:?grace=60'])]
    #[TestWith(['array: > array:?grace=60'])]
    public function testABatchBringsWhatIsNearAlsoIfTheRestCannotBeAskedFor(string $near): void
    {
        $server = CacheServer::redis()->start();
        try {
            $cache = Cache::open("{$near} > redis+unix:{$server->socket}", logger: $logger = new MemoryLogger());
            $cache->setMany(['a' => 1, 'b' => 2]);
            foreach ([1, 2] as $_) {
                self::assertSame(['a' => 1, 'b' => 2], $cache->getMany(['a', 'b']));
            }
            $server->stop();
            // Within the request, whose log has been read.
            self::assertSame(['a' => 1, 'b' => 2], $cache->getMany(['a', 'absent', 'b']));
            $cache->refresh();
            self::assertSame(['a' => 1, 'b' => 2], $cache->getMany(['a', 'absent', 'b']), 'Within the time of grace.');
            self::assertFalse($cache->set('absent', 'computed'));
            self::assertNotSame([], $logger->lines);
        } finally {
            $server->stop();
        }
    }

    public function testWhatIsFoundNearAfterItsMissIsMissedNoMore(): void
    {
        $pools = new Pools(8 << 20);
        try {
            $pool = $pools->open('test');
            [$cache, $neighbour] = [new Cache(self::tier($pool)), new Cache(self::tier($pool))];
            self::assertNull($cache->get('key'));
            self::assertTrue($neighbour->set('key', 'written'));
            self::assertSame('written', $neighbour->get('key'), 'It is near from now on.');
            self::assertSame('written', $cache->get('key'));
            self::assertTrue($cache->set('key', 'made of that'));
        } finally {
            $pools->remove();
        }
    }

    public function testACacheThatOwesItsStoreADeleteReadsNothingNearBefore(): void
    {
        $pools = new Pools(8 << 20);
        try {
            $connection = new LossyConnection(new PhpRedisConnection(new Server(socket: self::server()->socket)));
            $far = new RedisStore($connection, 'test');
            $tier = new TieredStore($pools->open('test'), $far, $far->log());
            [$cache, $neighbour] = [new Cache($tier, logger: new MemoryLogger()), new Cache($tier)];
            self::assertTrue($cache->set('key', 'old'));
            self::assertSame('old', $cache->get('key'));
            $connection->loses = 'test:key';
            self::assertFalse($cache->delete('key'));
            self::assertTrue($neighbour->set('key', 'new'));
            self::assertSame(['new', 'new'], [$neighbour->get('key'), $neighbour->get('key')]);
            self::assertNotNull($tier->near()->pool);
            self::assertNull($cache->get('key'), 'It deletes the key first.');
        } finally {
            $pools->remove();
        }
    }

    public function testACacheReadsPastATierWhatIsUpToDateAndNothingElse(): void
    {
        $pools = new Pools(8 << 20);
        try {
            $tier = self::tier($pools->open('test'));
            [$cache, $other] = [new Cache($tier), new Cache(self::far())];
            $other->setMany(['a' => 'old', 'b' => ['old'], '7' => 'seven', 'null' => null]);
            $keys = ['a', 'b', '7', 'null'];
            $all = ['a' => 'old', 'b' => ['old'], '7' => 'seven', 'null' => null];
            self::assertNull($tier->near()->pool, 'The log was not read yet.');
            self::assertSame([$all, $all], [$cache->getMany($keys), $cache->getMany($keys)]);
            self::assertNotNull($tier->near()->pool);
            self::assertSame(array_values($all), array_map($cache->get(...), $keys));
            self::assertNull($cache->get('null', 'none'), 'A stored null is a value.');
            self::assertSame('none', $cache->get('missed', 'none'));
            $other->set('missed', 'written');
            self::assertFalse($cache->set('missed', 'computed'), 'It was missed, and has been written since.');
            $cache->refresh();
            self::assertNull($tier->near()->pool, 'Another request begins.');
            self::assertSame('written', $cache->get('missed'));
            $other->set('a', 'new');
            self::assertSame('old', $cache->get('a'), 'In the same request it may.');
            $cache->refresh();
            self::assertSame(['a' => 'new'] + $all, $cache->getMany($keys));
            self::assertTrue($cache->set('a', 'own'));
            self::assertSame(['own', ['a' => 'own', 'b' => ['old']]], [$cache->get('a'), $cache->getMany(['a', 'b'])]);
            self::assertSame('computed', $cache->remember('sealed', static fn(): string => 'computed', 100));
            $cache->refresh();
            foreach (['far', 'near'] as $where) {
                self::assertSame(['computed', ['sealed' => 'computed']], [$cache->get('sealed'), $cache->getMany(['sealed'])], $where);
            }
            try {
                $cache->get('');
                self::fail('It is no key.');
            } catch (InvalidKey) {
                self::assertSame('own', $cache->get('a'));
            }
            foreach ([['a', 7], ['a', 'a'], new \ArrayIterator(['a', '7'])] as $others) {
                $cache->refresh();
                self::assertCount(\count(array_unique([...$others])), $cache->getMany($others));
            }
            $cache->refresh();
            foreach ([[''], ['a', ''], ['a', null], ['a', ['a']]] as $illegal) {
                try {
                    $cache->getMany($illegal);
                    self::fail('One of them is no key.');
                } catch (InvalidKey) {
                    self::assertSame(['a' => 'own'], $cache->getMany(['a']));
                }
            }
            $other->delete('b');
            $cache->refresh();
            self::assertSame(['a' => 'own', '7' => 'seven', 'null' => null], $cache->getMany($keys));
            $other->clear();
            $cache->refresh();
            self::assertSame([], $cache->getMany($keys));
        } finally {
            $pools->remove();
        }
    }

    public function testStalenessSavesRoundTripsAndALeaseOrATokenAsksAllTheSame(): void
    {
        $near = new ArrayStore();
        $proxy = new Proxy(self::server()->socket);
        $far = Stores::open("redis+unix:{$proxy->socket}?prefix=test");
        self::assertInstanceOf(RedisStore::class, $far);
        $tier = new TieredStore($near, $far, $far->log(), staleness: 3_600.0);
        $other = self::far();
        $other->save([new Item('key', 'old')]);
        self::assertSame('old', $tier->read('key'));
        $other->save([new Item('key', 'new')]);
        $before = $proxy->roundTrips();
        for ($i = 0; $i < 5; $i++) {
            $tier->beginRequest();
            self::assertSame('old', $tier->read('key'));
        }
        self::assertSame($before, $proxy->roundTrips());
        $tier->acquire('lease', 'owner', 10.0);
        self::assertSame('new', $tier->read('key'));
        $strict = new TieredStore($near, $far, $far->log());
        $other->save([new Item('key', 'newer')]);
        $strict->beginRequest();
        self::assertSame('newer', $strict->read('key'));
        $other->save([new Item('key', 'newest')]);
        $tier->token('key');
        self::assertSame('newest', $tier->read('key'));
    }

    /** @return iterable<string, array{\Closure(\Redis): mixed}> */
    public static function losses(): iterable
    {
        yield 'FLUSHALL' => [static fn(\Redis $redis): mixed => $redis->flushAll()];
        yield 'the log is deleted' => [static fn(\Redis $redis): mixed => $redis->del('test!log')];
        yield 'all but the last event is trimmed' => [static fn(\Redis $redis): mixed => $redis->rawCommand('XTRIM', 'test!log', 'MAXLEN', '1')];
        yield 'the log is of another type' => [static fn(\Redis $redis): mixed => $redis->del('test!log') && $redis->set('test!log', 'x')];
        yield 'the clock is lost' => [static fn(\Redis $redis): mixed => $redis->del('test!clock')];
    }

    /** @param \Closure(\Redis): mixed $loss */
    #[DataProvider('losses')]
    public function testANearStoreWhosePositionIsLostBeginsAnew(\Closure $loss): void
    {
        foreach ([false, true] as $isBetween) {
            self::redis()->flushAll();
            $tier = self::tier(new ArrayStore());
            $other = self::far();
            $other->save([new Item('key', 'old'), new Item('kept', 'kept')]);
            self::assertSame(['old', 'kept'], array_column($tier->fetch(['key', 'kept'])->items, 'value'));
            $isBetween && $loss(self::redis());
            $other->save([new Item('key', 'new')]);
            $other->save([new Item('another', 1)]);
            $isBetween || $loss(self::redis());
            $tier->beginRequest();
            self::assertSame($other->read('key'), $tier->read('key'));
            self::assertSame(1, $tier->read('another') ?? 1);
            $other->save([new Item('key', 'newest')]);
            $tier->beginRequest();
            self::assertSame('newest', $tier->read('key'), 'It goes on.');
        }
    }

    /** Items of a near store expire by this machine's time of day, those of the server do not. */
    #[TestWith([-1.1, 'kept'])]
    #[TestWith([0.5, 'kept'])]
    #[TestWith([3_600.0, null])]
    public function testANearStoreBeginsAnewWhereTheTimeOfDayWasSetBack(float $seconds, ?string $expected): void
    {
        $near = new ArrayStore();
        $tier = self::tier($near);
        self::far()->save([new Item('key', 'kept', 100)]);
        self::assertSame('kept', $tier->read('key'));
        self::redis()->del('test:key');
        $name = Key::internal('tier', 'followed');
        $followed = $near->read($name);
        \assert(\is_string($followed));
        $lines = explode("\n", $followed);
        // As if the log had been asked while the time was later by so much.
        $lines[3] = sprintf('%.6F', (float) $lines[3] + $seconds);
        $near->save([new Item($name, implode("\n", $lines))]);
        for ($requests = 0; $requests < 2; $requests++) {
            $tier->beginRequest();
            self::assertSame($expected, $tier->read('key'), 'As an expiry is no event, the near store is asked.');
        }
        self::assertSame($expected === null ? 2 : 1, $tier->statistics()->details['near beginnings'], 'It has begun anew once.');
    }

    public function testTheCountOfEventsOutlivesABeginningAnew(): void
    {
        $tier = self::tier(new ArrayStore());
        $count = static fn(): array => [$tier->statistics()->details['near events'], $tier->statistics()->details['near beginnings']];
        $tier->read('key');
        self::far()->save([new Item('key', 'first', 100)]);
        self::far()->save([new Item('other', 'first', 100)]);
        $tier->beginRequest();
        self::assertSame('first', $tier->read('key'));
        self::assertSame([2, 1], $count());
        self::redis()->rawCommand('XTRIM', 'test!log', 'MAXLEN', '0');
        $tier->beginRequest();
        self::assertSame('first', $tier->read('key'));
        self::assertSame([2, 2], $count());
        self::far()->save([new Item('key', 'second', 100)]);
        $tier->beginRequest();
        self::assertSame('second', $tier->read('key'));
        self::assertSame([3, 2], $count());
    }

    public function testAServerThatComesBackWithoutTheEndOfItsLogIsAnotherHistory(): void
    {
        $server = CacheServer::redis(['--dir', 'DIRECTORY'])->start();
        try {
            $dsn = "redis+unix:{$server->socket}?prefix=test&retry_after=0";
            $near = new ArrayStore();
            $other = Stores::open($dsn);
            $other->save([new Item('key', 'old')]);
            self::assertSame('old', self::tier($near, $dsn)->read('key'));
            $redis = new \Redis();
            $redis->connect($server->socket);
            $redis->rawCommand('SAVE');
            $other->delete(['key']);
            $server->kill();
            $server->start();
            $redis = new \Redis();
            $redis->connect($server->socket);
            self::assertGreaterThan(0, $redis->xLen('test!log'), 'What the near store has followed last is there, and nothing after it.');
            self::assertNull(self::tier($near, $dsn)->read('key'));
        } finally {
            $server->stop();
        }
    }

    public function testADeleteThatFindsNoClockIsHeardOfAllTheSame(): void
    {
        foreach (['delete', 'touch'] as $change) {
            self::redis()->flushAll();
            $tier = self::tier(new ArrayStore());
            $other = self::far();
            $other->save([new Item('key', 'old')]);
            self::assertSame('old', $tier->read('key'));
            self::redis()->del('test!clock');
            $change === 'delete' ? $other->delete(['key']) : $other->touch(['key'], 10);
            $tier->beginRequest();
            self::assertNull($tier->read('key'), 'Without a clock nothing that is stored lives.');
        }
    }

    public function testANearStoreThatIsTooFarBehindBeginsAnewAndTheLogStaysShort(): void
    {
        $tier = self::tier(new ArrayStore());
        $other = self::far();
        $other->save([new Item('key', 'old')]);
        self::assertSame('old', $tier->read('key'));
        $other->save([new Item('key', 'new')]);
        for ($i = 0; $i < 1_200; $i++) {
            $other->increment('n');
        }
        $tier->beginRequest();
        self::assertSame('new', $tier->read('key'));
        self::assertSame(1_200, $tier->read('n'));
        for ($i = 0; $i < 12_000; $i++) {
            $other->increment('n');
        }
        self::assertLessThan(10_300, self::redis()->xLen('test!log'));
        $tier->beginRequest();
        self::assertSame(13_200, $tier->read('n'));
    }

    public function testOldEventsGoAndTheLastOnesStay(): void
    {
        $tier = self::tier(new ArrayStore());
        $other = self::far();
        $tier->read('key');
        $redis = self::redis();
        [$mark] = array_column($redis->xRange('test!log', '-', '+'), 'e');
        $redis->del('test!log');
        for ($i = 1; $i <= 250; $i++) {
            $redis->xAdd('test!log', "{$i}-0", ['e' => $mark, 'k' => 'test:old']);
        }
        for ($i = 0; $i < 300; $i++) {
            $other->increment('n');
        }
        self::assertSame(0, \count($redis->xRange('test!log', '1-0', '100-0')), 'They are more than an hour old.');
        self::assertGreaterThanOrEqual(300, $redis->xLen('test!log'));
        $tier->beginRequest();
        self::assertSame(300, $tier->read('n'));
    }

    public function testAUserWhoMayNotAppendToTheLogChangesNothing(): void
    {
        $redis = self::redis();
        self::far()->save([new Item('key', 'old', 100, ['t'])]);
        $tier = self::tier(new ArrayStore());
        self::assertSame('old', $tier->read('key'));
        $redis->rawCommand('ACL', 'SETUSER', 'limited', 'on', '>secret', '~*', '+@all', '-xadd');
        $limited = Stores::open('redis+unix://limited:secret@' . self::server()->socket . '?prefix=test');
        foreach ([
            'save' => static fn(): mixed => $limited->save([new Item('key', 'new')]),
            'delete' => static fn(): mixed => $limited->delete(['key']),
            'touch' => static fn(): mixed => $limited->touch(['key'], 10),
            'invalidate' => static function () use ($limited): void {
                $limited->invalidateTags(['t']);
            },
            'increment' => static fn(): mixed => $limited->increment('key'),
        ] as $name => $change) {
            try {
                $change();
                self::fail("{$name} was not refused.");
            } catch (StoreUnavailable $refusal) {
                self::assertStringEndsWith('the user of Redis may not run XADD, XRANGE and XREVRANGE on it; ACL SETUSER USER +xadd +xrange +xrevrange +xtrim.', $refusal->getMessage(), $name);
                self::assertTrue($refusal->takesNothing, $name);
            }
        }
        $tier->beginRequest();
        self::assertSame(['old', 'old'], [$tier->read('key'), self::far()->read('key')]);
    }

    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testAUserWhoMayNotReadTheLogReadsEverythingFromTheServer(string $client): void
    {
        $redis = self::redis();
        $redis->rawCommand('ACL', 'SETUSER', 'limited', 'on', '>secret', '~*', '+@all');
        $limited = 'redis+unix://limited:secret@' . self::server()->socket . "?prefix=test&client={$client}";
        $logger = new MemoryLogger();
        $cache = Cache::open("array: > {$limited}", logger: $logger);
        self::assertNull($cache->get('key'));
        $redis->rawCommand('ACL', 'SETUSER', 'limited', '-xrange');
        self::assertTrue($cache->set('key', 'value', tags: ['tag']));
        foreach (['its first read has the log asked along', 'so it has again'] as $why) {
            $cache->refresh();
            self::assertSame('value', $cache->get('key'), $why);
        }
        self::assertStringContainsString('run "larder doctor"', implode("\n", $logger->lines));
    }

    /** @return iterable<string, array{\Closure(Store): mixed}> */
    public static function changes(): iterable
    {
        yield 'a delete' => [static fn(Store $store): mixed => $store->delete(['key'])];
        yield 'a touch' => [static fn(Store $store): mixed => $store->touch(['key'], 0)];
        yield 'an invalidation' => [static function (Store $store): void {
            $store->invalidateTags(['t']);
        }];
        yield 'a clear' => [static function (Store $store): void {
            $store->clear();
        }];
        yield 'a write that is refused, which leaves nothing behind' => [static fn(Store $store): mixed => $store->save([new Item('key', 'new')])];
        yield 'a large one' => [static fn(Store $store): mixed => $store->save([new Item('key', str_repeat('new', 10_000))])];
        yield 'an increment' => [static fn(Store $store): mixed => $store->increment('key')];
        yield 'a fill that is refused' => [static fn(Store $store): mixed => $store->save([new Item('key', 'new', 100, ['t'], $store->token('key'), true)])];
    }

    /** @param \Closure(Store): mixed $change */
    #[DataProvider('changes')]
    public function testWhatAFullServerDoesIsHeardOfAndWhatItDoesNotIsNot(\Closure $change): void
    {
        foreach ([false, true] as $isFull) {
            $redis = self::redis();
            $redis->flushAll();
            $other = self::far();
            $other->save([new Item('key', 7, 100, ['t']), new Item('kept', 'kept')]);
            $tier = self::tier(new ArrayStore());
            self::assertCount(2, $tier->fetch(['key', 'kept'])->items);
            $redis->config('SET', 'maxmemory', $isFull ? '1' : '0');
            try {
                $change($other);
            } catch (StoreUnavailable) {
                // It is what it was then, which the far store knows.
            } finally {
                $redis->config('SET', 'maxmemory', '0');
            }
            $tier->beginRequest();
            self::assertSame($other->read('key'), $tier->read('key'), $isFull ? 'full' : 'not full');
            self::assertSame($other->read('kept'), $tier->read('kept'));
        }
    }

    public function testANearStoreInFrontOfAFullServerFollowsItsLog(): void
    {
        $redis = self::redis();
        $other = self::far();
        $other->save([new Item('key', 'old')]);
        $redis->config('SET', 'maxmemory', '1');
        try {
            $tier = self::tier(new ArrayStore());
            self::assertSame('old', $tier->read('key'));
            $other->delete(['key']);
            $tier->beginRequest();
            self::assertNull($tier->read('key'));
        } finally {
            $redis->config('SET', 'maxmemory', '0');
        }
    }

    #[TestWith(['allkeys-lru', true])]
    #[TestWith(['allkeys-random', true])]
    #[TestWith(['volatile-lru', false])]
    #[TestWith(['noeviction', false])]
    public function testThatAServerMayEvictTheLogIsToldWhenANearStoreBegins(string $policy, bool $isTold): void
    {
        $server = CacheServer::redis(['--maxmemory', '100mb', '--maxmemory-policy', $policy])->start();
        try {
            $redis = new \Redis();
            $redis->connect($server->socket);
            foreach (['array:', 'array: > array:'] as $near) {
                $logger = new MemoryLogger();
                $cache = Cache::open("{$near} > redis+unix:{$server->socket}?prefix=test", logger: $logger);
                self::assertNull($cache->get('key'));
                $redis->del('test!log');
                $cache->refresh();
                self::assertNull($cache->get('key'), 'It begins anew, and has told already.');
                self::assertSame($isTold ? ['warning: The Redis server may evict the log that near stores follow, which then begin anew; set maxmemory-policy to volatile-lru or noeviction.'] : [], $logger->lines);
                self::assertSame($isTold ? [['why' => $policy]] : [], $logger->contexts);
            }
            $scratch = new Scratch();
            $errors = "{$scratch->path}/errors";
            (new Process([\PHP_BINARY, '-d', 'log_errors=1', '-d', "error_log={$errors}", '-r', <<<'PHP'
                require $argv[1];
                Larder\Cache::open($argv[2])->get('key');
                PHP, '--', \dirname(__DIR__, 2) . '/vendor/autoload.php', "array: > redis+unix:{$server->socket}?prefix=test"], env: ['TMPDIR' => $scratch->path]))->mustRun();
            self::assertSame($isTold ? 1 : 0, substr_count((string) @file_get_contents($errors), 'Larder: The Redis server may evict the log'));
        } finally {
            $server->stop();
        }
    }

    private static function far(): RedisStore
    {
        $store = Stores::open('redis+unix:' . self::server()->socket . '?prefix=test');
        self::assertInstanceOf(RedisStore::class, $store);

        return $store;
    }

    private static function tier(Store&\Larder\Reads $near, ?string $dsn = null): TieredStore
    {
        $far = Stores::open($dsn ?? 'redis+unix:' . self::server()->socket . '?prefix=test');
        self::assertInstanceOf(RedisStore::class, $far);

        return new TieredStore($near, $far, $far->log());
    }
}
