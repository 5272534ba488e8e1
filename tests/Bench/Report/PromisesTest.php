<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Report;

use Larder\Bench\Report\Findings;
use Larder\Bench\Report\Promise;
use Larder\Bench\Report\Promises;
use Larder\Bench\Report\PromiseState;
use Larder\Bench\Statistics\Direction;
use PHPUnit\Framework\TestCase;

final class PromisesTest extends TestCase
{
    public function testARunThatMeasuredNothingMeetsAndMissesNothing(): void
    {
        foreach (self::promises(new RunFixture()) as $promise) {
            self::assertSame(PromiseState::NotMeasured, $promise->state, $promise->title);
            self::assertNull($promise->found);
        }
    }

    public function testEveryPromiseIsMetWhereLarderWins(): void
    {
        foreach (self::promises(self::fixture(20.0, 660_000, 0.11, 970)) as $promise) {
            self::assertSame(PromiseState::Met, $promise->state, $promise->title);
        }
    }

    public function testEveryPromiseIsMissedWhereLarderLoses(): void
    {
        foreach (self::promises(self::fixture(900_000.0, 639_000, 0.121, 900)) as $promise) {
            self::assertSame(PromiseState::Missed, $promise->state, $promise->title);
        }
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

        self::assertEqualsWithDelta(20 / 21, self::promises($fixture)[1]->found?->estimate, 1e-9);
    }

    public function testRequestsAreJudgedByTheUpperEndOfTheirInterval(): void
    {
        $case = ['value' => 'alloptions', 'keep-alive' => 'off', 'concurrency' => '1'];
        $fixture = (new RunFixture())
            ->add('web', $case, 'requests per second', Direction::HigherIsBetter, 'empty', 1000, 0.0)
            ->add('web', $case, 'requests per second', Direction::HigherIsBetter, 'shared-memory', 930, 0.1);
        $promises = self::promises($fixture);
        $promise = end($promises);

        self::assertInstanceOf(Promise::class, $promise);
        self::assertEqualsWithDelta(0.93, $promise->found?->estimate, 1e-9);
        self::assertSame(PromiseState::Met, $promise->state);
    }

    private static function fixture(float $time, float $items, float $misses, float $requests): RunFixture
    {
        $theirs = [
            'none' => 0.0, 'array-object' => 25.0, 'apcu-php' => 12_000.0, 'apcu-igbinary' => 13_000.0, 'redis-tcp' => 30_000.0,
            'memcached-tcp' => 30_000.0, 'memcached-unix' => 30_000.0, 'file-disk' => 3_000.0, 'file-tmpfs' => 3_000.0,
        ];
        $fixture = new RunFixture();
        foreach (['alloptions', 'string-20', 'post', 'entity', 'page'] as $value) {
            foreach (['get', 'get and look up', 'set'] as $operation) {
                $fixture->gets($value, $operation, [...$theirs, 'shared-memory' => $time]);
            }
        }
        $trace = ['trace' => 'orm-busy', 'store' => 'shared-memory', 'capacity' => '10 %'];
        $fixture
            ->add('memory', ['limit' => '64 MiB', 'key' => '20 bytes', 'value' => '20 bytes'], 'items', Direction::HigherIsBetter, 'shared-memory', $items, 0.0)
            ->add('traces', $trace, 'miss ratio', Direction::LowerIsBetter, 'shared-memory', $misses)
            ->add('traces', $trace, 'miss ratio', Direction::LowerIsBetter, 'LRU', 0.12);
        foreach (['1', '50'] as $concurrency) {
            $case = ['value' => 'alloptions', 'keep-alive' => 'on', 'concurrency' => $concurrency];
            $fixture
                ->add('web', $case, 'requests per second', Direction::HigherIsBetter, 'empty', 1000)
                ->add('web', $case, 'requests per second', Direction::HigherIsBetter, 'shared-memory', $requests);
        }

        return $fixture;
    }

    /** @return list<Promise> */
    private static function promises(RunFixture $fixture): array
    {
        return Promises::of(new Findings($fixture->run()));
    }
}
