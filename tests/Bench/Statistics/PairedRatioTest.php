<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Statistics;

use Larder\Bench\Statistics\Direction;
use Larder\Bench\Statistics\Interval;
use Larder\Bench\Statistics\NoiseFloor;
use Larder\Bench\Statistics\PairedRatio;
use Larder\Bench\Statistics\Verdict;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;

final class PairedRatioTest extends TestCase
{
    private const RUNS = 150;

    /** As many processes and blocks as the profiles and `web` have. */
    #[TestWith([6, 8, 0.0])]
    #[TestWith([6, 8, 0.03])]
    #[TestWith([3, 4, 0.0])]
    #[TestWith([3, 4, 0.03])]
    #[TestWith([5, 5, 0.03])]
    #[TestWith([4, 34, 0.01])]
    public function testTheIntervalCoversTheTruthAboutAsOftenAsItSays(int $processes, int $blocks, float $luck): void
    {
        $noise = new Noise(11);
        $covered = 0;
        for ($run = 0; $run < self::RUNS; $run++) {
            [$one, $other] = $noise->blocks(1.3, $processes, $blocks, $luck);
            $covered += (int) self::ratio($one, $other)->contains(1.3);
        }

        self::assertGreaterThanOrEqual(0.89 * self::RUNS, $covered);
        // An interval that always covers would say nothing; neither may it be much wider than it must.
        [$one, $other] = $noise->blocks(1.3, $processes, $blocks, $luck);
        $interval = self::ratio($one, $other);
        self::assertLessThan(1.0 / sqrt($processes * $blocks), $interval->high - $interval->low);
    }

    public function testAPlantedDifferenceOfFivePerCentIsFound(): void
    {
        $noise = new Noise(12);
        $found = 0;
        for ($run = 0; $run < self::RUNS; $run++) {
            [$one, $other] = $noise->blocks(1.05, 8, 20);
            $found += (int) (Verdict::on(self::ratio($one, $other), new NoiseFloor(0.01), Direction::LowerIsBetter) === Verdict::Loses);
        }

        self::assertGreaterThanOrEqual(0.9 * self::RUNS, $found);
    }

    public function testAPlantedDifferenceOfNothingIsATie(): void
    {
        $noise = new Noise(13);
        $ties = 0;
        for ($run = 0; $run < self::RUNS; $run++) {
            [$one, $other] = $noise->blocks(1.0, 8, 20);
            $ties += (int) (Verdict::on(self::ratio($one, $other), new NoiseFloor(0.01), Direction::LowerIsBetter) === Verdict::Ties);
        }

        self::assertGreaterThanOrEqual(0.97 * self::RUNS, $ties);
    }

    public function testADisturbanceOfBothSubjectsCancelsOut(): void
    {
        $interval = self::ratio([[200.0, 2000.0, 400.0]], [[100.0, 1000.0, 200.0]]);

        self::assertSame([2.0, 2.0, 2.0], [$interval->estimate, $interval->low, $interval->high]);
    }

    public function testOnlyBlocksThatBothDidAreCompared(): void
    {
        self::assertSame(3.0, self::ratio([[3.0, 99.0], [3.0]], [[1.0], [1.0, 1.0]])->estimate);
        self::assertNull(PairedRatio::of([0 => [0 => 1.0]], [0 => [1 => 1.0]]));
    }

    public function testTheSameSamplesGiveTheSameInterval(): void
    {
        [$one, $other] = (new Noise(14))->blocks(1.1, 3, 5);

        self::assertEquals(PairedRatio::of($one, $other), PairedRatio::of($one, $other));
    }

    #[TestWith([0.90, 0.95, Verdict::Wins, Verdict::Loses])]
    #[TestWith([0.90, 0.98, Verdict::Ties, Verdict::Ties])]
    #[TestWith([1.02, 1.20, Verdict::Ties, Verdict::Ties])]
    #[TestWith([1.05, 1.20, Verdict::Loses, Verdict::Wins])]
    public function testAVerdictNeedsTheWholeIntervalBeyondTheNoiseFloor(float $low, float $high, Verdict $whenLower, Verdict $whenHigher): void
    {
        $interval = new Interval(($low + $high) / 2, $low, $high);
        $floor = new NoiseFloor(0.03);

        self::assertSame($whenLower, Verdict::on($interval, $floor, Direction::LowerIsBetter));
        self::assertSame($whenHigher, Verdict::on($interval, $floor, Direction::HigherIsBetter));
    }

    public function testTheNoiseFloorIsWhatSubjectsDifferByFromThemselves(): void
    {
        $twins = array_map(static fn(float $ratio): Interval => new Interval($ratio, $ratio, $ratio), [1.0, 1.08, 1 / 1.1, 1.02]);

        self::assertEqualsWithDelta(0.097, NoiseFloor::of($twins)->share, 0.0001);
        self::assertSame(0.01, NoiseFloor::of([])->share);
        self::assertSame(0.01, NoiseFloor::of([new Interval(1.001, 1.0, 1.002)])->share);
    }

    /**
     * @param array<int, array<int, float>> $one
     * @param array<int, array<int, float>> $other
     */
    private static function ratio(array $one, array $other): Interval
    {
        $interval = PairedRatio::of($one, $other);
        self::assertNotNull($interval);

        return $interval;
    }
}
