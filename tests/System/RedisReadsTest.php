<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Item;
use Larder\Leases;
use Larder\Reads;
use Larder\Store;
use Larder\Store\Redis\Connection;
use Larder\Store\Redis\Entry;
use Larder\Store\Redis\Layout;
use Larder\Store\Redis\PredisConnection;
use Larder\Store\Redis\Reading;
use Larder\Store\Redis\Script;
use Larder\Store\Redis\Server;
use Larder\Store\RedisStore;
use Larder\Stores;
use Larder\Token;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\TestWith;

/** What a process that has read plainly makes of what others do meanwhile. */
#[CoversClass(Reading::class)]
final class RedisReadsTest extends OneRedis
{
    private Proxy $proxy;

    private string $prefix;

    protected function setUp(): void
    {
        $this->proxy = new Proxy(self::server()->socket);
        $this->prefix = 'reads-' . bin2hex(random_bytes(4));
    }

    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testAReadRunsNoScriptAndWritesNothingAsLongAsNoTagWasInvalidated(string $client): void
    {
        $store = $this->plain($client);
        $store->save([new Item('there', 'x', 100), new Item('tagged', 'x', 100, ['a'])]);
        $before = $this->calls();
        self::assertCount(2, $store->fetch(['there', 'tagged', 'absent'])->items);
        $store->fetch(['absent']);
        $after = $this->calls();
        self::assertSame(2, $after['mget'] - $before['mget']);
        unset($after['mget'], $before['mget'], $after['info'], $before['info']);
        self::assertSame($before, $after);
    }

    /** A near store keeps an item for as long as it is told. By then others may have filled the key, which is no event. */
    public function testNoItemIsSaidToLiveForLongerThanItDoesHoweverLongTheAnswerIsOnItsWay(): void
    {
        $slow = new class (new PredisConnection(new Server(socket: self::server()->socket, readTimeout: 0.0))) implements Connection {
            public function __construct(
                private readonly Connection $connection,
            ) {}

            public function send(array $commands): array
            {
                $replies = $this->connection->send($commands);
                usleep(1_100_000);

                return $replies;
            }
        };
        $store = new RedisStore($slow, $this->prefix, timeout: 0.0);
        $store->save([new Item('key', 'x', 100)]);
        $expiry = $store->fetch(['key'])->items['key']->expiry;
        $left = self::redis()->pttl("{$this->prefix}:key");
        self::assertLessThanOrEqual(microtime(true) + $left / 1_000, $expiry);
        self::assertGreaterThan(time() + 90, $expiry);
    }

    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testHitsAndMissesAreOneRoundTripEachWhateverOthersWriteAndDelete(string $client): void
    {
        [$store, $other] = [$this->plain($client), $this->open($client)];
        $tagged = new Item('tagged', 'x', 100, ['a']);
        $meanwhile = [
            'nothing' => static fn(): mixed => null,
            'writes' => static fn(): mixed => $other->save([new Item('there', 'y'), new Item('absent', 'y'), $tagged]),
            'deletes' => static fn(): mixed => $other->delete(['absent', 'tagged']),
            'a touch and an increment' => static fn(): mixed => [$other->touch(['there'], 10), $other->increment('there too')],
            'a clear' => static fn() => $other->clear(),
        ];
        $asked = [['there'], ['absent'], ['there'], ['tagged'], ['there', 'absent', 'tagged', 'there too']];
        // The server has to be told the script once.
        $store->token('there');
        foreach ($meanwhile as $what => $happens) {
            foreach ($asked as $keys) {
                $store->save([new Item('there', 'x', 100), $tagged]);
                $happens();
                self::assertSame(1, $this->proxy->roundTripsOf(static fn(): mixed => $store->fetch($keys)), $what);
                self::assertSame(1, $this->proxy->roundTripsOf(static fn(): mixed => $store->token($keys[0])), $what);
            }
        }
    }

    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testThatAnotherProcessIsTheFirstToInvalidateATagCostsOneMoreRoundTripOnce(string $client): void
    {
        [$store, $other] = [$this->plain($client), $this->open($client)];
        $store->save([new Item('alive', 'x', 100, ['a']), new Item('killed', 'x', 100, ['b']), new Item('served', 'x', 100, ['c']), new Item('without', 'x', 100)]);
        $other->invalidateTags(['b']);
        $other->invalidateTags(['c'], 100);
        $keys = ['absent', 'killed', 'without', 'served', 'alive'];
        $before = $this->proxy->roundTrips();
        $fetched = $store->fetch($keys);
        self::assertSame(2, $this->proxy->roundTrips() - $before);
        self::assertSame([['without', 'alive'], ['absent', 'killed', 'served'], ['served']], array_map(array_keys(...), [$fetched->items, $fetched->tokens, $fetched->stale]));
        foreach ([$keys, ['alive'], ['killed'], ['absent']] as $asked) {
            self::assertSame(1, $this->proxy->roundTripsOf(static fn(): mixed => $store->fetch($asked)));
        }
        // Tags are in use here: it does not expect otherwise again.
        $other->clear();
        $store->save([new Item('alive', 'x', 100, ['a'])]);
        self::assertSame(1, $this->proxy->roundTripsOf(static fn(): mixed => $store->fetch(['alive'])));
        $other->invalidateTags(['b']);
        self::assertSame(1, $this->proxy->roundTripsOf(static fn(): mixed => $store->fetch(['alive'])));
        self::assertSame(['alive'], array_keys($store->fetch(['alive'])->items));
    }

    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testValuesAreThoseOfTheItemsThatAFetchBrings(string $client): void
    {
        [$store, $other] = [$this->plain($client), $this->open($client)];
        self::assertInstanceOf(Reads::class, $store);
        $items = [new Item('served', 'x', 100, ['c']), new Item('killed', 'x', 100, ['b']), new Item('alive', [Reads::SEAL, 1], 100, ['a']), new Item('7', null), new Item('list', [1], 100)];
        $keys = ['absent', '7', 'list', 'killed', 'served', 'alive'];
        $store->save($items);
        foreach (['nothing', 'an invalidation', 'the same'] as $what) {
            if ($what === 'an invalidation') {
                $other->invalidateTags(['b']);
                $other->invalidateTags(['c'], 100);
            }
            $read = $store->readMany($keys);
            $fetched = $store->fetch($keys);
            self::assertSame(array_map(static fn(Item $item): mixed => $item->value, $fetched->items), $read->values, $what);
            self::assertEquals(['alive' => $fetched->items['alive']], $read->items, $what);
            self::assertEquals($fetched->tokens, $read->tokens, $what);
            self::assertCount($what === 'nothing' ? 5 : 3, $read->values, $what);
        }
    }

    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testAReadBringsInOneRoundTripWhatElseAFetchWould(string $client): void
    {
        [$store, $other] = [$this->plain($client), $this->open($client)];
        self::assertInstanceOf(Reads::class, $store);
        $store->save([new Item('served', 'x', 100, ['c']), new Item('plain', [1]), new Item('null', null), new Item('sealed', [Reads::SEAL, 1], 100)]);
        $other->invalidateTags(['c'], 100);
        $store->fetch(['served']);
        $wanted = ['plain' => [[1], false], 'null' => [null, false], 'sealed' => [[Reads::SEAL, 1], true], 'absent' => ['default', true], 'served' => ['default', true]];
        foreach ($wanted as $key => [$value, $isFetched]) {
            $fetched = null;
            $before = $this->proxy->roundTrips();
            self::assertSame($value, $store->read($key, 'default', $fetched), $key);
            self::assertSame(1, $this->proxy->roundTrips() - $before, $key);
            self::assertEquals($isFetched ? $store->fetch([$key]) : null, $fetched, $key);
        }
    }

    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testAClockThatIsLostCostsOneProcessOneMoreRoundTripAndAClearCostsNone(string $client): void
    {
        [$store, $other] = [$this->plain($client), $this->plain($client)];
        $writer = $this->open($client);
        // Now the server knows the scripts, whatever ran before.
        $this->plain($client)->token('old');
        foreach (['clear', 'loss'] as $what) {
            $store->save([new Item('old', 'x', 100)]);
            $what === 'clear' ? $writer->clear() : self::redis()->del("{$this->prefix}!clock");
            $before = $this->proxy->roundTrips();
            $tokens = $store->fetch(['old'])->tokens;
            self::assertSame($what === 'clear' ? 1 : 2, $this->proxy->roundTrips() - $before, $what);
            self::assertSame(1, $this->proxy->roundTripsOf(static fn(): mixed => $other->fetch(['old'])), $what);
            self::assertSame(1, $this->proxy->roundTripsOf(static fn(): mixed => $other->token('old')), $what);
            self::assertSame([], $other->save([new Item('old', 'new', 100, token: $tokens['old'], fill: true)]), $what);
            self::assertSame('new', $store->fetch(['old'])->items['old']->value, $what);
        }
        self::redis()->del("{$this->prefix}!clock");
        self::assertSame([], $store->save([new Item('old', 'newer', 100, token: $store->token('old'), fill: true)]));
    }

    /** @return iterable<string, array{\Closure(Store): mixed}> */
    public static function changes(): iterable
    {
        yield 'a write' => [static fn(Store $store): mixed => $store->save([new Item('key', 'written')])];
        yield 'a write that is dead at once' => [static fn(Store $store): mixed => $store->save([new Item('key', 'written', 0)])];
        yield 'a large write' => [static fn(Store $store): mixed => $store->save([new Item('other', 'x'), new Item('key', str_repeat('written', 1_000))])];
        yield 'a delete of what is not there' => [static fn(Store $store): mixed => $store->delete(['other', 'key'])];
        yield 'an increment' => [static fn(Store $store): mixed => $store->increment('key')];
        yield 'two increments' => [static fn(Store $store): mixed => $store->increment('key') + $store->increment('key')];
        yield 'a clear' => [static fn(Store $store) => $store->clear()];
        yield 'an invalidation' => [static fn(Store $store) => $store->invalidateTags(['tag'])];
    }

    /** @param \Closure(Store): mixed $change */
    #[DataProvider('changes')]
    public function testAFillThatBeganWithAPlainReadNeverSurvivesWhatCameAfterIt(\Closure $change): void
    {
        $store = $this->plain('phpredis');
        $early = $store->fetch(['key'])->tokens['key'];
        $change($this->open('phpredis'));
        $there = $store->fetch(['key'])->items['key']->value ?? null;
        self::assertSame(['key'], $store->save([new Item('key', 'late', 100, ['tag'], $early, true)]));
        self::assertNotSame('late', $store->fetch(['key'])->items['key']->value ?? null);
        $store->delete(['key']);
        $tokens = [$store->fetch(['key'])->tokens['key'], $this->plain('phpredis')->token('key')];
        self::assertSame(['key'], $store->save([new Item('key', 'late', 100, ['tag'], $early, true)]), 'It moves nothing that others are judged by.');
        self::assertSame([], $store->save([new Item('key', $there, 100, ['tag'], $tokens[0], true)]));
        self::assertSame([], $store->save([new Item('key', 'fresh', 100, ['tag'], $tokens[1], true)]));
        self::assertSame('fresh', $store->fetch(['key'])->items['key']->value);
    }

    public function testLostKeyVersionsRefuseFillsThatBeganBeforeAndNothingElse(): void
    {
        [$store, $other] = [$this->plain('phpredis'), $this->plain('phpredis')];
        $keyVersions = (new Layout("{$this->prefix}:"))->keyVersions(0);
        $makers = [
            'a fill' => static fn(): mixed => $other->save([new Item('other', 'x', 100, token: $other->token('other'), fill: true)]),
            'a write' => static fn(): mixed => $other->save([new Item('other', 'x', 100)]),
            'a delete' => static fn(): mixed => $other->delete(['other']),
            'the first miss of a process' => fn(): mixed => $this->open('phpredis')->fetch(['absent']),
        ];
        foreach ($makers as $what => $make) {
            foreach (['', 'not ours', str_repeat("\xff", 100), null] as $left) {
                $early = $store->token('key');
                $other->delete(['key']);
                $left === null ? self::redis()->del($keyVersions) : self::redis()->set($keyVersions, $left);
                $make();
                self::assertSame(['key'], $store->save([new Item('key', 'late', 100, token: $early, fill: true)]), $what);
                self::assertSame([], $store->save([new Item('key', 'fresh', 100, token: $store->token('key'), fill: true)]), $what);
            }
        }
    }

    /** Such a token names two key versions, of which one is moved. */
    public function testAChangeUnderACountersTokenRefusesNoFillOfAnotherKey(): void
    {
        $store = $this->plain('phpredis');
        $changes = [
            'a write' => static fn(Token $token): array => $store->save([new Item('counter', 'x', 100, token: $token)]),
            'a delete' => static fn(Token $token): array => $store->delete(['counter'], $token),
        ];
        foreach ($changes as $what => $change) {
            $store->delete(['counter', 'other']);
            $store->increment('counter');
            $early = $store->fetch(['other'])->tokens['other'];
            self::assertSame($what === 'a write' ? [] : ['counter'], $change($store->token('counter')), $what);
            self::assertSame([], $store->save([new Item('other', 'filled', 100, token: $early, fill: true)]), $what);
        }
    }

    /** Of a version that knew other key versions, which is in use beside this one for a while. */
    public function testAClockOfAnotherFormIsNoneAndItsItemsAreMisses(): void
    {
        $store = $this->plain('phpredis');
        $redis = self::redis();
        $item = Entry::beginning('an epoch') . "\0\0\0\0\0\x01" . str_repeat("\0", 9) . 'Sold';
        foreach (["an epoch\0\0\0\0\0\x01\0\0\0\0\0\0", 'not ours', "an epoch\0\0\0\0\0\x01\0\0\0\0\0\0\0", ''] as $clock) {
            $store->save([new Item('here', 'x', 100)]);
            $redis->set("{$this->prefix}!clock", $clock);
            $redis->set("{$this->prefix}:old", $item);
            $fetched = $store->fetch(['old', 'here']);
            self::assertSame([[], ['old', 'here']], [$fetched->items, array_keys($fetched->tokens)]);
            self::assertSame([], $store->save([new Item('old', 'new', 100, token: $fetched->tokens['old'], fill: true)]));
            self::assertSame(['old'], array_keys($store->fetch(['old'])->items));
        }
    }

    /** As something else writes it that has taken the beginning of an item. */
    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testWhatIsTooShortForAnItemIsAMissAmongOthersToo(string $client): void
    {
        $store = $this->plain($client);
        self::assertInstanceOf(Reads::class, $store);
        $store->save([new Item('whole', 'x', 100)]);
        foreach ([9, 15, 23] as $length) {
            self::redis()->set("{$this->prefix}:short", substr((string) self::redis()->get("{$this->prefix}:whole"), 0, $length));
            foreach ([['short', 'whole'], ['short']] as $keys) {
                $read = $store->readMany($keys);
                self::assertSame(\count($keys) === 1 ? [] : ['whole' => 'x'], $read->values, "{$length} bytes");
                self::assertSame(['short'], array_keys($read->tokens), "{$length} bytes");
            }
        }
    }

    private function open(string $client): Store
    {
        $store = Stores::open("redis+unix:{$this->proxy->socket}?client={$client}&prefix={$this->prefix}");
        self::assertInstanceOf(Leases::class, $store);
        // Connecting can be a round trip of its own.
        $store->acquire('lease', bin2hex(random_bytes(4)), 0.001);

        return $store;
    }

    /** One that has read here, and seen no tag invalidated. */
    private function plain(string $client): Store
    {
        $store = $this->open($client);
        $store->fetch(['nothing']);

        return $store;
    }

    /** @return array<string, int> how often the server has run which command */
    private function calls(): array
    {
        $calls = ['mget' => 0];
        $about = self::redis()->info('commandstats');
        foreach (\is_array($about) ? $about : [] as $name => $line) {
            $calls[substr((string) $name, \strlen('cmdstat_'))] = preg_match('/calls=(\d+)/', \is_string($line) ? $line : '', $found) === 1 ? (int) $found[1] : 0;
        }

        return $calls;
    }
}
