<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Finding;

use Larder\Bench\Experiment\Outcome;
use Larder\Bench\Finding\Findings;
use Larder\Bench\Finding\Loss;
use Larder\Bench\Finding\Standing;
use Larder\Bench\Statistics\Direction;
use PHPUnit\Framework\TestCase;

final class StandingTest extends TestCase
{
    public function testEveryComparisonIsAWinATieOrALoss(): void
    {
        $fixture = (new RunFixture())->gets('page', 'get', ['shared-memory' => 100.0, 'apcu-php' => 200.0, 'file-disk' => 100.0, 'file-tmpfs' => 50.0]);
        $standing = self::standing($fixture);

        self::assertSame([1, 1, 1, 3], [$standing->wins, $standing->ties, $standing->loses, $standing->compared()]);
    }

    /** The worst of the cases is shown with its ratio; the others are counted. */
    public function testTheWorstOfALossIsShownAndTheRestIsCounted(): void
    {
        $fixture = new RunFixture();
        foreach (['hello' => 100.0, 'page' => 25.0, 'list' => 50.0, 'map' => 400.0] as $value => $theirs) {
            $fixture->gets($value, 'get', ['shared-memory' => 100.0, 'file-tmpfs' => $theirs]);
        }
        $losses = self::standing($fixture)->losses;

        self::assertCount(1, $losses);
        self::assertSame(['time', 'FILE-TMPFS', 2, 4, 'page'], [$losses[0]->metric, $losses[0]->rival, $losses[0]->cases, $losses[0]->compared, $losses[0]->case['value'] ?? '']);
        self::assertEqualsWithDelta(4.0, $losses[0]->ratio->estimate, 1e-9);
    }

    public function testWhereMoreIsBetterLessIsALoss(): void
    {
        $fixture = (new RunFixture())
            ->add('memory', ['limit' => '64 MiB'], 'items', Direction::HigherIsBetter, 'shared-memory', 50.0)
            ->add('memory', ['limit' => '64 MiB'], 'items', Direction::HigherIsBetter, 'redis-tcp', 100.0);

        self::assertSame(['REDIS-TCP'], array_map(static fn(Loss $loss): string => $loss->rival, self::standing($fixture, 'memory')->losses));
    }

    public function testWhatWasSeenOnceAndIsWorseIsShownThoughItIsNotJudged(): void
    {
        $run = (new RunFixture())->run();
        $outcome = new Outcome('full', 'Full', 'Re-creates nothing.', []);
        foreach (['shared-memory' => 70.0, 'redis-tcp' => 50.0, 'memcached-tcp' => 69.0] as $subject => $time) {
            $outcome->measurement(['limit' => '16 MiB'], 'time of a set', 'ns', Direction::LowerIsBetter, $subject)->add(0, 0, $time);
        }
        $run->outcomes = [$outcome];
        $standing = Standing::all(new Findings($run))[0] ?? self::fail('It is not there.');

        self::assertSame(0, $standing->compared());
        self::assertSame([['REDIS-TCP', false]], array_map(static fn(Loss $loss): array => [$loss->rival, $loss->isJudged], $standing->losses));
    }

    public function testWhatEndsWithTheRequestAndWhatIsOursAreNoRivals(): void
    {
        $fixture = (new RunFixture())->gets('page', 'get', ['shared-memory' => 100.0, 'array-object' => 1.0, 'shared-memory-copy' => 1.0, 'cache-redis' => 1.0, 'none' => 0.1]);

        self::assertSame([], Standing::all(new Findings($fixture->run())));
    }

    public function testAdaptersAndPageCachesOfOursAreNoRivalsByTheirTitles(): void
    {
        $run = (new RunFixture())->run();
        $outcome = new Outcome('pagecache', 'Pages', 'Re-creates nothing.', []);
        $outcome->titles = ['files' => 'Larder from files', 'magento-redis' => 'Larder_Cache_Backend over Redis', 'rival-files' => 'a file a page'];
        foreach (['shared-memory' => 70.0, 'files' => 50.0, 'magento-redis' => 50.0, 'empty-plain' => 1.0, 'rival-files' => 50.0] as $subject => $time) {
            $outcome->measurement(['page' => '10 KB'], 'time', 'ns', Direction::LowerIsBetter, $subject)->add(0, 0, $time);
        }
        $run->outcomes = [$outcome];
        $standing = Standing::all(new Findings($run))[0] ?? self::fail('It is not there.');

        self::assertSame(['a file a page'], array_map(static fn(Loss $loss): string => $loss->rival, $standing->losses));
    }

    /** A cache that is asked for more cleans in the same time has fewer of its reads hit. */
    public function testTheShareOfReadsThatHitIsNoContest(): void
    {
        $fixture = (new RunFixture())
            ->add('tags', ['items' => '5,000'], 'reads that hit', Direction::HigherIsBetter, 'shared-memory', 0.7)
            ->add('tags', ['items' => '5,000'], 'reads that hit', Direction::HigherIsBetter, 'redis-tcp', 0.9);

        self::assertSame([], Standing::all(new Findings($fixture->run())));
    }

    private static function standing(RunFixture $fixture, string $experiment = 'gets'): Standing
    {
        $standings = Standing::all(new Findings($fixture->run()));
        self::assertSame([$experiment], array_column($standings, 'experiment'));

        return $standings[0];
    }
}
