<?php

declare(strict_types=1);

namespace Larder\Tools\Tests\Publication;

use Larder\Bench\Experiment\Experiments;
use Larder\Bench\Finding\Comparison;
use Larder\Bench\Finding\Findings;
use Larder\Bench\Finding\Run;
use Larder\Tests\Bench\Finding\RunFixture;
use Larder\Tools\Publication\Block;
use Larder\Tools\Publication\ResultPages;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\UsesClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(ResultPages::class)]
#[UsesClass(Block::class)]
final class ResultPagesTest extends TestCase
{
    private const DOCS = __DIR__ . '/../../../docs';

    public function testPublishedFiguresStandBesideMeasuredOnes(): void
    {
        $run = (new RunFixture())->gets('hello', 'get', ['none' => 0.0, 'redis-tcp' => 30_000.0])->run();
        $page = (new ResultPages($run))->experiment('gets');

        self::assertStringContainsString("| Redis | 305 | 300 [297 … 303] | ms for 10,000 |\n", $page);
        self::assertStringContainsString("| Memcached | 263 | not measured | ms for 10,000 |\n", $page);
        self::assertStringContainsString('Konstantin Kovshenin', $page);
    }

    public function testARunInWhichLarderLosesSaysThatItLoses(): void
    {
        $page = (new ResultPages((new RunFixture())->contest(10.0)->run()))->conclusions();

        self::assertMatchesRegularExpression('/Of \d+ promises this run met 0\. The others:/', $page);
        self::assertMatchesRegularExpression('/\| a shop \| one host with the extension \| APCU-PHP \|/', $page);
        self::assertStringContainsString('| missed |', $page);
    }

    public function testTheResultsQuoteHowFarTwoRunsAgree(): void
    {
        $run = static fn(float $ours): Run => (new RunFixture())->gets('page', 'get', ['shared-memory' => $ours, 'redis-tcp' => 1000.0])->run();
        $pages = new ResultPages($run(100.0));

        self::assertSame("No second run has been compared with the recorded one; `AGAIN=1 make record` does that.\n", $pages->agreement(null));
        self::assertStringContainsString(
            'The two runs do not agree. Of 1 verdicts, 1 turned round between "wins" and "loses". Of the intervals of 1 comparisons, 0 overlap, 0.00 %. None and at least 90 % are asked for. '
            . 'Of the medians\' own intervals, 50.0 % overlap. A machine is not equally fast each time, which comparisons within a run do not see.' . "\n- gets, time, page, get, one hot key, redis-tcp\n",
            $pages->agreement(Comparison::of(new Findings($run(100.0)), new Findings($run(2000.0)))),
        );
        self::assertStringContainsString(
            'The two runs agree. Of 1 verdicts, none turned round between "wins" and "loses". Of the intervals of 1 comparisons, 1 overlap, 100 %.',
            $pages->agreement(Comparison::of(new Findings($run(100.0)), new Findings($run(100.0)))),
        );
    }

    public function testEveryExperimentHasAPageWithAPlaceForItsFigures(): void
    {
        foreach (array_keys(Experiments::all()) as $name) {
            $page = (string) file_get_contents(self::DOCS . "/experiments/{$name}.md");

            self::assertStringContainsString('**Re-creates**', $page);
            self::assertStringContainsString('**How.**', $page);
            self::assertStringContainsString('**What differs from ', $page);
            self::assertStringContainsString("filled\n<!-- /result -->", Block::Result->in($page, "filled\n"));
            self::assertStringContainsString("({$name}.md)", (string) file_get_contents(self::DOCS . '/experiments/README.md'));
        }
    }
}
