<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Tier;

use Larder\Tier\Followed;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(Followed::class)]
final class FollowedTest extends TestCase
{
    public function testASlowAnswerIsNoTimeThatWasSetBack(): void
    {
        $sent = (int) hrtime(true) - 5_000_000_000;
        $followed = Followed::now(null, 'position', $sent, 'place');
        self::assertTrue($followed->isSince($sent));
        self::assertFalse($followed->isBeforeSetBack());
    }

    public function testTheTimeOfDayWasSetBackWhereItHasGoneOnLessThanTheOtherClock(): void
    {
        [$head, $position, $sent, $offset, $place] = Followed::now(null, 'position', (int) hrtime(true), 'place')->toStore();
        foreach ([[3_600.0, true], [0.5, false], [-3_600.0, false]] as [$back, $isSetBack]) {
            self::assertSame($isSetBack, Followed::read([$head, $position, $sent, $offset + $back, $place])->isBeforeSetBack());
        }
        self::assertFalse(Followed::nothing()->isBeforeSetBack());
    }
}
