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
        [$head, $position, $sent, $offset, $place] = explode("\n", Followed::now(null, 'position', (int) hrtime(true), 'place')->stored);
        foreach ([[3_600.0, true], [0.5, false], [-3_600.0, false]] as [$back, $isSetBack]) {
            self::assertSame($isSetBack, Followed::read(implode("\n", [$head, $position, $sent, (float) $offset + $back, $place]))->isBeforeSetBack());
        }
        self::assertFalse(Followed::nothing()->isBeforeSetBack());
    }

    public function testItIsReadAsItWasStored(): void
    {
        foreach ([null, 'head'] as $head) {
            $followed = Followed::now($head, '7:AB', 5, "a place\nof two lines", 12);
            $read = Followed::read($followed->stored);
            self::assertSame([$head, '7:AB', 5, "a place\nof two lines", 12], [$read->head, $read->position, $read->sent, $read->place, $read->events]);
            self::assertEquals($followed, $read);
        }
    }

    public function testWhatIsNoneOfOursIsThatNothingWasFollowed(): void
    {
        foreach ([null, 5, [], [null, '7:AB', 5, 1.0, 'place'], '', "\n", "head\n\n5\n1.0\nplace", "head\n7:AB\n5\n1.0"] as $other) {
            self::assertNull(Followed::read($other)->position);
        }
    }
}
