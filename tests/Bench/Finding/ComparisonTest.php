<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Finding;

use Larder\Bench\Experiment\Outcome;
use Larder\Bench\Finding\Change;
use Larder\Bench\Finding\Circumstances;
use Larder\Bench\Finding\Comparison;
use Larder\Bench\Finding\Findings;
use Larder\Bench\Finding\Run;
use Larder\Bench\Statistics\Direction;
use Larder\Bench\Statistics\Verdict;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;

final class ComparisonTest extends TestCase
{
    #[TestWith([100.0, 120.0, Verdict::Loses])]
    #[TestWith([100.0, 80.0, Verdict::Wins])]
    #[TestWith([100.0, 102.0, Verdict::Ties])]
    public function testATimeThatGrewBeyondTheNoiseGotWorse(float $before, float $after, Verdict $verdict): void
    {
        $comparison = Comparison::of(self::gets($before), self::gets($after));

        self::assertSame($verdict, self::only($comparison)->verdict);
        self::assertEqualsWithDelta($after / $before, self::only($comparison)->ratio->estimate, 1e-9);
    }

    public function testARateThatGrewGotBetter(): void
    {
        $run = static fn(float $rate): Findings => new Findings((new RunFixture())->add('web', ['concurrency' => '1'], 'requests per second', Direction::HigherIsBetter, 'empty', $rate)->run());

        self::assertSame(Verdict::Wins, self::only(Comparison::of($run(1000), $run(1200)))->verdict);
    }

    public function testWhatTheYardsticksChangedByIsNoise(): void
    {
        $run = static fn(float $time, float $yardstick): Findings => new Findings((new RunFixture())->gets('page', 'get', ['shared-memory' => $time, 'array-object' => $yardstick])->run());
        $comparison = Comparison::of($run(100, 20), $run(120, 30));

        self::assertGreaterThan(0.4, $comparison->floor->share);
        self::assertSame([], $comparison->with(Verdict::Loses));
        self::assertCount(1, Comparison::of($run(100, 20), $run(120, 20))->with(Verdict::Loses));
    }

    public function testInWhatTwoRunsDifferBesideTheCodeIsSaid(): void
    {
        $run = static fn(int $blocks): RunFixture => (new RunFixture())->gets('page', 'get', ['shared-memory' => 1.0])->parameters('gets', ['items' => 3, 'blocks in each process' => $blocks, 'placement' => "of {$blocks}"]);

        self::assertSame([], Comparison::of(new Findings($run(5)->run()), new Findings($run(5)->run()))->differences);
        $comparison = Comparison::of(new Findings($run(5)->run()), new Findings($run(6)->run()));
        self::assertSame(['parameters of gets (blocks in each process, placement)'], $comparison->differences);
        self::assertSame([1, []], [count($comparison->changes), $comparison->refused]);
        $before = $run(5)->run();
        $after = new Run($before->command, 'thorough', $before->started, ['processor' => 'Another'], $before->placement, $before->settings, $before->subjects, ['PHP' => '8.2', 'ext-larder' => '1.1'], $before->servers, $before->outcomes);
        self::assertSame(['profile (quick, then thorough)', 'processor (A <fine> one, then Another)'], Comparison::of(new Findings($before), new Findings($after))->differences);
    }

    /** "many keys in random order" are 600 in a quick run and 2,000 in a thorough one. */
    public function testWhatMeasuredOtherThingsUnderTheSameNamesIsNotCompared(): void
    {
        $run = static fn(int $keys, float $time): Findings => new Findings((new RunFixture())
            ->gets('page', 'get', ['shared-memory' => $time, 'array-object' => $time])->parameters('gets', ['keys' => $keys])
            ->add('web', ['concurrency' => '1'], 'requests per second', Direction::HigherIsBetter, 'empty', 1000.0)
            ->run());
        $comparison = Comparison::of($run(600, 10.0), $run(2_000, 30.0));

        self::assertSame(['gets' => ['keys: 600, then 2000']], $comparison->refused);
        self::assertSame(['web'], array_map(static fn(Change $change): string => $change->experiment, $comparison->changes));
        self::assertSame([], $comparison->differences);
        self::assertSame(0.05, $comparison->floor->share, 'what is not compared says nothing of the noise');
        self::assertSame(1, $comparison->agreement->intervals);
    }

    public function testWhatOneRunDoesNotStateIsNotTheSame(): void
    {
        $run = static fn(RunFixture $fixture): Findings => new Findings($fixture->gets('page', 'get', ['shared-memory' => 1.0])->run());
        $before = $run((new RunFixture())->parameters('gets', ['runs' => 1]));

        self::assertSame(['gets' => ['keys: not stated, then 600']], Comparison::of($before, $run((new RunFixture())->parameters('gets', ['runs' => 1, 'keys' => 600])))->refused);
    }

    /** A name that no experiment has any more excuses nothing, and what took its place would keep quick runs and thorough ones apart. */
    public function testWhatSaysHowOftenSomethingWasMeasuredIsAParameterOfTheRecordedRun(): void
    {
        $recorded = Run::fromJson((string) file_get_contents(__DIR__ . '/../../../docs/results/run.json'));
        $names = (new \ReflectionClass(Circumstances::class))->getConstant('HOW_OFTEN');
        self::assertIsArray($names);

        foreach ($names as $name) {
            self::assertContains($name, array_merge(...array_map(static fn(Outcome $outcome): array => array_keys($outcome->parameters), $recorded->outcomes)));
        }
    }

    public function testOnlyWhatBothMeasuredIsCompared(): void
    {
        $more = new Findings((new RunFixture())->gets('page', 'get', ['shared-memory' => 1.0])->gets('post', 'get', ['shared-memory' => 1.0])->run());

        self::assertCount(1, Comparison::of(self::gets(1.0), $more)->changes);
        self::assertSame([], Comparison::of(self::gets(1.0), $more, ['redis-*'])->changes);
    }

    public function testIntervalsThatDoNotOverlapAndVerdictsThatTurnRoundAreCounted(): void
    {
        $run = static fn(float $ours): Findings => new Findings((new RunFixture())
            ->gets('page', 'get', ['shared-memory' => $ours, 'redis-tcp' => 1000.0])
            ->gets('post', 'get', ['shared-memory' => 10.0, 'redis-tcp' => 1000.0])
            ->run());
        $agreement = Comparison::of($run(100.0), $run(2000.0))->agreement;

        self::assertSame(['gets, time, page, get, one hot key, redis-tcp'], $agreement->flips);
        self::assertSame([2, 2, 1, 0.5, 0.75], [$agreement->verdicts, $agreement->intervals, $agreement->overlapping, $agreement->share(), $agreement->medians]);
        self::assertSame(
            'The two runs do not agree. Of 2 verdicts, 1 turned round between "wins" and "loses". Of the intervals of 2 comparisons, 1 overlap, 50.0 %. None and at least 90 % are asked for. '
            . 'Of the medians\' own intervals, 75.0 % overlap. A machine is not equally fast each time, which comparisons within a run do not see.',
            $agreement->sentence(),
        );
    }

    /** A neighbour on the same host may take a tenth of everything for an hour. */
    public function testAMachineThatIsSlowerAsAWholeIsNoDisagreement(): void
    {
        $run = static fn(float $pace): Findings => new Findings((new RunFixture())
            ->gets('page', 'get', ['shared-memory' => 100.0 * $pace, 'apcu-php' => 300.0 * $pace, 'redis-tcp' => 1000.0 * $pace])
            ->run());
        $agreement = Comparison::of($run(1.0), $run(1.2))->agreement;

        self::assertSame([2, 2, 0.0], [$agreement->intervals, $agreement->overlapping, $agreement->medians]);
        self::assertTrue($agreement->isReached());
    }

    /** Nothing is compared in `serializers`. */
    public function testWhatIsComparedWithNothingAgreesWhereItsMedianDoes(): void
    {
        $run = static fn(float $time): Findings => new Findings((new RunFixture())
            ->add('serializers', ['value' => 'page'], 'time', Direction::LowerIsBetter, 'php+none', $time)
            ->add('serializers', ['value' => 'page'], 'time', Direction::LowerIsBetter, 'igbinary+none', 10.0)
            ->run());

        self::assertSame([2, 1], [Comparison::of($run(10.0), $run(20.0))->agreement->intervals, Comparison::of($run(10.0), $run(20.0))->agreement->overlapping]);
    }

    public function testTwoRunsThatHaveNothingInCommonDoNotAgree(): void
    {
        $other = new Findings((new RunFixture())->gets('post', 'get', ['shared-memory' => 1.0])->run());
        $agreement = Comparison::of(self::gets(1.0), $other)->agreement;

        self::assertFalse($agreement->isReached());
        self::assertSame('The two runs cannot be said to agree: nothing was measured more than once in both.', $agreement->sentence());
    }

    /** @param int $moved how many of ten comparisons moved away without a verdict turning round */
    #[TestWith([0, true])]
    #[TestWith([1, true])]
    #[TestWith([2, false])]
    public function testTwoRunsAgreeWhereNineIntervalsOfTenOverlapAndNoVerdictTurnsRound(int $moved, bool $isReached): void
    {
        $run = static function (int $slower): Findings {
            $fixture = new RunFixture();
            foreach (array_keys(array_fill(0, 10, true)) as $number) {
                $fixture->gets("value {$number}", 'get', ['shared-memory' => 10.0, 'redis-tcp' => $number < $slower ? 2000.0 : 1000.0]);
            }

            return new Findings($fixture->run());
        };
        $agreement = Comparison::of($run(0), $run($moved))->agreement;

        self::assertSame([[], 10, 10 - $moved], [$agreement->flips, $agreement->intervals, $agreement->overlapping]);
        self::assertSame($isReached, $agreement->isReached());
        self::assertStringStartsWith($isReached ? 'The two runs agree. ' : 'The two runs do not agree. ', $agreement->sentence());
    }

    public function testOneVerdictThatTurnsRoundIsADisagreementHoweverManyIntervalsOverlap(): void
    {
        $run = static function (float $ours): Findings {
            $fixture = (new RunFixture())->gets('page', 'get', ['shared-memory' => $ours, 'redis-tcp' => 1000.0]);
            for ($number = 0; $number < 10; $number++) {
                $fixture->gets("value {$number}", 'get', ['shared-memory' => 10.0, 'redis-tcp' => 1000.0]);
            }

            return new Findings($fixture->run());
        };
        $agreement = Comparison::of($run(100.0), $run(2000.0))->agreement;

        self::assertGreaterThan(0.9, $agreement->share());
        self::assertFalse($agreement->isReached());
    }

    public function testAVerdictThatBecomesATieHasNotTurnedRound(): void
    {
        $run = static fn(float $ours): Findings => new Findings((new RunFixture())->gets('page', 'get', ['shared-memory' => $ours, 'redis-tcp' => 1000.0])->run());
        $agreement = Comparison::of($run(500.0), $run(1000.0))->agreement;

        self::assertSame([], $agreement->flips);
        self::assertSame([1, 0], [$agreement->intervals, $agreement->overlapping]);
    }

    public function testWhatWasTakenOnceHasNoInterval(): void
    {
        $run = static function (float $bytes): Findings {
            $run = (new RunFixture())->gets('page', 'get', ['shared-memory' => 1.0])->run();
            $run->outcomes[0]->measurement([], 'memory', 'bytes', Direction::LowerIsBetter, 'shared-memory')->add(0, 0, $bytes);

            return new Findings($run);
        };
        $comparison = Comparison::of($run(100.0), $run(200.0));

        self::assertCount(2, $comparison->changes);
        self::assertSame(1, $comparison->agreement->intervals);
    }

    private static function gets(float $time): Findings
    {
        return new Findings((new RunFixture())->gets('page', 'get', ['shared-memory' => $time])->run());
    }

    private static function only(Comparison $comparison): Change
    {
        self::assertCount(1, $comparison->changes);

        return $comparison->changes[0];
    }
}
