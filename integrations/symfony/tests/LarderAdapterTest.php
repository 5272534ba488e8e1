<?php

declare(strict_types=1);

namespace Larder\Symfony\Tests;

use Larder\Cache;
use Larder\Event\Written;
use Larder\Store\ArrayStore;
use Larder\Store\ChaosStore;
use Larder\Symfony\LarderAdapter;
use Larder\Tests\Contract\Crowd;
use Larder\Tests\EventList;
use Larder\Tests\MemoryLogger;
use Larder\Tests\Pools;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;
use Psr\Cache\InvalidArgumentException;
use Symfony\Component\Cache\Adapter\AdapterInterface;
use Symfony\Component\Cache\Adapter\ArrayAdapter;
use Symfony\Component\Cache\Adapter\ChainAdapter;
use Symfony\Component\Cache\Adapter\FilesystemTagAwareAdapter;
use Symfony\Component\Cache\Adapter\ProxyAdapter;
use Symfony\Component\Cache\Adapter\RedisTagAwareAdapter;
use Symfony\Component\Cache\Adapter\TagAwareAdapter;
use Symfony\Component\Cache\CacheItem;
use Symfony\Contracts\Cache\ItemInterface;
use Symfony\Contracts\Cache\NamespacedPoolInterface;

#[CoversNothing]
final class LarderAdapterTest extends TestCase
{
    private Pools $pools;

    protected function setUp(): void
    {
        $this->pools = new Pools();
    }

    /** @return iterable<string, array{string}> */
    public static function kinds(): iterable
    {
        foreach (Pools::KINDS as $kind) {
            yield $kind => [$kind];
        }
    }

    #[DataProvider('kinds')]
    public function testWhatWasSavedIsReadWithItsMetadata(string $kind): void
    {
        $cache = $this->pools->open($kind);
        $pool = new LarderAdapter($cache, 'pool');
        foreach (['null' => null, 'false' => false, '7' => 7, 'text' => 'text', 'empty' => [], 'list' => [1, [2]], 'object' => new \ArrayObject([1])] as $key => $value) {
            self::assertTrue($pool->save($pool->getItem((string) $key)->set($value)));
            self::assertTrue($pool->save($pool->getItem("{$key}.tagged")->set($value)->tag(['red', '7'])));
        }
        $other = new LarderAdapter($cache, 'pool');
        foreach (['null' => null, 'false' => false, '7' => 7, 'text' => 'text', 'empty' => [], 'list' => [1, [2]], 'object' => new \ArrayObject([1])] as $key => $value) {
            $item = $other->getItem((string) $key);
            self::assertTrue($item->isHit());
            self::assertEquals($value, $item->get());
            self::assertSame([], $item->getMetadata());
            $item = $other->getItem("{$key}.tagged");
            self::assertEquals($value, $item->get());
            self::assertEquals(['red' => 'red', 7 => '7'], $item->getMetadata()[CacheItem::METADATA_TAGS]);
            self::assertEquals($value, $other->get("{$key}.tagged", static fn(): string => 'computed', null, $metadata));
            self::assertEquals(['red' => 'red', 7 => '7'], $metadata[CacheItem::METADATA_TAGS]);
        }
        $keys = array_map(static fn(CacheItem $item): array => [$item->getKey(), $item->isHit()], iterator_to_array($other->getItems(['7', 'absent', 'text.tagged']), false));
        self::assertSame([['7', true], ['absent', false], ['text.tagged', true]], $keys);
    }

    public function testItIsWhateverSymfonysOwnPoolsAre(): void
    {
        foreach ([RedisTagAwareAdapter::class, FilesystemTagAwareAdapter::class, TagAwareAdapter::class, ChainAdapter::class, ArrayAdapter::class] as $theirs) {
            self::assertSame([], array_diff((array) class_implements($theirs), (array) class_implements(LarderAdapter::class)), $theirs);
        }
    }

    public function testAByteIsAllowedInKeysAsInThoseOfSymfonysOwnPools(): void
    {
        [$ours, $theirs] = [new LarderAdapter(new Cache(new ArrayStore())), new ArrayAdapter()];
        $isAllowed = static function (AdapterInterface $pool, string $key): bool {
            try {
                return $pool->getItem($key)->getKey() === $key;
            } catch (InvalidArgumentException) {
                return false;
            }
        };
        $allowed = ['ours' => '', 'theirs' => ''];
        foreach (array_map(\chr(...), range(0, 255)) as $byte) {
            $allowed['ours'] .= $isAllowed($ours, "key{$byte}1") ? $byte : '';
            $allowed['theirs'] .= $isAllowed($theirs, "key{$byte}1") ? $byte : '';
        }
        self::assertSame(256 - \strlen(CacheItem::RESERVED_CHARACTERS), \strlen($allowed['theirs']));
        self::assertSame(bin2hex($allowed['theirs']), bin2hex($allowed['ours']));
        self::assertFalse($isAllowed($ours, ''));
    }

    #[DataProvider('kinds')]
    public function testATagKillsWhatCarriesItInItsPoolAndItsSubNamespacesAlone(string $kind): void
    {
        $cache = $this->pools->open($kind);
        $pool = new LarderAdapter($cache, 'catalogue');
        $other = new LarderAdapter($cache, 'orders');
        $sub = $pool->withSubNamespace('german');
        foreach ([$pool, $other, $sub] as $each) {
            $each->save($each->getItem('a')->set(1)->tag('red'));
            $each->save($each->getItem('b')->set(2)->tag('blue'));
        }
        self::assertTrue($pool->invalidateTags(['red', str_repeat('x', 1_000)]));
        $hits = static fn(): array => array_map(static fn(LarderAdapter $each): array => [$each->hasItem('a'), $each->hasItem('b')], [$pool, $other, $sub]);
        self::assertSame([[false, true], [true, true], [false, true]], $hits());
        self::assertFalse($pool->invalidateTags([]));
    }

    #[DataProvider('kinds')]
    public function testAClearLeavesOtherPoolsAndThePoolThatASubNamespaceIsOf(string $kind): void
    {
        $cache = $this->pools->open($kind);
        $pool = new LarderAdapter($cache, 'catalogue');
        $other = new LarderAdapter($cache, 'orders');
        $sub = $pool->withSubNamespace('german');
        if (interface_exists(NamespacedPoolInterface::class)) {
            self::assertInstanceOf(NamespacedPoolInterface::class, $pool);
        }
        $fill = static function () use ($pool, $other, $sub): void {
            foreach ([$pool, $other, $sub] as $each) {
                $each->save($each->getItem('item')->set(1));
                $each->save($each->getItem('item2')->set(1)->tag('red'));
                $each->save($each->getItem('thing')->set(1));
            }
        };
        $hits = static fn(): string => implode(' ', array_map(static fn(LarderAdapter $each): string => (int) $each->hasItem('item') . (int) $each->hasItem('item2') . (int) $each->hasItem('thing'), [$pool, $other, $sub]));
        $fill();
        self::assertTrue($sub->clear());
        self::assertSame('111 111 000', $hits());
        $fill();
        self::assertTrue($pool->clear('item'));
        self::assertSame('001 111 111', $hits());
        $fill();
        self::assertTrue($pool->clear());
        self::assertSame('000 111 000', $hits());
        $fill();
        self::assertTrue((new LarderAdapter($cache))->clear());
        self::assertSame('000 000 000', $hits());
    }

    #[DataProvider('kinds')]
    public function testWhatWasComputedBeforeAnInvalidationDoesNotSurviveIt(string $kind): void
    {
        $cache = $this->pools->open($kind);
        $pool = new LarderAdapter($cache, 'pool');
        $invalidate = $kind === 'array'
            ? static fn(): bool => (new LarderAdapter($cache, 'pool'))->invalidateTags(['product'])
            : fn() => $this->elsewhere(fn(): bool => (new LarderAdapter($this->pools->open($kind), 'pool'))->invalidateTags(['product']));
        $value = $pool->get('page', static function (ItemInterface $item) use ($invalidate): string {
            $item->tag('product');
            $invalidate();

            return 'outdated';
        });
        self::assertSame('outdated', $value);
        self::assertFalse($pool->hasItem('page'));
        $pool->save($pool->getItem('page')->set('old')->tag('product'));
        $pool->get('page', static function (ItemInterface $item) use ($invalidate): string {
            self::assertTrue($item->isHit());
            $item->tag('product');
            $invalidate();

            return 'outdated';
        }, \INF);
        self::assertFalse($pool->hasItem('page'));
    }

    public function testAnItemIsComputedEarlyByOneWhileOthersServeIt(): void
    {
        $cache = $this->pools->open('SQLite');
        $pool = new LarderAdapter($cache, 'pool');
        $slow = static function (ItemInterface $item): string {
            $item->expiresAfter(1_000);
            usleep(2_000);

            return 'first';
        };
        self::assertSame('first', $pool->get('key', $slow, null, $metadata));
        self::assertEqualsWithDelta(time() + 1_000, $metadata[CacheItem::METADATA_EXPIRY], 2);
        self::assertGreaterThanOrEqual(2, $metadata[CacheItem::METADATA_CTIME]);
        self::assertSame('first', $pool->get('key', static fn(): string => 'second'));
        $seen = null;
        // A beta by which it is due at any chance.
        $early = $pool->get('key', static function (ItemInterface $item) use ($pool, &$seen): string {
            $seen = [$item->isHit(), $item->get(), $pool->get('key', static fn(): string => 'by another', 1e300)];

            return 'second';
        }, 1e300);
        self::assertSame(['second', [true, 'first', 'first']], [$early, $seen]);
        self::assertSame('second', $pool->get('key', static fn(): string => 'third', 1e300));
    }

    #[TestWith([false])]
    #[TestWith([true])]
    public function testAStoreThatFailsWhileAnItemIsComputedEarlyTakesNothingDown(bool $isStrict): void
    {
        foreach (['add', 'token', 'save', 'delete'] as $failing) {
            $chaos = new ChaosStore(new ArrayStore());
            $pool = new LarderAdapter(new Cache($chaos, strict: $isStrict), 'pool');
            $pool->setLogger(new MemoryLogger());
            $slow = static function (ItemInterface $item): string {
                $item->expiresAfter(1_000);
                usleep(2_000);

                return 'first';
            };
            self::assertSame('first', $pool->get('key', $slow));
            $chaos->before = static function (string $call) use ($chaos, $failing): void {
                $chaos->isDown = $chaos->isDown || str_starts_with($call, $failing);
            };
            self::assertSame('second', $pool->get('key', static fn(): string => 'second', \INF), $failing);
            $chaos->isDown = false;
        }
    }

    public function testACallbackMayNotHaveItsValueSaved(): void
    {
        $pool = new LarderAdapter($this->pools->open('array'));
        $refuse = static function (ItemInterface $item, bool &$save): int {
            $save = false;

            return 1;
        };
        self::assertSame(1, $pool->get('key', $refuse));
        self::assertFalse($pool->hasItem('key'));
        $pool->save($pool->getItem('key')->set(2));
        self::assertSame(1, $pool->get('key', $refuse, \INF));
        self::assertSame(2, $pool->getItem('key')->get());
    }

    public function testWhatACallbackThrowsIsThrown(): void
    {
        $pool = new LarderAdapter($this->pools->open('array'));
        $pool->save($pool->getItem('key')->set(2));
        foreach (['absent' => null, 'key' => \INF] as $key => $beta) {
            try {
                $pool->get($key, static fn(): never => throw new \DomainException('no'), $beta);
                self::fail('Nothing was thrown.');
            } catch (\DomainException $mistake) {
                self::assertSame('no', $mistake->getMessage());
            }
        }
    }

    #[DataProvider('kinds')]
    public function testSymfonysOwnWrappersKeepWhatTheyNeedInOurItems(string $kind): void
    {
        $ours = new LarderAdapter($this->pools->open($kind), 'pool');
        $clock = static function (ItemInterface $item): string {
            $item->expiresAfter(100)->tag(['red']);

            return 'computed';
        };
        foreach (['tags' => new TagAwareAdapter($ours), 'proxied tags' => new TagAwareAdapter(new ProxyAdapter($ours, 'proxy'))] as $key => $tagged) {
            self::assertSame('computed', $tagged->get($key, $clock));
            $again = new TagAwareAdapter($key === 'tags' ? $ours : new ProxyAdapter($ours, 'proxy'));
            $item = $again->getItem($key);
            self::assertSame([true, 'computed', ['red' => 'red']], [$item->isHit(), $item->get(), $item->getMetadata()[CacheItem::METADATA_TAGS]]);
            self::assertArrayHasKey(CacheItem::METADATA_EXPIRY, $item->getMetadata());
            $again->invalidateTags(['red']);
            self::assertFalse($again->hasItem($key));
        }
        $chain = new ChainAdapter([new ArrayAdapter(), $ours]);
        self::assertSame('in the chain', $chain->get('chained', static function (ItemInterface $item): string {
            $item->expiresAfter(100);

            return 'in the chain';
        }));
        $item = (new ChainAdapter([$near = new ArrayAdapter(), $ours]))->getItem('chained');
        self::assertSame('in the chain', $item->get());
        self::assertEqualsWithDelta(time() + 100, $item->getMetadata()[CacheItem::METADATA_EXPIRY], 2);
        self::assertTrue($near->hasItem('chained'));
        $chain = static fn(AdapterInterface $near): TagAwareAdapter => new TagAwareAdapter(new ChainAdapter([$near, $ours]));
        $first = $chain(new ArrayAdapter());
        $first->save($first->getItem('saved')->set('in the chain')->expiresAfter(100)->tag('red'));
        // A copy nearby ends with the item it is of.
        $item = $chain(new ArrayAdapter())->getItem('saved');
        self::assertSame('in the chain', $item->get());
        self::assertEqualsWithDelta(time() + 100, $item->getMetadata()[CacheItem::METADATA_EXPIRY] ?? 0, 2);
    }

    public function testAnIllegalKeyOrTagIsSymfonysException(): void
    {
        $pool = new LarderAdapter($this->pools->open('array'), 'pool');
        $mistakes = [
            static fn(): mixed => $pool->getItem('a{b'),
            static fn(): mixed => $pool->getItem(''),
            static fn(): mixed => iterator_to_array($pool->getItems([7])),
            static fn(): mixed => iterator_to_array($pool->getItems(['a', 'b:c'])),
            static fn(): mixed => $pool->hasItem('/'),
            static fn(): mixed => $pool->deleteItems(['a', '@']),
            static fn(): mixed => $pool->get('a\\b', static fn(): int => 1),
            static fn(): mixed => $pool->get('a', static fn(): int => 1, -1.0),
            static fn(): mixed => $pool->invalidateTags(['a:b']),
            static fn(): mixed => $pool->invalidateTags(['']),
            static fn(): mixed => $pool->withSubNamespace('a:b'),
            static fn(): mixed => new LarderAdapter('array:', 'a{b'),
        ];
        foreach ($mistakes as $number => $mistake) {
            try {
                $mistake();
                self::fail("Mistake {$number} passed.");
            } catch (InvalidArgumentException) {
                self::assertFalse($pool->hasItem('a'));
            }
        }
        self::assertTrue($pool->save($pool->getItem($long = str_repeat('k', 100_000))->set('long')->tag(str_repeat('t', 1_000))));
        self::assertSame('long', $pool->getItem($long)->get());
        self::assertFalse($pool->hasItem($long . 'k'));
        $pool->invalidateTags([str_repeat('t', 1_000)]);
        self::assertFalse($pool->hasItem($long));
    }

    /** Symfony's own pools look for reserved characters by assertions alone, which are off where a site is at work. */
    public function testWithoutAssertionsAReservedCharacterIsOneAsAnyOther(): void
    {
        $pool = new LarderAdapter($this->pools->open('array'), 'pool');
        ini_set('zend.assertions', '0');
        try {
            foreach ([new TagAwareAdapter(new ArrayAdapter()), $pool] as $one) {
                self::assertTrue($one->save($one->getItem('{a}(b)/c\\d@e:f')->set(1)->tag('red')));
                self::assertSame([1, 1], [$one->getItem('{a}(b)/c\\d@e:f')->get(), $one->get('{a}(b)/c\\d@e:f', static fn(): int => 2)]);
                self::assertSame(2, $one->get('a::b', static fn(): int => 2));
                self::assertTrue($one->deleteItems(['a::b', 'x/y']));
                self::assertSame([false, true], [$one->hasItem('a::b'), $one->hasItem('{a}(b)/c\\d@e:f')]);
                self::assertTrue($one->invalidateTags(['blue/1', 'red']));
                self::assertFalse($one->hasItem('{a}(b)/c\\d@e:f'));
            }
        } finally {
            ini_set('zend.assertions', '1');
        }
        $this->expectException(InvalidArgumentException::class);
        $pool->getItem('a/b');
    }

    public function testAKeyThatIsAskedForTwiceComesOnce(): void
    {
        foreach ([new TagAwareAdapter(new ArrayAdapter()), new LarderAdapter('array:', 'pool')] as $pool) {
            $pool->save($pool->getItem('7')->set(1));
            $keys = [];
            foreach ($pool->getItems(['7', 'a', '7', 'a']) as $key => $item) {
                $keys[] = [(string) $key, $item->isHit()];
            }
            self::assertEqualsCanonicalizing([['7', true], ['a', false]], $keys);
        }
    }

    public function testACommandThatWaitsForASignalSeesIt(): void
    {
        $dsn = "array: > {$this->pools->dsn('SQLite')}";
        $pool = new LarderAdapter($dsn, 'pool');
        $other = new LarderAdapter($dsn, 'pool');
        $reads = [
            static fn(): mixed => $pool->getItem('signal')->get(),
            static fn(): mixed => $pool->get('signal', static fn(): string => 'computed'),
            static fn(): mixed => array_values(iterator_to_array($pool->getItems(['another', 'signal'])))[1]->get(),
            static fn(): mixed => $pool->hasItem('signal') ? 'go on' : 'stop',
        ];
        foreach ($reads as $number => $read) {
            $other->save($other->getItem('signal')->set('go on'));
            $other->deleteItem('another');
            usleep(1_100_000);
            $seen = [$read()];
            for ($tries = 0; $tries < 30 && $seen !== ['go on', 'stop']; $tries++) {
                $number === 3 ? $other->deleteItem('signal') : $other->save($other->getItem('signal')->set('stop'));
                usleep(100_000);
                $seen[1] = $read();
            }
            self::assertSame(['go on', 'stop'], $seen, (string) $number);
        }
    }

    public function testAValueThatCannotBeStoredIsFalseAndSymfonysLogLine(): void
    {
        $logger = new MemoryLogger();
        $pool = new LarderAdapter($this->pools->open('SQLite'), 'pool');
        $pool->setLogger($logger);
        $pool->save($pool->getItem('closure')->set('older'));
        $pool->saveDeferred($pool->getItem('good')->set('good'));
        self::assertFalse($pool->save($pool->getItem('closure')->set(static fn(): int => 1)));
        self::assertSame(['warning: Failed to save key "{key}" of type Closure.'], $logger->lines);
        self::assertSame('closure', $logger->contexts[0]['key']);
        self::assertFalse($pool->hasItem('closure'));
        self::assertTrue($pool->hasItem('good'));
        $computed = $pool->get('computed', static fn(): \Closure => static fn(): int => 5);
        self::assertSame(5, \is_callable($computed) ? $computed() : null);
        self::assertCount(2, $logger->lines);
    }

    public function testAValueThatOthersHaveOutdatedIsFalseAndNoWarning(): void
    {
        $logger = new MemoryLogger();
        $pool = new LarderAdapter($this->pools->open('SQLite'), 'pool');
        $pool->setLogger($logger);
        $item = $pool->getItem('page')->tag('product');
        $this->elsewhere(fn(): bool => (new LarderAdapter($this->pools->open('SQLite'), 'pool'))->invalidateTags(['product']));
        self::assertFalse($pool->save($item->set('outdated')));
        self::assertSame(['notice: Failed to save key "{key}" of type string.'], $logger->lines);
        self::assertSame('page', $logger->contexts[0]['key']);
    }

    public function testOneItemIsSavedAsManyAreForAsLongAsItSays(): void
    {
        $cache = $this->pools->open('shared memory');
        $pool = new LarderAdapter($cache, 'pool');
        $expiry = static fn(string $key): ?int => $cache->fetch(["pool:{$key}"])->items["pool:{$key}"]->expiry ?? null;
        self::assertTrue($pool->save($pool->getItem('endless')->set(1)));
        self::assertTrue($pool->save($pool->getItem('far')->set(2)->expiresAt(new \DateTimeImmutable('9999-01-01'))));
        self::assertTrue($pool->save($pool->getItem('short')->set(3)->expiresAfter(100)));
        self::assertTrue($pool->save($pool->getItem('over')->set(4)->expiresAfter(-1)));
        self::assertSame([1, 2, 3, null], array_map(static fn(string $key): mixed => $pool->getItem($key)->get(), ['endless', 'far', 'short', 'over']));
        self::assertSame([null, null], [$expiry('endless'), $expiry('far')]);
        self::assertEqualsWithDelta(time() + 100, $expiry('short'), 2);
    }

    public function testAFailingStoreIsMissesAndFalseAndNoException(): void
    {
        foreach ([false, true] as $strict) {
            $chaos = new ChaosStore(new ArrayStore());
            $logger = new MemoryLogger();
            $pool = new LarderAdapter(new Cache($chaos, strict: $strict), 'pool');
            $pool->setLogger($logger);
            $pool->save($pool->getItem('key')->set('there')->tag('red'));
            $chaos->isDown = true;
            self::assertFalse($pool->getItem('key')->isHit());
            self::assertFalse($pool->hasItem('key'));
            self::assertFalse([...$pool->getItems(['key'])]['key']->isHit());
            self::assertSame('computed', $pool->get('key', static fn(): string => 'computed'));
            self::assertFalse($pool->save($pool->getItem('key')->set('newer')));
            self::assertFalse($pool->deleteItem('key'));
            self::assertFalse($pool->invalidateTags(['red']));
            self::assertFalse($pool->clear());
            self::assertFalse($pool->prune());
            $pool->reset();
            self::assertNotSame([], $logger->lines);
            $chaos->isDown = false;
            self::assertFalse($pool->getItem('key')->isHit());
        }
    }

    public function testDeferredItemsAreSavedAtTheLatestWhenThePoolEnds(): void
    {
        $cache = $this->pools->open('array');
        $pool = new LarderAdapter($cache, 'pool', 100);
        $items = [...$pool->getItems(['a', 'b', 'dead'])];
        $pool->saveDeferred($items['a']->set(1)->expiresAfter(50));
        $pool->saveDeferred($items['b']->set(2)->tag('red'));
        $pool->saveDeferred($items['dead']->set(3)->expiresAfter(-1));
        self::assertNull($cache->get('pool:a'));
        unset($pool);
        $pool = new LarderAdapter($cache, 'pool');
        self::assertSame([1, 2, false], [$pool->getItem('a')->get(), $pool->getItem('b')->get(), $pool->hasItem('dead')]);
        $expiry = $cache->store->fetch(['pool:a', 'pool:b'])->items;
        self::assertEqualsWithDelta(time() + 50, $expiry['pool:a']->expiry, 2);
        self::assertEqualsWithDelta(time() + 100, $expiry['pool:b']->expiry, 2);
    }

    public function testDeferredItemsAreStoredTogetherThoughOthersAreReadMeanwhile(): void
    {
        $events = new EventList();
        $written = static fn(): array => array_values(array_map(static fn(Written $event): array => $event->keys, array_filter($events->events, static fn(object $event): bool => $event instanceof Written)));
        $pool = new LarderAdapter(new Cache(new ArrayStore(), events: $events), 'pool');
        foreach (['a', 'b', '7'] as $key) {
            $item = $pool->getItem($key);
            $pool->saveDeferred($item->set("of {$key}"));
            $pool->hasItem("beside {$key}");
            $pool->get("beside {$key}", static function (ItemInterface $item, bool &$save): int {
                $save = false;

                return 1;
            });
            iterator_to_array($pool->getItems(["beside {$key}", 'c']));
        }
        self::assertSame([], $written());
        $pool->commit();
        self::assertSame([['pool:a', 'pool:b', 'pool:7']], $written());
    }

    /** Symfony's own pools store what is deferred when tags are invalidated no sooner than here, which a test of theirs asks for. */
    #[DataProvider('kinds')]
    public function testWhatIsDeferredIsStoredWithWhatIsComputedAndDiesWithItsTag(string $kind): void
    {
        foreach ([new TagAwareAdapter(new ArrayAdapter()), new LarderAdapter($this->pools->open($kind), 'pool')] as $pool) {
            $pool->saveDeferred($pool->getItem('red')->set(1)->tag('red'));
            self::assertSame(1, $pool->get('other', static fn(): int => 1));
            $pool->saveDeferred($pool->getItem('later')->set(1)->tag('red'));
            self::assertTrue($pool->invalidateTags(['red']));
            self::assertSame([false, true], [$pool->hasItem('red'), $pool->hasItem('later')]);
        }
    }

    public function testADeferredItemIsReadAsItWasSaved(): void
    {
        $reads = [
            'get' => static fn(LarderAdapter $pool): mixed => $pool->get('7', static fn(): string => 'computed'),
            'getItem' => static fn(LarderAdapter $pool): mixed => $pool->getItem('7')->get(),
            'getItems' => static fn(LarderAdapter $pool): mixed => iterator_to_array($pool->getItems(['other', '7']), false)[1]->get(),
            'hasItem' => static fn(LarderAdapter $pool): mixed => $pool->hasItem('7') ? 'deferred' : 'absent',
        ];
        foreach ($reads as $name => $read) {
            $pool = new LarderAdapter($this->pools->open('array'), 'pool');
            $pool->saveDeferred($pool->getItem('7')->set('deferred'));
            self::assertSame('deferred', $read($pool), $name);
        }
    }

    public function testAValueThatLooksLikeOneWithMetadataComesBackAsItWas(): void
    {
        $cache = $this->pools->open('array');
        $pool = new LarderAdapter($cache);
        $pool->save($pool->getItem('tagged')->set('x')->tag('red'));
        $looksLike = $cache->get('tagged');
        self::assertIsArray($looksLike);
        $pool->save($pool->getItem('copy')->set($looksLike));
        self::assertSame($looksLike, $pool->getItem('copy')->get());
        self::assertSame($looksLike, $pool->get('copy', static fn(): int => 1));
    }

    /**
     * In another process: to a pool of shared memory, what a process does itself is not news.
     *
     * @param \Closure(): mixed $do
     */
    private function elsewhere(\Closure $do): void
    {
        Crowd::of(1, static function () use ($do): void {
            $do();
        });
    }
}
