<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Cache;
use Larder\Capability;
use Larder\Exception\InvalidOption;
use Larder\Remember\StampedeOptions;
use Larder\Store;
use Larder\Tests\MemoryLogger;
use Larder\Ttl;
use Larder\Unfinished;

/**
 * What every store promises those who remember() through a cache: values that are computed early, or served past their time while
 * another is computed or when that fails. Where the cache does that, its clock is set on; where the store does, time has to pass.
 */
final class RememberContract extends Suite
{
    /** Seconds, in which no machine is too slow for what is waited for. */
    private const TIMEOUT = 60;

    /** Seconds by which the caches' clock is ahead. */
    private float $ahead = 0.0;

    public function testMoreSecondsThanAnIntHoldsAreNoEnd(): void
    {
        $cache = new Cache($this->store(), strict: true);
        foreach ([[\PHP_INT_MAX, 0], [\PHP_INT_MAX, 100], [1_000, \PHP_INT_MAX], [Ttl::LONGEST, Ttl::LONGEST]] as $i => [$ttl, $grace]) {
            self::assertSame('computed', $cache->remember("key {$i}", static fn(): string => 'computed', $ttl, grace: $grace));
            self::assertSame('computed', $cache->get("key {$i}"), "{$ttl} s and {$grace} s");
        }
    }

    public function testWhatWasCostlyIsComputedEarlyByChanceAndOnlyIfThatIsWanted(): void
    {
        $cache = $this->cache();
        $computed = 0;
        $compute = static function () use (&$computed): string {
            usleep(50_000);

            return 'value ' . ++$computed;
        };
        // The chance of each try is exp(-left / (cost * beta)): a seventh or more.
        $cache->remember('key', $compute, 100, beta: 1_000.0);
        for ($tries = 0; $tries < 50; $tries++) {
            self::assertSame('value 1', $cache->remember('key', $compute, 100, beta: 0.0));
        }
        for (; $computed < 2; $tries++) {
            self::assertLessThan(10_000, $tries, 'It is never computed early.');
            $cache->remember('key', $compute, 100, beta: 1_000.0);
        }
        self::assertSame('value 2', $cache->get('key'));
    }

    public function testWhileOneComputesTheOthersServeWhatIsStale(): void
    {
        $cache = $this->cache();
        $this->rememberWhatIsPast($cache, 'key');
        $value = $cache->remember('key', function (): string {
            $this->of->elsewhere(function (Store $store): void {
                self::assertSame('old', $this->cache($store)->remember('key', static fn(): string => 'computed twice', 1_000, grace: 1_000));
            });

            return 'new';
        }, 1_000, grace: 1_000);
        self::assertSame(['new', 'new'], [$value, $cache->get('key')]);
    }

    public function testAComputationThatFailsIsCoveredByGraceAndLogged(): void
    {
        $logger = new MemoryLogger();
        $cache = $this->cache(logger: $logger);
        $this->rememberWhatIsPast($cache, 'key');
        foreach (['without grace' => ['key', 0], 'without anything to serve' => ['absent', 1_000]] as $how => [$key, $grace]) {
            try {
                $cache->remember($key, self::down(...), 1_000, grace: $grace);
                self::fail("Something was served {$how}.");
            } catch (\DomainException $failure) {
                self::assertSame('down', $failure->getMessage());
            }
        }
        self::assertSame([], $logger->lines);
        self::assertSame('old', $cache->remember('key', self::down(...), 1_000, grace: 1_000));
        self::assertSame(['warning: A value could not be computed anew; the stale one is served.'], $logger->lines);
    }

    public function testAValueMadeSinceTheMissOfWhatIsPastItsTimeIsJudged(): void
    {
        if (!$this->can(Capability::Tokens)) {
            self::assertNotContains(Capability::Tokens, $this->store()->capabilities());

            return;
        }
        $cache = $this->cache();
        $misses = [
            'get' => static fn(string $key): bool => $cache->get($key) === null,
            'getMany' => static fn(string $key): bool => $cache->getMany([$key]) === [],
            'has' => static fn(string $key): bool => !$cache->has($key),
        ];
        $this->rememberWhatIsPast($cache, ...array_keys($misses));
        foreach ($misses as $key => $isMissed) {
            $cache->refresh();
            self::assertTrue($isMissed($key), $key);
            $this->of->elsewhere(static function (Store $store) use ($key): void {
                $store->delete([$key]);
            });
            self::assertFalse($cache->set($key, 'older', 1_000), $key);
            self::assertFalse($cache->has($key), $key);
            self::assertTrue($cache->set($key, 'new', 1_000), $key);
        }
    }

    public function testWhatIsPastItsTimeIsCountedAnew(): void
    {
        $cache = $this->cache();
        $this->rememberWhatIsPast($cache, 'key');
        self::assertSame(3, $cache->increment('key', 2, 1, 1_000));
        self::assertSame(3, $cache->get('key'));
    }

    public function testWhatIsDeferredIsServedStaleAndComputedAtTheEnd(): void
    {
        $cache = $this->cache();
        $this->rememberWhatIsPast($cache, 'key');
        $computed = 0;
        $compute = static function () use (&$computed): string {
            $computed++;

            return 'new';
        };
        self::assertSame('old', $cache->remember('key', $compute, 1_000, grace: 1_000, stampede: new StampedeOptions(afterResponse: true)));
        self::assertSame(0, $computed);
        $cache->finish();
        self::assertSame(['new', 1], [$cache->get('key'), $computed]);
    }

    public function testAValueThatIsDueEarlyIsBegunAndReplaced(): void
    {
        self::withFibers(function (): void {
            $cache = $this->cache();
            $cache->remember('key', static function (): string {
                usleep(50_000);

                return 'old';
            }, 3);
            $begun = 'old';
            for ($tries = 0; $tries < 100 && !$begun instanceof Unfinished; $tries++) {
                // Of what has cost so much, most looks find it due.
                $begun = $cache->begin('key', 1_000, beta: 1_000.0);
            }
            self::assertInstanceOf(Unfinished::class, $begun);
            self::assertSame('new', $begun->finish('new'));
            self::assertSame('new', $cache->begin('key', 1_000));
        });
    }

    public function testWhatIsBegunIsFinishedAsWhatARememberComputes(): void
    {
        self::withFibers(function (): void {
            $cache = $this->cache();
            $begun = $cache->begin('key', 1_000);
            self::assertInstanceOf(Unfinished::class, $begun);
            self::assertFalse($cache->has('key'));
            self::assertSame('of another callback', $cache->remember('other', static fn(): string => 'of another callback'));
            self::assertSame(['printed'], $begun->finish(['printed']));
            self::assertSame([['printed'], ['printed'], ['printed']], [$cache->get('key'), $cache->begin('key', 1_000), $cache->begin('key', 1_000)]);
            $dropped = $cache->begin('not stored');
            self::assertInstanceOf(Unfinished::class, $dropped);
            $dropped->pending->doNotStore();
            self::assertSame('value', $dropped->finish('value'));
            self::assertFalse($cache->has('not stored'));
            try {
                $dropped->finish('twice');
                self::fail('It was finished twice.');
            } catch (\LogicException) {
                self::assertFalse($cache->has('not stored'));
            }
        });
    }

    public function testWhatIsBegunIsAsOldAsItsBeginning(): void
    {
        self::withFibers(function (): void {
            if (!\in_array(Capability::Tokens, $this->store()->capabilities(), true)) {
                self::assertInstanceOf(Unfinished::class, $this->cache()->begin('key', 1_000));

                return;
            }
            $cache = $this->cache();
            $begun = $cache->begin('key', 1_000);
            self::assertInstanceOf(Unfinished::class, $begun);
            $this->of->elsewhere(static function (Store $store): void {
                $store->delete(['key']);
            });
            self::assertSame('from before', $begun->finish('from before'));
            self::assertFalse($cache->has('key'));
        });
    }

    public function testWhileOneIsBegunTheOthersServeWhatIsStaleUntilItIsAbandoned(): void
    {
        self::withFibers(function (): void {
            $cache = $this->cache();
            $served = fn(Store $store): mixed => $this->cache($store)->begin('key', 1_000, grace: 1_000);
            foreach (['abandoned', 'forgotten'] as $how) {
                $cache->delete('key');
                $this->rememberWhatIsPast($cache, 'key');
                $begun = $cache->begin('key', 1_000, grace: 1_000);
                self::assertInstanceOf(Unfinished::class, $begun, $how);
                $this->of->elsewhere(static function (Store $store) use ($served): void {
                    self::assertSame('old', $served($store));
                });
                if ($how === 'abandoned') {
                    $begun->abandon();
                } else {
                    unset($begun);
                }
                $this->of->elsewhere(static function (Store $store) use ($served): void {
                    $unfinished = $served($store);
                    self::assertInstanceOf(Unfinished::class, $unfinished);
                    $unfinished->finish('new');
                });
                self::assertSame('new', $cache->get('key'), $how);
            }
        });
    }

    public function testWhatIsBegunCannotBeDeferred(): void
    {
        try {
            $this->cache()->begin('key', stampede: new StampedeOptions(afterResponse: true));
            self::fail('A value that nothing can compute later was deferred.');
        } catch (InvalidOption) {
            self::assertFalse($this->cache()->has('key'));
        }
    }

    /**
     * PHPUnit's own handler looks for the test on the stack, where that of a fiber begins anew.
     *
     * @param \Closure(): void $test
     */
    private static function withFibers(\Closure $test): void
    {
        // PHPUnit suppresses all that it can handle itself.
        $reported = error_reporting(\E_ALL);
        set_error_handler(static fn(int $level, string $message): bool => (error_reporting() & $level) === 0 ?: throw new \ErrorException($message));
        try {
            $test();
        } finally {
            restore_error_handler();
            error_reporting($reported);
        }
    }

    /** Has time pass for those who remember. */
    private function lapse(float $seconds): void
    {
        if ($this->of->hasAClock()) {
            usleep((int) ($seconds * 1e6));
        } else {
            $this->ahead += $seconds;
        }
    }

    private function cache(?Store $store = null, ?MemoryLogger $logger = null): Cache
    {
        return new Cache($store ?? $this->store(), logger: $logger, clock: fn(): float => microtime(true) + $this->ahead);
    }

    private static function down(): string
    {
        throw new \DomainException('down');
    }

    /** Afterwards there is "old", whose time is over; it may be served for 1,000 seconds. */
    private function rememberWhatIsPast(Cache $cache, string ...$keys): void
    {
        foreach ($keys as $key) {
            self::assertSame('old', $cache->remember($key, static fn(): string => 'old', 1, grace: 1_000));
        }
        $this->lapse(1.1);
        for ($deadline = time() + self::TIMEOUT; $cache->getMany($keys) !== []; usleep(10_000)) {
            self::assertLessThan($deadline, time(), 'Its time is never over.');
        }
    }
}
