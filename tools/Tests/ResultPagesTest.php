<?php

declare(strict_types=1);

namespace Larder\Tools\Tests;

use Larder\Bench\Experiment\Experiments;
use Larder\Tests\Bench\Report\RunFixture;
use Larder\Tools\Block;
use Larder\Tools\ResultPages;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\UsesClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(ResultPages::class)]
#[UsesClass(Block::class)]
final class ResultPagesTest extends TestCase
{
    private const DOCS = __DIR__ . '/../../docs';

    public function testPublishedFiguresStandBesideMeasuredOnes(): void
    {
        $run = (new RunFixture())->gets('hello', 'get', ['none' => 0.0, 'redis-tcp' => 30_000.0])->run();
        $page = (new ResultPages($run))->experiment('gets');

        self::assertStringContainsString("| Redis | 305 | 300 | ms for 10,000 |\n", $page);
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

    public function testEveryExperimentHasAPageWithAPlaceForItsFigures(): void
    {
        foreach (array_keys(Experiments::all()) as $name) {
            $page = (string) file_get_contents(self::DOCS . "/experiments/{$name}.md");

            self::assertStringContainsString('**Re-creates**', $page);
            self::assertStringContainsString('**How.**', $page);
            self::assertStringContainsString("filled\n<!-- /result -->", Block::in($page, "filled\n"));
            self::assertStringContainsString("({$name}.md)", (string) file_get_contents(self::DOCS . '/experiments/README.md'));
        }
    }
}
