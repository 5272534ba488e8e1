<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Dsn;
use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\Leases;
use Larder\SaveMode;
use Larder\Store;
use Larder\Store\Redis\Connection;
use Larder\Store\Redis\Layout;
use Larder\Store\Redis\PhpRedisConnection;
use Larder\Store\Redis\PredisConnection;
use Larder\Store\Redis\Script;
use Larder\Store\Redis\Scripts;
use Larder\Store\Redis\Server;
use Larder\Store\Redis\Walk;
use Larder\Store\RedisStore;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;

/** What a RedisStore costs its server: round trips, and memory. */
#[CoversClass(RedisStore::class)]
#[CoversClass(Scripts::class)]
#[CoversClass(Walk::class)]
#[CoversClass(Layout::class)]
final class RedisStoreTest extends TestCase
{
    private static ?CacheServer $server = null;

    public static function setUpBeforeClass(): void
    {
        self::$server = CacheServer::redis()->start();
    }

    public static function tearDownAfterClass(): void
    {
        self::$server?->stop();
        self::$server = null;
    }

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
        $proxy = new Proxy(self::$server->socket ?? '');
        $store = Dsn::parse("redis+unix:{$proxy->socket}?client={$client}")->open();
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
    public function testTheFirstRoundTripOfAClearKillsEverythingAndTheOthersAreBounded(string $client): void
    {
        $this->redis()->rawCommand('FLUSHALL');
        $socket = self::$server->socket ?? '';
        $proxy = new Proxy($socket);
        /** @var \ArrayObject<int, string> $diary */
        $diary = new \ArrayObject();
        $store = new RedisStore($client === 'predis'
            ? new RecordedConnection(new PredisConnection(new Server(socket: $socket, readTimeout: 30.0)), 'server', $diary)
            : new PhpRedisConnection(new Server(socket: $proxy->socket, readTimeout: 30.0)), 'clear', patience: 30.0);
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
        $proxy = new Proxy(self::$server->socket ?? '');
        $open = static fn(string $secret): Store => Dsn::parse("redis+unix:{$proxy->socket}?client={$client}&prefix=foreign-{$client}&secret={$secret}")->open();
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

    /** Whatever a process meets, and whatever it has met before: nothing that others have done makes an operation two round trips. */
    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testWhatOthersHaveDoneMeanwhileMakesNoOperationTwoRoundTrips(string $client): void
    {
        $proxy = new Proxy(self::$server->socket ?? '');
        $open = static fn(): Store => Dsn::parse("redis+unix:{$proxy->socket}?client={$client}&prefix=meanwhile-{$client}")->open();
        [$store, $other] = [$open(), $open()];
        self::assertInstanceOf(RedisStore::class, $store);
        // Put aside, and yet not so large that the server answers what comes first before it has all.
        $large = str_repeat('large ', 500);
        $tagged = [new Item('tagged', 'x', 100, ['a']), new Item('another', $large, 100, ['b'])];
        foreach ([$store, $other] as $each) {
            // Connecting can be a round trip of its own, and the server has to be told the scripts once.
            $each->save([...$tagged, new Item('there', 'x', 100)]);
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
            'a flush' => fn(): mixed => $this->redis()->rawCommand('FLUSHALL'),
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
        $proxy = new Proxy(self::$server->socket ?? '');
        $open = static fn(): Store => Dsn::parse("redis+unix:{$proxy->socket}?client={$client}&prefix=fresh-{$client}")->open();
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

    /** Such an item lies aside for a moment, and is put in its place by a script. */
    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testOfALargeItemNothingIsLeftAsideWhateverBecomesOfIt(string $client): void
    {
        $store = Dsn::parse('redis+unix:' . (self::$server->socket ?? '') . "?client={$client}&prefix=aside-{$client}")->open();
        $large = random_bytes(300_000);
        $token = $store->fetch(['overtaken'])->tokens['overtaken'];
        self::assertSame([], $store->save([new Item('overtaken', 'new')]));
        self::assertSame(['overtaken'], $store->save([new Item('overtaken', $large, token: $token, fill: true)]), 'refused');
        self::assertSame([], $store->fetch(['overtaken'])->items);
        $filled = $store->fetch(['filled'])->tokens['filled'];
        self::assertSame([], $store->save([new Item('filled', $large, 100, ['tag'], $filled, true)]), 'a fill');
        self::assertSame([], $store->save([new Item('written', $large)]), 'a write');
        self::assertSame(['filled', 'nowhere'], [
            ...$store->save([new Item('filled', $large)], SaveMode::Add),
            ...$store->save([new Item('nowhere', $large)], SaveMode::Replace),
        ], 'modes');
        self::assertSame([], $store->save([new Item('dead', $large, 0)]), 'already dead');
        self::assertSame([$large, $large], array_column($store->fetch(['filled', 'written', 'dead', 'nowhere'])->items, 'value'));
        $redis = $this->redis();
        self::assertSame([-1, true], [$redis->ttl("aside-{$client}:written"), $redis->ttl("aside-{$client}:filled") > 60], 'They live as long as they are to.');
        $store->invalidateTags(['tag']);
        self::assertSame(['written'], array_keys($store->fetch(['filled', 'written'])->items));
        self::assertSame([], $redis->keys("aside-{$client}!aside*"));
    }

    /** As in a web request: the process has done nothing yet that could have told it what to expect. */
    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testAlsoTheFirstOperationsOfAProcessAreOneRoundTripEach(string $client): void
    {
        $proxy = new Proxy(self::$server->socket ?? '');
        $open = static fn(): Store => Dsn::parse("redis+unix:{$proxy->socket}?client={$client}&prefix=first-{$client}")->open();
        $writer = $open();
        $writer->save([new Item('old', 'x', 100, ['a']), new Item('killed', 'x', 100, ['b'])]);
        $writer->invalidateTags(['b']);
        $writer->fetch(['old']);
        $writer->delete(['absent']);
        $operations = [
            'a read of a tagged item that is older than an invalidation' => static fn(Store $store): mixed => $store->fetch(['old']),
            'a read of one that was killed' => static fn(Store $store): mixed => $store->fetch(['killed', 'old']),
            'a miss that nobody has had before' => static fn(Store $store): mixed => $store->fetch([bin2hex(random_bytes(8))]),
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

    public function testAfterClearsAndAPruneOnlyWhatLivesTakesMemory(): void
    {
        $store = $this->store('memory');
        $redis = $this->redis();
        for ($round = 0; $round < 10; $round++) {
            for ($batch = 0; $batch < 20; $batch++) {
                $store->save(array_map(static fn(int $i): Item => new Item("{$round} {$batch} {$i}", 'x', null, ["tag {$batch} {$i}", 'all']), range(0, 99)));
            }
            $store->invalidateTags(array_map(static fn(int $i): string => "tag 3 {$i}", range(0, 99)));
            $store->clear();
        }
        $store->save(array_map(static fn(int $i): Item => new Item("expired {$i}", 'x', 1, ['all']), range(0, 99)));
        $store->save(array_map(static fn(int $i): Item => new Item("killed {$i}", 'x', null, ["tag {$i}"]), range(0, 99)));
        $store->invalidateTags(array_map(static fn(int $i): string => "tag {$i}", range(0, 99)));
        $store->save([new Item('alive', 'x', 100, ['all', 'tag 1']), new Item('and well', 'x')]);
        $redis->set('memory:foreign', 'not ours');
        $redis->set('another:foreign', 'not ours');
        sleep(1);
        for ($rounds = 0; $store->prune() > 0; $rounds++) {
            self::assertLessThan(100, $rounds);
        }
        $names = $redis->keys('memory:*');
        sort($names);
        self::assertSame(['memory:alive', 'memory:and well'], $names);
        self::assertEqualsCanonicalizing(['memory!clock', 'memory!tags', 'memory!guards'], $redis->keys('memory!*'));
        self::assertSame([], array_filter($redis->hKeys('memory!tags'), static fn(string $field): bool => $field[0] === 't'));
        self::assertSame('not ours', $redis->get('another:foreign'));
        self::assertCount(2, $store->fetch(['alive', 'and well'])->items);
        $store->invalidateTags(['all']);
        self::assertSame(['and well'], [...$store->keys()]);
    }

    public function testTheOlderHalfOfTooManyTagsIsForgottenAndKillsWhatIsOlder(): void
    {
        $store = $this->store('tags');
        $scripts = new Scripts(new PhpRedisConnection(new Server(socket: self::$server->socket ?? '')));
        $store->save([new Item('old', 'x', null, ['never invalidated'])]);
        for ($i = 0; $i < 2_000; $i++) {
            if ($i === 1_990) {
                $store->save([new Item('new', 'x', null, ['never invalidated', 'tag 5']), new Item('dead', 'x', null, ['tag 1999'])]);
            }
            $scripts->run([[Script::Invalidate, ['tags!clock', 'tags!tags', 'tags!guards'], ['0', '500', "tag {$i}", "again {$i}"]]]);
        }
        $fields = array_filter($this->redis()->hKeys('tags!tags'), static fn(string $field): bool => $field[0] === 't');
        self::assertLessThanOrEqual(750, \count($fields));
        self::assertSame(\count($fields), (int) $this->redis()->hGet('tags!tags', 'n'));
        self::assertSame(['new'], array_keys($store->fetch(['old', 'new', 'dead'])->items));
    }

    public function testAnItemOfAnotherEpochIsAMissToThoseWhoReadAndToThoseWhoWrite(): void
    {
        $store = $this->store('epoch');
        $store->save([new Item('read', 'x'), new Item('added', 'x'), new Item('counted', 5)]);
        $this->redis()->del('epoch!clock');
        $store->save([new Item('new', 'x')]);
        self::assertSame(['new'], array_keys($store->fetch(['read', 'added', 'counted', 'new'])->items));
        self::assertSame([], $store->save([new Item('added', 'y')], SaveMode::Add));
        self::assertSame(1, $store->increment('counted'));
        self::assertSame([], $store->delete(['read']));
    }

    public function testAnExpiryIsToldByOurClockAlsoIfTheServersIsAnother(): void
    {
        $connection = new class (new PhpRedisConnection(new Server(socket: self::$server->socket ?? ''))) implements Connection {
            public function __construct(private readonly Connection $connection) {}

            public function send(array $commands): array
            {
                $replies = $this->connection->send($commands);
                foreach ($replies as $i => $reply) {
                    if ($commands[$i] === ['TIME'] && \is_array($reply) && \is_string($reply[0] ?? null)) {
                        $replies[$i] = [(string) ((int) $reply[0] + 3_600), '0'];
                    } elseif (\is_array($reply) && \is_int($reply[2] ?? null) && $reply[2] > 0) {
                        // The time that a script which reads brings along.
                        $replies[$i] = array_replace($reply, [2 => $reply[2] + 3_600_000]);
                    }
                }

                return $replies;
            }
        };
        $store = new RedisStore($connection, 'lag');
        $before = time();
        $store->save([new Item('key', 'x', 10_000), new Item('endless', 'x')]);
        $items = $store->fetch(['key', 'endless'])->items;
        // What the server keeps for 10,000 seconds by a clock that is an hour ahead ends an hour earlier by ours.
        self::assertGreaterThanOrEqual($before + 6_398, $items['key']->expiry);
        self::assertLessThanOrEqual(time() + 6_401, $items['key']->expiry);
        self::assertNull($items['endless']->expiry);
    }

    /** It was told to forget the key meanwhile, and would keep something older. */
    public function testAWriteThatTheServerComesToAfterWeGaveUpIsRefused(): void
    {
        $store = $this->store('late');
        $scripts = new Scripts(new PhpRedisConnection(new Server(socket: self::$server->socket ?? '')));
        $token = $store->fetch(['judged'])->tokens['judged'];
        $body = "\0\0\0Svalue";
        $layout = new Layout('late:');
        $save = static fn(int $deadline): array => $scripts->run([[Script::Save, $layout->names(0, ['written', 'judged']), [
            'S', (string) $deadline,
            'w', '', '', '', $body, $layout->guard('written'),
            'f', '', $token->epoch, (string) $token->clock, $body, $layout->guard('judged'),
        ]]]);
        self::assertSame([[-1, 1]], $save((time() - 10) * 1000));
        self::assertSame(['judged'], array_keys($store->fetch(['written', 'judged'])->items));
        self::assertSame([[1, 1]], $save((time() + 100) * 1000));
        self::assertSame('value', $store->fetch(['written'])->items['written']->value);
    }

    /** Everybody would wait for the end of a lease that nobody has. */
    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testALeaseThatTheServerComesToAfterWeGaveUpIsNobodys(string $client): void
    {
        $server = self::$server;
        self::assertNotNull($server);
        $open = static fn(string $options): Store => Dsn::parse("redis+unix:{$server->socket}?client={$client}&prefix=lease-{$client}&retry_after=0&{$options}")->open();
        [$store, $other] = [$open('read_timeout=0.2'), $open('timeout=10&read_timeout=10')];
        self::assertInstanceOf(Leases::class, $store);
        self::assertInstanceOf(Leases::class, $other);
        for ($isConnected = false; !$isConnected;) {
            try {
                $store->fetch(['absent']);
                $isConnected = true;
            } catch (StoreUnavailable) {
                // It has not answered in time.
            }
        }
        for ($round = 0; $round < 3; $round++) {
            $server->signal(\SIGSTOP);
            try {
                $store->acquire("lease {$round}", 'late', 1_000.0);
                self::fail('The server has answered.');
            } catch (StoreUnavailable) {
                $server->signal(\SIGCONT);
            }
            // By the second answer, the server has come to whatever it was told before the first.
            $other->fetch(['absent']);
            $other->fetch(['absent']);
            self::assertTrue($other->acquire("lease {$round}", 'other', 1_000.0));
            self::assertFalse($other->acquire("lease {$round}", 'another', 1_000.0));
        }
    }

    public function testAWriteIsStoredAlsoIfTheServersClockIsNotWhatItWas(): void
    {
        $clock = new class (new PhpRedisConnection(new Server(socket: self::$server->socket ?? ''))) implements Connection {
            public int $times = 0;

            public function __construct(private readonly Connection $connection) {}

            public function send(array $commands): array
            {
                $replies = $this->connection->send($commands);
                // The first time it is an hour behind.
                return $commands === [['TIME']] && $this->times++ === 0 ? [[(string) (time() - 3_600), '0']] : $replies;
            }
        };
        $store = new RedisStore($clock, 'set');
        self::assertSame([], $store->save([new Item('key', 'value'), new Item('other', 'value')]));
        self::assertSame(2, $clock->times);
        self::assertCount(2, $store->fetch(['key', 'other'])->items);
    }

    public function testItemsLieInShardsAndEachShardInOnePlace(): void
    {
        $layout = new Layout('p:', 16);
        $seen = [];
        foreach (['a', 'b', '{x}', '{3}:y', '', "\0", '!{1}'] as $key) {
            $shard = $layout->shard($key);
            $seen[$shard] = true;
            self::assertStringStartsWith("p:{{$shard}}:", $layout->item($key));
            self::assertSame("p!{{$shard}}clock", $layout->clock($shard));
            self::assertSame("p!{{$shard}}guards", $layout->guards($shard));
            self::assertSame($key, $layout->key($shard, $layout->item($key)));
        }
        self::assertGreaterThan(2, \count($seen));
    }

    private function store(string $prefix): Store
    {
        return Dsn::parse('redis+unix:' . (self::$server->socket ?? '') . "?prefix={$prefix}")->open();
    }

    private function redis(): \Redis
    {
        $redis = new \Redis();
        $redis->connect(self::$server->socket ?? '');

        return $redis;
    }
}
