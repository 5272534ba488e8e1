<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Experiment;

use Larder\Bench\Experiment\Experiments;
use Larder\Bench\Experiment\Needs;
use Larder\Bench\Experiment\Profile;
use PHPUnit\Framework\TestCase;

final class NeedsTest extends TestCase
{
    public function testTooLittleMemorySaysWhatWouldBeNeeded(): void
    {
        self::assertSame('it needs 1,100 MiB of /dev/shm and 63 are free: make room', Needs::lack('/dev/shm', 1100, 63, 'make room'));
        self::assertNull(Needs::lack('/dev/shm', 1100, 1100, 'make room'));
        self::assertStringContainsString('it needs 999,999,999 MiB of memory and', (string) (new Needs(0, 999_999_999, 1))->missingMemory());
        self::assertStringContainsString('of /dev/shm', (string) (new Needs(999_999_999, 0, 1))->missingSharedMemory());
        self::assertNull((new Needs(0, 0, 1))->missingMemory());
        self::assertNull((new Needs(0, 0, 1))->missingSharedMemory());
    }

    public function testTheProfilesKeepToTheirTime(): void
    {
        // What the README says: about twenty minutes, and about an hour and a half.
        foreach ([[Profile::Quick, 1_260], [Profile::Thorough, 6_000]] as [$profile, $seconds]) {
            $sum = 0;
            foreach (Experiments::all() as $experiment) {
                $sum += $experiment->needs($profile)->seconds;
            }
            self::assertLessThanOrEqual($seconds, $sum, $profile->value);
        }
    }
}
