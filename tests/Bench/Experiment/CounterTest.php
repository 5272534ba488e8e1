<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Experiment;

use Larder\Bench\Experiment\Counter;
use Larder\Bench\Experiment\CountingFailed;
use Larder\Bench\Experiment\Profile;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Process\Process;

final class CounterTest extends TestCase
{
    public function testSystemCallsAreCounted(): void
    {
        $counter = $this->able(Counter::systemCalls());
        $loop = 'for ($i = 0; $i < %d; $i++) { file_exists("/nowhere"); }';

        self::assertSame(500, $this->counted($counter, sprintf($loop, 600)) - $this->counted($counter, sprintf($loop, 100)));
    }

    public function testInstructionsAreCountedWhetherOrNotTheProcessorsCountersAreHidden(): void
    {
        $counter = $this->able(Counter::instructions(Profile::Thorough));
        $loop = 'for ($i = 0; $i < %d; $i++) { }';
        $difference = $this->counted($counter, sprintf($loop, 200_000)) - $this->counted($counter, sprintf($loop, 100_000));

        self::assertGreaterThan(200_000, $difference, 'a turn of a loop adds, compares and jumps');
        self::assertLessThan(20_000_000, $difference);
    }

    public function testAQuickRunDoesNotWaitForValgrindAndSaysSo(): void
    {
        $quick = Counter::instructions(Profile::Quick);
        self::assertTrue($quick instanceof Counter || str_contains($quick, '--thorough'));
    }

    #[TestWith(["<not supported>,,instructions:u,0,100.00,,\n"])]
    #[TestWith(["<not counted>,,instructions:u,0,100.00,,\n"])]
    #[TestWith(["0 total\n"])]
    #[TestWith([''])]
    public function testAReportWithoutACountIsNoCountOfZero(string $report): void
    {
        $this->expectException(CountingFailed::class);
        $this->expectExceptionMessageMatches('/^the counter of system calls wrote no count but: /');
        $this->able(Counter::systemCalls())->read($report);
    }

    private function able(Counter|string $counter): Counter
    {
        return $counter instanceof Counter ? $counter : self::fail($counter);
    }

    private function counted(Counter $counter, string $code): int
    {
        $file = (string) tempnam(sys_get_temp_dir(), 'larder-counter-');
        try {
            (new Process([...$counter->before($file), PHP_BINARY, '-n', '-r', $code], timeout: null))->mustRun();

            return $counter->read((string) file_get_contents($file));
        } finally {
            unlink($file);
        }
    }
}
