<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Cache;
use Larder\Item;
use Larder\Store;
use Larder\Store\Memcached\MemcachedLeases;
use Larder\Store\Memcached\Ring;
use Larder\Store\Memcached\Shard;
use Larder\Store\Memcached\TagVersions;
use Larder\Store\MemcachedStore;
use Larder\Stores;
use Larder\Tests\Contract\Crowd;
use Larder\Tests\Contract\History;
use Larder\Tests\Contract\Value\Ledger;
use Larder\Tests\MemoryLogger;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;

/** What a MemcachedStore costs in round trips, and what becomes of it when one of several servers is gone. */
#[CoversClass(MemcachedStore::class)]
#[CoversClass(Shard::class)]
#[CoversClass(TagVersions::class)]
#[CoversClass(Ring::class)]
#[CoversClass(MemcachedLeases::class)]
final class MemcachedStoreTest extends OwnServers
{
    public function testAReadIsOneRoundTripAlsoWithTagsThatWereInvalidated(): void
    {
        $proxy = new Proxy($this->memcacheds(1)[0]->socket);
        $store = Stores::open("memcached+unix:{$proxy->socket}?timeout=10");
        $keys = array_map(static fn(int $i): string => "key {$i}", range(0, 99));
        $store->save(array_map(static fn(string $key): Item => new Item($key, 'x', 100, ['a', $key]), $keys));
        $trips = static function (\Closure $do) use ($proxy): int {
            $before = $proxy->roundTrips();
            $do();

            return $proxy->roundTrips() - $before;
        };
        self::assertSame(1, $trips(static fn() => $store->fetch($keys)));
        $store->invalidateTags(['key 7', 'unknown']);
        self::assertLessThanOrEqual(4, $trips(static fn() => self::assertCount(99, $store->fetch($keys)->items)));
        self::assertSame(1, $trips(static fn() => self::assertCount(99, $store->fetch($keys)->items)));
        self::assertSame(1, $trips(static fn() => $store->fetch(['key 1', 'key 2'])));
        self::assertSame(2, $trips(static fn() => $store->save([new Item('key 1', 'y', 100, ['a'])])));
        self::assertSame(2, $trips(static fn() => $store->fetch(['absent'])), 'A miss leaves a hole.');
        self::assertSame(1, $trips(static fn() => $store->fetch(['absent'])));
        $token = $store->fetch(['absent'])->tokens['absent'];
        self::assertSame(2, $trips(static fn() => self::assertSame([], $store->save([new Item('absent', 'z', 100, ['a'], $token, true)]))));
        self::assertSame(2, $trips(static fn() => $store->increment('n')));
    }

    /** As docs/choose-a-store.md tells. */
    public function testABatchReadsItsKeysAtOnceAndSwapsThemOneByOne(): void
    {
        $proxy = new Proxy($this->memcacheds(1)[0]->socket);
        $store = Stores::open("memcached+unix:{$proxy->socket}?timeout=10");
        $keys = array_map(static fn(int $i): string => "key {$i}", range(1, 50));
        $items = array_map(static fn(string $key): Item => new Item($key, 'x', 100), $keys);
        $store->save([new Item('other', 'x', 100)]);
        self::assertSame(102, $proxy->roundTripsOf(static fn() => $store->save($items)), 'no key was ever read');
        self::assertSame(51, $proxy->roundTripsOf(static fn() => $store->save($items)));
        self::assertSame(51, $proxy->roundTripsOf(static fn() => $store->delete($keys)));
        self::assertSame(51, $proxy->roundTripsOf(static fn() => $store->fetch($keys)), 'Each first miss leaves its mark.');
        self::assertSame(1, $proxy->roundTripsOf(static fn() => $store->fetch($keys)));
        $store->invalidateTags(['a']);
        self::assertSame(6, $proxy->roundTripsOf(static fn() => $store->invalidateTags(['a'])));
    }

    /** A stranger who can write into the server may say that a value is in a billion pieces, or in some under others' names. */
    public function testAManifestThatNoStoreOfOursHasWrittenIsAMiss(): void
    {
        $socket = $this->memcacheds(1)[0]->socket;
        $store = Stores::open("memcached+unix:{$socket}?timeout=10&prefix=test");
        $value = random_bytes(1_500_000);
        self::assertSame([], $store->save([new Item('key', $value)]));
        self::assertTrue(($store->fetch(['key'])->items['key']->value ?? null) === $value);
        $client = new \Memcached();
        $client->addServer($socket, 0);
        $clock = $client->get('test!clock');
        $name = 'test:' . substr(\is_string($clock) ? $clock : '', 0, 16) . ':k:key';
        $written = $client->get($name);
        self::assertIsString($written);
        [$random, $count, $checksum] = explode(';', substr($written, -51));
        self::assertSame('2', $count);
        $forged = [
            "{$random};999999999999;{$checksum}", "{$random};-1;{$checksum}", "{$random};0;{$checksum}", "{$random};65;{$checksum}",
            "{$random};2 ;{$checksum}", "{$random};2", "{$random}", '', ';;', "x\r\nflush_all\r\n;2;{$checksum}", "{$random};2;{$checksum}\n",
            "{$random};1;{$checksum}",
        ];
        foreach ($forged as $manifest) {
            $client->set($name, substr($written, 0, -51) . $manifest);
            self::assertCount(0, $store->fetch(['key'])->items, $manifest);
            $store->touch(['key'], 100);
        }
        $client->set($name, $written);
        self::assertTrue(($store->fetch(['key'])->items['key']->value ?? null) === $value);
    }

    public function testAValueOfMorePiecesThanAreReadIsRefused(): void
    {
        $socket = $this->memcacheds(1)[0]->socket;
        $store = Stores::open("memcached+unix:{$socket}?timeout=10");
        $store->save([new Item('key', 'old')]);
        self::assertSame(['key'], $store->save([new Item('key', str_repeat('x', 64_000_000))]));
        self::assertSame([], $store->fetch(['key'])->items);
    }

    public function testAServerThatIsKilledTakesItsShareOfTheKeysAndNothingElse(): void
    {
        $servers = $this->memcacheds(3);
        $logger = new MemoryLogger();
        $dsn = $this->dsn('&retry_after=0');
        $cache = Cache::open($dsn, logger: $logger);
        $keys = array_map(static fn(int $i): string => "key {$i}", range(0, 299));
        self::assertTrue($cache->setMany(array_fill_keys($keys, 'value'), tags: ['tag']));
        self::assertCount(300, $cache->getMany($keys));
        $servers[1]->kill();
        $left = $cache->getMany($keys);
        self::assertGreaterThan(120, \count($left));
        self::assertLessThan(280, \count($left));
        self::assertFalse($cache->health()->available);
        self::assertCount(1, $logger->lines, 'A server that is gone is logged once.');
        self::assertCount(\count($left), $cache->getMany($keys));
        self::assertCount(1, $logger->lines);
        $alive = (string) array_key_first($left);
        self::assertSame('value', $cache->get($alive));
        self::assertTrue($cache->set($alive, 'new'));
        self::assertTrue($cache->delete($alive));
        self::assertFalse($cache->health()->isFlagged());
        $gone = array_values(array_diff($keys, array_map(strval(...), array_keys($left))))[0];
        self::assertFalse($cache->set($gone, 'lost'));
        self::assertFalse($cache->invalidateTags(['tag']));
        self::assertTrue($cache->health()->isFlagged());
        $servers[1]->start();
        self::assertSame([], $cache->getMany($keys), 'What the killed one had is gone, and the others have learnt of the tag.');
        self::assertTrue($cache->health()->available);
        self::assertFalse($cache->health()->isFlagged());
        // This request missed some of them while they could not be asked for, and so at an unknown time.
        $next = Cache::open($dsn);
        self::assertTrue($next->setMany(array_fill_keys($keys, 'again')));
        self::assertCount(300, $next->getMany($keys));
    }

    /** Several servers are asked at once, and so what one has answered may still wait to be read. */
    public function testWhatIsThrownInTheMiddleOfAnOperationCostsNoMoreThanThatOperation(): void
    {
        $keys = array_map(static fn(int $i): string => "key {$i}", range(0, 29));
        foreach ($this->ofTwoServers($keys) as $store) {
            foreach ($this->servers as $server) {
                self::assertTrue(Interruptions::thrownInto($server, static fn(): mixed => $store->fetch($keys)));
                self::assertSame([], self::wrong($store, ['key 1', 'key 2']));
                self::assertSame([], self::wrong($store, $keys));
            }
        }
    }

    /** The extension tells of the last operation only how it went, so that either of them may fail. */
    public function testWhatASignalsHandlerAsksInTheMiddleOfAnOperationMixesUpNoValues(): void
    {
        $keys = array_map(static fn(int $i): string => "key {$i}", range(0, 29));
        foreach ($this->ofTwoServers($keys) as $store) {
            $wrong = $hits = [];
            $ask = static function (string ...$keys) use ($store, &$wrong, &$hits): void {
                foreach ($store->fetch(array_values($keys))->items as $key => $item) {
                    $item->value === $key ? $hits[] = $key : $wrong[] = $key;
                }
            };
            Interruptions::served(static fn() => $ask('key 5', 'key 6', 'key 7'), static fn() => $ask(...$keys));
            self::assertSame([], $wrong);
            self::assertSame([], array_diff($keys, $hits));
            self::assertSame([], self::wrong($store, $keys));
        }
    }

    /**
     * @param list<string> $keys
     *
     * @return list<Store> with items that have their keys for values
     */
    private function ofTwoServers(array $keys): array
    {
        $this->memcacheds(2);
        $stores = [];
        foreach (['', '&persistent=yes'] as $options) {
            $stores[] = $store = Stores::open($this->dsn("&timeout=10{$options}"));
            self::assertSame([], $store->save(array_map(static fn(string $key): Item => new Item($key, $key), $keys)));
        }

        return $stores;
    }

    /**
     * @param list<string> $keys
     *
     * @return list<string> those that are missing, or have another's value
     */
    private static function wrong(Store $store, array $keys): array
    {
        $items = $store->fetch($keys)->items;

        return array_values(array_filter($keys, static fn(string $key): bool => ($items[$key]->value ?? null) !== $key));
    }

    public function testNothingStaleIsReadWhileAServerIsKilledAndStartedAgain(): void
    {
        $servers = $this->memcacheds(3);
        $scratch = new Scratch();
        file_put_contents("{$scratch->path}/ledger", '');
        $dsn = $this->dsn('&timeout=2&retry_after=0');
        $seed = random_int(0, 1 << 30);
        $reports = Crowd::of(4, static function (int $number) use ($dsn, $scratch, $seed, $servers): array {
            if ($number === 0) {
                for ($round = 0; $round < 5; $round++) {
                    usleep(30_000);
                    $servers[$round % 3]->kill();
                    usleep(10_000);
                    $servers[$round % 3]->start();
                }
                file_put_contents("{$scratch->path}/done", '');

                return [];
            }
            mt_srand($seed + $number);
            $history = new History(Stores::open($dsn), new Ledger("{$scratch->path}/ledger"), true);
            // Each round on a store of its own, as it were another request.
            do {
                $report = $history->run(100, Stores::open($dsn));
                clearstatcache();
            } while (!file_exists("{$scratch->path}/done"));

            return $report;
        });
        History::judge($reports, $seed);
    }

    /** @return list<CacheServer> */
    private function memcacheds(int $count): array
    {
        while (\count($this->servers) < $count) {
            $this->started(CacheServer::memcached());
        }

        return $this->servers;
    }

    private function dsn(string $options): string
    {
        return 'memcached+unix:' . implode(',', array_map(static fn(CacheServer $server): string => $server->socket, $this->servers)) . "?prefix=test{$options}";
    }
}
