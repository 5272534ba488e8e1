<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Lease;

use Larder\Exception\StoreUnavailable;
use Larder\Lease\AddedLeases;
use Larder\Store\ArrayStore;
use Larder\Store\ChaosStore;
use PHPUnit\Framework\Attributes\CoversClass;
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
