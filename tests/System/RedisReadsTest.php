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
use Larder\Store\Redis\ScriptText;
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
            self::redis()->set("{$this->prefix}:short", substr(self::bytes("{$this->prefix}:whole"), 0, $length));
            foreach ([['short', 'whole'], ['short']] as $keys) {
                $read = $store->readMany($keys);
                self::assertSame(\count($keys) === 1 ? [] : ['whole' => 'x'], $read->values, "{$length} bytes");
                self::assertSame(['short'], array_keys($read->tokens), "{$length} bytes");
            }
        }
    }

    /** @return iterable<string, array{\Closure(Store, \Redis, string): mixed}> what becomes of the item x with the tags a and b, and of what it is judged by */
    public static function fates(): iterable
    {
        yield 'nothing' => [static fn(): null => null];
        yield 'another tag is invalidated' => [static fn(Store $store) => $store->invalidateTags(['c'])];
        yield 'its last tag is invalidated' => [static fn(Store $store) => $store->invalidateTags(['b'])];
        yield 'it may be served stale' => [static fn(Store $store) => $store->invalidateTags(['a'], 100)];
        yield 'it may be served stale, and no more' => [static function (Store $store): void {
            $store->invalidateTags(['a'], 100);
            $store->invalidateTags(['a']);
        }];
        yield 'it is written again' => [static function (Store $store): void {
            $store->invalidateTags(['a']);
            $store->save([new Item('x', 'new', 100, ['a'])]);
        }];
        $tags = static fn(int $count): array => array_map(static fn(int $i): string => "tag {$i}", range(1, $count));
        // No tags; more than lie in the first piece of an item that is read; and more than a script can ask for at once.
        foreach (['none' => [], '80' => $tags(80), '9,000' => $tags(9_000)] as $name => $these) {
            foreach (['another tag' => 'c', 'the last' => 'tag ' . \count($these)] as $which => $tag) {
                yield "it has other tags ({$name}), and {$which} is invalidated" => [static function (Store $store) use ($these, $tag): void {
                    $store->save([new Item('x', 'new', 100, $these)]);
                    $store->invalidateTags([$tag]);
                }];
            }
        }
        yield 'it is deleted' => [static fn(Store $store) => $store->delete(['x'])];
        yield 'it is something else' => [static fn(Store $store, \Redis $redis, string $prefix) => [$redis->del("{$prefix}:x"), $redis->rPush("{$prefix}:x", 'y')]];
        yield 'it ends within its tags' => [static fn(Store $store, \Redis $redis, string $prefix) => $redis->set("{$prefix}:x", substr(self::bytes("{$prefix}:x"), 0, 26))];
        yield 'it is of another form' => [static fn(Store $store, \Redis $redis, string $prefix) => $redis->setRange("{$prefix}:x", 0, "\1")];
        yield 'it is of another epoch' => [static fn(Store $store, \Redis $redis, string $prefix) => $redis->setRange("{$prefix}:x", 1, 'yyyyyyyy')];
        yield 'its tags were forgotten' => [static fn(Store $store, \Redis $redis, string $prefix) => $redis->hSet("{$prefix}!tags", 'f', '1000')];
        yield 'all tags were forgotten lately' => [static function (Store $store, \Redis $redis, string $prefix): void {
            $store->invalidateTags(['c']);
            $redis->hSet("{$prefix}!tags", 'f', '3');
        }];
        yield 'the tags are lost' => [static fn(Store $store, \Redis $redis, string $prefix) => $redis->del("{$prefix}!tags")];
        yield 'the tags are of another epoch' => [static fn(Store $store, \Redis $redis, string $prefix) => $redis->hSet("{$prefix}!tags", 'e', 'yyyyyyyy')];
        yield 'the clock is of another form' => [static fn(Store $store, \Redis $redis, string $prefix) => $redis->setRange("{$prefix}!clock", 0, "\4")];
        yield 'the clock is of another life' => [static fn(Store $store, \Redis $redis, string $prefix) => $redis->setRange("{$prefix}!clock", Script::LIFE, '0123456789abcdef')];
        yield 'the clock is lost' => [static fn(Store $store, \Redis $redis, string $prefix) => $redis->del("{$prefix}!clock")];
    }

    private static function bytes(string $name): string
    {
        $bytes = self::redis()->get($name);
        self::assertIsString($bytes);

        return $bytes;
    }

    /** @param \Closure(Store, \Redis, string): mixed $fate */
    #[DataProvider('fates')]
    public function testAnItemThatIsReadAloneIsJudgedAsAmongOthers(\Closure $fate): void
    {
        [$store, $redis] = [$this->open('phpredis'), self::redis()];
        $items = [new Item('x', 'value', 100, ['a', 'b']), new Item('y', 'value', 100, ['b', 'c'])];
        $store->save($items);
        $life = substr(self::bytes("{$this->prefix}!clock"), Script::LIFE, 16);
        for ($tries = 0; $tries < 2; $tries++) {
            $fate($store, $redis, $this->prefix);
            foreach ([$life, '', '0123456789abcdef'] as $known) {
                foreach ([['0', '0'], ['0', '1'], ['1', '0']] as $asked) {
                    // The first makes what is missing.
                    $among = $this->judged($redis, $known, $asked, ['y', 'x']);
                    self::assertEquals($among, $this->judged($redis, $known, $asked, ['x']), "{$known} " . implode(' ', $asked));
                }
            }
            // From now on an item is not live for the mere reason that no tag was ever invalidated.
            $store->save($items);
            $store->invalidateTags(['other']);
        }
    }

    /**
     * @param array{string, string} $asked
     * @param list<string>          $keys
     *
     * @return list<mixed> what the script answers of the last: epoch, tick, the tick of the last invalidation, whether it tells the time, the verdict, the value
     */
    private function judged(\Redis $redis, string $life, array $asked, array $keys): array
    {
        $names = (new Layout("{$this->prefix}:"))->names(0, $keys);
        $reply = $redis->rawCommand('EVAL', ScriptText::of(Script::Fetch), (string) \count($names), ...$names, ...["newepoch{$life}", ...$asked]);
        $error = $redis->getLastError();
        $redis->clearLastError();
        if (!\is_array($reply)) {
            return [$error];
        }
        [$epoch, $tick, $invalidated, $time, $verdicts] = $reply;

        self::assertIsString($verdicts);
        $verdict = substr($verdicts, -1);

        return [$epoch, $tick, $invalidated, $time > 0, $verdict, $asked[1] === '1' && $verdict !== '2' ? end($reply) : null];
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
