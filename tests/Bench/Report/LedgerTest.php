<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Report;

use Larder\Bench\Report\Claim;
use Larder\Bench\Report\ClaimState;
use Larder\Bench\Report\Findings;
use Larder\Bench\Report\Ledger;
use Larder\Bench\Statistics\Direction;
use Larder\Bench\Statistics\Interval;
use Larder\Bench\Statistics\NoiseFloor;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;

final class LedgerTest extends TestCase
{
    public function testARunThatMeasuredNothingNeitherAgreesNorDisagrees(): void
    {
        $claims = Ledger::of(new Findings((new RunFixture())->run()));

        self::assertNotSame([], $claims);
        self::assertSame(['A', 'B', 'C', 'D'], array_values(array_unique(array_map(static fn(Claim $claim): string => $claim->source, $claims))));
        foreach ($claims as $claim) {
            self::assertSame(ClaimState::NotMeasured, $claim->state, $claim->claim);
        }
    }

    #[TestWith([300.0, ClaimState::Agrees])]
    #[TestWith([130.0, ClaimState::Disagrees])]
    #[TestWith([460.0, ClaimState::Disagrees])]
    public function testAboutThreeTimesIsBetweenTwoAndFourAndAHalf(float $redis, ClaimState $state): void
    {
        $fixture = (new RunFixture())->gets('hello', 'get', ['none' => 0.0, 'redis-tcp' => $redis, 'file-disk' => 100.0]);

        self::assertSame($state, self::claim($fixture, 'files are about three times as fast as Redis in one request')->state);
    }

    public function testAnIntervalThatLiesPartlyInWhatIsClaimedDoesNotTell(): void
    {
        self::assertSame(ClaimState::Tie, Claim::about('A', 'x', 'y', new Interval(3.0, 1.0, 9.0), 3)->state);
        self::assertSame(ClaimState::Tie, Claim::about('A', 'x', 'y', new Interval(0.3, 0.1, 2.5), 3)->state);
        self::assertSame(ClaimState::Disagrees, Claim::about('A', 'x', 'y', new Interval(0.3, 0.1, 1.9), 3)->state);
    }

    #[TestWith([2.0, 1.0, ClaimState::Agrees])]
    #[TestWith([1.0, 2.0, ClaimState::Disagrees])]
    #[TestWith([1.02, 1.0, ClaimState::Tie])]
    public function testReadsFromFilesAreFastestOnlyWhenTheyAre(float $files, float $sets, ClaimState $state): void
    {
        $fixture = (new RunFixture())
            ->add('tags', ['items' => '5,000'], 'reads', Direction::HigherIsBetter, 'tag-files', $files)
            ->add('tags', ['items' => '5,000'], 'reads', Direction::HigherIsBetter, 'tag-sets', $sets);

        self::assertSame($state, self::claim($fixture, 'reads are fastest from files')->state);
    }

    #[TestWith([80.0, 20.0, ClaimState::Agrees, ClaimState::Disagrees])]
    #[TestWith([60.0, 60.0, ClaimState::Disagrees, ClaimState::Agrees])]
    public function testWhetherMemoryIsGivenBackIsSeenInWhatTheServerOccupies(float $full, float $flushed, ClaimState $givesBack, ClaimState $keepsToItsLimit): void
    {
        $fixture = (new RunFixture())
            ->add('memory', ['limit' => '64 MiB', 'after' => 'writing twice what fits'], 'memory occupied', Direction::LowerIsBetter, 'redis', $full * (1 << 20), 0.0)
            ->add('memory', ['limit' => '64 MiB', 'after' => 'flushing'], 'memory occupied', Direction::LowerIsBetter, 'redis', $flushed * (1 << 20), 0.0);

        self::assertSame($givesBack, self::claim($fixture, 'Redis gives unused memory back')->state);
        self::assertSame($keepsToItsLimit, self::claim($fixture, 'Redis never exceeds its limit')->state);
    }

    public function testMemcachedSetsAreComparedWithItsGets(): void
    {
        $fixture = new RunFixture();
        foreach (['SET' => 900.0, 'GET' => 1000.0] as $operation => $rate) {
            $fixture->add('clients', ['operation of the clients' => $operation, 'requests' => '10,000', 'clients' => '50'], 'rate', Direction::HigherIsBetter, 'memcached-1', $rate);
        }
        $claim = self::claim($fixture, 'Memcached sets faster than it gets');

        self::assertSame(ClaimState::Disagrees, $claim->state);
        self::assertEqualsWithDelta(0.9, $claim->found?->estimate, 1e-9);
    }

    public function testValkeySpeaksForRedisWhereOnlyValkeyWasMeasured(): void
    {
        $fixture = (new RunFixture())->gets('hello', 'get', ['none' => 0.0, 'valkey-tcp' => 300.0, 'file-disk' => 100.0]);

        self::assertSame(ClaimState::Agrees, self::claim($fixture, 'files are about three times as fast as Redis in one request')->state);
    }

    #[TestWith([1.2, 1.4, ClaimState::Agrees])]
    #[TestWith([0.7, 0.8, ClaimState::Disagrees])]
    #[TestWith([0.9, 1.4, ClaimState::Tie])]
    #[TestWith([1.01, 1.04, ClaimState::Tie])]
    public function testAClaimNeedsTheWholeIntervalBeyondTheNoise(float $low, float $high, ClaimState $state): void
    {
        self::assertSame($state, Claim::above('A', 'x', 'y', new Interval(($low + $high) / 2, $low, $high), new NoiseFloor(0.05))->state);
    }

    private static function claim(RunFixture $fixture, string $claim): Claim
    {
        foreach (Ledger::of(new Findings($fixture->run())) as $row) {
            if ($row->claim === $claim) {
                return $row;
            }
        }
        self::fail("There is no claim \"{$claim}\" in the ledger.");
    }
}
