<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Remember;

use Larder\Cache;
use Larder\Draft;
use Larder\Exception\InvalidOption;
use Larder\Exception\InvalidTag;
use Larder\Item;
use Larder\Remember\Envelope;
use Larder\Remember\Patience;
use Larder\Remember\Remembering;
use Larder\Store\ArrayStore;
use Larder\Store\ChaosStore;
use Larder\Tests\EventList;
use Larder\Tests\MemoryLogger;
use Larder\Ttl;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/** Two caches over one store are to each other like two processes. */
#[CoversClass(Remembering::class)]
#[CoversClass(Envelope::class)]
#[CoversClass(Patience::class)]
final class RememberingTest extends TestCase
{
    private float $now = 1_000_000.0;

    private readonly ArrayStore $store;

    private readonly MemoryLogger $logger;

    protected function setUp(): void
    {
        $this->store = new ArrayStore(clock: fn(): int => (int) $this->now);
        $this->logger = new MemoryLogger();
    }

    /** @return iterable<string, array{bool}> */
    public static function ways(): iterable
    {
        yield 'directly' => [true];
        yield 'through fetch' => [false];
    }

    #[DataProvider('ways')]
    public function testAValueIsComputedEarlyTheLikelierTheNearerItsEnd(bool $isDirect): void
    {
        $early = [50 => 0, 90 => 0, 98 => 0, 99 => 0];
        foreach ([50, 90, 98, 99] as $age) {
            for ($i = 0; $i < 200; $i++) {
                $this->now = 1_000_000.0;
                $cache = $this->cache($isDirect);
                $this->store->save([new Item('key', (new Envelope('old', 1.0, $this->now + 100.0))->sealed(), 100)]);
                $this->now += $age;
                $early[$age] += $cache->remember('key', self::gives('new'), 100) === 'new' ? 1 : 0;
            }
        }
        // The chance is exp(-left / cost): about 0, 0.00005, 0.14 and 0.37.
        self::assertSame(0, $early[50]);
        self::assertLessThan(5, $early[90]);
        self::assertGreaterThan(6, $early[98]);
        self::assertLessThan(60, $early[98]);
        self::assertGreaterThan(35, $early[99]);
        self::assertLessThan(125, $early[99]);
    }

    public function testEarlinessOfZeroIsNeverEarlyAndMoreIsEarlier(): void
    {
        $computed = [0 => 0, 1_000 => 0];
        foreach ([0, 1_000] as $earliness) {
            for ($i = 0; $i < 50; $i++) {
                $this->store->save([new Item('key', (new Envelope('old', 0.5, $this->now + 100.0))->sealed(), 100)]);
                $computed[$earliness] += $this->cache()->remember('key', self::gives('new'), 100, earliness: $earliness) === 'new' ? 1 : 0;
            }
        }
        self::assertSame(0, $computed[0]);
        self::assertGreaterThan(25, $computed[1_000]);
    }

    public function testWhatWasCostlyIsComputedEarlyAgain(): void
    {
        $cache = $this->cache();
        $computed = 0;
        $compute = static function () use (&$computed): string {
            usleep(2_000);

            return 'value ' . ++$computed;
        };
        for ($i = 0; $i < 20 && $computed < 2; $i++) {
            $this->now = 1_000_000.0;
            $computed = 0;
            $cache->delete('key');
            $cache->remember('key', $compute, 10);
            // A moment before the end, about a tenth of what it cost.
            $this->now += 9.9998;
            $cache->remember('key', $compute, 10);
        }
        self::assertSame(2, $computed);
        self::assertSame('value 2', $cache->get('key'));
    }

    public function testWhileOneComputesTheOthersServeWhatIsStale(): void
    {
        $cache = $this->cache();
        $other = $this->cache();
        $cache->remember('key', self::gives('old'), 10, grace: 60);
        $this->now += 15;
        $value = $cache->remember('key', function () use ($other): string {
            self::assertSame('old', $other->remember('key', self::nobody(...), 10, grace: 60));

            return 'new';
        }, 10, grace: 60);
        self::assertSame('new', $value);
        self::assertSame('new', $other->remember('key', self::gives('newer'), 10, grace: 60));
    }

    #[DataProvider('ways')]
    public function testWhatIsPastItsTimeIsForRememberOnly(bool $isDirect): void
    {
        $cache = $this->cache($isDirect);
        $cache->remember('key', self::gives('old'), 10, grace: 60);
        self::assertSame('old', $cache->get('key'));
        self::assertSame(['key' => 'old'], $cache->getMany(['key']));
        $this->now += 10;
        self::assertSame('default', $cache->get('key', 'default'));
        self::assertFalse($cache->has('key'));
        self::assertSame([], $cache->getMany(['key']));
        self::assertSame('default', $cache->pull('key', 'default'));
    }

    public function testNothingIsServedPastTheGraceThatWasAskedFor(): void
    {
        foreach ([[60, 60, 71], [60, 5, 16], [60, 0, 11], [0, 60, 11]] as [$stored, $asked, $age]) {
            $this->now = 1_000_000.0;
            $cache = $this->cache();
            $cache->clear();
            $cache->remember('key', self::gives('old'), 10, grace: $stored);
            $this->now += $age;
            try {
                $cache->remember('key', self::down(...), 10, grace: $asked);
                self::fail("Something stale was served with a grace of {$stored} and {$asked} after {$age}.");
            } catch (\DomainException $failure) {
                self::assertSame('down', $failure->getMessage());
            }
        }
    }

    public function testAComputationThatFailsIsCoveredByGraceAndLogged(): void
    {
        $cache = $this->cache();
        $cache->remember('key', self::gives('old'), 10, grace: 60);
        $this->now += 15;
        $failed = 0;
        $compute = static function () use (&$failed): mixed {
            $failed++;

            return self::down();
        };
        for ($i = 0; $i < 2; $i++) {
            self::assertSame('old', $cache->remember('key', $compute, 10, grace: 60));
        }
        self::assertSame(1, $failed, 'Nobody tries again at once.');
        self::assertCount(1, $this->logger->lines);
        self::assertStringStartsWith('warning: A value could not be computed anew', $this->logger->lines[0]);
        $this->now += 2;
        self::assertSame('new', $cache->remember('key', self::gives('new'), 10, grace: 60));
    }

    public function testAComputationThatFailsWhileTheValueLivesIsCoveredWithoutGrace(): void
    {
        $this->store->save([new Item('key', (new Envelope('old', 1_000.0, $this->now + 1.0))->sealed(), 1)]);
        $value = $this->cache()->remember('key', self::down(...), 10, earliness: 1_000.0);
        self::assertSame('old', $value);
        self::assertCount(1, $this->logger->lines);
    }

    public function testWithNothingStaleTheOthersWaitForTheirLimitAndCompute(): void
    {
        $cache = $this->cache();
        $other = $this->cache();
        $patience = new Patience(hard: 0.05);
        $value = $cache->remember('key', static function () use ($other, $patience): string {
            $began = hrtime(true);
            self::assertSame('other', $other->remember('key', self::gives('other'), 10, patience: $patience));
            self::assertGreaterThan(49_000_000, hrtime(true) - $began);

            return 'one';
        }, 10, patience: $patience);
        self::assertSame('one', $value);
    }

    public function testOneWhoWaitsForSomethingFreshTakesItAsSoonAsItIsThere(): void
    {
        $cache = $this->cache();
        $other = $this->cache();
        $cache->remember('key', self::gives('old'), 10, grace: 60);
        $this->now += 15;
        $cache->remember('key', function () use ($other): string {
            $patience = new Patience(soft: 0.05);
            $began = hrtime(true);
            self::assertSame('old', $other->remember('key', self::nobody(...), 10, grace: 60, patience: $patience));
            self::assertGreaterThan(49_000_000, hrtime(true) - $began);
            $this->store->save([new Item('key', 'set meanwhile', 100)]);
            self::assertSame('set meanwhile', $other->remember('key', self::nobody(...), 10, grace: 60, patience: $patience));

            return 'new';
        }, 10, grace: 60);
    }

    public function testWithoutALeaseWhoeverMissesComputes(): void
    {
        $cache = $this->cache();
        $other = $this->cache();
        $none = new Patience(lease: 0.0);
        $cache->remember('key', static function () use ($other, $none): string {
            self::assertSame('other', $other->remember('key', self::gives('other'), patience: $none));

            return 'one';
        }, patience: $none);
        self::assertSame('one', $cache->get('key'));
    }

    public function testAfterAComputationInVainNobodyWaits(): void
    {
        $cache = $this->cache();
        $other = $this->cache();
        foreach (['throws', 'stores nothing', 'is dead at once'] as $i => $how) {
            try {
                $cache->remember("key {$i}", static function (Draft $draft) use ($how): string {
                    match ($how) {
                        'throws' => throw new \DomainException(),
                        'stores nothing' => $draft->doNotStore(),
                        default => $draft->expireAfter(0),
                    };

                    return 'vain';
                });
            } catch (\DomainException) {
            }
            $cache->remember("key {$i}", static function () use ($other, $i): string {
                self::assertSame('other', $other->remember("key {$i}", self::gives('other')));

                return 'one';
            });
        }
    }

    public function testAComputationThatAsksForItselfDoesNotWaitForItself(): void
    {
        $cache = $this->cache();
        $value = $cache->remember('key', static fn(): array => ['outer', $cache->remember('key', self::gives('inner'))]);
        self::assertSame(['outer', 'inner'], $value);
        self::assertSame(['outer', 'inner'], $cache->get('key'));
    }

    public function testWhatIsPutOffIsServedStaleAndComputedAtTheEnd(): void
    {
        $cache = $this->cache();
        $later = new Patience(afterResponse: true);
        self::assertSame('old', $cache->remember('key', self::gives('old'), 10, grace: 60, patience: $later), 'Nothing can be served yet.');
        $this->now += 15;
        self::assertSame('old', $cache->remember('key', self::gives('new'), 10, grace: 60, patience: $later));
        self::assertSame('old', $this->cache()->remember('key', self::nobody(...), 10, grace: 60));
        self::assertFalse($cache->has('key'));
        $cache->finish();
        self::assertSame('new', $cache->get('key'));
        $this->now += 15;
        self::assertSame('new', $cache->remember('key', self::down(...), 10, grace: 60, patience: $later));
        $cache->finish();
        self::assertCount(1, $this->logger->lines);
    }

    public function testADraftAddsTagsThatAreChecked(): void
    {
        $draft = new Draft('key', null, ['a']);
        $draft->tag('b', 'a', 'c');
        self::assertSame(['a', 'b', 'c'], $draft->tags());
        $this->expectException(InvalidTag::class);
        $this->cache()->remember('key', static function (Draft $draft): void {
            $draft->tag('');
        });
    }

    #[DataProvider('ways')]
    public function testATouchGivesWhatIsSealedAnotherTime(bool $isDirect): void
    {
        $cache = $this->cache($isDirect);
        $cache->remember('key', self::gives('value'), 10, grace: 5);
        self::assertTrue($cache->touch('key', 100));
        $this->now += 99;
        self::assertSame('value', $cache->get('key'));
        self::assertSame('value', $cache->remember('key', self::gives('new'), 10, earliness: 0.0));
        self::assertTrue($cache->touch('key', Ttl::Forever));
        $this->now += 1_000_000;
        self::assertSame('value', $cache->get('key'));
        self::assertTrue($cache->touch('key', 5));
        $this->now += 5;
        self::assertNull($cache->get('key'));
        self::assertFalse($cache->touch('key', 5));
    }

    public function testACounterIsNeverSealed(): void
    {
        $cache = $this->cache();
        $cache->remember('n', static function (): int {
            usleep(2_000);

            return 5;
        }, 100, grace: 100);
        self::assertSame(6, $cache->increment('n'));
    }

    public function testAValueThatLooksLikeAnEnvelopeIsAValue(): void
    {
        $cache = $this->cache();
        foreach ([(new Envelope('x', 1.0, 5.0, 3))->sealed(), [Envelope::MARK], [Envelope::MARK, 1, 2, 3, 4]] as $value) {
            $cache->set('set', $value);
            $cache->setMany(['many' => $value]);
            $cache->add('added', $value, 100);
            $cache->replace('added', $value);
            $cache->remember('remembered', static fn(): array => $value, Ttl::Forever);
            foreach (['set', 'many', 'added', 'remembered'] as $key) {
                self::assertSame($value, $cache->get($key));
                self::assertSame([$key => $value], $cache->getMany([$key]));
                self::assertSame($value, $cache->remember($key, static fn(): int => 1));
            }
            $cache->clear();
        }
    }

    public function testRememberForever(): void
    {
        $cache = $this->cache();
        self::assertSame('once', $cache->rememberForever('key', self::gives('once')));
        $this->now += 1e9;
        self::assertSame('once', $cache->rememberForever('key', self::gives('twice')));
    }

    public function testAStoreThatFailsInBetweenCostsNobodyTheirValue(): void
    {
        $store = new ChaosStore();
        $cache = new Cache($store);
        $value = $cache->remember('key', static function () use ($store): string {
            $store->isDown = true;

            return 'value';
        });
        self::assertSame('value', $value);
        self::assertSame('again', $cache->remember('key', self::gives('again')));
        $store->isDown = false;
        self::assertSame('back', $cache->remember('key', self::gives('back'), patience: new Patience(hard: 0.0)));
    }

    public function testWrongOptionsAreOneClearError(): void
    {
        $compute = static fn(): int => 1;
        $calls = [
            fn(): mixed => $this->cache()->remember('key', $compute, grace: -1),
            fn(): mixed => $this->cache()->remember('key', $compute, earliness: -0.1),
            fn(): mixed => $this->cache()->remember('key', $compute, earliness: \NAN),
            static fn(): Patience => new Patience(lease: -1.0),
            static fn(): Patience => new Patience(lease: \NAN),
            static fn(): Patience => new Patience(soft: -1.0),
            static fn(): Patience => new Patience(hard: \INF),
            static fn(): Patience => new Patience(retry: -0.5),
            fn(): Cache => new Cache($this->store, jitter: 0.6),
            fn(): Cache => new Cache($this->store, jitter: \NAN),
        ];
        foreach ($calls as $call) {
            try {
                $call();
                self::fail('A wrong option was taken.');
            } catch (InvalidOption $mistake) {
                self::assertMatchesRegularExpression('/^The option ".+" is .+; it must be .+\.$/', $mistake->getMessage());
            }
        }
    }

    /** @return \Closure(): mixed */
    private static function gives(mixed $value): \Closure
    {
        return static fn(): mixed => $value;
    }

    private static function down(): mixed
    {
        throw new \DomainException('down');
    }

    private static function nobody(): mixed
    {
        self::fail('Two computed.');
    }

    private function cache(bool $isDirect = true): Cache
    {
        // Whoever wants events gives up the direct way.
        $events = $isDirect ? null : new EventList();

        return new Cache($this->store, logger: $this->logger, events: $events, clock: fn(): float => $this->now);
    }
}
