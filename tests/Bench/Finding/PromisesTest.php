<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Finding;

use Larder\Bench\Experiment\CrossCheck;
use Larder\Bench\Experiment\Measurement;
use Larder\Bench\Experiment\Outcome;
use Larder\Bench\Experiment\Saturation;
use Larder\Bench\Experiment\Tags;
use Larder\Bench\Finding\Findings;
use Larder\Bench\Finding\Promise;
use Larder\Bench\Finding\Promises;
use Larder\Bench\Finding\PromiseState;
use Larder\Bench\Statistics\Direction;
use Larder\Bench\Statistics\Interval;
use Larder\Bench\Statistics\Quantity;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;

final class PromisesTest extends TestCase
{
    public function testATimeThatWasTakenOnceShowsNothing(): void
    {
        $case = ['value' => 'page', 'operation' => 'get', 'keys' => 'one hot key'];
        $outcome = new Outcome('cold', 'Cold', 'Re-creates nothing.');
        foreach (['shared-memory' => 10.0, 'redis-tcp' => 1_000.0] as $subject => $time) {
            $outcome->measurements[] = $measurement = new Measurement($case, 'time', 'ns per operation', Direction::LowerIsBetter, $subject, false, ['operations', 'client cpu', 'server cpu']);
            $measurement->add(0, 0, $time, 1_000, $time, 0.0);
        }
        $findings = new Findings((new RunFixture())->with($outcome)->run());
        $ratio = $findings->ratio('cold', 'time', $case, 'redis-tcp', 'shared-memory');
        self::assertNotNull($ratio);
        self::assertEquals(new Interval(100.0, 0.0, INF), $ratio);
        self::assertSame(PromiseState::NotShown, Promise::atLeast('title', 'figure', $ratio, 50.0)->state);
        self::assertSame('100 (taken once)', Quantity::interval($ratio));
    }

    public function testARunHasThePromisesOfItsExperimentsOnly(): void
    {
        self::assertSame([], self::promises(new RunFixture()));

        $fixture = (new RunFixture())->add('memory', ['limit' => '64 MiB'], 'items', Direction::HigherIsBetter, 'apcu', 1000, 0.0);
        $promises = self::promises($fixture);

        self::assertSame(['values of 20 bytes under keys of 20 bytes in a pool of 64 MiB'], array_column($promises, 'title'));
        self::assertSame(PromiseState::NotMeasured, $promises[0]->state, 'Only APCu was measured.');
        self::assertNull($promises[0]->found);
    }

    public function testEveryPromiseIsMetWhereLarderWins(): void
    {
        foreach (self::promises((new RunFixture())->contest(0.1)) as $promise) {
            self::assertSame(PromiseState::Met, $promise->state, $promise->title);
        }
    }

    public function testWhatSharedMemoryBeforeRedisReadsIsJudgedAmongHitsAndAmongAllReads(): void
    {
        $titles = array_column(array_filter(self::promises((new RunFixture())->contest(0.1)), static fn(Promise $promise): bool => $promise->bound === 'at least 20'), 'title');
        $ours = 'Larder\\Cache over shared memory before Redis, against tag sets in Redis';
        foreach (["reading 200,000 tagged items, of those that hit, {$ours}", "reading 200,000 tagged items, hits and misses, {$ours}"] as $title) {
            self::assertContains($title, array_map(static fn(string $title): string => str_replace(' (re-creation)', '', $title), $titles));
        }
    }

    public function testEveryPromiseIsMissedWhereLarderLoses(): void
    {
        foreach (self::promises((new RunFixture())->contest(10.0)) as $promise) {
            self::assertSame(PromiseState::Missed, $promise->state, $promise->title);
        }
    }

    #[TestWith([1.0, 0.95, 1.05, PromiseState::Met])]
    #[TestWith([1.0, 0.5, 1.5, PromiseState::NotShown])]
    #[TestWith([1.2, 0.8, 1.6, PromiseState::NotShown])]
    #[TestWith([1.15, 1.05, 1.2, PromiseState::Missed])]
    #[TestWith([1.5, 1.2, 1.8, PromiseState::Missed])]
    public function testNoiseDoesNotHelpAFigureBetweenTwoBounds(float $estimate, float $low, float $high, PromiseState $state): void
    {
        self::assertSame($state, Promise::within('x', 'y', new Interval($estimate, $low, $high), 0.9, 1.1)->state);
    }

    #[TestWith([0.79, 0.78, 0.8, PromiseState::Met])]
    #[TestWith([0.79, 0.7, 0.85, PromiseState::NotShown])]
    #[TestWith([0.81, 0.7, 0.85, PromiseState::NotShown])]
    #[TestWith([0.82, 0.801, 0.85, PromiseState::Missed])]
    public function testNoiseNeitherHelpsNorHarmsAFigureWithOneBound(float $estimate, float $low, float $high, PromiseState $state): void
    {
        self::assertSame($state, Promise::atMost('x', 'y', new Interval($estimate, $low, $high), 0.8)->state);
        self::assertSame($state, Promise::atLeast('x', 'y', new Interval(-$estimate, -$high, -$low), -0.8)->state);
    }

    #[TestWith([0.75, 0.6, 1])]
    #[TestWith([0.76, 0.6, 0])]
    #[TestWith([0.6, 0.76, 0])]
    public function testTheLoadGeneratorIsComparedWhereBothGeneratorsWait(float $ours, float $theirs, int $promises): void
    {
        $case = ['operation' => 'GET', 'clients' => '3'];
        $fixture = (new RunFixture())
            ->add('clients', $case, Saturation::COMPARISON, Direction::HigherIsBetter, 'generator', 800.0, 0.0, $ours)
            ->add('clients', $case, Saturation::COMPARISON, Direction::HigherIsBetter, 'redis-benchmark', 1000.0, 0.0, $theirs);

        self::assertSame(array_fill(0, $promises, PromiseState::Missed), array_column(self::promises($fixture), 'state'));
    }

    public function testTheLoadGeneratorIsJudgedAtASlowServerByItself(): void
    {
        $fixture = new RunFixture();
        foreach ([CrossCheck::AS_IT_IS => 0.99, CrossCheck::SLOW => 0.3] as $server => $share) {
            foreach (['generator' => 1_050.0, 'redis-benchmark' => 1_000.0] as $name => $rate) {
                $fixture->add('clients', ['operation' => 'SET', 'clients' => '50', 'server' => $server], Saturation::COMPARISON, Direction::HigherIsBetter, $name, $rate, 0.01, $share);
            }
        }
        $promises = self::promises($fixture);

        self::assertSame(['the load generator beside redis-benchmark (SET, clients: 50, server: slower than both)'], array_column($promises, 'title'));
        self::assertSame(PromiseState::Met, $promises[0]->state ?? null);
    }

    public function testApcuIsTheOneWithTheFasterSerialiser(): void
    {
        $fixture = (new RunFixture())->gets('alloptions', 'get', ['shared-memory' => 30.0, 'apcu-php' => 20_000.0, 'apcu-igbinary' => 14_000.0]);
        $promise = self::promises($fixture)[0];

        self::assertStringContainsString('APCU-IGBINARY', $promise->title);
        self::assertEqualsWithDelta(30 / 14_000, $promise->found?->estimate, 1e-9);
        self::assertSame(PromiseState::Missed, $promise->state);
    }

    public function testTheEmptyLoopIsSubtractedBeforeTimesAreCompared(): void
    {
        $fixture = (new RunFixture())->gets('alloptions', 'get', ['none' => 5.0, 'shared-memory' => 25.0, 'array-object' => 26.0]);

        $found = array_filter(self::promises($fixture), static fn(Promise $promise): bool => $promise->title === 'get of the 100 KB array of options against ArrayObject::offsetGet');

        self::assertEqualsWithDelta(20 / 21, reset($found) === false ? null : reset($found)->found?->estimate, 1e-9);
    }

    public function testACleanAmongManyItemsIsJudgedByTheSameDesignAmongFew(): void
    {
        $fixture = new RunFixture();
        foreach (['5,000' => 30.0, '200' => 25.0] as $items => $time) {
            $fixture->add('tags', ['items in the store' => (string) $items], Tags::CLEAN, Direction::LowerIsBetter, 'cache-sqlite', $time);
        }
        $promises = array_values(array_filter(self::promises($fixture), static fn(Promise $promise): bool => $promise->state !== PromiseState::NotMeasured));

        self::assertSame(['cleaning a tag among 5,000 items, Larder\Cache over SQLite'], array_column($promises, 'title'));
        self::assertEqualsWithDelta(1.2, $promises[0]->found?->estimate, 1e-9);
        self::assertSame(PromiseState::Met, $promises[0]->state);
    }

    public function testAnAdapterIsHeldAgainstTheFastestOfItsFrameworkAlsoAgainstOneWithFewerItems(): void
    {
        $fixture = new RunFixture();
        $fixture->add('tags', ['items' => '5,000'], 'reads', Direction::HigherIsBetter, 'symfony-shared-memory', 1_000.0);
        foreach (['symfony-shared-memory' => 1_000.0, 'symfony-own-redis' => 100.0, 'symfony-own-tags-apcu' => 150.0] as $subject => $rate) {
            $fixture->add('tags', ['items' => '5,000'], Tags::HITS, Direction::HigherIsBetter, $subject, $rate);
        }
        $found = static fn(): Promise => array_values(array_filter(self::promises($fixture), static fn(Promise $promise): bool => str_starts_with($promise->title, 'reads that hit among 5,000 items, Larder\\Symfony over shared memory')))[0];

        self::assertStringEndsWith('against Symfony: TagAwareAdapter over APCu', $found()->title);
        self::assertEqualsWithDelta(1_000 / 150, $found()->found?->estimate, 1e-9);
        self::assertSame(PromiseState::Met, $found()->state);

        $fixture->add('tags', ['items' => '500'], Tags::HITS, Direction::HigherIsBetter, 'symfony-own-files', 250.0);
        self::assertStringEndsWith('against Symfony: FilesystemTagAwareAdapter among 500', $found()->title);
        self::assertSame(PromiseState::Missed, $found()->state);
    }

    public function testHitsInRequestsAreJudgedBesideThoseOfOneLongRequest(): void
    {
        $fixture = new RunFixture();
        $fixture->add('tags', ['items' => '5,000'], 'reads', Direction::HigherIsBetter, 'symfony-shared-memory', 1_000.0);
        foreach ([Tags::HITS => 250.0, Tags::HITS_IN_REQUESTS => 100.0] as $metric => $theirs) {
            foreach (['symfony-shared-memory' => 1_000.0, 'symfony-own-tags-apcu' => $theirs] as $subject => $rate) {
                $fixture->add('tags', ['items' => '5,000'], $metric, Direction::HigherIsBetter, $subject, $rate);
            }
        }
        $found = [];
        foreach (self::promises($fixture) as $promise) {
            if (str_contains($promise->title, 'Larder\\Symfony over shared memory, against Symfony: TagAwareAdapter over APCu')) {
                $found[explode(' among', $promise->title)[0]] = $promise->state;
            }
        }

        self::assertSame(['reads that hit' => PromiseState::Missed, 'reads that hit in requests' => PromiseState::Met], $found);
    }

    /** @param float $spread how far the blocks lie apart */
    #[TestWith([930, 0.045, PromiseState::Met])]
    #[TestWith([930, 0.03, PromiseState::Missed])]
    #[TestWith([930, 0.2, PromiseState::NotShown])]
    #[TestWith([1000, 0.2, PromiseState::NotShown])]
    public function testRequestsAreJudgedByTheUpperEndOfAnIntervalThatIsNarrow(float $requests, float $spread, PromiseState $state): void
    {
        $case = ['value' => 'alloptions', 'keep-alive' => 'off', 'concurrency' => '1'];
        $fixture = (new RunFixture())
            ->add('web', $case, 'requests per second', Direction::HigherIsBetter, 'empty', 1000, 0.0)
            ->add('web', $case, 'requests per second', Direction::HigherIsBetter, 'shared-memory', $requests, $spread);
        $promises = array_filter(self::promises($fixture), static fn(Promise $promise): bool => $promise->found !== null);
        $promise = end($promises);

        self::assertInstanceOf(Promise::class, $promise);
        self::assertEqualsWithDelta($requests / 1000, $promise->found?->estimate, 1e-9);
        self::assertSame($state, $promise->state);
    }

    /** @return list<Promise> */
    private static function promises(RunFixture $fixture): array
    {
        return Promises::of(new Findings($fixture->run()));
    }
}
