<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Cache;
use Larder\Psr6\CachePool;
use Larder\Tests\Contract\Crowd;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/** By what an item of PSR-6 is judged that its pool is asked for again, where other processes change the key. */
#[CoversNothing]
final class FirstMissTest extends TestCase
{
    /** @return iterable<string, array{string, \Closure(Cache): mixed}> */
    public static function placesAndOwnWords(): iterable
    {
        foreach (['shared memory', 'SQLite'] as $kind) {
            yield "a delete in {$kind}" => [$kind, static fn(Cache $cache): bool => $cache->delete('key')];
            yield "a set in {$kind}" => [$kind, static fn(Cache $cache): bool => $cache->set('key', 1)];
            yield "a pull from {$kind}" => [$kind, static fn(Cache $cache): mixed => $cache->pull('key')];
            yield "an invalidation in {$kind}" => [$kind, static fn(Cache $cache): bool => $cache->invalidateTags(['red'])];
        }
    }

    /** @param \Closure(Cache): mixed $do */
    #[DataProvider('placesAndOwnWords')]
    public function testWhatAProcessDoesItselfBeginsAnew(string $kind, \Closure $do): void
    {
        $place = new Place($kind);
        $cache = Cache::open($place->dsn);
        $pool = new CachePool($cache);
        $others = static fn(): bool => Crowd::of(1, static function () use ($place): bool {
            $other = Cache::open($place->dsn);

            return $other->set('key', 'theirs') && $other->delete('key');
        })[0];
        self::assertFalse($pool->getItem('key')->isHit());
        self::assertTrue($others());
        self::assertFalse($pool->save($pool->getItem('key')->set('computed before')));

        self::assertFalse($pool->getItem('key')->isHit());
        Crowd::of(1, static fn(): bool => Cache::open($place->dsn)->set('key', 'theirs'));
        $do($cache);
        self::assertTrue($others());
        self::assertTrue($pool->save($pool->getItem('key')->set('computed since')->tag('red')));
        self::assertSame('computed since', $cache->get('key'));
    }
}
