<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Finding;

use Larder\Bench\Finding\Findings;
use Larder\Bench\Finding\ShapeRatios;
use Larder\Bench\Report\HtmlReport;
use Larder\Bench\Statistics\Direction;
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

        self::assertStringContainsString('<td>all reads<td>geometric mean<td>0.040 [0.040 … 0.040]', $html);
        self::assertStringContainsString('<td>a tree of 85 objects that know their parents<td>get<td>0.010 [0.010 … 0.010]', $html);
    }

    private function runOf(): \Larder\Bench\Finding\Run
    {
        $fixture = new RunFixture();
        foreach ([['tree', 'get', 100.0], ['models', 'get', 1_600.0], ['models', 'set', 5_000.0]] as [$value, $operation, $ours]) {
            $case = ['value' => $value, 'operation' => $operation, 'keys' => 'one hot key'];
            foreach (['shared-memory' => $ours, 'apcu-php' => 10_000.0] as $subject => $time) {
                $fixture->add('shapes', $case, 'time', Direction::LowerIsBetter, $subject, $time);
            }
        }

        return $fixture->run();
    }
}
