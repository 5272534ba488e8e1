<?php

declare(strict_types=1);

namespace Larder\Tests\Unit;

use Larder\Cache;
use Larder\Draft;
use Larder\Exception;
use Larder\Exception\InvalidKey;
use Larder\Exception\InvalidOption;
use Larder\Exception\InvalidTag;
use Larder\Exception\NotACounter;
use Larder\Exception\StoreUnavailable;
use Larder\Exception\Unstorable;
use Larder\Exception\UnsupportedOperation;
use Larder\Health;
use Larder\Item;
use Larder\Remember\Patience;
use Larder\Store;
use Larder\Store\ArrayStore;
use Larder\Store\ChaosStore;
use Larder\Store\FileStore;
use Larder\Store\NamespacedStore;
use Larder\Tests\EventList;
use Larder\Tests\MemoryLogger;
use Larder\Tests\Scratch;
use Larder\Trace\RecordingStore;
use Larder\Ttl;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

#[CoversClass(Cache::class)]
#[CoversClass(Draft::class)]
#[CoversClass(Health::class)]
#[CoversClass(StoreUnavailable::class)]
final class CacheTest extends TestCase
{
    private ?Scratch $scratch = null;

    protected function tearDown(): void
    {
        $this->scratch = null;
    }

    /** @return iterable<string, array{bool}> */
    public static function stores(): iterable
    {
        yield 'one with direct reads' => [true];
        yield 'one without' => [false];
    }

    private function store(bool $isDirect): Store
    {
        $this->scratch = new Scratch();

        return $isDirect ? new ArrayStore() : new FileStore($this->scratch->path);
    }

    #[DataProvider('stores')]
    public function testWhatIsSetIsGot(bool $isDirect): void
    {
        $cache = new Cache($this->store($isDirect));
        self::assertNull($cache->get('key'));
        self::assertSame('default', $cache->get('key', 'default'));
        self::assertFalse($cache->has('key'));
        self::assertTrue($cache->set('key', ['value']));
        self::assertSame(['value'], $cache->get('key', 'default'));
        self::assertTrue($cache->has('key'));
        self::assertTrue($cache->delete('key'));
        self::assertFalse($cache->has('key'));
        self::assertTrue($cache->delete('key'), 'The store knows that there is nothing.');
    }

    #[DataProvider('stores')]
    public function testAStoredNullIsAHit(bool $isDirect): void
    {
        $cache = new Cache($this->store($isDirect));
        $cache->set('null', null);
        self::assertNull($cache->get('null', 'default'));
        self::assertTrue($cache->has('null'));
        self::assertSame(['null' => null], $cache->getMany(['null', 'absent']));
        self::assertNull($cache->remember('null', self::computed(...)));
        self::assertFalse($cache->add('null', 'added'));
    }

    #[DataProvider('stores')]
    public function testManyAtOnce(bool $isDirect): void
    {
        $cache = new Cache($this->store($isDirect));
        $values = static function (): iterable {
            yield '7' => 'seven';
            yield '007' => 'agent';
            yield 8 => 'eight';
        };
        self::assertTrue($cache->setMany($values()));
        self::assertSame(['007' => 'agent', 7 => 'seven', 8 => 'eight'], $cache->getMany(new \ArrayIterator(['007', 7, 'absent', '8'])));
        self::assertTrue($cache->deleteMany(['007', 8, 'absent']));
        self::assertSame([7 => 'seven'], $cache->getMany(['007', 7, 8]));
        self::assertTrue($cache->clear());
        self::assertSame([], $cache->getMany(['7']));
        self::assertSame([], $cache->getMany([]));
        self::assertTrue($cache->setMany([]));
    }

    public function testAddAndReplace(): void
    {
        $cache = new Cache(new ArrayStore());
        self::assertFalse($cache->replace('key', 1));
        self::assertTrue($cache->add('key', 2));
        self::assertFalse($cache->add('key', 3));
        self::assertTrue($cache->replace('key', 4));
        self::assertSame(4, $cache->get('key'));
    }

    public function testPullTakesWhatIsThereAway(): void
    {
        $cache = new Cache(new ArrayStore());
        $cache->setMany(['key' => 'value', 'null' => null]);
        self::assertSame('value', $cache->pull('key', 'default'));
        self::assertSame('default', $cache->pull('key', 'default'));
        self::assertNull($cache->pull('null', 'default'));
        self::assertFalse($cache->has('null'));
    }

    public function testWhatAnotherProcessPulledFirstIsNotPulledTwice(): void
    {
        $store = new ChaosStore();
        $cache = new Cache($store);
        $cache->set('key', 'value');
        $store->before = static function (string $call) use ($store): void {
            if ($call === 'delete') {
                $store->store->delete(['key']);
            }
        };
        self::assertSame('default', $cache->pull('key', 'default'));
    }

    public function testTouchGivesAnotherTime(): void
    {
        $now = time();
        $cache = new Cache(new ArrayStore(clock: static function () use (&$now): int {
            return $now;
        }), 1_000);
        $cache->set('key', 'value', 10);
        self::assertTrue($cache->touch('key', 20));
        $now += 19;
        self::assertTrue($cache->touch('key'));
        $now += 999;
        self::assertSame('value', $cache->get('key'));
        self::assertTrue($cache->touch('key', 0));
        self::assertFalse($cache->has('key'));
        self::assertFalse($cache->touch('key'));
    }

    public function testJitterTakesUpToItsShareOffEveryTtl(): void
    {
        $expiries = [];
        $cache = new Cache(new ArrayStore(clock: static fn(): int => 0), 1_000, jitter: 0.2);
        for ($i = 0; $i < 200; $i++) {
            $cache->set('key', 1);
            $expiry = $cache->store->fetch(['key'])->items['key']->expiry;
            self::assertGreaterThanOrEqual(800, $expiry);
            self::assertLessThanOrEqual(1_000, $expiry);
            $expiries[$expiry] = true;
        }
        self::assertGreaterThan(30, \count($expiries));
        $cache->set('key', 1, Ttl::Forever);
        self::assertNull($cache->store->fetch(['key'])->items['key']->expiry);
        $cache->set('key', 1, 1);
        self::assertSame(1, $cache->store->fetch(['key'])->items['key']->expiry);
    }

    public function testEventsTellWhatHappened(): void
    {
        $list = new EventList();
        $store = new ChaosStore();
        $cache = new Cache($store, events: $list);
        $cache->get('a');
        $cache->set('a', 1);
        $cache->get('a');
        $cache->getMany(['a', 'b']);
        $cache->setMany(['b' => 1, 'c' => 1]);
        $cache->add('c', 2);
        $cache->add('d', 2);
        $cache->replace('d', 3);
        $cache->delete('d');
        $cache->remember('a', static fn(): int => 2);
        $cache->remember('e', static fn(): int => 2);
        $cache->clear();
        $store->isDown = true;
        $cache->set('a', 1);
        $cache->delete('a');
        $cache->clear();
        $said = array_map(static fn(object $event): string => (new \ReflectionClass($event))->getShortName()
            . (isset($event->key) && \is_string($event->key) ? " {$event->key}" : '')
            . (isset($event->keys) && \is_array($event->keys) ? ' ' . implode(',', array_filter($event->keys, is_string(...))) : ''), $list->events);
        self::assertSame([
            'Missed a', 'Written a', 'Hit a', 'Hit a', 'Missed b', 'Written b,c', 'Written d', 'Written d', 'Deleted d',
            'Hit a', 'Missed e', 'Computed e', 'Written e', 'Cleared',
        ], $said);
    }

    public function testAKeyOfTheCachesOwnIsNotTakenFromOutside(): void
    {
        $cache = new Cache(new ArrayStore());
        foreach (['set', 'add', 'replace'] as $method) {
            try {
                $cache->{$method}("\0larder:lease:key", 'mine');
                self::fail('A key of the cache\'s own was taken.');
            } catch (InvalidKey $mistake) {
                self::assertStringContainsString('is one of the cache\'s own; take another beginning.', $mistake->getMessage());
            }
        }
        self::assertTrue($cache->set("\0larder", 'is another'));
    }

    public function testALockNeedsAStoreThatRetainsIt(): void
    {
        $this->expectException(UnsupportedOperation::class);
        $this->expectExceptionMessage('ArrayStore may remove items before their time is over');
        (new Cache(new ArrayStore()))->lock('name');
    }

    public function testAnInvalidatedTagKillsWhatCarriesIt(): void
    {
        $cache = new Cache(new ArrayStore());
        $cache->set('set', 1, tags: ['a', 'b', 'a']);
        $cache->setMany(['many' => 1], tags: ['a']);
        $cache->add('added', 1, tags: ['b']);
        $cache->replace('added', 2, tags: ['a']);
        $cache->remember('remembered', static function (Draft $draft): int {
            $draft->tag('a');

            return 1;
        }, tags: ['c']);
        $cache->set('free', 1);
        self::assertTrue($cache->invalidateTags([]));
        self::assertTrue($cache->invalidateTags(['unknown']));
        self::assertCount(5, $cache->getMany(['set', 'many', 'added', 'remembered', 'free']));
        self::assertTrue($cache->invalidateTags(['a', 'unknown']));
        self::assertSame(['free' => 1], $cache->getMany(['set', 'many', 'added', 'remembered', 'free']));
    }

    public function testWhatATagKilledMayBeServedStale(): void
    {
        $now = 1_000;
        $store = new ArrayStore(clock: static function () use (&$now): int {
            return $now;
        });
        $cache = new Cache($store, clock: static function () use (&$now): float {
            return $now;
        });
        $other = new Cache($store);
        $cache->set('key', 'old', 100, ['tag']);
        $cache->invalidateTags(['tag'], serveStale: 10);
        self::assertFalse($cache->has('key'));
        $value = $cache->remember('key', static function () use ($other): string {
            self::assertSame('old', $other->remember('key', static fn(): mixed => self::computed()));

            return 'new';
        }, 100, ['tag']);
        self::assertSame('new', $value);
        self::assertSame('new', $other->get('key'));
        $cache->invalidateTags(['tag'], serveStale: 10);
        $now += 11;
        self::assertSame('computed', $cache->remember('key', static fn(): mixed => self::computed()));
    }

    /** @return iterable<string, array{mixed}> */
    public static function illegalTags(): iterable
    {
        yield 'an empty tag' => [''];
        yield 'a tag of 256 bytes' => [str_repeat('t', 256)];
        yield 'an int' => [7];
        yield 'null' => [null];
    }

    #[DataProvider('illegalTags')]
    public function testAnIllegalTagIsOneClearErrorEverywhere(mixed $tag): void
    {
        $cache = new Cache(new ArrayStore());
        /** @var list<string> $tags what a caller that ignores the docblock may pass */
        $tags = ['fine', $tag];
        $calls = [
            static fn(): mixed => $cache->set('key', 1, tags: $tags),
            static fn(): mixed => $cache->setMany(['key' => 1], tags: $tags),
            static fn(): mixed => $cache->add('key', 1, tags: $tags),
            static fn(): mixed => $cache->replace('key', 1, tags: $tags),
            static fn(): mixed => $cache->remember('key', static fn(): int => 1, tags: $tags),
            static fn(): mixed => $cache->rememberForever('key', static fn(): int => 1, tags: $tags),
            static fn(): mixed => $cache->invalidateTags($tags),
        ];
        foreach ($calls as $call) {
            try {
                $call();
                self::fail('An illegal tag was taken.');
            } catch (InvalidTag $mistake) {
                self::assertMatchesRegularExpression('/^(The|A) tag .+[;,] .+\.$/', $mistake->getMessage());
            }
        }
        self::assertFalse($cache->has('key'));
        $this->expectException(InvalidOption::class);
        $cache->invalidateTags(['fine'], -1);
    }

    public function testAFillThatWasOvertakenIsRefused(): void
    {
        $store = new ArrayStore();
        $overtaken = [
            static fn(Cache $other): bool => $other->delete('key'),
            static fn(Cache $other): bool => $other->set('key', 'theirs'),
            static fn(Cache $other): bool => $other->clear(),
            static fn(Cache $other): bool => $other->invalidateTags(['tag']),
        ];
        foreach ($overtaken as $overtake) {
            $mine = new Cache($store);
            $other = new Cache($store);
            $fills = [
                static fn(): bool => $mine->set('key', 'stale', tags: ['tag']),
                static fn(): bool => $mine->setMany(['key' => 'stale'], tags: ['tag']),
                static fn(): bool => $mine->add('key', 'stale', tags: ['tag']),
            ];
            foreach ($fills as $fill) {
                foreach ([static fn(): mixed => $mine->get('key'), static fn(): mixed => $mine->getMany(['key']), static fn(): mixed => $mine->has('key')] as $miss) {
                    $other->delete('key');
                    $miss();
                    self::assertTrue($overtake($other));
                    self::assertFalse($fill());
                    self::assertNotSame('stale', $other->get('key'));
                    $other->delete('key');
                    self::assertTrue($mine->set('key', 'mine'), 'A token judges one fill.');
                }
            }
            $other->delete('key');
            $mine->remember('key', static function () use ($overtake, $other): string {
                $overtake($other);

                return 'stale';
            }, tags: ['tag']);
            self::assertNotSame('stale', $other->get('key'));
        }
    }

    public function testWhatARequestDidItselfRefusesNothing(): void
    {
        $cache = new Cache(new ArrayStore());
        $own = [
            static fn(): mixed => $cache->delete('key'),
            static fn(): mixed => $cache->set('key', 1),
            static fn(): mixed => $cache->increment('key'),
            static fn(): mixed => $cache->replace('key', 1),
            static fn(): mixed => $cache->clear(),
            static fn(): mixed => $cache->invalidateTags(['tag']),
            $cache->refresh(...),
        ];
        foreach ($own as $do) {
            $cache->delete('key');
            self::assertNull($cache->get('key'));
            $do();
            self::assertTrue($cache->set('key', 'new', tags: ['tag']));
            self::assertSame('new', $cache->get('key'));
        }
    }

    public function testInAnotherRequestAMissJudgesNothingAnyMore(): void
    {
        $store = new ArrayStore();
        $cache = new Cache($store);
        self::assertNull($cache->get('key'));
        (new Cache($store))->set('key', 'theirs');
        $cache->refresh();
        self::assertTrue($cache->set('key', 'mine'));
    }

    public function testAStoreLearnsOfAnotherRequestThroughOthersInFrontOfIt(): void
    {
        $chaos = new ChaosStore(new ArrayStore(), 1);
        $inner = new ChaosStore($chaos);
        $scratch = new Scratch();
        $cache = new Cache(new NamespacedStore(new RecordingStore($inner, "{$scratch->path}/trace"), 'site'));
        $cache->refresh();
        self::assertSame(['beginRequest'], array_values(array_intersect($chaos->calls, ['beginRequest'])));
    }

    public function testALateFillIsRefusedAfterThousandsOfOtherMisses(): void
    {
        $store = new ArrayStore();
        $cache = new Cache($store);
        for ($i = 0; $i < 16_000; $i++) {
            $cache->get("key {$i}");
        }
        (new Cache($store))->delete('key 0');
        self::assertFalse($cache->set('key 0', 'stale'));
        self::assertTrue($cache->set('key 1', 'fine'));
        self::assertTrue($cache->set('key 15999', 'fine'));
    }

    public function testWhatWasNeverMissedIsAWriteHoweverManyOtherMissesThereWere(): void
    {
        $scratch = new Scratch();
        foreach ([new ArrayStore(), new FileStore("{$scratch->path}/cache")] as $store) {
            $import = new Cache($store);
            for ($i = 0; $i < 20_000; $i += 1_000) {
                $import->getMany(array_map(static fn(int $n): string => "absent {$n}", range($i, $i + 999)));
            }
            self::assertTrue($import->set('written', 1));
            self::assertTrue($import->delete('written'));
            self::assertTrue($import->set('written', 2));
            self::assertTrue($import->set('written', 3));

            $other = new Cache($store);
            self::assertNull($other->get('key'));
            self::assertTrue($import->set('key', 'new'));
            self::assertFalse($other->set('key', 'computed before'));
            // The refusal leaves nothing, or the new value; never the old one.
            self::assertNotSame('computed before', $import->get('key'));
        }
    }

    public function testAnOutageWithManyReadsRefusesOnlyWhatWasRead(): void
    {
        $chaos = new ChaosStore(new ArrayStore());
        $cache = new Cache($chaos);
        $chaos->isDown = true;
        for ($i = 0; $i < 20_000; $i++) {
            $cache->get("key {$i}");
        }
        $chaos->isDown = false;
        self::assertFalse($cache->set('key 19999', 'stale'));
        self::assertTrue($cache->set('never read', 'fine'));
        self::assertSame('fine', $cache->get('never read'));
    }

    /** @return iterable<string, array{bool}> */
    public static function clears(): iterable
    {
        yield 'a clear after the outage' => [false];
        yield 'one in it, too' => [true];
    }

    /** A trace of a namespace is one, too: its clear leaves what lies beside. */
    public function testTheClearOfARecordedNamespaceDeliversWhatTheWholeHasMissed(): void
    {
        $scratch = new Scratch();
        $chaos = new ChaosStore(new ArrayStore());
        $part = new Cache(new RecordingStore(new NamespacedStore($chaos, 'shop'), "{$scratch->path}/trace"));
        (new Cache($chaos))->set('key', 'old', tags: ['tag']);
        $chaos->isDown = true;
        self::assertFalse($part->invalidateTags(['tag']));
        $chaos->isDown = false;
        self::assertTrue($part->clear());
        self::assertFalse($part->health()->isFlagged());
        self::assertNull((new Cache($chaos))->get('key'));
    }

    #[DataProvider('clears')]
    public function testTheClearOfANamespaceDeliversWhatTheWholeHasMissed(bool $alsoInTheOutage): void
    {
        $chaos = new ChaosStore(new ArrayStore());
        $cache = new Cache($chaos);
        $part = $cache->namespace('shop');
        self::assertTrue($cache->set('key', 'old', tags: ['tag']));
        self::assertTrue($part->set('key', 'old'));
        $chaos->isDown = true;
        self::assertFalse($part->invalidateTags(['tag']));
        if ($alsoInTheOutage) {
            self::assertFalse($part->clear());
        }
        self::assertTrue($part->health()->isFlagged());
        $chaos->isDown = false;
        self::assertTrue($part->clear());
        self::assertFalse($part->health()->isFlagged());
        self::assertNull($part->get('key'));
        self::assertNull((new Cache($chaos))->get('key'));
    }

    public function testANamespaceIsACacheOfItsOwn(): void
    {
        $cache = new Cache(new ArrayStore());
        $shop = $cache->namespace('shop');
        $blog = $cache->namespace('blog');
        $inner = $shop->namespace('inner');
        foreach (['' => $cache, 'shop' => $shop, 'blog' => $blog, 'inner' => $inner] as $name => $each) {
            self::assertTrue($each->set('key', $name, 100, ['tag']));
            self::assertSame(1, $each->increment('n'));
            self::assertSame(2, $each->increment('n'));
            self::assertTrue($each->touch('key', 200));
            self::assertTrue($each->add('7', $name));
            self::assertFalse($each->add('7', $name));
        }
        self::assertSame(['key' => 'shop', 7 => 'shop', 'n' => 2], $shop->getMany(['key', '7', 'n', 'absent']));
        self::assertSame(['7', 'key', 'n'], self::sortedKeys($inner));
        self::assertSame(['key'], [...$shop->store->keys('k')]);
        self::assertTrue($shop->delete('7'));
        self::assertTrue($blog->has('7'));
        self::assertTrue($shop->clear());
        self::assertSame([], $shop->getMany(['key', '7', 'n']));
        self::assertSame([], $inner->getMany(['key', '7', 'n']), 'What is inside goes with it.');
        self::assertSame(['key' => 'blog', 'n' => 2], $blog->getMany(['key', 'n']));
        self::assertSame(['key' => '', 'n' => 2], $cache->getMany(['key', 'n']));
        self::assertSame(11, $shop->increment('n', 1, 10), 'A counter goes with its namespace.');
        self::assertTrue($shop->set('key', 'again'));
        self::assertSame('again', $shop->remember('key', static fn(): mixed => self::computed()));
        self::assertSame('computed', $shop->remember('other', static fn(): mixed => self::computed()));
        $cache->invalidateTags(['tag']);
        self::assertFalse($blog->has('key'));
        $cache->clear();
        self::assertFalse($blog->has('n'));
    }

    public function testANamespaceHasTheStrangeCasesOfItsStore(): void
    {
        $cache = (new Cache(new ArrayStore()))->namespace('shop');
        self::assertSame(5, $cache->increment('n', 5, 0, 0));
        self::assertFalse($cache->has('n'));
        $cache->set('greatest', \PHP_INT_MAX);
        foreach (['greatest' => 0, 'absent' => \PHP_INT_MAX] as $key => $initial) {
            try {
                $cache->increment($key, 1, $initial);
                self::fail('A counter left its range.');
            } catch (NotACounter $mistake) {
                self::assertStringContainsString('would leave the range of int', $mistake->getMessage());
            }
        }
        try {
            $cache->set(str_repeat('k', 65_535), 1);
            self::fail('A key was taken that does not fit.');
        } catch (InvalidKey $mistake) {
            self::assertMatchesRegularExpression('/ has 65535 bytes; a key has at most 65\d\d\d, /', $mistake->getMessage());
        }
        foreach (['', 'with space', 'a/b', str_repeat('n', 65)] as $name) {
            try {
                $cache->namespace($name);
                self::fail('A wrong name was taken.');
            } catch (InvalidOption $mistake) {
                self::assertStringContainsString('The namespace', $mistake->getMessage());
            }
        }
    }

    public function testStatisticsOfAStoreThatIsDownAreNull(): void
    {
        $store = new ChaosStore();
        $cache = new Cache($store);
        $cache->set('key', 1);
        self::assertSame(1, $cache->statistics()?->items);
        $store->isDown = true;
        self::assertNull($cache->statistics());
    }

    public function testCounters(): void
    {
        $cache = new Cache(new ArrayStore());
        self::assertSame(1, $cache->increment('n'));
        self::assertSame(11, $cache->increment('n', 10));
        self::assertSame(8, $cache->decrement('n', 3));
        self::assertSame(99, $cache->decrement('m', 1, 100));
        self::assertSame(8, $cache->get('n'));
        $cache->set('text', 'x');
        $this->expectException(NotACounter::class);
        $cache->increment('text');
    }

    public function testTheLeastIntCannotBeSubtracted(): void
    {
        $this->expectException(NotACounter::class);
        (new Cache(new ArrayStore()))->decrement('n', \PHP_INT_MIN);
    }

    public function testTimesToLive(): void
    {
        $now = time();
        $store = new ArrayStore(clock: static function () use (&$now): int {
            return $now;
        });
        $cache = new Cache($store, 60);
        $cache->set('default', 1);
        $cache->set('forever', 1, Ttl::Forever);
        $cache->set('seconds', 1, 10);
        $cache->set('interval', 1, new \DateInterval('PT1H'));
        $cache->set('absurd', 1, \PHP_INT_MAX);
        $cache->increment('counter', ttl: 10);
        $cache->setMany(['many' => 1], 10);
        $cache->add('added', 1, 10);
        $keys = ['default', 'forever', 'seconds', 'interval', 'absurd', 'counter', 'many', 'added'];
        self::assertSame($keys, array_keys($cache->getMany($keys)));
        $now += 10;
        self::assertSame(['default', 'forever', 'interval', 'absurd'], array_keys($cache->getMany($keys)));
        $now += 50;
        self::assertSame(['forever', 'interval', 'absurd'], array_keys($cache->getMany($keys)));
        $now += 3_600;
        self::assertSame(['forever', 'absurd'], array_keys($cache->getMany($keys)));
    }

    /** @return iterable<string, array{int|\DateInterval}> */
    public static function deadTtls(): iterable
    {
        $past = new \DateInterval('PT5S');
        $past->invert = 1;
        yield 'zero' => [0];
        yield 'negative' => [-1];
        yield 'absurdly negative' => [\PHP_INT_MIN];
        yield 'an interval into the past' => [$past];
        yield 'an interval of nothing' => [new \DateInterval('PT0S')];
    }

    #[DataProvider('deadTtls')]
    public function testATtlOfZeroOrLessDeletes(int|\DateInterval $ttl): void
    {
        $cache = new Cache(new ArrayStore());
        $cache->set('key', 'old');
        self::assertTrue($cache->set('key', 'new', $ttl));
        self::assertFalse($cache->has('key'));
        self::assertSame('computed', $cache->remember('key', static fn(): string => 'computed', $ttl));
        self::assertFalse($cache->has('key'));
    }

    public function testADefaultTtlOfZeroIsAWrongConfiguration(): void
    {
        $this->expectException(InvalidOption::class);
        new Cache(new ArrayStore(), 0);
    }

    /** @return iterable<string, array{string}> */
    public static function illegalKeys(): iterable
    {
        yield 'an empty key' => [''];
        yield 'a key of 65,536 bytes' => [str_repeat('k', 65_536)];
    }

    #[DataProvider('illegalKeys')]
    public function testAnIllegalKeyIsOneClearErrorEverywhere(string $key): void
    {
        foreach ([new ArrayStore(), (new ChaosStore())] as $store) {
            $cache = new Cache($store);
            $calls = [
                static fn(): mixed => $cache->get($key),
                static fn(): mixed => $cache->getMany(['ok', $key]),
                static fn(): mixed => $cache->set($key, 1),
                static fn(): mixed => $cache->setMany(['ok' => 1, $key => 1]),
                static fn(): mixed => $cache->delete($key),
                static fn(): mixed => $cache->deleteMany(['ok', $key]),
                static fn(): mixed => $cache->has($key),
                static fn(): mixed => $cache->add($key, 1),
                static fn(): mixed => $cache->replace($key, 1),
                static fn(): mixed => $cache->increment($key),
                static fn(): mixed => $cache->decrement($key),
                static fn(): mixed => $cache->remember($key, static fn(): int => 1),
            ];
            foreach ($calls as $call) {
                try {
                    $call();
                    self::fail('An illegal key was taken.');
                } catch (InvalidKey $mistake) {
                    self::assertMatchesRegularExpression('/^The key .+; .+\.$/', $mistake->getMessage());
                }
            }
            self::assertFalse($cache->has('ok'), 'Nothing is stored of a batch with an illegal key.');
        }
    }

    public function testAKeyThatIsNoStringIsRefused(): void
    {
        $this->expectException(InvalidKey::class);
        (new Cache(new ArrayStore()))->getMany(['ok', 1.5]);
    }

    public function testAnythingUnstorableIsAnErrorNotAMiss(): void
    {
        $this->expectException(Unstorable::class);
        (new Cache(new ArrayStore()))->set('key', ['x' => static fn(): int => 1]);
    }

    #[DataProvider('stores')]
    public function testRememberComputesOnce(bool $isDirect): void
    {
        $cache = new Cache($this->store($isDirect));
        $computed = 0;
        $compute = static function (Draft $draft) use (&$computed): mixed {
            self::assertSame('key', $draft->key);

            return [++$computed];
        };
        $first = $cache->remember('key', $compute);
        $second = $cache->remember('key', $compute);
        self::assertSame([[1], [1]], [$first, $second]);
        self::assertSame([1], $cache->get('key'));
        $cache->delete('key');
        $third = $cache->remember('key', $compute);
        self::assertSame([2], $third);
    }

    public function testADraftShapesTheItem(): void
    {
        $now = time();
        $cache = new Cache(new ArrayStore(clock: static function () use (&$now): int {
            return $now;
        }));
        $cache->remember('short', static function (Draft $draft): int {
            self::assertSame(100, $draft->ttl());
            $draft->expireAfter(5);

            return 1;
        }, 100);
        $cache->remember('not kept', static function (Draft $draft): int {
            $draft->doNotStore();

            return 2;
        });
        self::assertTrue($cache->has('short'));
        self::assertFalse($cache->has('not kept'));
        $now += 5;
        self::assertFalse($cache->has('short'));
    }

    public function testAComputationThatThrowsStoresNothing(): void
    {
        $cache = new Cache(new ArrayStore());
        try {
            $cache->remember('key', self::broken(...));
            self::fail('What the computation throws must be thrown.');
        } catch (\Exception $failure) {
            self::assertSame('no value', $failure->getMessage());
            self::assertFalse($cache->has('key'));
        }
    }

    public function testAComputationMayUseTheCache(): void
    {
        $cache = new Cache(new ArrayStore());
        self::assertSame(3, $cache->remember('outer', static fn(): int => 1 + $cache->remember('inner', static fn(): int => 2)));
        self::assertSame(2, $cache->get('inner'));
    }

    public function testRememberSavesAFillWithTheTokenOfItsMiss(): void
    {
        $store = self::createMock(Store::class);
        $fetched = (new ArrayStore())->fetch(['key']);
        $store->method('fetch')->willReturn($fetched);
        $store->expects(self::once())->method('save')->willReturnCallback(static function (array $items) use ($fetched): array {
            self::assertCount(1, $items);
            self::assertInstanceOf(Item::class, $items[0]);
            self::assertTrue($items[0]->fill);
            self::assertSame($fetched->tokens['key'], $items[0]->token);
            self::assertGreaterThan(0.0, $items[0]->cost);

            return [];
        });
        (new Cache($store))->remember('key', static fn(): int => 1, patience: new Patience(lease: 0.0));
    }

    public function testAStoreThatIsDownIsAMissAndFalse(): void
    {
        $store = new ChaosStore();
        $cache = new Cache($store);
        $cache->set('key', 'value');
        $store->isDown = true;
        self::assertSame('default', $cache->get('key', 'default'));
        self::assertFalse($cache->has('key'));
        self::assertSame([], $cache->getMany(['key']));
        self::assertFalse($cache->set('other', 1));
        self::assertFalse($cache->setMany(['other' => 1]));
        self::assertFalse($cache->add('other', 1));
        self::assertFalse($cache->replace('other', 1));
        self::assertFalse($cache->increment('counter'));
        self::assertFalse($cache->decrement('counter'));
        self::assertFalse($cache->delete('key'));
        self::assertFalse($cache->deleteMany(['key']));
        self::assertFalse($cache->clear());
        self::assertSame('computed', $cache->remember('key', static fn(): string => 'computed'));
        self::assertFalse($cache->health()->available);
        self::assertGreaterThanOrEqual(13, $cache->health()->failures);
    }

    public function testAFailureIsLoggedOnceAndSoIsTheRecovery(): void
    {
        $store = new ChaosStore();
        $logger = new MemoryLogger();
        $now = 1_000_000.0;
        $cache = new Cache($store, logger: $logger, clock: static function () use (&$now): float {
            return $now;
        });
        for ($outage = 1; $outage <= 2; $outage++) {
            $now += 60.0;
            $store->isDown = true;
            for ($i = 0; $i < 5; $i++) {
                $cache->get('key');
            }
            self::assertCount(2 * $outage - 1, $logger->lines);
            $store->isDown = false;
            for ($i = 0; $i < 5; $i++) {
                $cache->get('key');
            }
            self::assertCount(2 * $outage, $logger->lines);
        }
        self::assertStringStartsWith('error: ', $logger->lines[0]);
        self::assertStringStartsWith('notice: ', $logger->lines[1]);
        self::assertTrue($cache->health()->available);
        self::assertSame(10, $cache->health()->failures);
    }

    /** As where a disk is full that can be read. */
    public function testWhatComesAndGoesIsLoggedOnceAMinute(): void
    {
        $store = new ChaosStore();
        $store->before = static fn(string $method) => $method === 'save' ? throw StoreUnavailable::because('It', 'it is full', 'empty it') : null;
        $logger = new MemoryLogger();
        $now = 1_000_000.0;
        $cache = new Cache($store, logger: $logger, clock: static function () use (&$now): float {
            return $now;
        });
        for ($minute = 1; $minute <= 3; $minute++) {
            for ($i = 0; $i < 1_000; $i++) {
                self::assertFalse($cache->set('key', $i));
                self::assertNull($cache->get('key'));
                self::assertFalse($cache->add('another', $i));
                self::assertNull($cache->get('another'));
            }
            self::assertCount(3 * $minute, $logger->lines);
            $now += 60.0;
        }
        self::assertSame(['error', 'error', 'notice'], array_map(static fn(string $line): string => (string) strtok($line, ':'), \array_slice($logger->lines, 0, 3)));
        self::assertSame(6_000, $cache->health()->failures);
    }

    public function testAfterARecoveryReadsAreDirectAgain(): void
    {
        $store = new ChaosStore();
        $cache = new Cache($store);
        $cache->set('key', 1);
        $store->isDown = true;
        $cache->get('key');
        $store->isDown = false;
        $cache->get('key');
        $store->calls = [];
        $cache->get('key');
        self::assertSame(['read'], $store->calls);
    }

    /** @return iterable<string, array{\Closure(Cache): bool}> */
    public static function invalidations(): iterable
    {
        yield 'a delete' => [static fn(Cache $cache): bool => $cache->delete('key')];
        yield 'a delete of many' => [static fn(Cache $cache): bool => $cache->deleteMany(['other', 'key'])];
        yield 'an overwrite' => [static fn(Cache $cache): bool => $cache->set('key', 'new')];
        yield 'an overwrite of many' => [static fn(Cache $cache): bool => $cache->setMany(['other' => 1, 'key' => 'new'])];
        yield 'a replace' => [static fn(Cache $cache): bool => $cache->replace('key', 'new')];
        yield 'a set with a dead TTL' => [static fn(Cache $cache): bool => $cache->set('key', 'new', 0)];
        yield 'a tag invalidation' => [static fn(Cache $cache): bool => $cache->invalidateTags(['tag'])];
        yield 'a touch that deletes' => [static fn(Cache $cache): bool => $cache->touch('key', 0)];
        yield 'a clear' => [static fn(Cache $cache): bool => $cache->clear()];
        yield 'a clear after a delete' => [static fn(Cache $cache): bool => $cache->delete('other') || $cache->clear()];
        yield 'a delete after a clear' => [static fn(Cache $cache): bool => $cache->clear() || $cache->delete('other')];
        yield 'more deletes than are remembered' => [static function (Cache $cache): bool {
            for ($i = 0; $i < 10_001; $i++) {
                $cache->delete("key {$i}");
            }

            return $cache->delete('key');
        }];
    }

    /** @param \Closure(Cache): bool $invalidate */
    #[DataProvider('invalidations')]
    public function testALostInvalidationRaisesTheFlagUntilItIsDelivered(\Closure $invalidate): void
    {
        $store = new ChaosStore();
        $logger = new MemoryLogger();
        $cache = new Cache($store, logger: $logger);
        $cache->set('key', 'stale', tags: ['tag']);
        $store->isDown = true;
        self::assertFalse($invalidate($cache));
        self::assertTrue($cache->health()->isFlagged());
        self::assertCount(1, array_filter($logger->lines, static fn(string $line): bool => str_contains($line, 'has missed')));
        self::assertSame('default', $cache->get('key', 'default'));

        $store->isDown = false;
        self::assertSame('default', $cache->get('key', 'default'), 'What was deleted came back.');
        self::assertFalse($cache->health()->isFlagged());
        self::assertSame([], $store->store->fetch(['key'])->items);
        $cache->refresh();
        self::assertTrue($cache->set('key', 'fresh'));
        self::assertSame('fresh', $cache->get('key'));
    }

    /** What was computed meanwhile may be older than what others have stored since, and what was there is older than it. */
    public function testWhatIsSetAfterAReadThatFailedIsRefusedAndLeavesNothing(): void
    {
        $reads = [
            static fn(Cache $cache): mixed => $cache->get('key'),
            static fn(Cache $cache): mixed => $cache->getMany(['key', 'other']),
            static fn(Cache $cache): mixed => $cache->has('key'),
        ];
        foreach ($reads as $read) {
            $store = new ChaosStore();
            $cache = new Cache($store);
            $cache->set('key', 'before');
            $store->isDown = true;
            $read($cache);
            $store->isDown = false;
            self::assertFalse($cache->set('key', 'computed while it was away'));
            self::assertNull($cache->get('key'));
            self::assertTrue($cache->set('key', 'computed after a miss'));
            self::assertSame('computed after a miss', $cache->get('key'));
        }
    }

    public function testWhatIsComputedWhileTheStoreIsAwayIsNotStored(): void
    {
        $store = new ChaosStore();
        $cache = new Cache($store);
        $store->isDown = true;
        self::assertSame('computed', $cache->remember('key', static function () use ($store): string {
            $store->isDown = false;
            $store->save([new Item('key', 'written meanwhile')]);

            return 'computed';
        }));
        self::assertSame('written meanwhile', $cache->get('key'));
    }

    public function testAFillThatIsLostRaisesNoFlag(): void
    {
        $store = new ChaosStore();
        $store->isDown = true;
        $cache = new Cache($store);
        $cache->remember('key', static fn(): int => 1);
        $cache->add('key', 1);
        $cache->get('key');
        self::assertFalse($cache->health()->isFlagged());
    }

    public function testAStrictCacheThrowsAndStillRepairs(): void
    {
        $store = new ChaosStore();
        $cache = new Cache($store, strict: true);
        $cache->set('key', 'stale');
        $store->isDown = true;
        $calls = [
            static fn(): mixed => $cache->get('key'),
            static fn(): mixed => $cache->getMany(['key']),
            static fn(): mixed => $cache->set('key', 1),
            static fn(): mixed => $cache->delete('key'),
            static fn(): mixed => $cache->clear(),
            static fn(): mixed => $cache->increment('key'),
            static fn(): mixed => $cache->remember('key', static fn(): int => 1),
        ];
        foreach ($calls as $call) {
            try {
                $call();
                self::fail('A strict cache was silent.');
            } catch (StoreUnavailable) {
            }
        }
        self::assertTrue($cache->health()->isFlagged());
        $store->isDown = false;
        self::assertNull($cache->get('key'));
        self::assertFalse($cache->health()->isFlagged());
    }

    public function testARefusedWriteIsFalseAndLoggedOnce(): void
    {
        $store = new ChaosStore();
        $store->refused = ['large'];
        $logger = new MemoryLogger();
        $cache = new Cache($store, logger: $logger);
        self::assertFalse($cache->set('large', 1));
        self::assertFalse($cache->setMany(['small' => 1, 'large' => 1]));
        self::assertSame(1, $cache->get('small'));
        self::assertCount(1, $logger->lines);
        self::assertTrue($cache->health()->available);
        self::assertFalse($cache->health()->isFlagged());
    }

    public function testOpenTakesADsn(): void
    {
        $cache = Cache::open('array:?items=5');
        self::assertInstanceOf(ArrayStore::class, $cache->store);
        self::assertTrue($cache->set('key', 1));
        $this->expectException(Exception::class);
        Cache::open('nonsense');
    }

    /** @return list<string> */
    private static function sortedKeys(Cache $cache): array
    {
        $keys = [...$cache->store->keys()];
        sort($keys);

        return $keys;
    }

    private static function computed(): mixed
    {
        return 'computed';
    }

    private static function broken(): mixed
    {
        throw new \DomainException('no value');
    }
}
