<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Tier;

use Larder\Cache;
use Larder\Capability;
use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\Remember\StampedeOptions;
use Larder\Store\ArrayStore;
use Larder\Store\ChaosStore;
use Larder\Store\SqliteStore;
use Larder\Tests\Contract\Value\Instant;
use Larder\Tests\Contract\Value\Restored;
use Larder\Tests\Contract\Value\Teller;
use Larder\Tests\Contract\Value\Woken;
use Larder\Tests\MemoryLogger;
use Larder\Tests\Scratch;
use Larder\Tier\TieredStore;
use Larder\Token;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

/** When the near store answers, when the far one is asked, and what becomes of a tier of which a part fails. */
#[CoversClass(TieredStore::class)]
final class TieredStoreTest extends TestCase
{
    private Scratch $scratch;

    private ChaosStore $near;

    private ChaosStore $far;

    private BreakableLog $log;

    private int $now = 1_000_000;

    protected function setUp(): void
    {
        $this->scratch = new Scratch();
        $sqlite = $this->sqlite();
        $clock = fn(): int => $this->now;
        $this->near = new ChaosStore(new ArrayStore(clock: $clock));
        $this->far = new ChaosStore($sqlite);
        $this->log = new BreakableLog($sqlite->log());
    }

    public function testWhatWasFoundOnceIsNotAskedOfTheFarStoreAgain(): void
    {
        $tier = $this->tier();
        $tier->save([new Item('key', ['value'], 100), new Item('other', 2)]);
        self::assertSame(['value'], $tier->read('key'));
        self::assertSame([2], array_column($tier->fetch(['other'])->items, 'value'));
        [$this->far->calls, $this->log->asked] = [[], 0];
        for ($request = 0; $request < 3; $request++) {
            $tier->beginRequest();
            self::assertSame(['value'], $tier->read('key'));
            self::assertSame(['key', 'other'], array_keys($tier->fetch(['key', 'other'])->items));
        }
        self::assertSame([[], 0], [$this->asked(), $this->log->asked]);
        self::assertSame(['key', 'other'], array_keys($tier->fetch(['key', 'absent', 'other'])->items));
        self::assertSame(['fetch'], $this->asked());
    }

    public function testWhatCodeOfAUsersMakesAgainIsMadeAsOftenAsTheFarStoreMakesIt(): void
    {
        $tier = $this->tier();
        $tier->save([new Item('woken', [new Woken()]), new Item('restored', [new Restored()])]);
        for ($request = 0; $request < 3; $request++) {
            $tier->beginRequest();
            foreach (['woken' => Woken::class, 'restored' => Restored::class] as $key => $class) {
                $read = $tier->read($key);
                self::assertIsArray($read);
                self::assertInstanceOf($class, $read[0]);
                self::assertSame(1, $read[0]->times);
            }
        }
    }

    public function testWhatPhpsOwnCodeWakesIsKeptNear(): void
    {
        $tier = $this->tier();
        $tier->save([new Item('key', [new Instant('2026-01-02 03:04:05'), new \DateTimeImmutable('2026-01-02'), new \LogicException('it')])]);
        $tier->read('key');
        $this->far->calls = [];
        $tier->beginRequest();
        $read = $tier->read('key');
        self::assertIsArray($read);
        self::assertInstanceOf(Instant::class, $read[0]);
        self::assertSame('2026-01-02 03:04:05', $read[0]->format('Y-m-d H:i:s'));
        self::assertSame([], $this->asked());
    }

    public function testABatchIsOneEventAndOneCallOfTheFarStore(): void
    {
        $tier = $this->tier();
        $cache = new Cache($tier, strict: true);
        $cache->getMany(['missed', 'other']);
        [$this->far->calls, $this->log->recorded] = [[], []];
        self::assertSame([], $cache->saveMany([new Item('missed', 1, 10, ['x']), new Item('written', 2, 20), new Item('judged', 3, token: $tier->token('judged'))]));
        self::assertSame(['token', 'save'], $this->asked());
        self::assertSame([['missed', 'written', 'judged']], array_column($this->log->recorded, 'keys'));
        self::assertSame(['missed' => 1, 'written' => 2, 'judged' => 3], $cache->getMany(['missed', 'written', 'judged']));
    }

    public function testARequestSeesItsOwnWritesAtOnce(): void
    {
        $tier = $this->tier();
        foreach (['first', 'second'] as $value) {
            $tier->save([new Item('key', $value, 100, ['x'])]);
            self::assertSame($value, $tier->read('key'));
        }
        $tier->delete(['key']);
        self::assertNull($tier->read('key'));
        $tier->save([new Item('key', 'third', 100, ['x'])]);
        self::assertSame('third', $tier->read('key'));
        $tier->invalidateTags(['x']);
        self::assertNull($tier->read('key'));
        self::assertSame([1, 3], [$tier->increment('n'), $tier->increment('n', 2)]);
        self::assertSame(3, $tier->read('n'));
        $tier->touch(['n'], 0);
        self::assertNull($tier->read('n'));
        $tier->save([new Item('key', 'fourth')]);
        self::assertSame('fourth', $tier->read('key'));
        $tier->clear();
        self::assertNull($tier->read('key'));
    }

    public function testAnOwnWriteIsFollowedWithoutAskingForTheNews(): void
    {
        $tier = $this->tier();
        $other = $this->other();
        $tier->save([new Item('kept', 'kept'), new Item('n', 0)]);
        self::assertSame('kept', $tier->read('kept'));
        $this->log->asked = 0;
        for ($i = 1; $i <= 40; $i++) {
            $tier->save([new Item('key', $i, 100, ['x'])]);
            self::assertSame($i, $tier->read('key'));
            self::assertSame($i, $tier->increment('n'));
            $tier->touch(['n'], 100);
            self::assertSame($i, $tier->read('n'));
            $this->far->calls = [];
            self::assertSame('kept', $tier->read('kept'));
            self::assertSame([], $this->asked());
        }
        $tier->invalidateTags(['x']);
        self::assertNull($tier->read('key'));
        $tier->clear();
        self::assertNull($tier->read('kept'));
        self::assertSame(0, $this->log->asked);
        for ($i = 0; $i < 3; $i++) {
            foreach ([['key'], ['other']] as $keys) {
                $tier->save([new Item('key', "ours {$i}"), new Item('other', "ours {$i}")]);
                $tier->fetch(['key', 'other']);
                $before = $this->log->asked;
                $tier->save([new Item('own', $i)]);
                $other->save([new Item($keys[0], "theirs {$i}")]);
                $tier->save([new Item('own', $i + 1)]);
                self::assertSame(["theirs {$i}", $i + 1], [$tier->read($keys[0]), $tier->read('own')], 'Another write is between two own ones.');
                $tier->save([new Item('own', $i + 2)]);
                $other->delete(['own']);
                self::assertNull($tier->read('own'), 'Another write is behind an own one.');
                self::assertSame($before + 2, $this->log->asked);
            }
        }
    }

    public function testNothingThatIsReadWithAMissOrAfterItIsOlderThanItsToken(): void
    {
        foreach ([true, false] as $isBatch) {
            $cache = new Cache($this->tier());
            $other = new Cache($this->other());
            $other->set('part', 'old', 100, ['tag']);
            self::assertSame('old', $cache->get('part'));
            $other->invalidateTags(['tag']);
            $other->set('part', 'new', 100, ['tag']);
            $read = $cache->getMany($isBatch ? ['part', 'whole'] : ['whole']);
            self::assertTrue($cache->set('whole', $read['part'] ?? $cache->get('part'), 100, ['tag']));
            self::assertSame('new', $other->get('whole'));
            $other->clear();
        }
    }

    public function testABatchBringsWhatIsNearAlsoIfTheFarStoreIsDown(): void
    {
        $tier = $this->tier();
        $tier->save([new Item('key', 1), new Item('other', 2)]);
        $tier->fetch(['key', 'other']);
        $this->far->isDown = true;
        $fetched = $tier->fetch(['other', 'absent', 'key']);
        self::assertSame(['other' => 2, 'key' => 1], array_map(static fn(Item $item): mixed => $item->value, $fetched->items));
        self::assertSame(['absent' => ''], array_map(static fn(Token $token): string => $token->epoch, $fetched->tokens), 'Nothing judged by that is stored.');
        self::assertNotNull($fetched->failure);
        $this->expectException(StoreUnavailable::class);
        $tier->fetch(['absent']);
    }

    public function testOfManyOwnWritesOrOneThatWasUndoneTheNewsAreAskedFor(): void
    {
        $tier = $this->tier();
        $tier->save([new Item('key', 'old'), new Item('x', 1)]);
        $tier->fetch(['key', 'x']);
        $this->log->asked = 0;
        for ($i = 0; $i < 30; $i++) {
            $tier->save([new Item($i === 0 ? 'key' : 'x', $i)]);
        }
        self::assertSame([0, 29], [$tier->read('key'), $tier->read('x')]);
        self::assertSame(1, $this->log->asked);
        $tier->save([new Item('key', 'new')]);
        $this->far->isDown = true;
        try {
            $tier->save([new Item('x', 'undone')]);
            self::fail('It was saved.');
        } catch (StoreUnavailable) {
            $this->far->isDown = false;
        }
        self::assertSame(['new', 29], [$tier->read('key'), $tier->read('x')]);
        $this->other()->save([new Item('x', 'theirs')]);
        $tier->beginRequest();
        $this->far->calls = [];
        self::assertSame('new', $tier->read('key'), 'Nothing but what the log names is forgotten.');
        self::assertSame([], $this->asked());
    }

    public function testOnlyWhatTheLogNamesIsForgotten(): void
    {
        $tier = $this->tier();
        $other = $this->other();
        $tier->save([new Item('a', 1), new Item('b', 2, 100, ['x']), new Item('c', 3, 100, ['x', 'y'])]);
        $tier->fetch(['a', 'b', 'c']);
        $this->far->calls = [];
        $other->save([new Item('a', 10)]);
        $other->invalidateTags(['y']);
        $tier->beginRequest();
        self::assertSame(2, $tier->read('b'));
        self::assertSame([], $this->asked());
        self::assertSame(10, $tier->read('a'));
        self::assertNull($tier->read('c'));
    }

    public function testAFillOfWhatWasMissingIsNoEventAndOneOfWhatIsThereIs(): void
    {
        $tier = $this->tier();
        $token = $tier->fetch(['key'])->tokens['key'];
        $position = $this->log->since(null)->position;
        self::assertSame([], $tier->save([new Item('key', 'filled', 100, [], $token, true)]));
        self::assertSame([], $this->log->since($position)->events);
        self::assertSame('filled', $tier->read('key'));
        self::assertSame([], $tier->save([new Item('key', 'filled early', 100, [], $tier->token('key'), true)]));
        self::assertCount(1, $this->log->since($position)->events);
        self::assertSame('filled early', $tier->read('key'));
    }

    public function testAFillOfWhatTheFarStoreHasEvictedIsHeardOf(): void
    {
        $path = "{$this->scratch->path}/evicting.db";
        $open = static function () use ($path): TieredStore {
            $far = new SqliteStore($path, timeout: 30.0, size: 1 << 20);

            return new TieredStore(new ArrayStore(), $far, $far->log());
        };
        [$here, $there] = [$open(), $open()];
        $here->save([new Item('key', 'old')]);
        $there->beginRequest();
        self::assertSame('old', $there->read('key'));
        $this->evict($path, 'key');
        $here->beginRequest();
        $token = $here->fetch(['key'])->tokens['key'];
        self::assertSame([], $here->save([new Item('key', 'new', null, [], $token, true)]));
        $there->beginRequest();
        self::assertSame('new', $there->read('key'));
    }

    public function testAFillInPlaceOfAnotherIsHeardOf(): void
    {
        [$first, $second, $reader] = [$this->tier(), $this->other(), $this->other()];
        $tokens = [$first->fetch(['key', 'other'])->tokens, $second->fetch(['key'])->tokens];
        $first->save([new Item('key', 'first', null, [], $tokens[0]['key'], true), new Item('other', 1, null, [], $tokens[0]['other'], true)]);
        self::assertSame('first', $reader->read('key'));
        self::assertSame([], $second->save([new Item('key', 'second', null, [], $tokens[1]['key'], true)]));
        $reader->beginRequest();
        self::assertSame('second', $reader->read('key'));
    }

    public function testACacheThatMissesAsksTheFarStoreOnce(): void
    {
        $tier = $this->tier();
        self::assertSame('default', $tier->read('key', 'default', $fetched));
        self::assertSame(['key'], array_keys($fetched->tokens ?? []));
        self::assertSame(['fetch'], $this->asked());
        $cache = new Cache($tier);
        self::assertSame('default', $cache->get('key', 'default'));
        self::assertSame(['fetch', 'fetch'], $this->asked());
        $cache->remember('key', static fn(): string => 'computed', stampede: new StampedeOptions(lease: 0.0));
        self::assertSame(['fetch'], array_values(array_diff(\array_slice($this->asked(), 2), ['save'])));
    }

    public function testTheNearStoreKeepsNothingForLonger(): void
    {
        $tier = $this->tier();
        $tier->save([new Item('short', 1, 10), new Item('long', 1, 1_000), new Item('forever', 1)]);
        $this->now += 4;
        $tier->fetch(['short', 'long', 'forever']);
        $near = $this->near->store->fetch(['short', 'long', 'forever'])->items;
        self::assertSame([1_000_010, 1_001_000, null], [$near['short']->expiry, $near['long']->expiry, $near['forever']->expiry]);
        $this->now += 6;
        self::assertNull($tier->read('short'));
        self::assertSame(1, $tier->read('long'));
    }

    public function testALeaseShowsWhatWasWrittenBeforeItWasFree(): void
    {
        $tier = $this->tier();
        $tier->save([new Item('key', 'old')]);
        self::assertSame('old', $tier->read('key'));
        $this->other()->save([new Item('key', 'new')]);
        self::assertSame('old', $tier->read('key'), 'The request goes on.');
        self::assertTrue($tier->acquire('lease', 'owner', 10.0));
        self::assertSame('new', $tier->read('key'));
        self::assertTrue($tier->refresh('lease', 'owner', 10.0));
        self::assertTrue($tier->release('lease', 'owner'));
    }

    public function testWithoutAHeadEveryRequestAsksForTheNews(): void
    {
        $this->log->isHeadless = true;
        $tier = $this->tier();
        foreach (['first', 'second', 'third'] as $value) {
            $this->other()->save([new Item('key', $value)]);
            $tier->beginRequest();
            self::assertSame([$value, $value], [$tier->read('key'), $tier->fetch(['key'])->items['key']->value ?? null]);
        }
        self::assertSame(3, $this->log->asked);
    }

    public function testNothingComesOutOfTheSecondTierThatTheFirstIsAlreadyPast(): void
    {
        $sqlite = $this->sqlite();
        [$first, $second] = [new ArrayStore(), new ArrayStore()];
        $log = $sqlite->log();
        $behind = new TieredStore($second, $sqlite, $log);
        $tier = new TieredStore($first, $behind, $log);
        $tier->save([new Item('key', 'old')]);
        self::assertSame('old', $tier->read('key'));
        $token = $behind->fetch(['filled'])->tokens['filled'];
        $this->other()->save([new Item('key', 'new')]);
        // The fill makes the first tier look at the log again.
        $tier->save([new Item('filled', 1, 100, [], $token, true)]);
        $first->delete(['key']);
        $tier->read('something else');
        $tier->read('key');
        $tier->beginRequest();
        self::assertSame('new', $tier->read('key'));
    }

    public function testObjectsThatSayWhatTheyAreMadeOfAreNotAskedBecauseOfTheNearStore(): void
    {
        $tier = $this->tier();
        $tier->save([new Item('key', new Teller('a'))]);
        self::assertInstanceOf(Teller::class, $tier->read('key'));
        self::assertSame([], $this->near->store->fetch(['key'])->items);
    }

    public function testWithoutItsLogTheNearStoreIsLeftAside(): void
    {
        $tier = $this->tier();
        $tier->save([new Item('key', 'old')]);
        self::assertSame('old', $tier->read('key'));
        $this->log->isBroken = true;
        $this->other()->save([new Item('key', 'new')]);
        $tier->beginRequest();
        self::assertSame('new', $tier->read('key'), 'The far store can be asked.');
        $this->far->isDown = true;
        $tier->beginRequest();
        try {
            $tier->read('key');
            self::fail('Something was read that is not known to be current.');
        } catch (StoreUnavailable) {
        }
        $this->far->isDown = false;
        $this->log->isBroken = false;
        $tier->beginRequest();
        self::assertSame('new', $tier->read('key'));
    }

    public function testNoTimeThatIsSetBackProlongsTheTimeOfGrace(): void
    {
        $tier = $this->tier(10);
        $tier->save([new Item('key', 'old')]);
        self::assertSame('old', $tier->read('key'));
        $this->log->isBroken = $this->far->isDown = true;
        $tier->beginRequest();
        self::assertSame('old', $tier->read('key'));
        $this->now -= 3_600;
        $tier->beginRequest();
        $this->expectException(StoreUnavailable::class);
        $tier->read('key');
    }

    public function testWithGraceTheNearStoreAnswersForSoLong(): void
    {
        $tier = $this->tier(10);
        $tier->save([new Item('key', 'old')]);
        self::assertSame('old', $tier->read('key'));
        $this->other()->save([new Item('key', 'new')]);
        for ($failure = 0; $failure < 2; $failure++) {
            $this->log->isBroken = $this->far->isDown = true;
            foreach ([0, 5, 4] as $seconds) {
                $this->now += $seconds;
                $tier->beginRequest();
                self::assertSame($failure === 0 ? 'old' : 'new', $tier->read('key'));
            }
            $this->now++;
            $tier->beginRequest();
            try {
                $tier->read('key');
                self::fail('It was served for longer than the time of grace.');
            } catch (StoreUnavailable) {
            }
            $this->log->isBroken = $this->far->isDown = false;
            $this->other()->save([new Item('another', $failure)]);
            $tier->beginRequest();
            self::assertSame('new', $tier->read('key'));
        }
    }

    public function testANearStoreThatHasFollowedNothingHasNoGrace(): void
    {
        $this->near->store->save([new Item('key', 'of unknown age')]);
        $this->log->isBroken = $this->far->isDown = true;
        $this->expectException(StoreUnavailable::class);
        $this->tier(10)->read('key');
    }

    public function testANearStoreThatFailsCostsTimeAndNothingElse(): void
    {
        $tier = $this->tier();
        $tier->save([new Item('key', 'old')]);
        self::assertSame('old', $tier->read('key'));
        $this->near->isDown = true;
        $tier->save([new Item('key', 'new')]);
        self::assertSame('new', $tier->read('key'));
        self::assertSame(['key'], array_keys($tier->fetch(['key'])->items));
        $this->near->isDown = false;
        $tier->fetch(['key']);
        $tier->save([new Item('other', 1)]);
        self::assertSame('new', $tier->read('key'), 'It has followed since.');
        foreach ([fn(): mixed => $tier->read('key'), fn(): mixed => $tier->fetch(['key'])->items['key']->value ?? null] as $read) {
            $this->near->isDown = true;
            self::assertSame('new', $read(), 'It fails after it has followed.');
            $this->near->isDown = false;
            $tier->beginRequest();
            self::assertSame('new', $tier->read('key'));
        }
    }

    /** Where the database is full and drops nothing, there is no room for events either. */
    public function testAFullFarStoreIsHeardOfAllTheSame(): void
    {
        $path = "{$this->scratch->path}/full.db";
        $open = static function () use ($path): TieredStore {
            $far = new SqliteStore($path, timeout: 30.0, size: 1 << 20, evict: false);

            return new TieredStore(new ArrayStore(), $far, $far->log());
        };
        [$here, $there] = [$open(), $open()];
        $keys = array_map(static fn(int $i): string => "key {$i}", range(0, 9));
        $here->save(array_map(static fn(string $key): Item => new Item($key, 'old', 1_000, ['x']), $keys));
        for ($i = 0; $here->save([new Item("filler {$i}", random_bytes(3_000))]) === []; $i++) {
            self::assertLessThan(1_000, $i, 'The database does not fill up.');
        }
        for (; $here->save([new Item("small filler {$i}", random_bytes(50))]) === []; $i++) {
            self::assertLessThan(20_000, $i, 'The database does not fill up.');
        }
        foreach ($keys as $i => $key) {
            $there->beginRequest();
            self::assertSame('old', $there->read($key));
            $i % 2 === 0 ? $here->delete([$key]) : self::assertSame([$key], $here->save([new Item($key, random_bytes(100_000))]));
            $there->beginRequest();
            self::assertNull($there->read($key), $key);
        }
    }

    public function testALogThatCannotBeReadIsToldOnceWhereTheFarStoreAnswers(): void
    {
        $tier = $this->tier();
        $cache = new Cache($tier, logger: $logger = new MemoryLogger());
        $tier->far->save([new Item('key', 'value')]);
        $this->log->isBroken = true;
        $this->far->isDown = true;
        self::assertNull($cache->get('key'));
        self::assertStringNotContainsString('near store', implode("\n", $logger->lines), 'The cache tells that the store is down.');
        $this->far->isDown = false;
        $before = \count($logger->lines);
        for ($request = 0; $request < 3; $request++) {
            $cache->refresh();
            self::assertSame('value', $cache->get('key'));
        }
        $told = array_values(array_filter(\array_slice($logger->lines, $before), static fn(string $line): bool => str_starts_with($line, 'warning')));
        self::assertSame(['warning: The log of a near store cannot be read, so all reads go to the far store; run "larder doctor" with the tier\'s DSN.'], $told);
        $causes = array_map(static fn(array $context): string => ($context['exception'] ?? null) instanceof StoreUnavailable ? $context['exception']->getMessage() : '', $logger->contexts);
        self::assertContains('The log is unavailable: a test has broken it; nothing.', $causes);
    }

    public function testItTellsWhatHasBecomeOfItsNearStore(): void
    {
        $tier = $this->tier();
        $of = static fn(string $name): mixed => $tier->statistics()->details["near {$name}"];
        $events = static fn(): int => \is_int($count = $of('events')) ? $count : -1;
        self::assertSame([null, null, 0, 0, 0], array_map($of, ['position', 'lag', 'events', 'beginnings', 'bypasses']));
        $tier->save([new Item('key', 'value', 100, ['x'])]);
        self::assertSame('value', $tier->read('key'));
        self::assertSame([0, 1, 0], array_map($of, ['lag', 'beginnings', 'bypasses']));
        $before = $events();
        $other = $this->other();
        $other->delete(['key']);
        $other->invalidateTags(['x']);
        self::assertSame(2, $of('lag'));
        $tier->beginRequest();
        self::assertNull($tier->read('key'));
        self::assertSame([0, 2, 1], [$of('lag'), $events() - $before, $of('beginnings')]);
        $other->clear();
        $tier->beginRequest();
        self::assertNull($tier->read('key'));
        self::assertSame([0, 3, 1], [$of('lag'), $events() - $before, $of('beginnings')], 'The tally outlives a clear.');
        $this->log->isBroken = true;
        $tier->beginRequest();
        self::assertNull($tier->read('key'));
        $this->log->isBroken = false;
        self::assertSame([1, 'The log is unavailable: a test has broken it; nothing.', 1_000_000], array_map($of, ['bypasses', 'bypassed because', 'bypassed at']));
        self::assertIsString($of('position'));
        self::assertIsFloat($of('age'));
    }

    public function testItCanDoWhatTheFarStoreCan(): void
    {
        self::assertSame($this->far->store->capabilities(), $this->tier()->capabilities());
        self::assertContains(Capability::Durability, $this->tier()->capabilities());
        $tier = $this->tier();
        $tier->save([new Item('a', 1), new Item('b', 2)]);
        $tier->read('a');
        self::assertSame([2, 3], [$tier->statistics()->items, $tier->statistics()->details['near items']], 'The near store has its tally, too.');
        self::assertSame(['a', 'b'], [...$tier->keys()]);
    }

    private function evict(string $path, string $key): void
    {
        $database = new \SQLite3($path);
        $database->busyTimeout(30_000);
        $database->exec("DELETE FROM \"items:larder\" WHERE key = CAST('{$key}' AS BLOB)");
        self::assertSame(1, $database->changes());
    }

    /** @return list<string> what the far store was asked */
    private function asked(): array
    {
        return array_values(array_diff($this->far->calls, ['capabilities', 'beginRequest']));
    }

    private function tier(int $grace = 0): TieredStore
    {
        return new TieredStore($this->near, $this->far, $this->log, $grace, fn(): int => $this->now);
    }

    /** Another process. */
    private function other(): TieredStore
    {
        $far = $this->sqlite();

        return new TieredStore(new ArrayStore(), $far, $far->log());
    }

    private function sqlite(): SqliteStore
    {
        return new SqliteStore("{$this->scratch->path}/cache.db", timeout: 30.0, clock: fn(): int => $this->now);
    }
}
