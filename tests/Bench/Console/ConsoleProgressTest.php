<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Console;

use Larder\Bench\Console\ConsoleProgress;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Console\Output\BufferedOutput;
use Symfony\Component\Console\Output\OutputInterface;

final class ConsoleProgressTest extends TestCase
{
    public function testWithoutATerminalAnExperimentIsOneLine(): void
    {
        $printed = $this->printed(false, 80);

        self::assertMatchesRegularExpression('/^gets: done in \d+ s\n$/', $printed);
    }

    public function testInATerminalItIsOneLineThatFits(): void
    {
        foreach ([60, 80, 200] as $width) {
            $printed = $this->printed(true, $width);
            self::assertSame(1, substr_count($printed, "\n"), 'It stays where it is.');
            foreach (preg_split('/\r|\n|\e\[\d*[A-Z]/', $printed) ?: [] as $line) {
                self::assertLessThanOrEqual($width, mb_strwidth((string) preg_replace('/\e\[[\d;]*m/', '', $line)), $line);
            }
        }
    }

    public function testAnUnknownTimeThatIsLeftIsNotShown(): void
    {
        $output = new BufferedOutput(OutputInterface::VERBOSITY_NORMAL, true);
        $progress = new ConsoleProgress($output, 80);
        $progress->begin('gets', 2);
        self::assertStringNotContainsString('left', $output->fetch());
        usleep(200_000);
        $progress->advance('one');
        self::assertStringContainsString(' 50%, left ', $output->fetch());
    }

    private function printed(bool $isTerminal, int $width): string
    {
        $output = new BufferedOutput(OutputInterface::VERBOSITY_NORMAL, $isTerminal);
        $progress = new ConsoleProgress($output, $width);
        $progress->begin('gets', 1_000);
        for ($i = 0; $i < 1_000; $i++) {
            $progress->advance("100 % of a subject with a <long> name in a case with a name that is even longer, {$i}");
        }
        $progress->end();

        return $output->fetch();
    }
}
