<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Report;

use Larder\Bench\Finding\Findings;
use Larder\Bench\Report\Answer;
use Larder\Bench\Report\HtmlReport;
use Larder\Tests\Bench\Finding\RunFixture;
use PHPUnit\Framework\TestCase;

final class AnswerTest extends TestCase
{
    public function testTheFirstScreenHasASortedChartOfWhatWasMeasured(): void
    {
        $run = (new RunFixture())->gets('page', 'get', ['redis-unix' => 1_000.0, 'shared-memory' => 10.0, 'apcu-php' => 100.0])->run();
        $html = (new Answer(new Findings($run)))->render();

        self::assertSame(1, substr_count($html, 'class="bars"'));
        preg_match_all('~width:([\d.]+)%.*?class="time">([^<]+)~', $html, $rows);
        self::assertCount(3, $rows[1]);
        self::assertSame(['10.0 ns', '100 ns', '1.00 µs'], $rows[2]);
        self::assertLessThan((float) $rows[1][1], (float) $rows[1][0]);
        self::assertLessThan((float) $rows[1][2], (float) $rows[1][1]);
        self::assertSame(1, substr_count($html, 'class="ours"'));
    }

    public function testTheAnswerComesBeforeEveryExperimentAndThoseAreFolded(): void
    {
        $run = (new RunFixture())->gets('page', 'get', ['redis-unix' => 1_000.0, 'shared-memory' => 10.0])->run();
        $html = (new HtmlReport(null))->render(new Findings($run));

        self::assertLessThan(strpos($html, '<section id="gets">'), strpos($html, '<section id="answer">'));
        self::assertStringContainsString('<section id="gets"><details class="experiment"><summary>', $html);
    }

    public function testOfNothingNothingIsAnswered(): void
    {
        self::assertSame('', (new Answer(new Findings((new RunFixture())->run())))->render());
    }
}
