<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Finding;

use Larder\Bench\Finding\Findings;
use Larder\Bench\Finding\ShapeRatios;
use Larder\Bench\Report\HtmlReport;
use Larder\Bench\Statistics\Direction;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;

final class ShapeRatiosTest extends TestCase
{
    public function testTheMeanOfReadsIsGeometricAndKnowsNoStores(): void
    {
        $ratios = new ShapeRatios(new Findings($this->runOf()));

        self::assertEqualsWithDelta(0.04, $ratios->reads()?->estimate, 1e-9, 'The root of 0.01 times 0.16.');
        self::assertEqualsWithDelta(0.5, $ratios->stores()?->estimate, 1e-9);
        self::assertNull($ratios->fetches());
    }

    public function testTheReportHasTheMeansAndARowForEachShape(): void
    {
        $html = (new HtmlReport(null))->render(new Findings($this->runOf()));

        // Two columns of intervals do not fit a telephone beside one another: each row is a stack there.
        $over = '<td data-label="APCu with PHP&#039;s serialiser = 1">';
        self::assertStringContainsString("<td data-label=\"value\">all reads<td data-label=\"operation\">geometric mean{$over}0.040 [0.040 … 0.040]", $html);
        self::assertStringContainsString("<td data-label=\"value\">a tree of 85 objects that know their parents<td data-label=\"operation\">get{$over}0.010 [0.010 … 0.010]", $html);
    }

    /** A read as short as the loop around it, or as the loop's own noise, may have taken nothing or twice as much. */
    #[TestWith([100.0, 0.01])]
    #[TestWith([60.0, 0.8])]
    public function testWhatTheEmptyLoopHidesLeavesTheMeanOpen(float $loop, float $noise): void
    {
        $fixture = self::fixture();
        $case = ['value' => 'tree', 'operation' => 'get', 'keys' => 'one hot key'];
        $fixture->add('shapes', $case, 'time', Direction::LowerIsBetter, 'none', $loop, $noise);
        $findings = new Findings($fixture->run());
        $ratios = new ShapeRatios($findings);

        foreach ([$ratios->reads(), $findings->ratio('shapes', 'time', $case, 'shared-memory', 'apcu-php')] as $open) {
            self::assertNotNull($open);
            self::assertSame([0.0, INF], [$open->low, $open->high]);
        }
        self::assertNotSame(INF, $ratios->stores()?->high);
    }

    public function testALoopThatIsStillHidesNothing(): void
    {
        $fixture = self::fixture();
        $fixture->add('shapes', ['value' => 'tree', 'operation' => 'get', 'keys' => 'one hot key'], 'time', Direction::LowerIsBetter, 'none', 60.0);
        $reads = (new ShapeRatios(new Findings($fixture->run())))->reads();

        self::assertEqualsWithDelta(sqrt(40 / 9_940 * 0.16), $reads?->estimate, 1e-6);
        self::assertLessThan(1.0, $reads->high ?? INF);
    }

    private function runOf(): \Larder\Bench\Finding\Run
    {
        return self::fixture()->run();
    }

    private static function fixture(): RunFixture
    {
        $fixture = new RunFixture();
        foreach ([['tree', 'get', 100.0], ['models', 'get', 1_600.0], ['models', 'set', 5_000.0]] as [$value, $operation, $ours]) {
            $case = ['value' => $value, 'operation' => $operation, 'keys' => 'one hot key'];
            foreach (['shared-memory' => $ours, 'apcu-php' => 10_000.0] as $subject => $time) {
                $fixture->add('shapes', $case, 'time', Direction::LowerIsBetter, $subject, $time);
            }
        }

        return $fixture;
    }
}
