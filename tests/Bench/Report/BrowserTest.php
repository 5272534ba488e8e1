<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Report;

use Larder\Bench\Fields;
use Larder\Bench\FileSystem;
use Larder\Bench\Finding\Findings;
use Larder\Bench\Finding\Run;
use Larder\Bench\Report\Charts;
use Larder\Bench\Report\HtmlReport;
use Larder\Bench\Report\Markup;
use Larder\Bench\Server\Program;
use Larder\Tests\Bench\Finding\RunFixture;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Process\Process;

/** The report in a real browser, headless Chromium, driven by browser/check.mjs. */
final class BrowserTest extends TestCase
{
    private const SCRIPTS = __DIR__ . '/../browser';

    private string $directory;

    protected function setUp(): void
    {
        $this->directory = sys_get_temp_dir() . '/larder-browser-' . bin2hex(random_bytes(6));
        mkdir($this->directory, 0o700);
    }

    protected function tearDown(): void
    {
        FileSystem::remove($this->directory);
    }

    public function testTheReportIsReadableEverywhereAndAsksForNothing(): void
    {
        $found = $this->check($this->report(''));

        self::assertSame([], $found->strings('problems'));
        self::assertGreaterThan(10, $found->int('charts'));
        self::assertGreaterThan($found->int('charts'), $found->int('tables'));
    }

    public function testARowsPlaceFollowsTheHeadingThatWasPressed(): void
    {
        $rows = [['B', '1.08 µs', '1/1,036', '–', 'at most 0.5'], ['a 10', '900 ns', '2.63 [2.5 … 2.7]', 'ties', 'at least 0.25'], ['a 9', '–', '1,193 [1 … 2]', 'wins', '3'], ['C', '2 s', '21.1', '–', 'at most 40']];
        $found = $this->check($this->report(Markup::figures(['name', 'time', 'ratio', 'verdict', 'bound'], $rows)));

        self::assertSame([], $found->strings('problems'));
        self::assertSame([
            'a 9 | a 10 | B | C', 'C | B | a 10 | a 9',
            '900 ns | 1.08 µs | 2 s | –', '2 s | 1.08 µs | 900 ns | –',
            '1/1,036 | 2.63 [2.5 … 2.7] | 21.1 | 1,193 [1 … 2]', '1,193 [1 … 2] | 21.1 | 2.63 [2.5 … 2.7] | 1/1,036',
            'ties | wins | – | –', 'wins | ties | – | –',
            'at least 0.25 | at most 0.5 | 3 | at most 40', 'at most 40 | 3 | at most 0.5 | at least 0.25',
        ], $found->strings('sorted'));
    }

    /** What the check above would say if there were something to say. */
    public function testWhatIsWrongWithAReportIsSeen(): void
    {
        $problems = implode("\n", $this->check($this->report(
            '<p style="width: 5000px; color: #eeeeee; background: #ffffff">wide and pale</p><img src="http://127.0.0.1:9/x.png">'
            . '<script>console.error("planted"); setTimeout(() => { throw new Error("thrown"); });</script><figure><figcaption>x</figcaption><div class="chart"><svg></svg></div></figure>'
            . '<div class="scroll"><table style="width: 900px"><thead style="position: static"><tr><th style="position: static">one<th>two<tbody>' . str_repeat('<tr><td>1<td>2', 20) . '</table></div>',
        ))->strings('problems'));

        self::assertStringContainsString('console: planted', $problems);
        self::assertStringContainsString('error: thrown', $problems);
        self::assertStringContainsString('network request: http://127.0.0.1:9/x.png', $problems);
        self::assertStringContainsString('phone: the page is', $problems);
        self::assertStringContainsString('too little contrast', $problems);
        self::assertStringContainsString('phone: a table is wider than the screen: onetwo', $problems);
        self::assertStringContainsString('desktop: a table loses its headings when it is scrolled: onetwo', $problems);
        self::assertStringContainsString('charts have no table', $problems);
    }

    private function report(string $planted): string
    {
        self::assertNull(Charts::install());
        $run = (new RunFixture())->contest(0.1)->run();
        $html = (new HtmlReport(Charts::scripts()))->render(new Findings(Run::fromJson($run->toJson())));
        $file = "{$this->directory}/report.html";
        file_put_contents($file, str_replace('</main>', "{$planted}</main>", $html));

        return $file;
    }

    private function check(string $report): Fields
    {
        $chromium = self::need('chromium', 'chromium');
        $node = self::need('node', 'nodejs');
        $modules = $this->modules();
        $process = new Process([$node, self::SCRIPTS . '/check.mjs', $chromium, $report], $modules, timeout: null);

        return Fields::ofJson($process->mustRun()->getOutput(), 'check');
    }

    /** @return string the directory in which npm has installed what check.mjs needs, as its lock file pins it */
    private function modules(): string
    {
        $directory = dirname(__DIR__, 3) . '/build/browser';
        if (!is_dir("{$directory}/node_modules/puppeteer-core")) {
            $npm = self::need('npm', 'npm');
            if (!is_dir($directory)) {
                mkdir($directory, 0o777, true);
            }
            foreach (['package.json', 'package-lock.json'] as $file) {
                copy(self::SCRIPTS . "/{$file}", "{$directory}/{$file}");
            }
            (new Process([$npm, 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'], $directory, timeout: null))->mustRun();
        }

        return $directory;
    }

    private static function need(string $program, string $package): string
    {
        $path = Program::find($program);
        if ($path !== null) {
            return $path;
        }
        $lack = "There is no {$program} on the PATH: install the package {$package}.";
        if (getenv('CI') === 'true') {
            self::fail($lack);
        }
        self::markTestSkipped($lack);
    }
}
