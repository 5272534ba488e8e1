<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Cache;
use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\Store;
use Larder\Store\Redis\ClusterConnection;
use Larder\Store\Redis\Connection;
use Larder\Store\Redis\Connections;
use Larder\Store\Redis\Layout;
use Larder\Store\Redis\PhpRedisConnection;
use Larder\Store\Redis\PredisConnection;
use Larder\Store\Redis\SentinelConnection;
use Larder\Store\Redis\Server;
use Larder\Store\Redis\Tls;
use Larder\Store\RedisStore;
use Larder\Stores;
use Larder\Tests\MemoryLogger;
use Larder\Tests\Pools;
use Larder\Tier\TieredStore;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;

/** Redis or Valkey in a cluster, behind sentinels, and with TLS. */
#[CoversClass(ClusterConnection::class)]
#[CoversClass(SentinelConnection::class)]
#[CoversClass(Connections::class)]
#[CoversClass(Tls::class)]
final class RedisPlacesTest extends OwnServers
{
    private const TIMEOUT = 300;

    private static ?RedisCluster $cluster = null;

    private static ?Certificates $certificates = null;

    public static function tearDownAfterClass(): void
    {
        self::$cluster?->stop();
        self::$cluster = self::$certificates = null;
    }

    /** @return iterable<string, array{string}> */
    public static function clients(): iterable
    {
        yield 'phpredis' => ['phpredis'];
        yield 'Predis' => ['predis'];
    }

    #[DataProvider('clients')]
    public function testEverythingInAClusterIsOneRoundTripToEachMasterAndTwoForWhatKillsInAllShards(string $client): void
    {
        $cluster = self::$cluster ??= new RedisCluster();
        $proxies = array_map(static fn(CacheServer $node): Proxy => new Proxy($node->socket), $cluster->nodes);
        $names = array_flip(array_map(static fn(CacheServer $node): int => $node->port, $cluster->nodes));
        /** @var \ArrayObject<int, string> $diary */
        $diary = new \ArrayObject();
        $open = static function () use ($cluster, $client, $proxies, $names, $diary): RedisStore {
            return new RedisStore(new ClusterConnection([new Server(port: $cluster->nodes[0]->port)], static function (Server $server) use ($client, $proxies, $names, $diary): Connection {
                $proxied = new Server(socket: $proxies[$names[$server->port]]->socket, timeout: 30.0, readTimeout: 30.0);

                return $client === 'predis'
                    ? new RecordedConnection(new PredisConnection($proxied), (string) $names[$server->port], $diary)
                    : new PhpRedisConnection($proxied);
            }), "rounds-{$client}", shards: Connections::SHARDS, timeout: 30.0);
        };
        $keys = array_map(static fn(int $i): string => "key {$i}", range(0, 99));
        [$store, $other] = [$open(), $open()];
        foreach ([$store, $other] as $each) {
            // Whatever comes once: finding the masters, connecting, telling them the scripts, comparing the clocks.
            $each->save(array_map(static fn(string $key): Item => new Item($key, 'value', 100, ['kept']), $keys));
            $each->clear();
            // Each script is sent whole once.
            $each->save([new Item('key 1', 'value')]);
            $each->save(array_map(static fn(string $key): Item => new Item($key, 'value', 100, ['kept']), $keys));
            $each->fetch($keys);
            $each->fetch($keys);
            $each->delete($keys);
            $each->invalidateTags(['unused']);
        }
        $count = static function (\Closure $operation) use ($client, $proxies, $diary): array {
            $before = array_map(static fn(Proxy $proxy): int => $proxy->roundTrips(), $proxies);
            $diary->exchangeArray([]);
            $operation();

            // Predis writes command by command, and the server does not wait with its answer for the last one.
            return $client === 'predis'
                ? array_map(static fn(int $i): int => \count(array_intersect($diary->getArrayCopy(), ["send {$i}", "begin {$i}"])), [0, 1, 2])
                : array_map(static fn(Proxy $proxy, int $trips): int => $proxy->roundTrips() - $trips, $proxies, $before);
        };
        $store->save(array_map(static fn(string $key): Item => new Item($key, 'value', 100, ['kept']), $keys));
        $store->fetch($keys);
        self::assertSame([1, 1, 1], $count(static fn(): mixed => $store->fetch($keys)), 'items as young as the last invalidation');
        $round = static fn(string $what): array => array_map(static fn(int $i): string => "{$what} {$i}", [0, 1, 2]);
        self::assertSame($client === 'predis' ? [...$round('begin'), ...$round('finish')] : [], self::inRounds($diary));
        $other->invalidateTags(['unused']);
        self::assertSame([1, 1, 1], $count(static fn() => self::assertCount(100, $store->fetch($keys)->items)), 'tags that may have been invalidated since');
        self::assertSame($client === 'predis' ? [...$round('begin'), ...$round('finish')] : [], self::inRounds($diary));
        self::assertSame([1, 1, 1], $count(static fn() => self::assertCount(100, $store->fetch($keys)->items)), 'the same once more');
        self::assertSame([1, 1, 1], $count(static fn(): mixed => $store->save(array_map(static fn(string $key): Item => new Item($key, 'new', 100, ['kept']), $keys))), 'writes');
        self::assertSame([1, 1, 1], $count(static fn(): mixed => $store->delete($keys)), 'deletes');
        self::assertSame([2, 2, 2], $count(static fn() => $store->invalidateTags(['kept'])), 'an invalidation, once more when it has reached all');
        self::assertSame(1, array_sum($count(static fn(): mixed => $store->fetch(['key 1']))), 'one key, one master');
        self::assertSame(1, array_sum($count(static fn(): mixed => $store->save([new Item('key 1', 'x')]))), 'one write, one master');
        $store->save(array_map(static fn(string $key): Item => new Item($key, 'new', 100), $keys));
        self::assertSame([3, 3, 3], $count(static fn() => $store->clear()), 'a clear, once more, and what it frees');
        self::assertSame($client === 'predis' ? [...$round('begin'), ...$round('finish'), ...$round('begin'), ...$round('finish'), ...$round('begin'), ...$round('finish')] : [], self::inRounds($diary));
        self::assertSame([2, 2, 2], $count(static fn() => $store->clear()), 'a clear of nothing');
    }

    /** @return iterable<string, array{\Closure(Store): void}> */
    public static function invalidations(): iterable
    {
        yield 'a tag' => [static fn(Store $store) => $store->invalidateTags(['tag'])];
        yield 'a clear' => [static fn(Store $store) => $store->clear()];
    }

    /** @param \Closure(Store): void $invalidate */
    #[DataProvider('invalidations')]
    public function testNothingOutlivesAnInvalidationThatWasMadeOfItemsInShardsThatItHadNotReached(\Closure $invalidate): void
    {
        $cluster = self::$cluster ??= new RedisCluster();
        /** @var \ArrayObject<int, OvertakenConnection> $connections */
        $connections = new \ArrayObject();
        $store = new RedisStore(new ClusterConnection([new Server(port: $cluster->nodes[0]->port)], static function (Server $server) use ($connections): Connection {
            return $connections[] = new OvertakenConnection(new PhpRedisConnection($server));
        }), 'reached', shards: Connections::SHARDS, timeout: 30.0);
        $layout = new Layout('reached:', Connections::SHARDS);
        for ($i = 0; $layout->shard("whole {$i}") !== 0; $i++);
        $whole = "whole {$i}";
        self::assertNotSame(0, $layout->shard('part'));
        $store->save([new Item('part', 'old', 100, ['tag'])]);
        $invalidate($store);
        $store->save([new Item('part', 'old', 100, ['tag'])]);
        $found = null;
        foreach ($connections as $connection) {
            $connection->overtake = static function () use ($cluster, $connections, $whole, &$found): void {
                foreach ($connections as $each) {
                    $each->overtake = null;
                }
                $other = Stores::open($cluster->dsn('client=phpredis&prefix=reached&timeout=10&read_timeout=10'));
                $token = $other->fetch([$whole])->tokens[$whole];
                $found = $other->fetch(['part'])->items['part']->value;
                self::assertSame([], $other->save([new Item($whole, ['made of', $found], 100, ['tag'], $token, true)]));
            };
        }
        $invalidate($store);
        self::assertSame('old', $found);
        self::assertSame([], $store->fetch([$whole, 'part'])->items);
    }

    /**
     * @param \ArrayObject<int, string> $diary
     *
     * @return list<string> what stands together in any order, in the order of the masters
     */
    private static function inRounds(\ArrayObject $diary): array
    {
        $sorted = [];
        foreach (array_chunk($diary->getArrayCopy(), 3) as $round) {
            sort($round);
            array_push($sorted, ...$round);
        }

        return $sorted;
    }

    #[DataProvider('clients')]
    public function testASlotThatMovesTakesItsItemsAlong(string $client): void
    {
        $cluster = self::$cluster ??= new RedisCluster();
        // One node is enough to find the others.
        $dsn = $cluster->dsn("client={$client}&prefix={$client}&timeout=10&read_timeout=10", 1);
        $cache = Cache::open($dsn, strict: true);
        $keys = array_map(static fn(int $i): string => "key {$i}", range(0, 199));
        self::assertTrue($cache->setMany(array_fill_keys($keys, ['value']), 100, tags: ['all', 'some']));
        self::assertTrue($cache->invalidateTags(['unknown']));
        self::assertCount(200, $cache->getMany($keys));
        $layout = new Layout("{$client}:", Connections::SHARDS);
        $slot = (int) $cluster->ask(0, 'CLUSTER', 'KEYSLOT', $layout->clock(3));
        $from = $cluster->owner($layout->clock(3));
        $cluster->move($slot, $from, ($from + 1) % 3);
        self::assertCount(200, $cache->getMany($keys));
        // Also to those who know no more of the shard than that it lies elsewhere than its clock says.
        self::assertCount(200, Cache::open($dsn, strict: true)->getMany($keys));
        self::assertCount(200, $cache->getMany($keys));
        self::assertTrue($cache->invalidateTags(['some']));
        self::assertSame([], $cache->getMany($keys));
        self::assertSame(1, $cache->increment($keys[0]));
        $cluster->move($slot, ($from + 1) % 3, $from);
        self::assertSame(2, Cache::open($dsn, strict: true)->increment($keys[0]));
        self::assertGreaterThan(0, $cache->store->statistics()->items);
    }

    #[DataProvider('clients')]
    public function testAKeyThatIsAboutToMoveIsAskedForWhereItGoes(string $client): void
    {
        $cluster = self::$cluster ??= new RedisCluster();
        $store = Stores::open($cluster->dsn("client={$client}&prefix=ask-{$client}&timeout=10&read_timeout=10"));
        $layout = new Layout("ask-{$client}:", Connections::SHARDS);
        $name = 'asked';
        $store->token($name);
        $clock = $layout->clock($layout->shard($name));
        $slot = (string) $cluster->ask(0, 'CLUSTER', 'KEYSLOT', $clock);
        $from = $cluster->owner($clock);
        $to = ($from + 1) % 3;
        $ids = [(string) $cluster->ask($from, 'CLUSTER', 'MYID'), (string) $cluster->ask($to, 'CLUSTER', 'MYID')];
        $cluster->ask($to, 'CLUSTER', 'SETSLOT', $slot, 'IMPORTING', $ids[0]);
        $cluster->ask($from, 'CLUSTER', 'SETSLOT', $slot, 'MIGRATING', $ids[1]);
        self::assertInstanceOf(\Larder\Leases::class, $store);
        // A lease is one name, which is not there yet: it is made where the slot goes.
        self::assertTrue($store->acquire($name, 'owner', 100.0));
        // An item that is not there yet has its clock on the one master, and would be made on the other.
        try {
            $store->save([new Item($name, 'value')]);
            self::fail('The item was made where its clock is not.');
        } catch (StoreUnavailable $failure) {
            self::assertStringContainsString('TRYAGAIN', $failure->getMessage());
            self::assertStringContainsString('wait until the slot has moved', $failure->getMessage());
        }
        $cluster->move((int) $slot, $from, $to);
        self::assertFalse($store->acquire($name, 'other', 100.0));
        self::assertTrue($store->release($name, 'owner'));
        $cluster->move((int) $slot, $to, $from);
    }

    #[DataProvider('clients')]
    public function testAMasterThatIsGoneTakesItsShardsAlongAndNothingElse(string $client): void
    {
        $cluster = self::$cluster ??= new RedisCluster();
        $prefix = "gone-{$client}";
        $cache = Cache::open($cluster->dsn("client={$client}&prefix={$prefix}&retry_after=0&timeout=10&read_timeout=10"));
        $layout = new Layout("{$prefix}:", Connections::SHARDS);
        $lost = $kept = [];
        foreach (range(0, 99) as $i) {
            $cluster->owner($layout->item("key {$i}")) === 2 ? $lost[] = "key {$i}" : $kept[] = "key {$i}";
        }
        self::assertNotEmpty($lost);
        self::assertNotEmpty($kept);
        self::assertTrue($cache->setMany(array_fill_keys([...$lost, ...$kept], 'old'), tags: ['tag']));
        $cluster->nodes[2]->kill();
        self::assertNull($cache->get($lost[0]));
        self::assertCount(\count($kept), $cache->getMany($kept));
        self::assertTrue($cache->set($kept[0], 'new'));
        self::assertFalse($cache->delete($lost[0]));
        self::assertTrue($cache->health()->isFlagged());
        $cluster->nodes[2]->start();
        self::eventually(static fn(): bool => $cache->set($lost[0], 'new'));
        self::assertFalse($cache->health()->isFlagged());
        self::assertSame('new', $cache->get($lost[0]));
    }

    /** @return iterable<string, array{string, list<string>}> of one of the shards, on one of the masters */
    public static function lossesInACluster(): iterable
    {
        foreach (self::clients() as $title => [$client]) {
            yield "FLUSHALL, {$title}" => [$client, ['FLUSHALL']];
            yield "the log is deleted, {$title}" => [$client, ['DEL', 'LOG']];
            yield "all but the last event is trimmed, {$title}" => [$client, ['XTRIM', 'LOG', 'MAXLEN', '1']];
            yield "the log is of another type, {$title}" => [$client, ['SET', 'LOG', 'x']];
            yield "the clock is lost, {$title}" => [$client, ['DEL', 'CLOCK']];
        }
    }

    /** @param list<string> $loss the command */
    #[DataProvider('lossesInACluster')]
    public function testWhatOneMasterOfAClusterLosesOfTheLogHasNearStoresBeginAnew(string $client, array $loss): void
    {
        $cluster = self::$cluster ??= new RedisCluster();
        $keys = array_map(static fn(int $i): string => "key {$i}", range(0, 99));
        $write = static fn(Cache $cache, string $value): bool => $cache->setMany(array_fill_keys($keys, $value), 100);
        foreach (['after a change', 'before a change', 'between two changes'] as $i => $when) {
            $prefix = 'loss-' . bin2hex(random_bytes(4));
            $far = $cluster->dsn("client={$client}&prefix={$prefix}&timeout=30&read_timeout=30");
            [$near, $other] = [Cache::open("array: > {$far}", strict: true), Cache::open($far, strict: true)];
            $layout = new Layout("{$prefix}:", Connections::SHARDS);
            $shard = $layout->shard($keys[0]);
            $names = ['LOG' => $layout->log($shard), 'CLOCK' => $layout->clock($shard)];
            $lose = static fn(): int|string => $cluster->ask($cluster->owner($names['LOG']), ...array_map(static fn(string $word): string => $names[$word] ?? $word, $loss));
            self::assertTrue($write($other, 'old'));
            self::assertSame(array_fill_keys($keys, 'old'), $near->getMany($keys));
            self::assertGreaterThan(0, (int) $cluster->ask($cluster->owner($names['LOG']), 'XLEN', $names['LOG']));
            $i === 2 && $write($other, 'older');
            $i > 0 && $lose();
            self::assertTrue($write($other, 'new'));
            $i === 0 && $lose();
            $near->refresh();
            $there = $other->getMany($keys);
            self::assertSame($there, $near->getMany($keys), $when);
            self::assertSame(array_fill_keys(array_keys($there), 'new'), $there, $when);
            self::assertTrue($write($other, 'newest'));
            $near->refresh();
            self::assertSame(array_fill_keys($keys, 'newest'), $near->getMany($keys), 'It goes on.');
        }
    }

    public function testAClusterWhoseNodesAreAllGoneIsAMissThatSaysSo(): void
    {
        $this->expectException(StoreUnavailable::class);
        $this->expectExceptionMessage('The Redis server 127.0.0.1:2 is unavailable');
        Cache::open('redis+cluster://127.0.0.1:1,127.0.0.1:2', strict: true)->get('key');
    }

    public function testAServerThatIsNoClusterSaysSo(): void
    {
        $server = $this->started(CacheServer::redisOnPort());
        $this->expectExceptionMessageMatches('/cluster support disabled/');
        Cache::open("redis+cluster://127.0.0.1:{$server->port}", strict: true)->get('key');
    }

    /** Nothing listens, so no process waits. */
    #[DataProvider('clients')]
    public function testSentinelsThatAreStartedAreFoundAMomentLater(string $client): void
    {
        $master = $this->started(CacheServer::redisOnPort());
        $sentinel = CacheServer::sentinel($master->port, 1);
        $cache = Cache::open("redis+sentinel://127.0.0.1:{$sentinel->port}/0?service=shop&client={$client}&retry_after=1000&timeout=60&read_timeout=60");
        self::assertFalse($cache->set('key', 'value'));
        $this->started($sentinel);
        self::eventually(static fn(): bool => $cache->set('key', 'value'));
    }

    #[DataProvider('clients')]
    public function testAfterAFailoverTheNewMasterIsUsed(string $client): void
    {
        $master = $this->started(CacheServer::redisOnPort(['--repl-diskless-sync-delay', '0']));
        $replica = $this->started(CacheServer::redisOnPort(['--replicaof', '127.0.0.1', (string) $master->port, '--repl-diskless-sync-delay', '0']));
        $sentinels = array_map(fn(): CacheServer => $this->started(CacheServer::sentinel($master->port, 2)), range(0, 2));
        $hosts = implode(',', array_map(static fn(CacheServer $sentinel): string => "127.0.0.1:{$sentinel->port}", $sentinels));
        $cache = Cache::open("redis+sentinel://127.0.0.1:1,{$hosts}/0?service=shop&client={$client}&retry_after=0&timeout=10&read_timeout=10", strict: false);
        self::assertTrue($cache->set('key', 'value', tags: ['tag']));
        foreach ($sentinels as $sentinel) {
            self::eventually(static fn(): bool => self::sentinelKnows($sentinel, 2, 1));
        }
        // What is to outlive the failover has to have reached the replica.
        $redis = new \Redis();
        $redis->connect($replica->socket);
        self::eventually(static fn(): bool => $redis->exists('larder:key') === 1);
        $master->kill();
        self::assertFalse($cache->invalidateTags(['tag']));
        self::assertTrue($cache->health()->isFlagged());
        self::eventually(static fn(): bool => $cache->set('another', 'value'));
        self::assertFalse($cache->health()->isFlagged(), 'What the old master has missed was told to the new one.');
        self::assertFalse($cache->has('key'));
        self::assertSame('value', $cache->get('another'));
        $roles = $redis->rawCommand('ROLE');
        self::assertIsArray($roles);
        self::assertSame('master', $roles[0]);
    }

    #[DataProvider('clients')]
    public function testAfterAFailoverNearStoresBeginAnew(string $client): void
    {
        $master = $this->started(CacheServer::redisOnPort(['--repl-diskless-sync-delay', '0']));
        $replica = $this->started(CacheServer::redisOnPort(['--replicaof', '127.0.0.1', (string) $master->port, '--repl-diskless-sync-delay', '0']));
        $sentinels = array_map(fn(): CacheServer => $this->started(CacheServer::sentinel($master->port, 2)), range(0, 2));
        $hosts = implode(',', array_map(static fn(CacheServer $sentinel): string => "127.0.0.1:{$sentinel->port}", $sentinels));
        $open = static fn(): Cache => Cache::open("array: > redis+sentinel://{$hosts}/0?service=shop&client={$client}&retry_after=0&timeout=10&read_timeout=10");
        [$here, $there] = [$open(), $open()];
        self::assertTrue($here->set('key', 'old'));
        foreach ($sentinels as $sentinel) {
            self::eventually(static fn(): bool => self::sentinelKnows($sentinel, 2, 1));
        }
        $redis = new \Redis();
        $redis->connect($replica->socket);
        self::eventually(static fn(): bool => $redis->exists('larder:key') === 1);
        self::assertSame('old', $there->get('key'));
        $master->kill();
        $there->refresh();
        self::assertNull($there->get('key'), 'The log cannot be read.');
        self::eventually(static fn(): bool => $here->set('key', 'new'));
        self::eventually(static function () use ($there): bool {
            $there->refresh();
            $value = $there->get('key');
            self::assertContains($value, [null, 'new']);

            return $value === 'new';
        });
        self::assertTrue($here->set('key', 'newer'));
        $there->refresh();
        self::assertSame('newer', $there->get('key'), 'The log goes on.');
    }

    /** One that stood still goes on as a master until its sentinels make it a replica, ten seconds later. */
    #[DataProvider('clients')]
    public function testAProcessThatStaysLeavesAMasterThatHasASuccessor(string $client): void
    {
        $master = $this->started(CacheServer::redisOnPort(['--repl-diskless-sync-delay', '0']));
        $this->started(CacheServer::redisOnPort(['--replicaof', '127.0.0.1', (string) $master->port, '--repl-diskless-sync-delay', '0']));
        $sentinels = array_map(fn(): CacheServer => $this->started(CacheServer::sentinel($master->port, 1)), range(0, 1));
        $far = 'redis+sentinel://' . implode(',', array_map(static fn(CacheServer $sentinel): string => "127.0.0.1:{$sentinel->port}", $sentinels)) . "/0?service=shop&client={$client}&retry_after=0&timeout=10&read_timeout=10";
        $stay = [Cache::open($far), Cache::open("{$far}&tags=near"), Cache::open("array: > {$far}")];
        foreach ($sentinels as $sentinel) {
            self::eventually(static fn(): bool => self::sentinelKnows($sentinel, 1, 1));
        }
        self::assertTrue($stay[0]->set('key', 'old', 1_000, ['tag']));
        foreach ($stay as $cache) {
            $cache->refresh();
            self::assertSame('old', $cache->get('key'));
        }
        $master->signal(\SIGSTOP);
        foreach ($sentinels as $sentinel) {
            self::eventually(static fn(): bool => self::named($sentinel) !== $master->port);
        }
        self::assertTrue(Cache::open($far)->set('key', 'new', 1_000, ['tag']));
        $master->signal(\SIGCONT);
        $sentinels[0]->kill();
        foreach ($stay as $i => $cache) {
            $cache->refresh();
            self::assertSame('new', $cache->get('key'), (string) $i);
        }
    }

    /**
     * What the old master has acknowledged and the replica has not heard of is lost, as replication does not wait. No near store may
     * still have it then, or hosts would differ for good.
     */
    #[DataProvider('clients')]
    public function testAfterAFailoverToAReplicaThatLaggedNearStoresHaveWhatTheNewMasterHas(string $client): void
    {
        $master = $this->started(CacheServer::redisOnPort(['--repl-diskless-sync-delay', '0']));
        $replica = $this->started(CacheServer::redisOnPort(['--replicaof', '127.0.0.1', (string) $master->port, '--repl-diskless-sync-delay', '0']));
        // A replica without its master for ten times that long is not promoted.
        $lines = ['sentinel down-after-milliseconds shop 3000'];
        $sentinel = $this->started(CacheServer::sentinel($master->port, 1, lines: $lines));
        $options = "client={$client}&retry_after=0&timeout=10&read_timeout=10";
        $far = "redis+sentinel://127.0.0.1:{$sentinel->port}/0?service=shop&{$options}";
        $pool = 'test-' . bin2hex(random_bytes(4));
        try {
            $other = Cache::open($far, strict: true);
            // Two processes of one host, and one of each of two hosts that hear of nothing for a while.
            [$reader, $beside, $behind, $filler] = array_map(static fn(string $near): Cache => Cache::open("{$near} > {$far}", strict: true), ["shm:{$pool}?size=8M", "shm:{$pool}?size=8M", 'array:', 'array:']);
            $keys = ['deleted', 'overwritten', 'tagged', 'added', 'kept'];
            $before = ['deleted' => 'first', 'overwritten' => 'first', 'tagged' => 'first', 'kept' => 'first'];
            self::assertTrue($other->setMany($before, 1_000, ['tag']));
            foreach ([$reader, $beside, $behind, $filler] as $cache) {
                self::assertSame($before, $cache->getMany($keys));
            }
            self::eventually(static fn(): bool => self::sentinelKnows($sentinel, 0, 1));
            [$atMaster, $atReplica] = [new \Redis(), new \Redis()];
            $atMaster->connect($master->socket);
            $atReplica->connect($replica->socket);
            self::eventually(static fn(): bool => $atReplica->xRevRange('larder!log', '+', '-', 1) === $atMaster->xRevRange('larder!log', '+', '-', 1) && $atReplica->exists('larder:kept') === 1);

            // The replica's link ends, and is not let in again.
            $atReplica->config('SET', 'masteruser', 'nobody');
            $atReplica->config('SET', 'masterauth', 'nothing');
            $atMaster->rawCommand('CLIENT', 'KILL', 'TYPE', 'replica');
            self::eventually(static fn(): bool => $replica->says('master_link_status:down'));
            $events = $atMaster->xLen('larder!log');
            self::assertSame('second', $other->remember('filled', static fn(): string => 'second'));
            $filler->refresh();
            self::assertSame(['filled' => 'second'] + $before, $filler->getMany(['filled', ...$keys]));
            self::assertSame($events, $atMaster->xLen('larder!log'), 'A fill is no event. The log alone does not tell that it was lost.');
            self::assertTrue($other->delete('deleted'));
            self::assertTrue($other->set('overwritten', 'second', 1_000));
            self::assertTrue($other->set('added', 'second', 1_000));
            self::assertTrue($other->set('kept', 'first', 1_000));
            self::assertTrue($other->invalidateTags(['tag']));
            foreach ([$reader, $beside] as $cache) {
                $cache->refresh();
                self::assertSame(['overwritten' => 'second', 'added' => 'second', 'kept' => 'first'], $cache->getMany($keys));
            }
            self::assertSame(1, $atReplica->exists('larder:deleted'), 'The replica lags.');
            self::assertSame(0, $atReplica->exists('larder:added'));
            $master->kill();
            self::eventually(static fn(): bool => $replica->says('role:master'));

            $new = Cache::open("redis://127.0.0.1:{$replica->port}?{$options}", strict: true);
            $keys = ['filled', ...$keys];
            foreach (['filler' => $filler, 'reader' => $reader, 'beside' => $beside, 'behind' => $behind] as $who => $cache) {
                $found = null;
                // The sentinel may name the old master for a moment.
                self::eventually(static function () use ($cache, $keys, &$found): bool {
                    try {
                        $cache->refresh();
                        $found = $cache->getMany($keys);

                        return true;
                    } catch (StoreUnavailable) {
                        return false;
                    }
                });
                self::assertSame($before, $found, $who);
                self::assertSame($new->getMany($keys), $found, $who);
            }
            self::assertTrue($new->setMany(array_fill_keys($keys, 'third'), 1_000));
            foreach ([$filler, $reader, $beside, $behind] as $cache) {
                $cache->refresh();
                self::assertSame(array_fill_keys($keys, 'third'), $cache->getMany($keys), 'The log goes on.');
            }
        } finally {
            Pools::remove($pool);
        }
    }

    public function testAServiceThatNoSentinelKnowsIsSaidByItsName(): void
    {
        $master = $this->started(CacheServer::redisOnPort());
        $sentinel = $this->started(CacheServer::sentinel($master->port, 1));
        $this->expectException(StoreUnavailable::class);
        $this->expectExceptionMessageMatches('/The Redis service "shoe" of the sentinels 127\.0\.0\.1:\d+ is unavailable: .* does not know it; /');
        Cache::open("redis+sentinel://127.0.0.1:{$sentinel->port}?service=shoe", strict: true)->get('key');
    }

    #[DataProvider('clients')]
    public function testWithTlsTheServersCertificateIsChecked(string $client): void
    {
        $certificates = self::$certificates ??= new Certificates();
        $server = $this->started(CacheServer::redisWithTls($certificates, ['--tls-auth-clients', 'no', '--requirepass', 'secret']));
        $dsn = "rediss://:secret@127.0.0.1:{$server->port}?client={$client}&retry_after=0&timeout=10&read_timeout=10";
        foreach (["&tls_ca={$certificates->path}/ca.crt", "&tls_ca={$certificates->path}/ca.crt&tls_name=localhost", '&tls_verify=no'] as $options) {
            $cache = Cache::open($dsn . $options, strict: true);
            self::assertTrue($cache->set('key', 'value', tags: ['tag']));
            self::assertSame('value', $cache->get('key'));
        }
        foreach (['', "&tls_ca={$certificates->path}/client.crt", "&tls_ca={$certificates->path}/ca.crt&tls_name=elsewhere"] as $options) {
            try {
                Cache::open($dsn . $options, strict: true)->get('key');
                self::fail('A server was believed whose certificate says nothing.');
            } catch (StoreUnavailable $failure) {
                self::assertStringNotContainsString('secret', $failure->getMessage());
            }
        }
    }

    /** @return iterable<string, array{string, string, string}> */
    public static function handshakes(): iterable
    {
        foreach (['phpredis', 'predis'] as $client) {
            yield "an authority that is not ours, {$client}" => [$client, '', 'certificate verify failed'];
            yield "another name, {$client}" => [$client, '&tls_ca=PATH/ca.crt&tls_name=elsewhere', 'did not match expected name `elsewhere\''];
        }
    }

    /** Frameworks make exceptions of PHP's warnings. */
    #[DataProvider('handshakes')]
    public function testAHandshakeThatFailsIsAMissThatSaysWhyAndNoWarningOfPhp(string $client, string $options, string $why): void
    {
        $certificates = self::$certificates ??= new Certificates();
        $server = $this->started(CacheServer::redisWithTls($certificates, ['--tls-auth-clients', 'no']));
        $dsn = "rediss://:secret@localhost:{$server->port}?client={$client}&timeout=10&read_timeout=10" . str_replace('PATH', $certificates->path, $options);
        // Of suppressed ones it hears, too. PHPUnit suppresses all that it can handle itself.
        $reported = error_reporting(\E_ALL);
        set_error_handler(static fn(int $level, string $message): bool => (error_reporting() & $level) === 0 ?: throw new \ErrorException($message));
        try {
            self::assertNull(Cache::open($dsn, logger: $logger = new MemoryLogger())->get('key'));
            self::assertInstanceOf(StoreUnavailable::class, $failure = $logger->contexts[0]['exception'] ?? null);
            self::assertStringContainsString("the TLS handshake failed: {$why}", str_replace('Peer certificate subjectAltName ', '', $failure->getMessage()));
            self::assertStringContainsString('tls_ca', $failure->getMessage());
            self::assertStringNotContainsString('secret', (string) $failure);
        } finally {
            restore_error_handler();
            error_reporting($reported);
        }
    }

    #[DataProvider('clients')]
    public function testAClientThatDoesNotBelieveAServersCertificateKeepsNoOtherFromIt(string $client): void
    {
        $certificates = self::$certificates ??= new Certificates();
        $server = $this->started(CacheServer::redisWithTls($certificates, ['--tls-auth-clients', 'no']));
        $dsn = "rediss://127.0.0.1:{$server->port}?client={$client}&retry_after=1000&timeout=10&read_timeout=10";
        self::assertFalse(Cache::open($dsn)->set('key', 'value'));
        self::assertTrue(Cache::open("{$dsn}&tls_ca={$certificates->path}/ca.crt", strict: true)->set('key', 'value'));
    }

    #[DataProvider('clients')]
    public function testAServerThatWantsToKnowItsClientsIsShownACertificate(string $client): void
    {
        $certificates = self::$certificates ??= new Certificates();
        $server = $this->started(CacheServer::redisWithTls($certificates, ['--tls-auth-clients', 'yes']));
        $dsn = "rediss://localhost:{$server->port}?client={$client}&retry_after=0&timeout=10&read_timeout=10&tls_ca={$certificates->path}/ca.crt";
        self::assertFalse(Cache::open($dsn)->set('key', 'value'));
        $cache = Cache::open("{$dsn}&tls_cert={$certificates->path}/client.crt&tls_key={$certificates->path}/client.key", strict: true);
        self::assertTrue($cache->set('key', 'value'));
        self::assertSame('value', $cache->get('key'));
    }

    #[DataProvider('clients')]
    public function testOverTlsAHostReadsFromItsMemoryAndSeesWhatAnotherConnectionHasChanged(string $client): void
    {
        $certificates = self::$certificates ??= new Certificates();
        $server = $this->started(CacheServer::redisWithTls($certificates, ['--tls-auth-clients', 'no', '--requirepass', 'secret']));
        $far = "rediss://:secret@localhost:{$server->port}?client={$client}&timeout=30&read_timeout=30&tls_ca={$certificates->path}/ca.crt";
        $pool = 'test-' . bin2hex(random_bytes(4));
        try {
            $here = Cache::open("shm:{$pool}?size=8M > {$far}", strict: true);
            [$there, $tier] = [Cache::open($far, strict: true), $here->store];
            self::assertInstanceOf(TieredStore::class, $tier);
            $old = ['deleted' => 'old', 'overwritten' => 'old', 'tagged' => 'old', 'kept' => 'old'];
            $changes = [
                'overwritten' => static fn(): bool => $there->set('overwritten', 'new'),
                'deleted' => static fn(): bool => $there->delete('deleted'),
                'tagged' => static fn(): bool => $there->invalidateTags(['tag']),
                'kept' => static fn(): bool => $there->clear(),
            ];
            self::assertTrue($here->setMany(['deleted' => 'old', 'overwritten' => 'old', 'kept' => 'old'], 100));
            self::assertTrue($here->set('tagged', 'old', 100, ['tag']));
            self::assertEquals($old, $here->getMany(array_keys($old)));
            foreach ($changes as $key => $change) {
                $here->refresh();
                self::assertSame(['old', 'old'], [$here->get($key), $here->get('kept')], "before {$key}");
                self::assertSame('old', $tier->near->read($key), 'It lies in the memory of this host.');
                self::assertTrue($change());
                self::assertSame('old', $here->get($key), 'In the same request it may.');
                $here->refresh();
                self::assertSame($key === 'overwritten' ? 'new' : null, $here->get($key), "after {$key}");
                self::assertSame($key === 'kept' ? null : 'old', $here->get('kept'));
            }
            self::assertTrue($here->set('key', 'own'));
            self::assertSame(['own', 'own'], [$there->get('key'), $here->get('key')]);
        } finally {
            Pools::remove($pool);
        }
    }

    /** PHP says good-bye on a TLS connection that a child has inherited, and no client can keep it from that. */
    #[DataProvider('clients')]
    public function testOverTlsAParentGoesOnWhenAChildHasEnded(string $client): void
    {
        $certificates = self::$certificates ??= new Certificates();
        $server = $this->started(CacheServer::redisWithTls($certificates, ['--tls-auth-clients', 'no']));
        $dsn = "rediss://localhost:{$server->port}?client={$client}&retry_after=0&timeout=10&read_timeout=10&tls_ca={$certificates->path}/ca.crt";
        $parent = <<<'PHP'
            require $argv[1];
            $cache = Larder\Cache::open($argv[2], strict: true);
            $after = [];
            foreach (['a', 'b', 'c'] as $number => $key) {
                $cache->set($key, 'value');
                $cache->increment('number');
                $child = pcntl_fork();
                if ($child === 0) {
                    exit(0);
                }
                pcntl_waitpid($child, $status);
                // CLOSE_WAIT: the server has answered the good-bye.
                $closed = sprintf('/ [0-9A-F]{8}:%04X 08 /', $argv[3]);
                for ($tries = 0; preg_match($closed, file_get_contents('/proc/net/tcp')) !== 1 && $tries < 60_000; $tries++) {
                    usleep(1000);
                }
                $number === 0 || $after[] = $cache->delete($key);
                $after[] = $cache->increment('number');
                $after[] = $cache->get($key);
            }
            echo json_encode($after);
            PHP;
        $process = proc_open([\PHP_BINARY, '-r', $parent, '--', __DIR__ . '/../../vendor/autoload.php', $dsn, (string) $server->port], [1 => ['pipe', 'w']], $pipes);
        self::assertIsResource($process);
        self::assertSame('[2,"value",true,4,null,true,6,null]', stream_get_contents($pipes[1]));
        proc_close($process);
    }

    private static function sentinelKnows(CacheServer $sentinel, int $others, int $replicas): bool
    {
        $redis = new \Redis();
        $redis->connect('127.0.0.1', $sentinel->port);
        $about = $redis->rawCommand('SENTINEL', 'MASTER', 'shop');
        $at = static fn(string $name): mixed => \is_array($about) ? $about[(int) array_search($name, $about, true) + 1] ?? null : null;

        return $at('num-other-sentinels') === (string) $others && $at('num-slaves') === (string) $replicas;
    }

    /** @return int the port of the master that the sentinel names */
    private static function named(CacheServer $sentinel): int
    {
        $redis = new \Redis();
        $redis->connect('127.0.0.1', $sentinel->port);
        $address = $redis->rawCommand('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'shop');

        return \is_array($address) && \is_string($address[1] ?? null) ? (int) $address[1] : 0;
    }

    /** @param \Closure(): bool $condition */
    private static function eventually(\Closure $condition): void
    {
        for ($deadline = hrtime(true) + self::TIMEOUT * 1_000_000_000; !$condition();) {
            self::assertLessThan($deadline, hrtime(true), 'It does not come about.');
            usleep(20_000);
        }
    }
}
