<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Cache;

use Larder\Cache;
use Larder\Cache\Gate;
use Larder\Cache\Losses;
use Larder\Cache\Outbox;
use Larder\Exception\StoreUnavailable;
use Larder\Health;
use Larder\Store\ArrayStore;
use Larder\Store\ChaosStore;
use Larder\Store\NamespacedStore;
use Larder\Tests\MemoryLogger;
use Larder\Tests\Scratch;
use Larder\Trace\RecordingStore;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Psr\Log\AbstractLogger;

/** What becomes of a cache whose store fails, and of what the store did not learn of. */
#[CoversClass(Gate::class)]
#[CoversClass(Outbox::class)]
#[CoversClass(Losses::class)]
#[CoversClass(Health::class)]
#[CoversClass(StoreUnavailable::class)]
final class OutboxTest extends TestCase
{
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

    /** @return iterable<string, array{\Closure(Cache): bool, list<string>}> what is lost in "menus", and what is dead then */
    public static function lossesInParts(): iterable
    {
        yield 'a tag of the whole' => [static fn(Cache $cache): bool => $cache->invalidateTags(['tag']), ['', 'menus', 'menus/sub', 'other']];
        yield 'a tag of a part' => [static fn(Cache $cache): bool => $cache->namespace('menus')->invalidateTags(['tag']), ['', 'menus', 'menus/sub', 'other']];
        yield 'a tag of a part in it' => [static fn(Cache $cache): bool => $cache->namespace('menus')->namespace('sub')->invalidateTags(['tag']), ['', 'menus', 'menus/sub', 'other']];
        yield 'a clear of the whole' => [static fn(Cache $cache): bool => $cache->clear(), ['', 'menus', 'menus/sub', 'other']];
        yield 'a clear of a part' => [static fn(Cache $cache): bool => $cache->namespace('menus')->clear(), ['menus', 'menus/sub']];
        yield 'a delete in a part' => [static fn(Cache $cache): bool => $cache->namespace('menus')->delete('key'), ['menus']];
        yield 'a delete' => [static fn(Cache $cache): bool => $cache->delete('key'), ['']];
    }

    /**
     * @param \Closure(Cache): bool $lose
     * @param list<string>          $dead
     */
    #[DataProvider('lossesInParts')]
    public function testNoPartReadsWhatAnyOtherHasLost(\Closure $lose, array $dead): void
    {
        foreach ([false, true] as $isAnotherProcess) {
            $paths = ['', 'menus', 'menus/sub', 'other'];
            foreach ($isAnotherProcess ? $paths : [...$paths, ...$paths] as $number => $first) {
                $scratch = new Scratch();
                $chaos = new ChaosStore(new ArrayStore());
                $open = static fn(): Cache => new Cache($chaos, logger: new MemoryLogger(), journal: $isAnotherProcess ? "{$scratch->path}/journal" : null);
                $cache = $open();
                foreach ($paths as $path) {
                    self::part($cache, $path)->set('key', 'old', tags: ['tag']);
                }
                $chaos->isDown = true;
                self::assertFalse($lose($cache));
                if ($number >= \count($paths)) {
                    // It is then known to be down in all parts.
                    array_map(static fn(string $path): mixed => self::part($cache, $path)->get('key'), $paths);
                }
                $chaos->isDown = false;
                $reader = $isAnotherProcess ? $open() : $cache;
                foreach ([$first, ...$paths] as $path) {
                    self::assertSame(\in_array($path, $dead, true) ? null : 'old', self::part($reader, $path)->get('key'), "\"{$path}\", when \"{$first}\" is read first");
                }
                foreach ($paths as $path) {
                    self::assertFalse(self::part($reader, $path)->health()->isFlagged());
                }
            }
        }
    }

    public function testAPartTellsOfWhatTheWholeHasMissed(): void
    {
        $chaos = new ChaosStore(new ArrayStore());
        $cache = new Cache($chaos, logger: new MemoryLogger());
        $part = $cache->namespace('menus');
        $chaos->isDown = true;
        self::assertFalse($part->invalidateTags(['tag']));
        self::assertFalse($cache->delete('key'));
        self::assertFalse($part->clear());
        foreach ([[$cache, 1, false], [$part, 1, true], [$cache->namespace('other'), 1, false]] as [$each, $keys, $clears]) {
            self::assertSame([$keys, 1, $clears], [$each->health()->undelivered, $each->health()->undeliveredTags, $each->health()->clearPending]);
        }
    }

    private static function part(Cache $cache, string $path): Cache
    {
        return array_reduce($path === '' ? [] : explode('/', $path), static fn(Cache $whole, string $name): Cache => $whole->namespace($name), $cache);
    }

    /** @return iterable<string, array{\Closure(Cache): bool}> */
    public static function debts(): iterable
    {
        yield 'a tag' => [static fn(Cache $cache): bool => $cache->invalidateTags(['tag'])];
        yield 'a delete' => [static fn(Cache $cache): bool => $cache->delete('key')];
        yield 'a tag and a clear' => [static fn(Cache $cache): bool => $cache->invalidateTags(['tag']) || $cache->clear()];
    }

    /** @param \Closure(Cache): bool $owe */
    #[DataProvider('debts')]
    public function testAClearOfTheWholeIsMoreThanWhatCannotBeDelivered(\Closure $owe): void
    {
        $chaos = new ChaosStore();
        $cache = new Cache($chaos);
        $cache->set('key', 'old', tags: ['tag']);
        $this->refuse($chaos, 'invalidateTags', 'delete', 'clear');
        self::assertFalse($owe($cache));
        self::assertNull($cache->get('key'));
        $this->refuse($chaos, 'invalidateTags', 'delete');
        self::assertTrue($cache->clear());
        self::assertFalse($cache->health()->isFlagged());
        self::assertTrue($cache->set('key', 'new'));
        self::assertSame('new', $cache->get('key'));
    }

    public function testAClearThatIsOwedIsMoreThanWhatCannotBeDelivered(): void
    {
        $chaos = new ChaosStore();
        $cache = new Cache($chaos);
        $cache->set('key', 'old', tags: ['tag']);
        $this->refuse($chaos, 'invalidateTags', 'delete', 'clear');
        self::assertFalse($cache->invalidateTags(['tag']));
        self::assertFalse($cache->clear());
        self::assertFalse($cache->delete('key'));
        $this->refuse($chaos, 'invalidateTags', 'delete');
        self::assertTrue($cache->set('key', 'new'));
        self::assertSame('new', $cache->get('key'));
        self::assertFalse($cache->health()->isFlagged());
    }

    /** What else the whole has may carry the tag. */
    public function testTheClearOfANamespaceLeavesTheTagsOwed(): void
    {
        $chaos = new ChaosStore();
        $part = (new Cache($chaos))->namespace('shop');
        (new Cache($chaos))->set('beside', 'old', tags: ['tag']);
        $chaos->isDown = true;
        self::assertFalse($part->invalidateTags(['tag']));
        $chaos->isDown = false;
        $part->clear();
        self::assertNull((new Cache($chaos))->get('beside'));
    }

    private function refuse(ChaosStore $chaos, string ...$calls): void
    {
        $chaos->before = static function (string $call) use ($calls): void {
            if (\in_array($call, $calls, true)) {
                throw StoreUnavailable::because('The store of chaos', "it takes no {$call}()", 'look at the test that said so');
            }
        };
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
    /** Such as one that keeps in the cache what it has told already. */
    public function testALoggerMayUseTheCacheWhoseFailureItIsTold(): void
    {
        foreach ([false, true] as $isInNamespace) {
            $chaos = new ChaosStore(new ArrayStore());
            $logger = new class extends AbstractLogger {
                /** @var list<string> */
                public array $messages = [];

                public ?Cache $cache = null;

                public function log(mixed $level, string|\Stringable $message, array $context = []): void
                {
                    $this->messages[] = (string) $message;
                    \PHPUnit\Framework\Assert::assertLessThan(10, \count($this->messages));
                    $this->cache?->get('told');
                    $this->cache?->set('told', $this->messages);
                    $this->cache?->invalidateTags(['told']);
                }
            };
            $cache = new Cache($chaos, logger: $logger);
            $logger->cache = $isInNamespace ? $cache->namespace('log') : $cache;
            $cache->set('key', 'old');
            $chaos->isDown = true;
            self::assertFalse($cache->delete('key'));
            $chaos->isDown = false;
            self::assertNull($cache->get('key'));
            self::assertFalse($cache->health()->isFlagged());
            self::assertContains('The cache\'s store is available again.', $logger->messages);
            self::assertContains('The cache\'s store has been told what it had missed.', $logger->messages);
        }
    }

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
            self::assertCount(4 * $minute, $logger->lines);
            $now += 60.0;
        }
        self::assertSame(['error', 'error', 'notice', 'notice'], array_map(static fn(string $line): string => (string) strtok($line, ':'), \array_slice($logger->lines, 0, 4)));
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

    public function testWhatIsLostIsLoggedOnceAMinuteWithTheNumberOfWhatWasNot(): void
    {
        $store = new ChaosStore();
        $logger = new MemoryLogger();
        $now = 1_000_000.0;
        $cache = new Cache($store, logger: $logger, clock: static function () use (&$now): float {
            return $now;
        });
        $store->isDown = true;
        for ($minute = 0; $minute < 3; $minute++) {
            self::assertFalse($cache->deleteMany(["first {$minute}", 'too']));
            self::assertFalse($cache->delete('second'));
            self::assertFalse($cache->invalidateTags(['third']));
            $now += 60.0;
        }
        $missed = self::said($logger, 'error: The cache\'s store has missed a delete');
        self::assertSame([['first 0', 'too'], ['first 1', 'too'], ['first 2', 'too']], array_column($missed, 'keys'));
        self::assertSame([0, 2, 2], array_column($missed, 'others since the last line'));
        self::assertSame([], self::said($logger, 'notice: The cache\'s store has been told'), 'It has not.');
        $store->isDown = false;
        $cache->get('key');
        $cache->get('key');
        self::assertSame([9], array_column(self::said($logger, 'notice: The cache\'s store has been told'), 'calls'));
        unset($cache);
        self::assertSame([], self::said($logger, 'error: The cache\'s store has missed more'), 'All of it was told.');
    }

    /** Outages of less than a minute apart, too: what is lost in the second one is told at the latest when the cache goes. */
    public function testNoLossIsSilentHoweverOftenTheStoreComesAndGoes(): void
    {
        $store = new ChaosStore();
        $logger = new MemoryLogger();
        $now = 1_000_000.0;
        $cache = new Cache($store, logger: $logger, clock: static function () use (&$now): float {
            return $now;
        });
        for ($outage = 0; $outage < 500; $outage++) {
            $store->isDown = true;
            self::assertFalse($cache->delete('key'));
            $store->isDown = false;
            self::assertNull($cache->get('key'));
            $now += 1.0;
        }
        unset($cache);
        $missed = self::said($logger, 'error: The cache\'s store has missed a delete');
        self::assertCount(9, $missed);
        $more = self::said($logger, 'error: The cache\'s store has missed more');
        self::assertSame(500, \count($missed) + array_sum(array_column($missed, 'others since the last line')) + array_sum(array_column($more, 'calls')));
        self::assertCount(1, $more);
        self::assertCount(9, self::said($logger, 'notice: The cache\'s store has been told'));
    }

    /** @return list<array<mixed>> the contexts of the lines that begin so */
    private static function said(MemoryLogger $logger, string $beginning): array
    {
        return array_values(array_intersect_key($logger->contexts, array_filter($logger->lines, static fn(string $line): bool => str_starts_with($line, $beginning))));
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
}
