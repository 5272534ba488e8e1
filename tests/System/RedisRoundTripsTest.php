<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Cache;
use Larder\Item;
use Larder\Leases;
use Larder\SaveMode;
use Larder\Store;
use Larder\Store\Redis\PhpRedisConnection;
use Larder\Store\Redis\PredisConnection;
use Larder\Store\Redis\Scripts;
use Larder\Store\Redis\Server;
use Larder\Store\Redis\Walk;
use Larder\Store\RedisStore;
use Larder\Stores;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\TestWith;

/** How often a RedisStore has to ask its server. */
#[CoversClass(RedisStore::class)]
#[CoversClass(Scripts::class)]
#[CoversClass(Walk::class)]
final class RedisRoundTripsTest extends OneRedis
{
    /** @return iterable<string, array{string, \Closure(RedisStore): mixed}> */
    public static function operations(): iterable
    {
        $batch = array_map(static fn(int $i): string => "key {$i}", range(0, 199));
        $items = array_map(static fn(string $key): Item => new Item($key, str_repeat('x', 200), 100, ['a', 'b', $key]), $batch);
        foreach (['phpredis', 'predis'] as $client) {
            yield "{$client}: a read" => [$client, static fn(Store $store): mixed => $store->fetch(['key 1'])];
            yield "{$client}: a miss" => [$client, static fn(Store $store): mixed => $store->fetch(['absent'])];
            yield "{$client}: a batch of tagged reads and misses" => [$client, static fn(Store $store): mixed => $store->fetch([...$batch, 'absent'])];
            yield "{$client}: a token" => [$client, static fn(Store $store): mixed => $store->token('key 1')];
            yield "{$client}: a write" => [$client, static fn(Store $store): mixed => $store->save([new Item('key 1', 'x')])];
            yield "{$client}: an add" => [$client, static fn(Store $store): mixed => $store->save([new Item('added', 'x')], SaveMode::Add)];
            yield "{$client}: a batch of writes" => [$client, static fn(Store $store): mixed => $store->save($items)];
            yield "{$client}: a batch of deletes" => [$client, static fn(Store $store): mixed => $store->delete($batch)];
            yield "{$client}: an increment" => [$client, static fn(Store $store): mixed => $store->increment('n')];
            yield "{$client}: a batch of touches" => [$client, static fn(Store $store): mixed => $store->touch($batch, 50)];
            yield "{$client}: taking a lease" => [$client, static fn(RedisStore $store): mixed => $store->acquire('lease', $client, 30.0)];
            yield "{$client}: prolonging a lease" => [$client, static fn(RedisStore $store): mixed => $store->refresh('lease', $client, 30.0)];
            yield "{$client}: ending a lease" => [$client, static fn(RedisStore $store): mixed => $store->release('lease', $client)];
            yield "{$client}: an invalidation of many tags" => [$client, static function (Store $store) use ($batch): int {
                $store->invalidateTags($batch);

                return 0;
            }];
        }
    }

    /** @param \Closure(RedisStore): mixed $operation */
    #[DataProvider('operations')]
    public function testEveryOperationAndEveryBatchIsOneRoundTrip(string $client, \Closure $operation): void
    {
        $proxy = new Proxy(self::server()->socket);
        $store = Stores::open("redis+unix:{$proxy->socket}?client={$client}");
        self::assertInstanceOf(RedisStore::class, $store);
        $store->save(array_map(static fn(int $i): Item => new Item("key {$i}", 'x', 100, ['a', "tag {$i}"]), range(0, 199)));
        // The server has to be told the script once.
        $operation($store);
        $before = $proxy->roundTrips();
        $operation($store);
        self::assertSame(1, $proxy->roundTrips() - $before);
    }

    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testTheTokenOfARequestIsNoRoundTripAndABatchIsOne(string $client): void
    {
        $proxy = new Proxy(self::server()->socket);
        $cache = Cache::open("redis+unix:{$proxy->socket}?client={$client}&prefix=request", strict: true, judgesAdds: true);
        $items = array_map(static fn(int $i): Item => new Item("key {$i}", $i, 10 + $i), range(0, 99));
        foreach (['first', 'second', 'third'] as $request) {
            $cache->refresh();
            $before = $proxy->roundTrips();
            $cache->get('options');
            $cache->add("row {$request}", 'row');
            $cache->saveMany($items, SaveMode::Add);
            $cache->saveMany($items);
            $trips = $proxy->roundTrips() - $before;
        }
        self::assertSame(4, $trips);
        self::assertInstanceOf(RedisStore::class, $cache->store);
        self::assertNotNull($cache->store->requestToken('any'));
    }

    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testTheFirstRoundTripOfAClearKillsEverythingAndTheOthersAreBounded(string $client): void
    {
        self::redis()->rawCommand('FLUSHALL');
        $socket = self::server()->socket;
        $proxy = new Proxy($socket);
        /** @var \ArrayObject<int, string> $diary */
        $diary = new \ArrayObject();
        $store = new RedisStore($client === 'predis'
            ? new RecordedConnection(new PredisConnection(new Server(socket: $socket, readTimeout: 30.0)), 'server', $diary)
            : new PhpRedisConnection(new Server(socket: $proxy->socket, readTimeout: 30.0)), 'clear', timeout: 30.0);
        // Predis writes command by command, and the server does not wait with its answer for the last one.
        $trips = static fn(): int => $client === 'predis' ? \count($diary) : $proxy->roundTrips();
        $save = static function (int $from, int $to) use ($store): void {
            $store->save(array_map(static fn(int $i): Item => new Item("key {$i}", 'x'), range($from, $to)));
        };
        $clear = static function () use ($trips, $store): int {
            $before = $trips();
            $store->clear();

            return $trips() - $before;
        };
        $save(1, 200);
        $clear();
        self::assertSame(1, $clear(), 'There is nothing.');
        $save(1, 200);
        self::assertSame(2, $clear());
        for ($i = 0; $i < 12; $i++) {
            $save(1_000 * $i, 1_000 * $i + 999);
        }
        $many = $clear();
        self::assertGreaterThan(2, $many);
        self::assertLessThanOrEqual(20, $many);
        self::assertSame([], [...$store->keys()], 'What is not freed yet is dead.');
        self::assertSame([], $this->store('clear')->fetch(['key 0', 'key 11999'])->items);
    }

    /** As after the serializer or the secret was changed: the server does not know that they cannot be read. */
    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testABatchThatCannotBeReadIsOneRoundTripAndCanBeFilled(string $client): void
    {
        $proxy = new Proxy(self::server()->socket);
        $open = static fn(string $secret): Store => Stores::open("redis+unix:{$proxy->socket}?client={$client}&prefix=foreign-{$client}&secret={$secret}");
        $keys = array_map(static fn(int $i): string => "key {$i}", range(0, 199));
        $open('the-secret-of-last-year')->save(array_map(static fn(string $key): Item => new Item($key, 'old', 100), $keys));
        $store = $open('the-secret-of-this-year');
        $store->fetch(['absent']);
        $before = $proxy->roundTrips();
        $fetched = $store->fetch($keys);
        self::assertSame(1, $proxy->roundTrips() - $before);
        self::assertSame([[], $keys], [$fetched->items, array_keys($fetched->tokens)]);
        self::assertSame([], $store->save(array_map(static fn(string $key): Item => new Item($key, 'new', 100, token: $fetched->tokens[$key], fill: true), $keys)));
        self::assertCount(200, $store->fetch($keys)->items);
    }

    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testANamespaceMissesAndRemembersInAsManyRoundTripsAsItsStore(string $client): void
    {
        $proxy = new Proxy(self::server()->socket);
        $whole = Cache::open("redis+unix:{$proxy->socket}?client={$client}&prefix=whole-{$client}");
        $caches = [$whole, $whole->namespace('menus'), $whole->namespace('menus')->namespace('inner')];
        foreach ([false, true] as $areTagsInUse) {
            $areTagsInUse && $whole->invalidateTags(['unused']);
            $trips = [];
            foreach ($caches as $i => $cache) {
                foreach (['told', 'asked'] as $round) {
                    // The server has to be told the scripts once.
                    $key = "{$round} " . (int) $areTagsInUse;
                    $began = $proxy->roundTrips();
                    $cache->get("got {$key}");
                    $missed = $proxy->roundTrips();
                    $cache->remember("remembered {$key}", static fn(): string => 'computed', 100);
                    $trips[$i] = [$missed - $began, $proxy->roundTrips() - $missed];
                }
            }
            self::assertSame(1, $trips[0][0]);
            self::assertSame(array_fill(0, 3, $trips[0]), $trips);
        }
    }

    public function testABatchAsksOnceForTheVersionsOfTheTagsThatItsItemsHaveInCommon(): void
    {
        $store = $this->store('versions');
        $tags = array_map(static fn(int $i): string => "tag {$i}", range(1, 50));
        $keys = array_map(static fn(int $i): string => "key {$i}", range(1, 200));
        $store->save(array_map(static fn(string $key): Item => new Item($key, 'x', 100, $tags), $keys));
        $store->save([new Item('own', 'x', 100, ['own', ...$tags]), new Item('dead', 'x', 100, [...$tags, 'killed']), new Item('stale', 'x', 100, [...$tags, 'served'])]);
        $store->invalidateTags(['killed']);
        $store->invalidateTags(['served'], 1_000);
        $store->fetch(['absent']);
        $calls = static fn(): int => preg_match('/calls=(\d+)/', self::text(self::redis()->info('commandstats')['cmdstat_hmget'] ?? ''), $found) === 1 ? (int) $found[1] : 0;
        $before = $calls();
        $fetched = $store->fetch([...$keys, 'own', 'dead', 'stale']);
        // One for all that have the same tags, and one for each tag that is new.
        self::assertSame(4, $calls() - $before);
        self::assertSame([...$keys, 'own'], array_map(strval(...), array_keys($fetched->items)));
        self::assertSame(['dead', 'stale'], array_keys($fetched->tokens));
        self::assertSame(['stale'], array_keys($fetched->stale));
    }

    private static function text(mixed $info): string
    {
        return \is_string($info) ? $info : '';
    }

    /** Of a process that knows that tags are in use here. For one that has only read plainly yet see RedisReadsTest. */
    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testWhatOthersHaveDoneMeanwhileMakesNoOperationTwoRoundTrips(string $client): void
    {
        $proxy = new Proxy(self::server()->socket);
        $open = static fn(): Store => Stores::open("redis+unix:{$proxy->socket}?client={$client}&prefix=meanwhile-{$client}");
        [$store, $other] = [$open(), $open()];
        self::assertInstanceOf(RedisStore::class, $store);
        // Put aside, and yet not so large that the server answers what comes first before it has all.
        $large = str_repeat('large ', 500);
        $tagged = [new Item('tagged', 'x', 100, ['a']), new Item('another', $large, 100, ['b'])];
        foreach ([$store, $other] as $each) {
            // Connecting can be a round trip of its own, and the server has to be told the scripts once.
            $each->save([...$tagged, new Item('there', 'x', 100)]);
            $each->save([new Item('there', 'x', 100)], SaveMode::Add);
            $each->fetch(['there']);
            $each->delete(['absent']);
            $each->invalidateTags(['unused']);
        }
        $other->clear();
        $other->save([new Item('there', 'x', 100), ...$tagged]);
        $steps = [
            'a hit' => static fn(): mixed => $store->fetch(['there']),
            'a miss after a hit' => static fn(): mixed => $store->fetch(['absent']),
            'a token after a hit' => static fn(): mixed => $store->token('there'),
            'a tagged item after a hit' => static fn(): mixed => $store->fetch(['tagged']),
            'a batch' => static fn(): mixed => $store->fetch(['there', 'tagged', 'another', 'absent']),
            'a large write' => static fn(): mixed => $store->save([new Item('large', $large, 100)]),
            'a large read' => static fn(): mixed => $store->fetch(['large']),
            'a batch of large and small writes' => static fn(): mixed => $store->save([new Item('large', $large, 100, ['a']), new Item('small', 'x'), new Item('larger', $large . $large)]),
            'a large addition' => static fn(): mixed => $store->save([new Item('added', $large)], SaveMode::Add),
        ];
        $meanwhile = [
            'nothing' => static fn(): mixed => null,
            'a delete of the missing key' => static fn(): mixed => $other->delete(['absent']),
            'an invalidation' => static fn() => $other->invalidateTags(['b', 'unused']),
            'writes' => static fn(): mixed => $other->save([...$tagged, new Item('there', 'y', 100)]),
            'an invalidation that lets old ones be served' => static fn() => $other->invalidateTags(['a'], 100),
            'a clear' => static fn() => $other->clear(),
            'a flush' => fn(): mixed => self::redis()->rawCommand('FLUSHALL'),
        ];
        foreach ($meanwhile as $what => $happens) {
            foreach ($steps as $step => $operation) {
                $happens();
                $before = $proxy->roundTrips();
                $operation();
                self::assertSame(1, $proxy->roundTrips() - $before, "{$step}, after {$what}");
            }
        }
    }

    /** As in a web request that stores what a form has brought, and reads nothing before. */
    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testTheFirstWriteOfAProcessIsOneRoundTripIfAnotherHasAskedTheServerInTheLastMinute(string $client): void
    {
        $proxy = new Proxy(self::server()->socket);
        $open = static fn(): Store => Stores::open("redis+unix:{$proxy->socket}?client={$client}&prefix=fresh-{$client}");
        $open()->save([new Item('other', 'x')]);
        foreach (['small' => 'x', 'large' => str_repeat('x', 4_000)] as $key => $value) {
            $store = $open();
            self::assertInstanceOf(Leases::class, $store);
            // Connecting can be a round trip of its own.
            $store->acquire('lease', $key, 0.001);
            $before = $proxy->roundTrips();
            self::assertSame([], $store->save([new Item($key, $value)]));
            self::assertSame(1, $proxy->roundTrips() - $before, $key);
        }
    }

    /** As in a web request: the process has done nothing yet that could have told it what to expect. */
    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testAlsoTheFirstOperationsOfAProcessAreOneRoundTripEach(string $client): void
    {
        $proxy = new Proxy(self::server()->socket);
        $open = static fn(): Store => Stores::open("redis+unix:{$proxy->socket}?client={$client}&prefix=first-{$client}");
        $writer = $open();
        $writer->save([new Item('old', 'x', 100, ['a']), new Item('killed', 'x', 100, ['b'])]);
        $writer->invalidateTags(['b']);
        $writer->fetch(['old']);
        $writer->delete(['absent']);
        $operations = [
            'a read of a tagged item that is older than an invalidation' => static fn(Store $store): mixed => $store->fetch(['old']),
            'a read of one that was killed' => static fn(Store $store): mixed => $store->fetch(['killed', 'old']),
            'a miss that no process has had before' => static fn(Store $store): mixed => $store->fetch([bin2hex(random_bytes(8))]),
        ];
        foreach ($operations as $what => $operation) {
            $store = $open();
            self::assertInstanceOf(Leases::class, $store);
            // Connecting can be a round trip of its own.
            $store->acquire('lease', $what, 0.001);
            $before = $proxy->roundTrips();
            $operation($store);
            self::assertSame(1, $proxy->roundTrips() - $before, $what);
            $store->fetch([bin2hex(random_bytes(8))]);
            self::assertSame(2, $proxy->roundTrips() - $before, "another miss, after {$what}");
            $store->save([new Item('written', 'x', 100)]);
            self::assertSame(3, $proxy->roundTrips() - $before, "a write, after {$what}");
        }
    }

    private function store(string $prefix): Store
    {
        return Stores::open('redis+unix:' . self::server()->socket . "?prefix={$prefix}");
    }
}
