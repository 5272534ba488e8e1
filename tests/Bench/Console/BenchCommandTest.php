<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Console;

use Larder\Bench\Report\Run;
use Larder\Bench\Subject\FileSystem;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

final class BenchCommandTest extends TestCase
{
    private string $directory;

    protected function setUp(): void
    {
        $this->directory = sys_get_temp_dir() . '/larder-command-' . bin2hex(random_bytes(6));
        mkdir($this->directory, 0o700);
    }

    protected function tearDown(): void
    {
        FileSystem::remove($this->directory);
    }

    /** @return iterable<string, array{list<string>, string}> */
    public static function mistakes(): iterable
    {
        yield 'an unknown experiment' => [['getz'], 'There is no experiment getz: the nearest is gets.'];
        yield 'an unknown subject' => [['--subjects=array,apcu-phb'], 'There is no subject apcu-phb: the nearest is apcu-php.'];
        yield 'both profiles' => [['--quick', '--thorough'], 'exclude each other'];
        yield 'a missing subject file' => [['--subject-php=/nowhere.php'], 'The file /nowhere.php given as --subject-php does not exist'];
        yield 'a file that is no subject' => [['--subject-php=' . __FILE__], 'let it return a'];
        yield 'a missing trace' => [['--trace=/nowhere.trace'], 'The file /nowhere.trace given as --trace cannot be read'];
        yield 'a report that cannot be written' => [['--html=/nowhere/report.html'], 'The file /nowhere/report.html cannot be written'];
    }

    /** @param list<string> $arguments */
    #[DataProvider('mistakes')]
    public function testAMistakeGetsOneClearSentenceAndMeasuresNothing(array $arguments, string $expected): void
    {
        [$code, , $errors] = $this->bench(...$arguments);

        self::assertSame(2, $code);
        self::assertStringContainsString($expected, (string) preg_replace('/\s+/', ' ', $errors));
        self::assertFileDoesNotExist("{$this->directory}/report.json");
    }

    public function testASubjectOfTheReadersOwnIsMeasured(): void
    {
        file_put_contents("{$this->directory}/own.php", <<<'CODE'
            <?php
            use Larder\Bench\Subject\{Family, Subject};
            return new Subject(
                name: 'own', title: 'my own cache', family: Family::Memory,
                open: static fn () => new ArrayObject(), read: static fn () => '$client[$key]',
                write: static fn () => '$client[$key] = $value;', close: static function (): void {},
                connect: static fn () => '$value = $client[$key];',
            );
            CODE);
        [$code, $output] = $this->bench('connect', '--subjects=own', "--subject-php={$this->directory}/own.php");

        self::assertSame(0, $code, $output);
        self::assertMatchesRegularExpression('/my own cache\s+\|\s+[\d.]+ ns/', $output);
        self::assertFileExists("{$this->directory}/report.html");
        $outcome = $this->report()->outcome('connect');
        self::assertSame([], $outcome?->leftOut);
        self::assertSame('own', $outcome->measurements[0]->subject ?? null);
    }

    public function testAnInterruptedRunWritesWhatItHasAndLeavesNothingRunning(): void
    {
        $process = $this->start('gets', '--subjects=array,file-disk');
        // A worker that has compiled its loop is at work.
        while ((glob("{$this->directory}/larder-bench-*/code/loop-1.php") ?: []) === []) {
            usleep(10_000);
        }
        posix_kill($process['pid'], SIGINT);
        $output = (string) stream_get_contents($process['output']);
        stream_get_contents($process['errors']);

        self::assertSame(130, proc_close($process['process']), $output);
        $run = $this->report();
        self::assertFalse($run->isComplete);
        self::assertFalse($run->outcome('gets')?->isComplete);
        self::assertStringContainsString('interrupted', (string) file_get_contents("{$this->directory}/report.html"));
        self::assertSame([], glob("{$this->directory}/larder-bench-*"));
    }

    private function report(): Run
    {
        return Run::fromJson((string) file_get_contents("{$this->directory}/report.json"));
    }

    /** @return array{int, string, string} exit code, output, errors */
    private function bench(string ...$arguments): array
    {
        $process = $this->start(...$arguments);
        $output = (string) stream_get_contents($process['output']);
        $errors = (string) stream_get_contents($process['errors']);

        return [proc_close($process['process']), $output, $errors];
    }

    /** @return array{process: resource, pid: int, output: resource, errors: resource} */
    private function start(string ...$arguments): array
    {
        $process = proc_open(
            [PHP_BINARY, dirname(__DIR__, 3) . '/bin/larder', 'bench', ...array_values($arguments)],
            [['file', '/dev/null', 'r'], ['pipe', 'w'], ['pipe', 'w']],
            $pipes,
            $this->directory,
            [...getenv(), 'TMPDIR' => $this->directory],
        );
        self::assertIsResource($process);

        return ['process' => $process, 'pid' => proc_get_status($process)['pid'], 'output' => $pipes[1], 'errors' => $pipes[2]];
    }
}
