<?php

declare(strict_types=1);

namespace Larder\Tools\Tests\Publication;

use Larder\Bench\Experiment\Measurement;
use Larder\Bench\Experiment\Outcome;
use Larder\Bench\Finding\Run;
use Larder\Bench\Statistics\Direction;
use Larder\Bench\Subject\Subjects;
use Larder\Bench\Subject\Value;
use Larder\Bench\Subject\Values;
use Larder\Tools\Publication\Block;
use Larder\Tools\Publication\ReadmeTable;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(ReadmeTable::class)]
final class ReadmeTableTest extends TestCase
{
    private const ROOT = __DIR__ . '/../../..';

    public function testASlowerSubjectShowsItsTimeAndHowManyTimesOursThatIs(): void
    {
        $page = (new ReadmeTable($this->measured(['shared-memory' => 10.0, 'apcu-php' => 1500.0])))->markdown();

        self::assertStringContainsString("| Title of shared-memory | – | – | 10.0 ns | – | – |\n", $page);
        self::assertStringContainsString("| Title of apcu-php | – | – | 1.50 µs, 150 × | – | – |\n", $page);
        self::assertStringContainsString('Of these 1 comparisons with others, shared memory wins 1, ties in 0 and loses 0.', $page);
    }

    public function testAFasterSubjectIsSetInBold(): void
    {
        $page = (new ReadmeTable($this->measured(['shared-memory' => 10.0, 'array' => 5.0])))->markdown();

        self::assertStringContainsString("| Title of array | – | – | 5.00 ns, **0.500 ×** | – | – |\n", $page);
        self::assertStringContainsString('wins 0, ties in 0 and loses 1.', $page);
    }

    public function testOurLibraryOverOurStoreIsShownButNotCounted(): void
    {
        $page = (new ReadmeTable($this->measured(['shared-memory' => 10.0, 'cache-shared-memory' => 20.0])))->markdown();

        self::assertStringContainsString("| Title of cache-shared-memory | – | – | 20.0 ns, 2.00 × | – | – |\n", $page);
        self::assertStringContainsString('Of these 0 comparisons', $page);
    }

    public function testADifferenceWithinTheNoiseIsATie(): void
    {
        $page = (new ReadmeTable($this->measured(['shared-memory' => 10.0, 'apcu-php' => 10.0])))->markdown();

        self::assertStringContainsString("| Title of apcu-php | – | – | 10.0 ns, tie | – | – |\n", $page);
        self::assertStringContainsString('wins 0, ties in 1 and loses 0.', $page);
    }

    public function testASubjectThatWasNotMeasuredHasNoRow(): void
    {
        $run = $this->measured(['shared-memory' => 10.0, 'apcu-php' => 10.0]);
        $run->outcomes[0]->measurements = [$run->outcomes[0]->measurements[0]];

        self::assertStringNotContainsString('Title of apcu-php', (new ReadmeTable($run))->markdown());
    }

    public function testPromisesAreCountedAndTheResultsHaveThem(): void
    {
        $page = (new ReadmeTable($this->measured(['shared-memory' => 10.0, 'redis-tcp' => 1_000.0, 'file-disk' => 1_000.0])))->markdown();

        self::assertMatchesRegularExpression('/this run met 1, missed 1, could not show 0 and did not measure \d+\. \[The results\]\(docs\/results\/README\.md#what-larder-promises\)/', $page);
        self::assertStringNotContainsString('at least 150', $page);
    }

    public function testTheSubjectsAndFiguresOfTheTableExist(): void
    {
        $table = new \ReflectionClass(ReadmeTable::class);
        $subjects = $table->getConstant('SUBJECTS');
        self::assertIsArray($subjects);
        foreach ($subjects as $subject) {
            self::assertContains($subject, array_keys(Subjects::all()));
        }
        $figures = $table->getConstant('FIGURES');
        self::assertIsArray($figures);
        foreach (array_column($figures, 0) as $value) {
            self::assertContains($value, array_map(static fn(Value $known): string => $known->name, Values::all()));
        }
    }

    public function testTheTableOfTheReadmeIsThatOfTheRecordedResult(): void
    {
        $readme = (string) file_get_contents(self::ROOT . '/README.md');
        $result = self::ROOT . '/docs/results/run.json';

        self::assertFileExists($result);
        self::assertSame(Block::Result->in($readme, (new ReadmeTable(Run::fromJson((string) file_get_contents($result))))->markdown()), $readme);
    }

    /**
     * @param array<string, float> $times nanoseconds, by subject
     */
    private function measured(array $times): Run
    {
        $subjects = [];
        $measurements = [];
        foreach ($times as $name => $time) {
            $subjects[$name] = ['title' => 'Title of ' . $name, 'family' => 'embedded', 'settings' => []];
            $case = ['value' => 'page', 'operation' => 'get', 'keys' => 'one hot key'];
            $measurement = new Measurement($case, 'time', 'ns', Direction::LowerIsBetter, $name);
            foreach ([0, 1] as $process) {
                foreach ([0, 1, 2] as $block) {
                    $measurement->add($process, $block, $time);
                }
            }
            $measurements[] = $measurement;
        }
        $environment = ['processor' => 'A processor', 'cores' => '2', 'memory' => '1 MiB', 'system' => 'Debian', 'kernel' => 'Linux 6.1'];

        return new Run('bin/larder bench', 'quick', '2026-01-02T03:04:05Z', $environment, 'anywhere', [], $subjects, ['PHP' => '8.2', 'ext-apcu' => '5.1'], [], [
            new Outcome('gets', 'Gets', 'nothing', [], $measurements),
        ]);
    }
}
