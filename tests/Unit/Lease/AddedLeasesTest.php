<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Lease;

use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\Lease\AddedLeases;
use Larder\Leases;
use Larder\Store;
use Larder\Store\ArrayStore;
use Larder\Store\ChaosStore;
use Larder\Store\FileStore;
use Larder\Store\SqliteStore;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

#[CoversClass(AddedLeases::class)]
final class AddedLeasesTest extends TestCase
{
    /** As where many wait for a lock that each needs for a moment only. */
    public function testALeaseThatOthersAlwaysHaveForAMomentIsRefusedAndTheStoreHasNotFailed(): void
    {
        $store = new ArrayStore();
        $chaos = new ChaosStore($store);
        $others = new AddedLeases($store);
        $chaos->before = static function (string $call) use ($others): void {
            match ($call) {
                'save' => $others->acquire('name', 'other', 60.0),
                'fetch' => $others->release('name', 'other'),
                default => null,
            };
        };
        $leases = new AddedLeases($chaos);
        self::assertFalse($leases->acquire('name', 'one', 60.0));
        $chaos->before = null;
        $others->release('name', 'other');
        self::assertSame([], [...$store->keys()], 'Something is left behind.');
        self::assertTrue($leases->acquire('name', 'one', 60.0));
    }

    /** @return iterable<string, array{\Closure(string, \Closure(): int): Store}> what opens a store in a directory, with a clock */
    public static function storesThatLock(): iterable
    {
        yield 'SQLite' => [static fn(string $directory, \Closure $clock): Store => new SqliteStore("{$directory}/cache.db", clock: $clock)];
        yield 'files' => [static fn(string $directory, \Closure $clock): Store => new FileStore("{$directory}/cache", clock: $clock)];
        yield 'files of a size' => [static fn(string $directory, \Closure $clock): Store => new FileStore("{$directory}/cache", size: 1 << 20, evict: false, clock: $clock)];
    }

    /** @param \Closure(string, \Closure(): int): Store $open */
    #[DataProvider('storesThatLock')]
    public function testALeaseOutlivesAClearButNotItsTime(\Closure $open): void
    {
        $scratch = new Scratch();
        $now = time();
        $store = $open($scratch->path, static function () use (&$now): int {
            return $now;
        });
        self::assertInstanceOf(Leases::class, $store);
        self::assertTrue($store->acquire('name', 'one', 60.0));
        self::assertTrue($store->acquire('other', 'one', 600.0));
        $store->save([new Item('key', str_repeat('x', 1_000))]);
        $store->clear();
        // Directories do not count leases among their items.
        $leases = static fn(): int => $store instanceof SqliteStore ? $store->statistics()->items ?? -1 : \count(glob("{$scratch->path}/cache/*/l*") ?: []);
        self::assertSame(2, $leases());
        $now += 100;
        self::assertFalse($store->refresh('name', 'one', 60.0));
        self::assertTrue($store->acquire('name', 'two', 60.0));
        self::assertFalse($store->acquire('other', 'two', 60.0));
        $now += 100;
        $store->clear();
        while ($store->prune() > 0);
        self::assertSame(1, $leases(), 'Of the leases, the one whose time is not over.');
        self::assertTrue($store->release('other', 'one'));
    }

    /** A holder in between may have left a greater number already. */
    public function testALeaseThatIsLostWhileItsNumberIsCountedGetsNone(): void
    {
        $store = new ArrayStore();
        $chaos = new ChaosStore($store);
        $others = new AddedLeases($store);
        $leases = new AddedLeases($chaos);
        self::assertTrue($leases->acquire('name', 'one', 60.0));
        $number = $leases->fence('name', 'one');
        foreach (['increment', 'fetch'] as $moment) {
            $fetches = 0;
            $chaos->before = static function (string $call) use ($others, $moment, &$fetches): void {
                $fetches += (int) ($call === 'fetch');
                if ($call === $moment && ($call === 'increment' || $fetches === 2)) {
                    $others->release('name', 'one');
                    $others->acquire('name', 'two', 60.0);
                }
            };
            self::assertNull($leases->fence('name', 'one'), $moment);
            $chaos->before = null;
            self::assertGreaterThan($number, $others->fence('name', 'two'));
            self::assertTrue($others->release('name', 'two'));
            self::assertTrue($leases->acquire('name', 'one', 60.0));
        }
    }

    /** As after a restart. */
    public function testACountThatWasLostGoesOnAboveWhatItWas(): void
    {
        $store = new ArrayStore();
        $leases = new AddedLeases($store);
        self::assertTrue($leases->acquire('name', 'one', 60.0));
        $before = $leases->fence('name', 'one');
        $store->clear();
        self::assertTrue($leases->acquire('name', 'two', 60.0));
        // Microseconds may be as short as one needs to count.
        usleep(10);
        self::assertGreaterThan($before, $leases->fence('name', 'two'));
    }

    public function testAStoreThatTakesNoLeaseAtAllSaysSo(): void
    {
        $chaos = new ChaosStore();
        $chaos->before = static fn(string $call) => $call === 'save' ? throw StoreUnavailable::because('It', 'it is full', 'empty it', takesNothing: true) : null;
        try {
            (new AddedLeases($chaos))->acquire('name', 'one', 60.0);
            self::fail('A lease was given or refused by a store that takes none.');
        } catch (StoreUnavailable $failure) {
            self::assertTrue($failure->takesNothing);
        }
    }
}
