<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Experiment;

use Larder\Bench\Experiment\Trace\Reference;
use Larder\Bench\Experiment\Trace\Trace;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;
use RuntimeException;

final class TraceTest extends TestCase
{
    private const WEB07 = __DIR__ . '/../../../bench/traces/web07.trace.xz';

    public function testTheShippedTracesAreWhole(): void
    {
        $trace = Trace::read(self::WEB07);

        self::assertSame(['web07', 76_118, 20_484], [$trace->name, count($trace->keys), $trace->distinct()]);
    }

    /** @param list<float> $expected FIFO, LRU, CLOCK, SIEVE, S3-FIFO, Belady: figures that others computed from the same trace */
    #[TestWith([204, [0.6372, 0.6085, 0.6021, 0.5768, 0.5624, 0.4662]])]
    #[TestWith([1_024, [0.5212, 0.4944, 0.4884, 0.4656, 0.4577, 0.3628]])]
    #[TestWith([2_048, [0.4688, 0.4434, 0.4376, 0.4207, 0.4189, 0.3191]])]
    #[TestWith([5_121, [0.3923, 0.3712, 0.3660, 0.3580, 0.3585, 0.2693]])]
    public function testTheReferencePoliciesMissAsOftenAsTheyShould(int $capacity, array $expected): void
    {
        $keys = Trace::read(self::WEB07)->keys;
        foreach (Reference::cases() as $index => $policy) {
            self::assertSame($expected[$index], round($policy->missRatio($keys, $capacity), 4), $policy->value);
        }
    }

    public function testNothingMissesTwiceWhereEverythingFits(): void
    {
        foreach (Reference::cases() as $policy) {
            self::assertSame(3 / 7, $policy->missRatio([1, 2, 3, 1, 2, 3, 3], 10), $policy->value);
        }
    }

    public function testAnUncompressedTraceIsReadToo(): void
    {
        $file = (string) tempnam(sys_get_temp_dir(), 'larder-trace-');
        try {
            file_put_contents($file, pack('N*', 7, 4_000_000_000, 7));

            self::assertSame([7, 4_000_000_000, 7], Trace::read($file)->keys);
        } finally {
            unlink($file);
        }
    }

    #[TestWith(['abc', 'not whole 32-bit integers'])]
    #[TestWith(['', 'is empty'])]
    public function testADamagedTraceIsNamed(string $bytes, string $because): void
    {
        $file = (string) tempnam(sys_get_temp_dir(), 'larder-trace-');
        file_put_contents($file, $bytes);
        $this->expectException(RuntimeException::class);
        $this->expectExceptionMessage($because);
        try {
            Trace::read($file);
        } finally {
            unlink($file);
        }
    }
}
