<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Statistics;

use Larder\Bench\Statistics\Summary;
use PHPUnit\Framework\TestCase;

final class SummaryTest extends TestCase
{
    public function testEveryFigureOfAKnownListIsRight(): void
    {
        $summary = Summary::of([4.0, 1.0, 3.0, 2.0, 10.0]);

        self::assertSame(5, $summary->n);
        self::assertSame([1.0, 10.0, 9.0], [$summary->min, $summary->max, $summary->range]);
        self::assertSame([3.0, 4.0], [$summary->median, $summary->mean]);
        // Distances from the mean: 0, 3, 1, 2, 6.
        self::assertEqualsWithDelta(12 / 5, $summary->mad, 1e-12);
        self::assertEqualsWithDelta(sqrt(50 / 4), $summary->stdev, 1e-12);
        self::assertEqualsWithDelta(1.04, $summary->p1, 1e-12);
        self::assertEqualsWithDelta(1.2, $summary->p5, 1e-12);
        self::assertEqualsWithDelta(8.8, $summary->p95, 1e-12);
        self::assertEqualsWithDelta(9.76, $summary->p99, 1e-12);
    }

    public function testPercentilesOfAUniformDistributionLieWhereTheyShould(): void
    {
        $summary = Summary::of(array_map(floatval(...), range(0, 1000)));

        self::assertSame([10.0, 50.0, 500.0, 950.0, 990.0], [$summary->p1, $summary->p5, $summary->median, $summary->p95, $summary->p99]);
    }

    public function testOneSampleHasNoSpread(): void
    {
        $summary = Summary::of([7.0]);

        self::assertSame([7.0, 7.0, 0.0, 0.0], [$summary->median, $summary->p99, $summary->stdev, $summary->mad]);
    }
}
