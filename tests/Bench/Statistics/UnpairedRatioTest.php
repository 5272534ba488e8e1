<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Statistics;

use Larder\Bench\Statistics\UnpairedRatio;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;

final class UnpairedRatioTest extends TestCase
{
    private const RUNS = 100;

    public function testTheIntervalCoversTheTruthAboutAsOftenAsItSays(): void
    {
        $covered = 0;
        for ($run = 0; $run < self::RUNS; $run++) {
            // Two runs at different times: neither's disturbances are the other's.
            [$above] = (new Noise(2 * $run))->blocks(1.2, 5, 8);
            [, $below] = (new Noise(2 * $run + 1))->blocks(1.0, 5, 8);
            $covered += (int) UnpairedRatio::of(self::samples($above), self::samples($below))?->contains(1.2);
        }

        self::assertGreaterThanOrEqual(0.88 * self::RUNS, $covered);
    }

    #[TestWith([1, 3])]
    #[TestWith([1, 4])]
    #[TestWith([3, 1])]
    public function testTheIntervalOfFewSamplesCoversTheTruthAsOften(int $processes, int $blocks): void
    {
        $covered = 0;
        for ($run = 0; $run < self::RUNS; $run++) {
            [$above] = (new Noise(2 * $run))->blocks(1.2, $processes, $blocks);
            [, $below] = (new Noise(2 * $run + 1))->blocks(1.0, $processes, $blocks);
            $covered += (int) UnpairedRatio::of(self::samples($above), self::samples($below))?->contains(1.2);
        }

        self::assertGreaterThanOrEqual(0.9 * self::RUNS, $covered);
    }

    public function testTheRatioIsThatOfTheMedians(): void
    {
        $interval = UnpairedRatio::of([[2.0, 4.0, 6.0]], [[1.0, 2.0, 300.0]]);

        self::assertSame(2.0, $interval?->estimate);
        self::assertLessThanOrEqual($interval->estimate, $interval->low);
        self::assertGreaterThanOrEqual($interval->estimate, $interval->high);
    }

    public function testNothingHasNoRatio(): void
    {
        self::assertNull(UnpairedRatio::of([[1.0]], [[0.0, 0.0]]));
    }

    /**
     * @param array<int, array<int, float>> $blocks
     * @return non-empty-list<non-empty-list<float>>
     */
    private static function samples(array $blocks): array
    {
        $samples = [];
        foreach ($blocks as $values) {
            if ($values !== []) {
                $samples[] = array_values($values);
            }
        }

        return $samples === [] ? throw new \LogicException('There are no samples.') : $samples;
    }
}
