<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Cache;

use Larder\Cache;
use Larder\Cache\Lifetimes;
use Larder\Exception\InvalidOption;
use Larder\Store\ArrayStore;
use Larder\Ttl;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/** How long items live. */
#[CoversClass(Lifetimes::class)]
final class LifetimesTest extends TestCase
{
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
}
