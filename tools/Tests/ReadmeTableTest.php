<?php

declare(strict_types=1);

namespace Larder\Tools\Tests;

use Larder\Bench\Experiment\Measurement;
use Larder\Bench\Experiment\Outcome;
use Larder\Bench\Report\Run;
use Larder\Bench\Statistics\Direction;
use Larder\Tools\ReadmeTable;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(ReadmeTable::class)]
final class ReadmeTableTest extends TestCase
{
    private const ROOT = __DIR__ . '/../..';

    public function testASlowerSubjectShowsItsTimeAndHowManyTimesOursThatIs(): void
    {
        $table = new ReadmeTable($this->measured(['shared-memory' => 10.0, 'apcu' => 1500.0]));

        self::assertStringContainsString("| Title of shared-memory | – | – | 10.0 ns | – |\n", $table->markdown());
        self::assertStringContainsString("| Title of apcu | – | – | 1.50 µs (150 [150 … 150]) | – |\n", $table->markdown());
    }

    public function testADifferenceWithinTheNoiseIsATie(): void
    {
        $table = new ReadmeTable($this->measured(['shared-memory' => 10.0, 'apcu' => 10.0]));

        self::assertStringContainsString("| Title of apcu | – | – | 10.0 ns (tie) | – |\n", $table->markdown());
    }

    public function testASubjectThatWasNotMeasuredHasNoRow(): void
    {
        $run = $this->measured(['shared-memory' => 10.0, 'apcu' => 10.0]);
        $run->outcomes[0]->measurements = [$run->outcomes[0]->measurements[0]];

        self::assertStringNotContainsString('Title of apcu', (new ReadmeTable($run))->markdown());
    }

    public function testOnlyWhatStandsBetweenTheMarksIsReplaced(): void
    {
        $table = new ReadmeTable($this->measured(['shared-memory' => 10.0]));

        $page = $table->in("before\n<!-- result -->\nold\n<!-- /result -->\nafter\n");

        self::assertSame("before\n<!-- result -->\n" . $table->markdown() . "<!-- /result -->\nafter\n", $page);
        self::assertSame($page, $table->in($page));
    }

    public function testAPageWithoutTheMarksIsAnErrorThatNamesThem(): void
    {
        $this->expectExceptionMessage('put <!-- result --> and <!-- /result --> on lines of their own');

        (new ReadmeTable($this->measured(['shared-memory' => 10.0])))->in("<!-- result -->\n");
    }

    public function testTheTableOfTheReadmeIsThatOfTheRecordedResult(): void
    {
        $readme = (string) file_get_contents(self::ROOT . '/README.md');
        $result = self::ROOT . '/docs/results/first.json';

        self::assertFileExists($result);
        self::assertSame((new ReadmeTable(Run::fromJson((string) file_get_contents($result))))->in($readme), $readme);
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

        return new Run('bin/larder bench', 'quick', '2026-01-02T03:04:05Z', $environment, 'anywhere', [], $subjects, ['PHP' => '8.2'], [], [
            new Outcome('gets', 'Gets', 'nothing', [], $measurements),
        ]);
    }
}
