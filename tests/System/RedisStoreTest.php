<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\Leases;
use Larder\SaveMode;
use Larder\Store;
use Larder\Store\Redis\Connection;
use Larder\Store\Redis\Layout;
use Larder\Store\Redis\PhpRedisConnection;
use Larder\Store\Redis\Script;
use Larder\Store\Redis\Scripts;
use Larder\Store\Redis\Server;
use Larder\Store\Redis\Walk;
use Larder\Store\RedisStore;
use Larder\Stores;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\TestWith;

/** What a RedisStore leaves on its server, and what it makes of late answers and other clocks. */
#[CoversClass(RedisStore::class)]
#[CoversClass(Scripts::class)]
#[CoversClass(Walk::class)]
#[CoversClass(Layout::class)]
final class RedisStoreTest extends OneRedis
{
    /**
     * Such an item lies aside for a moment, and is put in its place by a script.
     *
     * @param positive-int $bytes
     */
    #[TestWith(['phpredis', 300_000])]
    #[TestWith(['phpredis', 600_000])]
    #[TestWith(['predis', 300_000])]
    public function testOfALargeItemNothingIsLeftAsideWhateverBecomesOfIt(string $client, int $bytes): void
    {
        $store = Stores::open('redis+unix:' . self::server()->socket . "?client={$client}&prefix=aside-{$client}");
        $store->clear();
        $large = random_bytes($bytes);
        $token = $store->fetch(['overtaken'])->tokens['overtaken'];
        self::assertSame([], $store->save([new Item('overtaken', 'new')]));
        self::assertSame(['overtaken'], $store->save([new Item('overtaken', $large, token: $token, fill: true)]), 'refused');
        self::assertSame(['new'], array_column($store->fetch(['overtaken'])->items, 'value'), 'what is newer than the fill');
        $filled = $store->fetch(['filled'])->tokens['filled'];
        self::assertSame([], $store->save([new Item('filled', $large, 100, ['tag'], $filled, true)]), 'a fill');
        self::assertSame([], $store->save([new Item('written', $large)]), 'a write');
        self::assertSame(['filled', 'nowhere'], [
            ...$store->save([new Item('filled', $large)], SaveMode::Add),
            ...$store->save([new Item('nowhere', $large)], SaveMode::Replace),
        ], 'modes');
        self::assertSame([], $store->save([new Item('dead', $large, 0)]), 'already dead');
        self::assertSame([$large, $large], array_column($store->fetch(['filled', 'written', 'dead', 'nowhere'])->items, 'value'));
        $redis = self::redis();
        self::assertSame([-1, true], [$redis->ttl("aside-{$client}:written"), $redis->ttl("aside-{$client}:filled") > 60], 'They live as long as they are to.');
        $store->invalidateTags(['tag']);
        self::assertSame(['written'], array_keys($store->fetch(['filled', 'written'])->items));
        self::assertSame([], $redis->keys("aside-{$client}!aside*"));
    }

    /** The server was full, or what lay there has gone before the script came. */
    #[TestWith([true, 3_000])]
    #[TestWith([true, 600_000])]
    #[TestWith([false, 3_000])]
    public function testALargeItemThatDoesNotLieAsideIsRefusedAndNothingOlderIsLeft(bool $isFull, int $bytes): void
    {
        $redis = self::redis();
        $large = str_repeat('new', intdiv($bytes, 3));
        $lost = new class (new PhpRedisConnection(new Server(socket: self::server()->socket))) implements Connection {
            public function __construct(private readonly Connection $connection) {}

            public function send(array $commands): array
            {
                return $this->connection->send(array_map(static fn(array $command): array => str_contains($command[1] ?? '', '!aside:') ? ['DEL', $command[1]] : $command, $commands));
            }
        };
        $store = $this->store('lost');
        $store->save([new Item('key', 'old'), new Item('other', 'old')]);
        if ($isFull) {
            $redis->config('SET', 'maxmemory', '1');
        }
        try {
            $unsaved = ($isFull ? $store : new RedisStore($lost, 'lost'))->save([new Item('key', $large), new Item('other', 'new')]);
        } finally {
            $redis->config('SET', 'maxmemory', '0');
        }
        self::assertContains('key', $unsaved);
        self::assertSame([], $store->fetch(['key'])->items);
        self::assertSame(\in_array('other', $unsaved, true) ? [] : ['other' => 'new'], array_map(static fn(Item $item): mixed => $item->value, $store->fetch(['other'])->items));
        self::assertSame([], $redis->keys('lost!aside*'));
        self::assertSame([], $store->save([new Item('key', $large)]));
        self::assertSame(['key'], array_keys($store->fetch(['key'])->items));
    }

    public function testAfterClearsAndAPruneOnlyWhatLivesTakesMemory(): void
    {
        $store = $this->store('memory');
        $redis = self::redis();
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
        self::assertEqualsCanonicalizing(['memory!clock', 'memory!tags', 'memory!key_versions', 'memory!invalidations'], $redis->keys('memory!*'));
        self::assertSame([], array_filter($redis->hKeys('memory!tags'), static fn(string $field): bool => $field[0] === 't'));
        self::assertSame('not ours', $redis->get('another:foreign'));
        self::assertCount(2, $store->fetch(['alive', 'and well'])->items);
        $store->invalidateTags(['all']);
        self::assertSame(['and well'], [...$store->keys()]);
    }

    public function testTheOlderHalfOfTooManyTagsIsForgottenAndKillsWhatIsOlder(): void
    {
        $store = $this->store('tags');
        $scripts = new Scripts(new PhpRedisConnection(new Server(socket: self::server()->socket)));
        $store->save([new Item('old', 'x', null, ['never invalidated'])]);
        for ($i = 0; $i < 2_000; $i++) {
            if ($i === 1_990) {
                $store->save([new Item('new', 'x', null, ['never invalidated', 'tag 5']), new Item('dead', 'x', null, ['tag 1999'])]);
            }
            $scripts->run([[Script::Invalidate, ['tags!clock', 'tags!tags', 'tags!key_versions', 'tags!log', 'tags!invalidations'], ['0', '500', "tag {$i}", "again {$i}"]]]);
        }
        $fields = array_filter(self::redis()->hKeys('tags!tags'), static fn(string $field): bool => $field[0] === 't');
        self::assertLessThanOrEqual(750, \count($fields));
        self::assertSame(\count($fields), (int) self::redis()->hGet('tags!tags', 'n'));
        self::assertSame(['new'], array_keys($store->fetch(['old', 'new', 'dead'])->items));
    }

    public function testAnItemOfAnotherEpochIsAMissToThoseWhoReadAndToThoseWhoWrite(): void
    {
        $store = $this->store('epoch');
        $store->save([new Item('read', 'x'), new Item('added', 'x'), new Item('counted', 5)]);
        self::redis()->del('epoch!clock');
        $store->save([new Item('new', 'x')]);
        self::assertSame(['new'], array_keys($store->fetch(['read', 'added', 'counted', 'new'])->items));
        self::assertSame([], $store->save([new Item('added', 'y')], SaveMode::Add));
        self::assertSame(1, $store->increment('counted'));
        self::assertSame([], $store->delete(['read']));
    }

    public function testAnExpiryIsToldByOurClockAlsoIfTheServersIsAnother(): void
    {
        $connection = new class (new PhpRedisConnection(new Server(socket: self::server()->socket))) implements Connection {
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
        $scripts = new Scripts(new PhpRedisConnection(new Server(socket: self::server()->socket)));
        $token = $store->fetch(['judged'])->tokens['judged'];
        $body = "\0\0\0Svalue";
        $layout = new Layout('late:');
        $save = static fn(int $deadline): array => $scripts->run([[Script::Save, $layout->names(0, ['written', 'judged']), [
            'S', (string) $deadline,
            'w', '', '', '', $body, $layout->placeOfKeyVersion('written'),
            'f', '', $token->epoch, (string) $token->version, $body, $layout->placeOfKeyVersion('judged'),
        ]]]);
        self::assertSame([[-1, 1]], $save((time() - 10) * 1000));
        self::assertSame(['judged'], array_keys($store->fetch(['written', 'judged'])->items));
        self::assertSame([[1, 1]], $save((time() + 100) * 1000));
        self::assertSame('value', $store->fetch(['written'])->items['written']->value);
    }

    #[TestWith(['S'])]
    #[TestWith(['R'])]
    public function testNothingOlderThanAWriteThatIsRefusedAsLateIsLeftOrStoredAfterIt(string $mode): void
    {
        $store = $this->store("late-{$mode}");
        $scripts = new Scripts(new PhpRedisConnection(new Server(socket: self::server()->socket)));
        $layout = new Layout("late-{$mode}:");
        $token = $store->fetch(['key'])->tokens['key'];
        $mode === 'R' && $store->save([new Item('key', 'old', token: $token, fill: true)]);
        $overdue = ['w', '', '', '', "\0\0\0Snew", $layout->placeOfKeyVersion('key')];
        self::assertSame([[-1]], $scripts->run([[Script::Save, $layout->names(0, ['key']), [$mode, (string) ((time() - 10) * 1000), ...$overdue]]]));
        self::assertSame([], $store->fetch(['key'])->items);
        self::assertSame(['key'], $store->save([new Item('key', 'older', token: $token, fill: true)]), 'It was begun before.');
        self::assertSame([], $store->fetch(['key'])->items);
    }

    /** All would wait for the end of a lease that none has. */
    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testALeaseThatTheServerComesToAfterWeGaveUpIsFree(string $client): void
    {
        $server = self::server();
        $open = static fn(string $options): Store => Stores::open("redis+unix:{$server->socket}?client={$client}&prefix=lease-{$client}&retry_after=0&{$options}");
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
        $clock = new class (new PhpRedisConnection(new Server(socket: self::server()->socket))) implements Connection {
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
            self::assertSame("p!{{$shard}}key_versions", $layout->keyVersions($shard));
            self::assertSame($key, $layout->key($shard, $layout->item($key)));
        }
        self::assertGreaterThan(2, \count($seen));
    }

    private function store(string $prefix): Store
    {
        return Stores::open('redis+unix:' . self::server()->socket . "?prefix={$prefix}");
    }
}
