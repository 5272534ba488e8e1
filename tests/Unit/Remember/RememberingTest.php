<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Remember;

use Larder\Cache;
use Larder\Exception\InvalidOption;
use Larder\Exception\InvalidTag;
use Larder\Item;
use Larder\PendingItem;
use Larder\Remember\Remembering;
use Larder\Remember\StampedeOptions;
use Larder\Store\ChaosStore;
use PHPUnit\Framework\Attributes\CoversClass;

/** Which process computes, waits or is served what is stale, and what becomes of it all when something fails. */
#[CoversClass(Remembering::class)]
#[CoversClass(StampedeOptions::class)]
final class RememberingTest extends RememberingCase
{
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
        self::assertSame(1, $failed, 'No process tries again at once.');
        self::assertCount(1, $this->logger->lines);
        self::assertStringStartsWith('warning: A value could not be computed anew', $this->logger->lines[0]);
        $this->now += 2;
        self::assertSame('new', $cache->remember('key', self::gives('new'), 10, grace: 60));
    }

    public function testWithNothingStaleTheOthersWaitForTheirLimitAndCompute(): void
    {
        $cache = $this->cache();
        $other = $this->cache();
        $stampede = new StampedeOptions(missWait: 0.05);
        $value = $cache->remember('key', static function () use ($other, $stampede): string {
            $began = hrtime(true);
            self::assertSame('other', $other->remember('key', self::gives('other'), 10, stampede: $stampede));
            self::assertGreaterThan(49_000_000, hrtime(true) - $began);

            return 'one';
        }, 10, stampede: $stampede);
        self::assertSame('one', $value);
    }

    public function testOneWhoWaitsForSomethingFreshTakesItAsSoonAsItIsThere(): void
    {
        $cache = $this->cache();
        $other = $this->cache();
        $cache->remember('key', self::gives('old'), 10, grace: 60);
        $this->now += 15;
        $cache->remember('key', function () use ($other): string {
            $stampede = new StampedeOptions(staleWait: 0.05);
            $began = hrtime(true);
            self::assertSame('old', $other->remember('key', self::nobody(...), 10, grace: 60, stampede: $stampede));
            self::assertGreaterThan(49_000_000, hrtime(true) - $began);
            $this->store->save([new Item('key', 'set meanwhile', 100)]);
            self::assertSame('set meanwhile', $other->remember('key', self::nobody(...), 10, grace: 60, stampede: $stampede));

            return 'new';
        }, 10, grace: 60);
    }

    public function testWithoutALeaseEachProcessThatMissesComputes(): void
    {
        $cache = $this->cache();
        $other = $this->cache();
        $none = new StampedeOptions(lease: 0.0);
        $cache->remember('key', static function () use ($other, $none): string {
            self::assertSame('other', $other->remember('key', self::gives('other'), stampede: $none));

            return 'one';
        }, stampede: $none);
        self::assertSame('one', $cache->get('key'));
    }

    public function testAfterAComputationInVainNoProcessWaits(): void
    {
        $cache = $this->cache();
        $other = $this->cache();
        foreach (['throws', 'stores nothing', 'is dead at once'] as $i => $how) {
            try {
                $cache->remember("key {$i}", static function (PendingItem $pending) use ($how): string {
                    match ($how) {
                        'throws' => throw new \DomainException(),
                        'stores nothing' => $pending->doNotStore(),
                        default => $pending->expireAfter(0),
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

    public function testAfterOneRefusalTheOthersWaitForTheNextAndAfterTwoTheyDoNot(): void
    {
        $cache = $this->cache();
        $other = $this->cache();
        foreach ([1, 2, 3] as $refusals) {
            self::assertSame('late', $cache->remember('key', function (): string {
                $this->store->invalidateTags(['tag']);

                return 'late';
            }, tags: ['tag']));
            self::assertNull($this->store->read('key'));
            $cache->remember('key', static function (PendingItem $pending) use ($other, $refusals): string {
                $began = hrtime(true);
                self::assertSame('other', $other->remember('key', self::gives('other'), stampede: new StampedeOptions(missWait: $refusals < 2 ? 0.05 : 600.0)));
                $waited = (hrtime(true) - $began) / 1e9;
                self::assertTrue($refusals < 2 ? $waited > 0.049 : $waited < 500.0, "{$waited} s after {$refusals}");

                return 'one';
            });
            $cache->delete('key');
        }
    }

    public function testAComputationThatAsksForItselfDoesNotWaitForItself(): void
    {
        $cache = $this->cache();
        $value = $cache->remember('key', static fn(): array => ['outer', $cache->remember('key', self::gives('inner'))]);
        self::assertSame(['outer', 'inner'], $value);
        self::assertSame(['outer', 'inner'], $cache->get('key'));
    }

    public function testWhatIsDeferredIsServedStaleAndComputedAtTheEnd(): void
    {
        $cache = $this->cache();
        $later = new StampedeOptions(afterResponse: true);
        self::assertSame('old', $cache->remember('key', self::gives('old'), 10, grace: 60, stampede: $later), 'Nothing can be served yet.');
        $this->now += 15;
        self::assertSame('old', $cache->remember('key', self::gives('new'), 10, grace: 60, stampede: $later));
        self::assertSame('old', $this->cache()->remember('key', self::nobody(...), 10, grace: 60));
        self::assertFalse($cache->has('key'));
        $cache->finish();
        self::assertSame('new', $cache->get('key'));
        $this->now += 15;
        self::assertSame('new', $cache->remember('key', self::down(...), 10, grace: 60, stampede: $later));
        $cache->finish();
        self::assertCount(1, $this->logger->lines);
    }

    public function testAPendingItemAddsTagsThatAreChecked(): void
    {
        $pending = new PendingItem('key', null, ['a']);
        $pending->tag('b', 'a', 'c');
        self::assertSame(['a', 'b', 'c'], $pending->tags());
        $this->expectException(InvalidTag::class);
        $this->cache()->remember('key', static function (PendingItem $pending): void {
            $pending->tag('');
        });
    }

    public function testAStoreThatFailsInBetweenCostsNoCallerItsValue(): void
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
        self::assertSame('back', $cache->remember('key', self::gives('back'), stampede: new StampedeOptions(missWait: 0.0)));
    }

    public function testWrongOptionsAreOneClearError(): void
    {
        $compute = static fn(): int => 1;
        $calls = [
            fn(): mixed => $this->cache()->remember('key', $compute, grace: -1),
            fn(): mixed => $this->cache()->remember('key', $compute, beta: -0.1),
            fn(): mixed => $this->cache()->remember('key', $compute, beta: \NAN),
            static fn(): StampedeOptions => new StampedeOptions(lease: -1.0),
            static fn(): StampedeOptions => new StampedeOptions(lease: \NAN),
            static fn(): StampedeOptions => new StampedeOptions(staleWait: -1.0),
            static fn(): StampedeOptions => new StampedeOptions(missWait: \INF),
            static fn(): StampedeOptions => new StampedeOptions(retry: -0.5),
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
}
