<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Report;

use Larder\Bench\Finding\Findings;
use Larder\Bench\Finding\Run;
use Larder\Bench\Report\Charts;
use Larder\Bench\Report\HtmlReport;
use Larder\Bench\Statistics\Direction;
use Larder\Tests\Bench\Finding\RunFixture;
use PHPUnit\Framework\TestCase;

final class HtmlReportTest extends TestCase
{
    public function testTheReportAsksForNothingOutsideItself(): void
    {
        self::assertNull(Charts::install());
        $html = self::render(Charts::scripts());

        self::assertTrue(strlen($html) > 500_000, 'The charts\' runtime is not in the report.');
        // What the runtime's own code mentions is not asked for; everything else must not even mention an address.
        $page = (string) preg_replace('~<script>.*?</script>~s', '', $html, -1, $scripts);
        self::assertSame(2, $scripts);
        self::assertDoesNotMatchRegularExpression('/(src|href)=["\']?+(?!data:|#)|@import|url\(|https?:/i', $page);
    }

    public function testATableStandsBehindEveryChart(): void
    {
        $html = self::render('x');
        preg_match_all('~<figure>.*?</figure>~s', $html, $figures);

        self::assertNotSame([], $figures[0]);
        foreach ($figures[0] as $figure) {
            self::assertStringContainsString('class="chart"', $figure);
            if (!str_contains($figure, 'the tables below have the figures')) {
                self::assertStringContainsString('<table', $figure);
            }
        }
    }

    public function testEveryTitleSaysUnitAndDirection(): void
    {
        preg_match_all('~<figcaption>(.*?)</figcaption>~s', self::render('x'), $titles);

        self::assertNotSame([], $titles[1]);
        foreach ($titles[1] as $title) {
            self::assertMatchesRegularExpression('/(lower|higher) is better/', $title);
        }
    }

    public function testThePublishedFiguresStandBesideOursAsTheSources(): void
    {
        $html = self::render(null);

        self::assertStringContainsString('Konstantin Kovshenin', $html);
        self::assertMatchesRegularExpression('~<td[^>]*>Redis<td[^>]*>305<td[^>]*>300 \[~', $html);
    }

    public function testHowBusyTheLoadGeneratorWasIsInTheTablesOfWhatItLoaded(): void
    {
        $case = ['operation of the clients' => 'GET', 'requests' => '10,000', 'clients' => '50'];
        $run = (new RunFixture())
            ->add('clients', $case, 'rate', Direction::HigherIsBetter, 'redis', 1_000.0, 0.01, 0.873)
            ->add('clients', $case, 'rate', Direction::HigherIsBetter, 'shared-memory', 1_000.0)
            ->add('tags', ['items' => '5,000'], 'reads', Direction::HigherIsBetter, 'tag-files', 1_000.0)
            ->run();
        $report = (new HtmlReport(null))->render(new Findings($run));

        self::assertSame(1, substr_count($report, '>generator busy<'));
        self::assertStringContainsString('>87 %<', $report);
    }

    public function testTheReportNamesTheExperimentsWhoseSubjectsTookTurns(): void
    {
        $html = self::render(null);

        self::assertStringContainsString('In gets, connect, web, serializers, pins, shapes, transients, pages, pagecache, hosts, and among the servers of clients, the subjects take turns', $html);
        self::assertStringNotContainsString('All subjects take turns', $html);
    }

    public function testTheReportBeginsWithHowSharedMemoryStandsAndHasThePromisesNotMetBeforeThoseThatAre(): void
    {
        $run = (new RunFixture())->gets('page', 'get', ['shared-memory' => 10.0, 'redis-tcp' => 1_000.0, 'file-disk' => 1_000.0])->run();
        $html = (new HtmlReport(null))->render(new Findings($run));
        $places = array_map(static fn(string $text): int|false => strpos($html, $text), [
            'Of 2 comparisons of shared memory with another store it wins 2, ties in 0 and loses 0.',
            '<section id="gets">',
            '<section id="recommendation">',
            '<section id="ledger">',
            '<h3>Not met</h3>',
            'gets of the page of 30 KB against Redis over TCP',
            '<summary>Met</summary>',
            'gets of the page of 30 KB against file_get_contents on disk',
        ]);
        $sorted = $places;
        sort($sorted);

        self::assertNotContains(false, $places);
        self::assertSame($sorted, $places);
    }

    public function testWhatWasMeasuredIsEscaped(): void
    {
        $html = self::render(null);

        self::assertStringContainsString('A &lt;fine&gt; one', $html);
        self::assertStringNotContainsString('<fine>', $html);
    }

    public function testWithoutTheRuntimeThereAreTables(): void
    {
        $html = self::render(null);

        self::assertStringNotContainsString('class="chart"', $html);
        self::assertStringContainsString('<table', $html);
        self::assertStringContainsString('function sort(', $html);
    }

    private static function render(?string $scripts): string
    {
        $run = (new RunFixture())->gets('hello', 'get', ['none' => 0.0, 'apcu-php' => 80.0, 'redis-tcp' => 30_000.0])->run();

        return (new HtmlReport($scripts))->render(new Findings(Run::fromJson($run->toJson())));
    }
}
