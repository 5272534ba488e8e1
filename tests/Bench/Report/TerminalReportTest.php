<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Report;

use Larder\Bench\Finding\Findings;
use Larder\Bench\Report\TerminalReport;
use Larder\Bench\Statistics\Direction;
use Larder\Tests\Bench\Finding\RunFixture;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Console\Output\BufferedOutput;

final class TerminalReportTest extends TestCase
{
    public function testCasesStandBesideEachOtherUnderTheirFactorsNames(): void
    {
        $fixture = new RunFixture();
        foreach (['1', '50'] as $concurrency) {
            $fixture->add('web', ['value' => 'hello', 'concurrency' => $concurrency], 'requests per second', Direction::HigherIsBetter, 'redis-tcp', 100.0);
        }

        self::assertMatchesRegularExpression('/^\| value +\| hello +\| hello +\|\n\| concurrency +\| 1 +\| 50 +\|\n\+[-+]+\+\n\| REDIS-TCP +\| 100 +\| 100 +\|$/m', self::shown($fixture));
    }

    public function testCasesThatDoNotFitBesideEachOtherStandBelow(): void
    {
        $fixture = new RunFixture();
        for ($clients = 1; $clients <= 30; $clients++) {
            $fixture->add('clients', ['operation' => 'GET', 'clients' => (string) $clients], 'rate', Direction::HigherIsBetter, 'redis-tcp', 1_000.0 + $clients);
        }
        $fixture->add('clients', ['bytes' => '32'], 'rate', Direction::HigherIsBetter, 'redis-tcp', 5.0);
        $shown = self::shown($fixture);

        self::assertMatchesRegularExpression('/^\| operation \| clients \| REDIS-TCP \|$/m', $shown);
        self::assertMatchesRegularExpression('/^\| GET +\| 30 +\| 1,030 +\|$/m', $shown);
        // What differs by something else has a table of its own.
        self::assertMatchesRegularExpression('/^\| bytes +\| 32 +\|\n\+[-+]+\+\n\| REDIS-TCP +\| 5.00 +\|$/m', $shown);
    }

    public function testPromisesAreCountedAndThoseThatAreNotMetAreTold(): void
    {
        $shown = self::shown((new RunFixture())->gets('page', 'get', ['shared-memory' => 10.0, 'redis-tcp' => 1_000.0, 'file-disk' => 1_000.0]));

        self::assertMatchesRegularExpression("/^Larder's promises in these experiments: 1 met, 1 missed, 0 not shown, \d+ not measured/m", $shown);
        self::assertStringContainsString('gets of the page of 30 KB against Redis over TCP', $shown);
        self::assertStringNotContainsString('gets of the page of 30 KB against file_get_contents on disk', $shown);
    }

    public function testSubjectsAreInTheOrderOfWhatWasMeasured(): void
    {
        $fixture = new RunFixture();
        foreach (['redis-tcp' => 100.0, 'file-disk' => 300.0, 'shared-memory' => 200.0] as $subject => $rate) {
            $fixture->add('web', ['value' => 'hello'], 'requests per second', Direction::HigherIsBetter, $subject, $rate);
            $fixture->add('web', ['value' => 'hello'], 'time', Direction::LowerIsBetter, $subject, $rate);
        }
        $shown = self::shown($fixture);
        preg_match_all('/^\| (REDIS-TCP|FILE-DISK|SHARED-MEMORY) /m', $shown, $rows);

        self::assertSame(['FILE-DISK', 'SHARED-MEMORY', 'REDIS-TCP', 'REDIS-TCP', 'SHARED-MEMORY', 'FILE-DISK'], $rows[1]);
    }

    public function testARunSaysOfWhichPromisesItCannotTellAndHowManySamplesWould(): void
    {
        $case = ['value' => 'page', 'operation' => 'get', 'keys' => 'one hot key'];
        $shown = self::shown((new RunFixture())->add('gets', $case, 'time', Direction::LowerIsBetter, 'shared-memory', 10.0, 0.0)->add('gets', $case, 'time', Direction::LowerIsBetter, 'redis-tcp', 10_000.0, 0.9));

        self::assertMatchesRegularExpression('/^This \w+ run can tell of \d+ of the \d+ promises that it measures\./m', $shown);
        self::assertMatchesRegularExpression('/gets of the page of 30 KB against Redis over TCP .*\| +\d+ times as many +\|$/m', $shown);
    }

    public function testTheAdviceStandsAtTheEnd(): void
    {
        self::assertMatchesRegularExpression(
            '/\nWhich cache for which site.*\n(?:[|+].*\n)+\| a shop +\| one host with the extension +\| SHARED-MEMORY +\|.*\n(?:[|+].*\n)*$/',
            self::shown((new RunFixture())->contest(0.1)),
        );
    }

    private static function shown(RunFixture $fixture): string
    {
        $output = new BufferedOutput();
        (new TerminalReport($output))->write(new Findings($fixture->run()));

        return $output->fetch();
    }
}
