<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Finding;

use Larder\Bench\Experiment\Environment;
use Larder\Bench\Experiment\Measurement;
use Larder\Bench\Experiment\Outcome;
use Larder\Bench\Finding\Run;
use Larder\Bench\Statistics\Direction;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;
use UnexpectedValueException;

final class RunTest extends TestCase
{
    public function testTimesAreWrittenWithSevenFiguresAndCountsWithAll(): void
    {
        $run = (new RunFixture())->run();
        $run->outcomes[] = $outcome = new Outcome('gets', 'Gets', 'Nothing.');
        $outcome->measurement([], 'time', 'ns', Direction::LowerIsBetter, 'apcu')->add(0, 0, 1234.56789012, 67_108_869);
        $outcome->measurement([], 'bytes', 'bytes', Direction::LowerIsBetter, 'apcu')->add(0, 0, 67_108_869.0);
        $read = Run::fromJson($run->toJson())->outcome('gets');

        self::assertSame([[1234.568], [67_108_869.0]], array_map(static fn(Measurement $measurement): array => $measurement->values(), $read->measurements ?? []));
    }

    public function testARunSurvivesItsJson(): void
    {
        $run = (new RunFixture())
            ->gets('page', 'get', ['none' => 5.0, 'apcu-php' => 900.25])
            ->add('memory', ['limit' => '64 MiB'], 'items', Direction::HigherIsBetter, 'apcu', 17)
            ->run();

        self::assertEquals($run, Run::fromJson($run->toJson()));
    }

    public function testEveryRawSampleIsInTheJson(): void
    {
        $json = json_decode((new RunFixture())->gets('page', 'get', ['apcu-php' => 900.0])->run()->toJson(), true, 512, JSON_THROW_ON_ERROR);

        self::assertIsArray($json);
        self::assertSame(Run::SCHEMA, $json['schema']);
        self::assertSame(
            [
                'case' => ['value' => 'page', 'operation' => 'get', 'keys' => 'one hot key'],
                'metric' => 'time',
                'unit' => 'ns per operation',
                'better' => 'lower',
                'subject' => 'apcu-php',
                'twin' => false,
                'columns' => ['process', 'block', 'value', 'operations', 'client cpu', 'server cpu'],
            ],
            array_diff_key(self::firstMeasurement($json), ['samples' => true]),
        );
        $samples = self::firstMeasurement($json)['samples'] ?? null;
        self::assertIsArray($samples);
        self::assertCount(6, $samples);
    }

    #[TestWith(['nonsense', 'is not JSON'])]
    #[TestWith(['{"schema": 999}', 'schema 999'])]
    #[TestWith(['{"schema": 1}', 'run.'])]
    #[TestWith(['{"schema": "1"}', 'run.schema is string where int was expected'])]
    public function testWhatIsNotARunIsRefusedWithOneClearSentence(string $json, string $because): void
    {
        $this->expectException(UnexpectedValueException::class);
        $this->expectExceptionMessage($because);

        Run::fromJson($json);
    }

    public function testTheKernelIsNamedWithoutItsBuildersSuffix(): void
    {
        self::assertMatchesRegularExpression('/^Linux \d+(\.\d+)*$/', Environment::ofThisMachine()['kernel'] ?? '');
    }

    /**
     * @param array<mixed> $json
     * @return array<mixed>
     */
    private static function firstMeasurement(array $json): array
    {
        $experiment = is_array($json['experiments']) ? $json['experiments'][0] ?? null : null;
        $measurements = is_array($experiment) ? $experiment['measurements'] ?? null : null;
        $first = is_array($measurements) ? $measurements[0] ?? null : null;
        self::assertIsArray($first);

        return $first;
    }
}
