<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Finding;

use Larder\Bench\Experiment\Measurement;
use Larder\Bench\Experiment\Outcome;
use Larder\Bench\Finding\Findings;
use Larder\Bench\Finding\Run;
use Larder\Bench\Report\HtmlReport;
use Larder\Bench\Statistics\Direction;
use Larder\Bench\Statistics\Verdict;
use PHPUnit\Framework\TestCase;

final class VerdictsTest extends TestCase
{
    public function testATimeThatWasTakenOnceHasNoVerdict(): void
    {
        self::assertNull(self::verdict('ns', [1.0], [2.0]));
        self::assertNull(self::verdict('operations per second', [1.0], [2.0, 2.0]));
        self::assertSame(Verdict::Wins, self::verdict('ns', [1.0, 1.0, 1.0], [2.0, 2.0, 2.0]));
    }

    public function testACountThatWasTakenOnceHasAVerdict(): void
    {
        self::assertSame(Verdict::Wins, self::verdict('bytes per item', [100.0], [200.0]));
    }

    public function testWhereNothingRanTwiceFivePerCentIsNoDifference(): void
    {
        self::assertSame(Verdict::Ties, self::verdict('ns', [1.0, 1.0, 1.0], [1.04, 1.04, 1.04]));
        self::assertSame(Verdict::Wins, self::verdict('ns', [1.0, 1.0, 1.0], [1.06, 1.06, 1.06]));
    }

    public function testThreeSamplesThatDifferShowLargeDifferencesOnly(): void
    {
        self::assertSame(Verdict::Ties, self::verdict('ns', [1.0, 1.1, 1.2], [1.3, 1.3, 1.3]));
        self::assertSame(Verdict::Wins, self::verdict('ns', [1.0, 1.1, 1.2], [3.0, 3.0, 3.0]));
    }

    public function testTheReportSaysWhichFloorsWereMeasuredAndThatOthersAreAssumed(): void
    {
        $report = (new HtmlReport(null))->render(new Findings(self::measured('ns', [1.0, 1.0], [1.0, 1.0], [1.03, 1.03])));

        self::assertStringContainsString('<li>Crowds, time: 3.00&nbsp;%.</li>', $report);
        self::assertStringContainsString('Where no subject ran twice, 5.00&nbsp;% is assumed.', $report);
    }

    /**
     * @param list<float> $ours
     * @param list<float> $theirs
     */
    private static function verdict(string $unit, array $ours, array $theirs): ?Verdict
    {
        return (new Findings(self::measured($unit, $ours, $theirs)))->verdict('scale', 'time', ['processes' => '2'], 'shared-memory', 'apcu-php');
    }

    /**
     * @param list<float> $ours
     * @param list<float> $theirs
     * @param list<float> $again of theirs, from a twin
     */
    private static function measured(string $unit, array $ours, array $theirs, array $again = []): Run
    {
        $outcome = new Outcome('scale', 'Crowds', 'Nothing.');
        foreach ([['shared-memory', $ours, false], ['apcu-php', $theirs, false], ['apcu-php', $again, true]] as [$subject, $values, $isTwin]) {
            $measurement = new Measurement(['processes' => '2'], 'time', $unit, Direction::LowerIsBetter, $subject, $isTwin);
            foreach ($values as $block => $value) {
                $measurement->add(0, $block, $value);
            }
            if ($values !== []) {
                $outcome->measurements[] = $measurement;
            }
        }

        return new Run('bin/larder bench', 'quick', '2024-05-01T10:00:00Z', [], '', [], [], [], [], [$outcome], 1.0, true);
    }
}
