<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Experiment;

use Larder\Bench\Experiment\Shuffled;
use PHPUnit\Framework\TestCase;

final class ShuffledTest extends TestCase
{
    public function testEveryEntryTakesItsTurnUnderItsNameAndEachIsFirstAtSomeTime(): void
    {
        $entries = ['a' => 1, 'b' => 2, 'c' => 3];
        $first = [];
        // That one of three is never the first of 200 has a chance of 10^-35.
        for ($turn = 0; $turn < 200; $turn++) {
            $shuffled = Shuffled::of($entries);
            self::assertEquals($entries, $shuffled);
            $first[array_key_first($shuffled)] = true;
        }

        self::assertCount(3, $first);
        self::assertSame([], Shuffled::of([]));
    }
}
