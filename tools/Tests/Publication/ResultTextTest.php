<?php

declare(strict_types=1);

namespace Larder\Tools\Tests\Publication;

use Larder\Bench\Finding\Findings;
use Larder\Tests\Bench\Finding\RunFixture;
use Larder\Tools\Publication\ResultText;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(ResultText::class)]
final class ResultTextTest extends TestCase
{
    public function testARunInWhichLarderLosesSaysThatItLosesAndToWhich(): void
    {
        $text = self::text((new RunFixture())->gets('page', 'get', ['shared-memory' => 300.0, 'redis-tcp' => 100.0]));

        self::assertStringContainsString('Of 1 comparisons of shared memory with another store it wins 0, ties in 0 and loses 1. It loses more often than it wins in gets.', $text);
        self::assertStringContainsString("| gets | time | REDIS-TCP | 1 of 1 | page, get, one hot key | 3.00 [3.00 … 3.00] |\n", $text);
    }

    public function testARunInWhichLarderWinsHasNoLosses(): void
    {
        $text = self::text((new RunFixture())->gets('page', 'get', ['shared-memory' => 100.0, 'redis-tcp' => 300.0]));

        self::assertStringContainsString('it wins 1, ties in 0 and loses 0. In no experiment does it lose more often than it wins.', $text);
        self::assertStringContainsString("It loses to none.\n", $text);
    }

    public function testPublishedFiguresAreComparedAndClaimsThatDoNotHoldAreTold(): void
    {
        $text = self::text((new RunFixture())->gets('hello', 'get', ['none' => 0.0, 'redis-tcp' => 30_000.0, 'file-disk' => 2_000.0]));

        self::assertStringContainsString("Of source A's ratios, 1 is further apart:\n", $text);
        self::assertStringContainsString("| [gets](../experiments/gets.md) | Redis over file_get_contents | 3.77 | 15.0 [15.0 … 15.0] | further apart |\n", $text);
        self::assertStringContainsString('**Source A.** This run agrees with 0 of its 11 claims, and 10 were not measured. It disagrees that files are about three times as fast as Redis in one request (15.0).', $text);
        self::assertMatchesRegularExpression('/\*\*Source D\.\*\* This run judges none of its \d+ claims\.\n/', $text);
    }

    public function testARunOfNothingSaysSo(): void
    {
        $text = self::text(new RunFixture());

        self::assertStringContainsString('Nothing was measured that has a published figure beside it.', $text);
        self::assertStringContainsString('Shared memory was compared with nothing.', $text);
        self::assertStringNotContainsString('It loses to none.', $text);
    }

    private static function text(RunFixture $fixture): string
    {
        return implode("\n", (new ResultText(new Findings($fixture->run())))->lines()) . "\n";
    }
}
