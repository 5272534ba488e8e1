<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Cache;
use Larder\Item;
use Larder\Leases;
use Larder\Store;
use Larder\Store\Redis\ApcuMemory;
use Larder\Store\Redis\HostMemory;
use Larder\Store\Redis\NearTags;
use Larder\Store\Redis\PhpRedisConnection;
use Larder\Store\Redis\Reading;
use Larder\Store\Redis\Script;
use Larder\Store\Redis\ScriptText;
use Larder\Store\Redis\Server;
use Larder\Store\RedisStore;
use Larder\Stores;
use Larder\Tests\Pools;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\TestWith;

/** What a host that judges by tags itself asks the server for, and what it makes of losses there. */
#[CoversClass(Reading::class)]
#[CoversClass(NearTags::class)]
#[CoversClass(Script::class)]
#[CoversClass(ApcuMemory::class)]
final class RedisNearTagsTest extends OneRedis
{
    private Proxy $proxy;

    private string $prefix;

    protected function setUp(): void
    {
        $this->proxy = new Proxy(self::server()->socket);
        $this->prefix = 'near-' . bin2hex(random_bytes(4));
    }

    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testAReadOfItemsWithTagsIsOneRoundTripWithoutAScript(string $client): void
    {
        [$store, $other] = [$this->open($client), $this->open($client, 'far')];
        $store->save([new Item('alive', 'x', 100, ['a', 'b']), new Item('killed', 'x', 100, ['c']), new Item('without', 'x', 100)]);
        $other->invalidateTags(['c']);
        $keys = ['alive', 'killed', 'without', 'absent'];
        // The server has to be told the script once.
        self::redis()->rawCommand('SCRIPT', 'LOAD', ScriptText::of(Script::Versions));
        $second = $this->open($client);
        self::assertSame(2, $this->proxy->roundTripsOf(static fn(): mixed => $store->fetch($keys)), 'It asks for what it does not know.');
        $before = $this->scripts();
        foreach ([$store, $second] as $process) {
            self::assertSame(1, $this->proxy->roundTripsOf(static function () use ($process, $keys): void {
                $fetched = $process->fetch($keys);
                self::assertSame([['alive', 'without'], ['killed', 'absent']], [array_keys($fetched->items), array_keys($fetched->tokens)]);
            }));
        }
        self::assertSame($before, $this->scripts());
        // What others write and delete, and what is filled, changes nothing about that.
        $other->save([new Item('alive', 'y', 100, ['a']), new Item('killed', 'y', 100, ['c'])]);
        $other->delete(['without']);
        self::assertSame(1, $this->proxy->roundTripsOf(static fn(): mixed => $store->fetch($keys)));
        // An invalidation is heard of by the next read, which asks once for all that it has missed.
        $other->invalidateTags(['a', 'another']);
        $other->invalidateTags(['one more']);
        foreach ([2, 1] as $trips) {
            self::assertSame($trips, $this->proxy->roundTripsOf(static function () use ($store, $keys): void {
                self::assertSame(['killed'], array_keys($store->fetch($keys)->items));
            }));
        }
    }

    #[TestWith(['apcu:', ''])]
    #[TestWith(['shm:%s?size=16M', ''])]
    #[TestWith(['array: > apcu:', ''])]
    #[TestWith(['apcu:', '&tags=far', true])]
    #[TestWith(['array:', '', true])]
    public function testBehindANearStoreOfTheHostAReadOfTheFarOneIsNoScript(string $near, string $options, bool $asks = false): void
    {
        $near = \sprintf($near, $this->prefix);
        $tier = Cache::open("{$near} > redis+unix:{$this->proxy->socket}?prefix={$this->prefix}{$options}");
        $other = $this->open('phpredis', 'far');
        $items = array_map(static fn(int $i): Item => new Item("key {$i}", $i, 100, ['a', 'b']), range(0, 9));
        $other->save([...$items, new Item('killed', 'x', 100, ['c'])]);
        $other->invalidateTags(['c']);
        self::assertSame([0, null], [$tier->get('key 0'), $tier->get('killed')]);
        $before = $this->scripts();
        self::assertSame(range(1, 9), array_map(static fn(int $i): mixed => $tier->get("key {$i}"), range(1, 9)));
        self::assertNull($tier->get('killed'));
        self::assertSame($asks, $this->scripts() > $before);
        Pools::remove($this->prefix);
    }

    public function testAProcessSeesItsOwnInvalidationAtOnce(): void
    {
        $store = $this->open('phpredis');
        for ($i = 0; $i < 20; $i++) {
            $store->save([new Item('key', $i, 100, ['a', "b{$i}"])]);
            self::assertSame(['key'], array_keys($store->fetch(['key'])->items));
            $store->invalidateTags([$i % 2 === 0 ? 'a' : "b{$i}"]);
            self::assertSame([], $store->fetch(['key'])->items);
        }
    }

    /** @return iterable<string, array{\Closure(\Redis, string): mixed}> */
    public static function losses(): iterable
    {
        yield 'the list is lost' => [static fn(\Redis $redis, string $prefix): mixed => $redis->del("{$prefix}!invalidations")];
        yield 'the list is trimmed' => [static fn(\Redis $redis, string $prefix): mixed => $redis->rawCommand('XTRIM', "{$prefix}!invalidations", 'MAXLEN', '0')];
        yield 'one invalidation of the list is lost' => [static fn(\Redis $redis, string $prefix): mixed => $redis->xDel("{$prefix}!invalidations", array_keys($redis->xRevRange("{$prefix}!invalidations", '+', '-', 1)))];
        yield 'something else is where the list was' => [static fn(\Redis $redis, string $prefix): mixed => $redis->set("{$prefix}!invalidations", 'x')];
        yield 'the versions of tags are lost' => [static fn(\Redis $redis, string $prefix): mixed => $redis->del("{$prefix}!tags")];
        yield 'the clock is lost' => [static fn(\Redis $redis, string $prefix): mixed => $redis->del("{$prefix}!clock")];
        yield 'everything is lost' => [static fn(\Redis $redis): mixed => $redis->flushAll()];
    }

    /** @param \Closure(\Redis, string): mixed $loss */
    #[DataProvider('losses')]
    public function testWhateverIsLostNothingIsReadThatWasInvalidated(\Closure $loss): void
    {
        foreach (['before', 'between', 'after'] as $when) {
            $this->prefix = 'near-' . bin2hex(random_bytes(4));
            [$store, $other] = [$this->open('phpredis'), $this->open('phpredis', 'far')];
            $store->save([new Item('killed', 'x', 100, ['a']), new Item('alive', 'x', 100, ['b'])]);
            $other->invalidateTags(['another']);
            self::assertCount(2, $store->fetch(['killed', 'alive'])->items);
            $when === 'before' && $loss(self::redis(), $this->prefix);
            $other->invalidateTags(['a']);
            $when === 'between' && $loss(self::redis(), $this->prefix);
            $other->invalidateTags(['another']);
            $when === 'after' && $loss(self::redis(), $this->prefix);
            for ($i = 0; $i < 2; $i++) {
                self::assertArrayNotHasKey('killed', $store->fetch(['killed', 'alive'])->items, $when);
                self::assertArrayNotHasKey('killed', $this->open('phpredis')->fetch(['killed', 'alive'])->items, $when);
            }
            // And from then on all is as before.
            $store->save([new Item('killed', 'y', 100, ['a'])]);
            $other->invalidateTags(['another']);
            self::assertSame(['killed'], array_keys($store->fetch(['killed'])->items), $when);
            $other->invalidateTags(['a']);
            self::assertSame([], $store->fetch(['killed'])->items, $when);
        }
    }

    public function testInvalidationsThatTheListHasNoRoomForAreHeardOfAllTheSame(): void
    {
        [$store, $other] = [$this->open('phpredis'), $this->open('phpredis', 'far')];
        $many = array_map(static fn(int $i): string => str_pad((string) $i, 100, 'x'), range(1, 1_500));
        $store->save([new Item('first', 'x', 100, ['a']), new Item('killed', 'x', 100, [$many[1_200]]), new Item('alive', 'x', 100, ['b'])]);
        $other->invalidateTags(['another']);
        self::assertCount(3, $store->fetch(['first', 'killed', 'alive'])->items);
        $other->invalidateTags(['a']);
        $other->invalidateTags($many);
        self::assertSame(['alive'], array_keys($store->fetch(['first', 'killed', 'alive'])->items), 'They are too many at once.');
        for ($i = 0; $i < 1_500; $i++) {
            $other->invalidateTags(["tag {$i}"]);
        }
        self::assertSame([true], array_map(static fn(Item $item): bool => $item->key === 'alive', array_values($store->fetch(['first', 'killed', 'alive'])->items)));
        self::assertLessThan(1_200, self::redis()->xLen("{$this->prefix}!invalidations"));
    }

    public function testWhatIsServedStaleIsJudgedByTheServer(): void
    {
        [$store, $other] = [$this->open('phpredis'), $this->open('phpredis', 'far')];
        $store->save([new Item('served', 'x', 100, ['a']), new Item('alive', 'x', 100, ['b'])]);
        $other->invalidateTags(['another']);
        $store->fetch(['served', 'alive']);
        $other->invalidateTags(['a'], 100);
        for ($i = 0; $i < 2; $i++) {
            $fetched = $store->fetch(['served', 'alive']);
            self::assertSame([['alive'], ['served']], [array_keys($fetched->items), array_keys($fetched->stale)]);
            $alone = $store->fetch(['served']);
            self::assertSame([[], ['served']], [array_keys($alone->items), array_keys($alone->stale)]);
        }
        $other->invalidateTags(['a']);
        self::assertSame([], $store->fetch(['served'])->stale);
    }

    public function testAFillThatBeganBeforeAnInvalidationIsRefused(): void
    {
        [$store, $other] = [$this->open('phpredis'), $this->open('phpredis', 'far')];
        $other->invalidateTags(['another']);
        $store->save([new Item('key', 'x', 100, ['a'])]);
        $other->invalidateTags(['a']);
        $token = $store->fetch(['key'])->tokens['key'];
        $other->invalidateTags(['a']);
        self::assertSame(['key'], $store->save([new Item('key', 'stale', 100, ['a'], $token, true)]));
        $token = $store->fetch(['key'])->tokens['key'];
        self::assertSame([], $store->save([new Item('key', 'fresh', 100, ['a'], $token, true)]));
        self::assertSame('fresh', $store->fetch(['key'])->items['key']->value);
    }

    public function testAUserWhoMayNotUseTheListReadsAndInvalidatesAllTheSame(): void
    {
        $redis = self::redis();
        $redis->rawCommand('ACL', 'SETUSER', 'listless', 'reset', 'on', '>secret', '~*', '+@all', '-xadd', '-xrange');
        try {
            $dsn = "redis+unix://listless:secret@{$this->proxy->socket}?client=phpredis&prefix={$this->prefix}&tags=";
            [$store, $other] = [Stores::open("{$dsn}near"), $this->open('phpredis')];
            $other->save([new Item('killed', 'x', 100, ['a']), new Item('alive', 'x', 100, ['b'])]);
            Stores::open("{$dsn}far")->invalidateTags(['another']);
            foreach ([$store, $other] as $reader) {
                self::assertCount(2, $reader->fetch(['killed', 'alive'])->items);
            }
            $other->invalidateTags(['another']);
            Stores::open("{$dsn}far")->invalidateTags(['a']);
            foreach ([$store, $other] as $reader) {
                self::assertSame(['alive'], array_keys($reader->fetch(['killed', 'alive'])->items));
            }
        } finally {
            $redis->rawCommand('ACL', 'DELUSER', 'listless');
        }
    }

    public function testWithoutRoomInTheMemoryTheScriptJudges(): void
    {
        $memory = new class implements HostMemory {
            public function read(array $names): array
            {
                return [];
            }

            public function write(string $name, string $bytes): bool
            {
                return false;
            }
        };
        $other = $this->open('phpredis', 'far');
        $other->save([new Item('alive', 'x', 100, ['a'])]);
        $other->invalidateTags(['another']);
        $store = new RedisStore(new PhpRedisConnection(new Server(socket: $this->proxy->socket)), $this->prefix, nearTags: new NearTags($memory, 'test'));
        self::assertSame(['alive'], array_keys($store->fetch(['alive'])->items));
        self::assertSame(1, $this->proxy->roundTripsOf(static fn(): mixed => $store->fetch(['alive'])));
        self::assertCount(1, $store->fetch(['alive'])->items);
    }

    private function open(string $client, string $tags = 'near'): Store
    {
        $store = Stores::open("redis+unix:{$this->proxy->socket}?client={$client}&prefix={$this->prefix}&tags={$tags}");
        self::assertInstanceOf(Leases::class, $store);
        // Connecting can be a round trip of its own.
        $store->acquire('lease', bin2hex(random_bytes(4)), 0.001);

        return $store;
    }

    /** @return int how many scripts the server has run */
    private function scripts(): int
    {
        $about = self::redis()->info('commandstats');
        $calls = 0;
        foreach (['cmdstat_eval', 'cmdstat_evalsha'] as $name) {
            $line = \is_array($about) ? $about[$name] ?? '' : '';
            $calls += preg_match('/calls=(\d+)/', \is_string($line) ? $line : '', $found) === 1 ? (int) $found[1] : 0;
        }

        return $calls;
    }
}
