<?php

declare(strict_types=1);

namespace Larder\Tools\Tests;

use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Process\Process;

#[CoversNothing]
final class RecordTest extends TestCase
{
    private const ROOT = __DIR__ . '/../..';

    private Scratch $scratch;
    private string $directory;

    protected function setUp(): void
    {
        $this->scratch = new Scratch();
        $this->directory = $this->scratch->path;
        mkdir("{$this->directory}/tools", 0o700, true);
        mkdir("{$this->directory}/docs/results", 0o700, true);
        copy(self::ROOT . '/tools/record', "{$this->directory}/tools/record");
        symlink((string) realpath(self::ROOT . '/bin'), "{$this->directory}/bin");
        $this->in('git', 'init', '--quiet');
        $this->in('git', '-c', 'user.name=test', '-c', 'user.email=test@localhost', 'commit', '--quiet', '--allow-empty', '--message=test');
    }

    public function testOptionsThatAreNotUnderstoodRemoveNoResults(): void
    {
        file_put_contents("{$this->directory}/docs/results/run.json", 'recorded before');
        // A second time as well: the first has not begun anything.
        foreach ([1, 2] as $time) {
            $record = $this->in('bash', 'tools/record', '--subjects=nothing-of-this-name');

            self::assertSame(2, $record->getExitCode(), $record->getErrorOutput());
            self::assertStringContainsString('nothing-of-this-name', $record->getErrorOutput());
            self::assertStringEqualsFile("{$this->directory}/docs/results/run.json", 'recorded before', "time {$time}");
            self::assertFileDoesNotExist("{$this->directory}/build/recording");
        }
    }

    /** @param list<string> $options */
    #[TestWith([[], '--thorough'])]
    #[TestWith([['--quick'], '--quick'])]
    #[TestWith([['--thorough'], '--thorough'])]
    public function testARunIsThoroughUnlessAQuickOneIsAskedFor(array $options, string $profile): void
    {
        unlink("{$this->directory}/bin");
        mkdir("{$this->directory}/bin");
        file_put_contents("{$this->directory}/bin/larder", '<?php file_put_contents("commands", implode(" ", array_slice($argv, 1)) . "\n", FILE_APPEND);');
        file_put_contents("{$this->directory}/tools/publish", "#!/bin/sh\necho published >>commands\n");
        chmod("{$this->directory}/tools/publish", 0o700);

        $record = $this->in('bash', 'tools/record', '--subjects=redis-tcp', ...$options);

        self::assertSame(0, $record->getExitCode(), $record->getErrorOutput());
        self::assertStringEqualsFile(
            "{$this->directory}/commands",
            "bench serializers --json=build/record-check.json --html=build/record-check.html --subjects=redis-tcp\n"
            . "bench {$profile} --json=docs/results/run.json --html=report.html --subjects=redis-tcp\npublished\n",
        );
    }

    #[TestWith(['--json=other.json'])]
    #[TestWith(['--html'])]
    #[TestWith(['--resume'])]
    public function testAnOptionThatTheRunsHaveOfTheirOwnIsRefusedBeforeAnythingRuns(string $option): void
    {
        $record = $this->in('bash', 'tools/record', $option);

        self::assertSame(2, $record->getExitCode(), $record->getErrorOutput());
        self::assertStringContainsString('the option ' . strtok($option, '=') . ' is no option of tools/record', $record->getErrorOutput());
        self::assertDirectoryDoesNotExist("{$this->directory}/build");
    }

    private function in(string ...$command): Process
    {
        $process = new Process(array_values($command), $this->directory, ['PHP' => PHP_BINARY]);
        $process->run();

        return $process;
    }
}
