<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Finding;

use Larder\Bench\Experiment\Tags;
use Larder\Bench\Finding\Advice;
use Larder\Bench\Finding\Findings;
use Larder\Bench\Finding\Recommendation;
use Larder\Bench\Report\Conclusions;
use Larder\Bench\Statistics\Direction;
use PHPUnit\Framework\TestCase;

final class RecommendationTest extends TestCase
{
    public function testWhereLarderWinsItIsAdvisedWithTheRatioItRestsOn(): void
    {
        foreach (['a blog', 'a shop'] as $site) {
            $advice = self::advice((new RunFixture())->contest(0.1), $site, 'one host with the extension');

            self::assertSame('shared-memory', $advice->best);
            self::assertSame([], $advice->ties);
            self::assertSame('apcu-php', $advice->next);
            self::assertGreaterThan(100, $advice->ratio?->low);
        }
        self::assertSame('shared-memory', self::advice((new RunFixture())->contest(0.1), 'a large tagged catalogue', 'one host with the extension')->best);
    }

    public function testWhereLarderLosesAnotherIsAdvised(): void
    {
        $fixture = (new RunFixture())->contest(10.0);

        self::assertSame('apcu-php', self::advice($fixture, 'a shop', 'one host with the extension')->best);
        $catalogue = self::advice($fixture, 'a large tagged catalogue', 'one host with the extension');
        self::assertSame('tag-sets', $catalogue->best);
        self::assertNotContains('shared-memory', $catalogue->ties);
    }

    public function testTheExtensionIsNotAdvisedWhereThereIsNone(): void
    {
        $fixture = (new RunFixture())->contest(0.1);

        self::assertSame('apcu-php', self::advice($fixture, 'a blog', 'one host without the extension')->best);
        self::assertSame('redis-tcp', self::advice($fixture, 'a blog', 'several hosts')->best);
        self::assertSame(['memcached-tcp'], self::advice($fixture, 'a blog', 'several hosts')->ties);
        self::assertSame('tag-sets', self::advice($fixture, 'a large tagged catalogue', 'several hosts')->best);
    }

    public function testADifferenceWithinTheNoiseIsATie(): void
    {
        $fixture = new RunFixture();
        foreach (['cache-redis' => 1.0, 'cache-memcached' => 1.02, 'tag-sets' => 0.5] as $design => $share) {
            foreach (['reads', 'writes', 'cleans by tag'] as $metric) {
                $fixture->add('tags', ['items' => '5,000'], $metric, Direction::HigherIsBetter, $design, 1000 * $share);
            }
        }
        $advice = self::advice($fixture, 'a large tagged catalogue', 'several hosts');

        self::assertSame('cache-memcached', $advice->best);
        self::assertSame(['cache-redis'], $advice->ties);
        self::assertSame('tag-sets', $advice->next);
        self::assertEqualsWithDelta(2.04, $advice->ratio?->estimate, 0.01);
    }

    public function testWhatIsAdvisedForACatalogueDependsOnHowOftenItIsCleaned(): void
    {
        $fixture = new RunFixture();
        // The files read fast and clean slowly, the sets are even.
        foreach (['tag-files' => [100_000.0, 2_000.0], 'tag-sets' => [40_000.0, 20_000.0]] as $design => [$reads, $cleans]) {
            foreach (['reads' => $reads, 'writes' => 1_000_000.0, 'cleans by tag' => $cleans / 10] as $metric => $rate) {
                $fixture->add('tags', ['items' => '5,000'], $metric, Direction::HigherIsBetter, $design, $rate);
            }
        }

        self::assertSame('tag-sets', self::advice($fixture, 'a large tagged catalogue', 'one host with the extension')->best);
        self::assertSame('tag-files', self::advice($fixture, 'the same, mostly read', 'one host with the extension')->best);
    }

    public function testAWriteOfACatalogueIsChargedForWhatCleansLeave(): void
    {
        $fixture = new RunFixture();
        // The pool writes faster into free room, and slower where it must reclaim.
        foreach (['shared-memory' => [100_000.0, 10.0], 'tag-sets' => [10_000.0, 10_000.0]] as $design => [$writes, $refills]) {
            foreach (['reads' => 100_000.0, 'writes' => $writes, Tags::REFILLS => $refills, 'cleans by tag' => 10_000.0] as $metric => $rate) {
                $fixture->add('tags', ['items' => '5,000'], $metric, Direction::HigherIsBetter, $design, $rate);
            }
        }

        self::assertSame('tag-sets', self::advice($fixture, 'a large tagged catalogue', 'one host with the extension')->best);
    }

    public function testWhatDisturbedTwoDesignsOneAfterTheOtherDoesNotCancelOut(): void
    {
        foreach ([[0.01, []], [0.5, ['tag-files']]] as [$spread, $ties]) {
            $fixture = new RunFixture();
            foreach (['tag-files' => 100_000.0, 'tag-sets' => 120_000.0] as $design => $rate) {
                foreach (['reads', 'writes', 'cleans by tag'] as $metric) {
                    $fixture->add('tags', ['items' => '5,000'], $metric, Direction::HigherIsBetter, $design, $rate, $spread);
                }
            }

            self::assertSame($ties, self::advice($fixture, 'a large tagged catalogue', 'one host with the extension')->ties);
        }
    }

    public function testASiteMayAskAServerForManyItemsAtOnceAndForTheRestOneByOne(): void
    {
        $advice = self::advice(self::servers(['redis-pipeline' => 1_000.0, 'memcached-multi' => 2_000.0]), 'a blog', 'one host without the extension');

        self::assertSame('redis-pipeline', $advice->best);
        // 20 posts at once, the options and the page one by one, and a tenth of a store.
        $one = 2.1 * 10_000.0;
        self::assertSame('memcached-multi', $advice->next);
        self::assertEqualsWithDelta(($one + 20 * 2_000.0) / ($one + 20 * 1_000.0), $advice->ratio?->estimate, 1e-6);
    }

    public function testWhatAsksForManyAtOnceNeedsWhatAsksOneByOne(): void
    {
        $fixture = (new RunFixture())->add('gets', ['value' => 'post', 'operation' => 'get', 'keys' => 'many keys in random order'], 'time', Direction::LowerIsBetter, 'redis-pipeline', 1.0);

        self::assertNull(self::advice($fixture, 'a blog', 'one host without the extension')->best);
    }

    public function testTheWeightsAreSaidToBeOurs(): void
    {
        $report = (new Conclusions(new Findings((new RunFixture())->run())))->render();

        self::assertStringContainsString('is our assumption', $report);
        self::assertStringNotContainsString('because source D weighs', $report);
    }

    public function testWhatWasNotMeasuredWholeIsNotAdvised(): void
    {
        $fixture = (new RunFixture())->gets('alloptions', 'get', ['none' => 0.0, 'shared-memory' => 1.0]);
        $advice = self::advice($fixture, 'a blog', 'one host with the extension');

        self::assertNull($advice->best);
        self::assertNull($advice->ratio);
    }

    /** @param array<string, float> $atOnce the time of a read among a hundred, of all that a server takes 10,000 ns for one by one */
    private static function servers(array $atOnce): RunFixture
    {
        $fixture = new RunFixture();
        $hot = ['operation' => 'get', 'keys' => 'one hot key'];
        $many = [...$hot, 'keys' => 'many keys in random order'];
        foreach ([['value' => 'alloptions', ...$hot], ['value' => 'post', ...$many], ['value' => 'page', ...$many], ['value' => 'post', ...$hot, 'operation' => 'set']] as $case) {
            foreach (['redis-unix' => 10_000.0, 'memcached-unix' => 10_000.0, ...($case['operation'] === 'get' ? $atOnce : [])] as $subject => $time) {
                $fixture->add('gets', $case, 'time', Direction::LowerIsBetter, $subject, $time);
            }
        }

        return $fixture;
    }

    private static function advice(RunFixture $fixture, string $site, string $host): Advice
    {
        foreach (Recommendation::of(new Findings($fixture->run())) as $advice) {
            if ($advice->site === $site && $advice->host === $host) {
                return $advice;
            }
        }
        self::fail("There is no advice for {$site} on {$host}.");
    }
}
