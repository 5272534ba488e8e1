<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Statistics;

use Larder\Bench\Statistics\Direction;
use Larder\Bench\Statistics\FewSamples;
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
    #[TestWith([1, 3, 0.0])]
    #[TestWith([1, 4, 0.0])]
    #[TestWith([1, 5, 0.0])]
    #[TestWith([2, 1, 0.0])]
    #[TestWith([2, 5, 0.03])]
    public function testTheIntervalCoversTheTruthAboutAsOftenAsItSays(int $processes, int $blocks, float $luck): void
    {
        $noise = new Noise(11);
        $covered = 0;
        for ($run = 0; $run < self::RUNS; $run++) {
            [$one, $other] = $noise->blocks(1.3, $processes, $blocks, $luck);
            $covered += (int) self::ratio($one, $other)->contains(1.3);
        }

        self::assertGreaterThanOrEqual(0.87 * self::RUNS, $covered);
        if ($processes * $blocks < FewSamples::ENOUGH) {
            return;
        }
        // An interval that always covers would say nothing; neither may it be much wider than it must.
        [$one, $other] = $noise->blocks(1.3, $processes, $blocks, $luck);
        $interval = self::ratio($one, $other);
        self::assertLessThan(1.0 / sqrt($processes * $blocks), $interval->high - $interval->low);
    }

    /**
     * A turn's two blocks differ by 7 % here, as they do in `gets`. What is found is as small as so many blocks allow: with
     * those of the profiles, 5 % is found in every third run, and with those of `web` in almost every one.
     */
    #[TestWith([3, 4, 1.05, 0.2])]
    #[TestWith([5, 5, 1.05, 0.3])]
    #[TestWith([4, 34, 1.05, 0.9])]
    #[TestWith([8, 20, 1.05, 0.9])]
    #[TestWith([3, 4, 1.15, 0.9])]
    #[TestWith([5, 5, 1.1, 0.9])]
    #[TestWith([2, 5, 1.2, 0.9])]
    #[TestWith([1, 4, 1.4, 0.9])]
    public function testAPlantedDifferenceIsFoundAsOftenAsSoManyBlocksAllow(int $processes, int $blocks, float $ratio, float $share): void
    {
        $noise = new Noise(12);
        $found = 0;
        for ($run = 0; $run < self::RUNS; $run++) {
            [$one, $other] = $noise->blocks($ratio, $processes, $blocks);
            $found += (int) (Verdict::on(self::ratio($one, $other), new NoiseFloor(0.01), Direction::LowerIsBetter) === Verdict::Loses);
        }

        self::assertGreaterThanOrEqual($share * self::RUNS, $found);
    }

    #[TestWith([1, 3])]
    #[TestWith([1, 4])]
    #[TestWith([3, 4])]
    #[TestWith([5, 5])]
    #[TestWith([8, 20])]
    public function testAPlantedDifferenceOfNothingIsATie(int $processes, int $blocks): void
    {
        $noise = new Noise(13);
        $ties = 0;
        for ($run = 0; $run < self::RUNS; $run++) {
            [$one, $other] = $noise->blocks(1.0, $processes, $blocks);
            $ties += (int) (Verdict::on(self::ratio($one, $other), new NoiseFloor(0.01), Direction::LowerIsBetter) === Verdict::Ties);
        }

        self::assertGreaterThanOrEqual(0.95 * self::RUNS, $ties);
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
        self::assertSame(NoiseFloor::ASSUMED, NoiseFloor::of([])->share, 'where nothing ran twice');
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
