<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Item;
use Larder\SharedMemory;
use Larder\Tests\Contract\Value\Specimens;

/** What every store promises of objects of PHP's own classes: they come back as they were, or are refused, alike on all stores. */
final class KindContract extends Suite
{
    public function testAnObjectOfAnyClassComesBackAsItWasOrIsRefused(): void
    {
        $wrong = [];
        foreach (Specimens::all() as $name => $specimen) {
            array_push($wrong, ...Specimens::judge($name, $specimen, function (mixed $value): mixed {
                $this->store()->save([new Item('key', $value, 1_000)]);

                return $this->store()->fetch(['key'])->items['key']->value ?? null;
            }));
        }
        if (class_exists(SharedMemory::class)) {
            SharedMemory::remove('specimen');
        }
        self::assertSame([], $wrong);
    }

    public function testThereIsAnObjectOfEveryClass(): void
    {
        self::assertSame([], Specimens::missing());
    }
}
