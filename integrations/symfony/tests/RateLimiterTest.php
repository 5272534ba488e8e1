<?php

declare(strict_types=1);

namespace Larder\Symfony\Tests;

use Larder\Cache;
use Larder\Exception\UnsupportedOperation;
use Larder\Store\ChaosStore;
use Larder\Stores;
use Larder\Symfony\RateLimiterLocks;
use Larder\Symfony\RateLimiterStorage;
use Larder\Tests\Contract\Crowd;
use Larder\Tests\Pools;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Symfony\Component\RateLimiter\LimiterInterface;
use Symfony\Component\RateLimiter\RateLimiterFactory;
use Symfony\Component\RateLimiter\Storage\InMemoryStorage;
use Symfony\Component\RateLimiter\Storage\StorageInterface;

#[CoversNothing]
final class RateLimiterTest extends TestCase
{
    private const KINDS = ['shared memory that does not evict', 'SQLite', 'files'];

    private const POLICIES = [
        'fixed window' => ['policy' => 'fixed_window', 'limit' => 5, 'interval' => '1 hour'],
        'sliding window' => ['policy' => 'sliding_window', 'limit' => 5, 'interval' => '1 hour'],
        'token bucket' => ['policy' => 'token_bucket', 'limit' => 5, 'rate' => ['interval' => '1 hour', 'amount' => 1]],
    ];

    private Pools $pools;

    protected function setUp(): void
    {
        $this->pools = new Pools();
    }

    /** @return iterable<string, array{string}> */
    public static function kinds(): iterable
    {
        foreach (self::KINDS as $kind) {
            yield $kind => [$kind];
        }
    }

    /** @return iterable<string, array{string, string}> */
    public static function policiesAndKinds(): iterable
    {
        foreach (self::KINDS as $kind) {
            foreach (array_keys(self::POLICIES) as $policy) {
                yield "{$policy}, {$kind}" => [$policy, $kind];
            }
        }
    }

    #[DataProvider('policiesAndKinds')]
    public function testALimiterCountsAsInSymfonysOwnStorage(string $policy, string $kind): void
    {
        $ours = fn(): StorageInterface => new RateLimiterStorage($this->pools->dsn($kind));
        $memory = new InMemoryStorage();
        $theirs = static fn(): StorageInterface => $memory;
        $outcomes = [];
        foreach ([$ours, $theirs] as $storage) {
            $outcome = [];
            // Each hit is of a request that opens the store anew.
            $limiter = static fn(string $visitor): LimiterInterface => (new RateLimiterFactory(['id' => 'login', ...self::POLICIES[$policy]], $storage()))->create($visitor);
            foreach (['a', 'a', 'b', 'a', 'a', 'a', 'a', str_repeat('long {}()/\@:', 500)] as $visitor) {
                $limit = $limiter($visitor)->consume();
                $outcome[] = [$limit->isAccepted(), $limit->getRemainingTokens(), $limit->getLimit()];
            }
            $outcome[] = $limiter('a')->consume(0)->getRemainingTokens();
            $limiter('a')->reset();
            $outcome[] = $limiter('a')->consume(3)->getRemainingTokens();
            $outcomes[] = $outcome;
        }
        self::assertSame($outcomes[1], $outcomes[0]);
        self::assertContains([false, 0, 5], $outcomes[0]);
    }

    #[DataProvider('kinds')]
    public function testALimitEndsWithItsWindow(string $kind): void
    {
        $limiter = (new RateLimiterFactory(['id' => 'login', 'policy' => 'fixed_window', 'limit' => 1, 'interval' => '1 second'], $storage = new RateLimiterStorage($this->pools->dsn($kind))))->create('a');
        self::assertTrue($limiter->consume()->isAccepted());
        self::assertNotNull($storage->fetch('login-a'));
        usleep(1_100_000);
        self::assertTrue($limiter->consume()->isAccepted());
    }

    #[DataProvider('policiesAndKinds')]
    public function testAStateIsKeptUntilItsWindowIsOverAndNotForLong(string $policy, string $kind): void
    {
        $cache = $this->pools->open($kind);
        $of = ['interval' => '1 second', ...$policy === 'token bucket' ? ['rate' => ['interval' => '1 second', 'amount' => 5]] : []];
        unset($of[$policy === 'token bucket' ? 'interval' : 'rate']);
        $began = microtime(true);
        (new RateLimiterFactory([...self::POLICIES[$policy], ...$of, 'id' => 'logins'], new RateLimiterStorage($cache)))->create()->consume();
        $keys = iterator_to_array($cache->store->keys(), false);
        self::assertCount(1, $keys);
        // The second window has to know how many hits the first one had.
        $seconds = $policy === 'sliding window' ? 2 : 1;
        $expiry = $cache->fetch($keys)->items[$keys[0]]->expiry ?? 0;
        self::assertGreaterThanOrEqual($began + $seconds, $expiry);
        self::assertLessThanOrEqual(microtime(true) + $seconds + 3, $expiry);
    }

    #[DataProvider('kinds')]
    public function testOfManyProcessesNoHitIsLost(string $kind): void
    {
        $accepted = Crowd::of(4, function () use ($kind): int {
            $cache = $this->pools->open($kind);
            $limiter = (new RateLimiterFactory(['id' => 'api', 'policy' => 'fixed_window', 'limit' => 150, 'interval' => '1 hour'], new RateLimiterStorage($cache), RateLimiterLocks::in($cache)))->create('all');
            $accepted = 0;
            for ($hit = 0; $hit < 50; $hit++) {
                $accepted += $limiter->consume()->isAccepted() ? 1 : 0;
            }

            return $accepted;
        });
        self::assertSame(150, array_sum($accepted));
    }

    #[DataProvider('kinds')]
    public function testAProcessThatDiesWhileItCountsBlocksOthersForSomeSecondsAlone(string $kind): void
    {
        $cache = $this->pools->open($kind);
        $dead = RateLimiterLocks::in($cache)->createLock('api-all', autoRelease: false);
        self::assertTrue($dead->acquire(true));
        self::assertFalse(RateLimiterLocks::in($cache)->createLock('api-all')->acquire());
        self::assertLessThanOrEqual(5.0, $dead->getRemainingLifetime());
        $began = hrtime(true);
        $limiter = (new RateLimiterFactory(['id' => 'api', ...self::POLICIES['fixed window']], new RateLimiterStorage($cache), RateLimiterLocks::in($cache)))->create('all');
        self::assertTrue($limiter->consume()->isAccepted());
        self::assertGreaterThan(4e9, hrtime(true) - $began);
        self::assertSame(4, $limiter->consume(0)->getRemainingTokens());
    }

    public function testALimiterLetsRequestsPassWhileItsStoreIsUnavailable(): void
    {
        $chaos = new ChaosStore(Stores::open($this->pools->dsn('SQLite')));
        $cache = new Cache($chaos);
        $limiter = (new RateLimiterFactory(['id' => 'api', ...self::POLICIES['fixed window']], new RateLimiterStorage($cache), RateLimiterLocks::in($cache)))->create('all');
        self::assertTrue($limiter->consume(5)->isAccepted());
        self::assertFalse($limiter->consume()->isAccepted());
        $chaos->isDown = true;
        self::assertTrue($limiter->consume()->isAccepted());
        $chaos->isDown = false;
        self::assertFalse($limiter->consume()->isAccepted());
        $chaos->isDown = true;
        // It is made up for when the store is back.
        $limiter->reset();
        $chaos->isDown = false;
        self::assertTrue($limiter->consume()->isAccepted());
    }

    public function testAStoreThatMayLoseHitsIsRefused(): void
    {
        $this->expectException(UnsupportedOperation::class);
        new RateLimiterStorage($this->pools->dsn('shared memory'));
    }
}
