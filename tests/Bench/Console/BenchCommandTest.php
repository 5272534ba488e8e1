<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Console;

use Larder\Bench\Experiment\Experiments;
use Larder\Bench\Experiment\Measurement;
use Larder\Bench\FileSystem;
use Larder\Bench\Finding\Run;
use Larder\Bench\Server\CpuTime;
use Larder\Bench\Server\Program;
use Larder\Bench\Subject\Subjects;
use Larder\Tests\Bench\Finding\RunFixture;
use Larder\Tests\Wait;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;

final class BenchCommandTest extends TestCase
{
    private string $directory;

    /** @var resource|null the benchmark while it runs */
    private $process = null;

    /** @var array<string, string> what is different for the benchmark */
    private array $environment = [];

    protected function setUp(): void
    {
        // Where the benchmark puts its files on a disk, if this is where temporary files go.
        $this->directory = FileSystem::onDisk() . '/larder-command-' . bin2hex(random_bytes(6));
        mkdir($this->directory, 0o700);
    }

    protected function tearDown(): void
    {
        if ($this->process !== null) {
            proc_terminate($this->process, SIGKILL);
            proc_close($this->process);
        }
        FileSystem::remove($this->directory);
    }

    /** @return iterable<string, array{list<string>, string}> */
    public static function mistakes(): iterable
    {
        yield 'an unknown experiment' => [['getz'], 'There is no experiment getz; did you mean "gets"? Known: '];
        yield 'an experiment that is near to none' => [['nosuch'], 'There is no experiment nosuch; use one of: '];
        yield 'an unknown subject' => [['--subjects=array,apcu-phb'], 'There is no subject apcu-phb; did you mean "apcu-php"? Known: '];
        yield 'the first word of a subject, misspelt' => [['--subjects=reds'], 'There is no subject reds; did you mean "redis-tcp"? Known: '];
        yield 'both profiles' => [['--quick', '--thorough'], 'exclude each other'];
        yield 'a missing subject file' => [['--subject-php=/nowhere.php'], 'The file /nowhere.php given as --subject-php does not exist'];
        yield 'a file that is no subject' => [['--subject-php=' . __FILE__], 'let it return a'];
        yield 'an empty trace' => [['--trace=/dev/null'], 'The trace /dev/null is empty: give a file of 32-bit integers.'];
        yield 'a missing trace' => [['--trace=/nowhere.trace'], 'The file /nowhere.trace given as --trace cannot be read'];
        yield 'a folder without WordPress' => [['--wordpress=/tmp'], 'The directory /tmp has no WordPress in it'];
        yield 'a folder without plugins' => [['--wordpress-peers=/var/empty'], 'has no folder with an object-cache.php or an advanced-cache.php in it'];
        yield 'a folder that is no Zend Framework' => [['--zend=/tmp'], 'has no Zend/Cache/Backend in it'];
        yield 'a comparison with itself alone' => [['compare', 'one.json'], 'Comparing takes two JSON files and 1 were given'];
        yield 'a run that is not there' => [['compare', '/nowhere.json', '/nowhere.json'], 'The file /nowhere.json cannot be read'];
        yield 'a run that is none' => [['report', __FILE__], 'is not JSON'];
        yield 'a word at the wrong place' => [['gets', 'compare'], 'The word compare is no experiment: let it be the first word'];
        yield 'a drawing that cannot be written' => [['report', __FILE__, '--html=/nowhere/report.html'], 'The file /nowhere/report.html cannot be written'];
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

    public function testTheHelpNamesEveryExperimentAndEverySubject(): void
    {
        [$code, $output] = $this->bench('--help');
        preg_match_all('/[\w-]+/', $output, $words);

        self::assertSame(0, $code);
        self::assertSame([], array_diff([...array_keys(Experiments::all()), ...array_keys(Subjects::all())], $words[0]));
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

    /** @return iterable<string, array{string, string}> how it reads, in PHP, and what is said */
    public static function failures(): iterable
    {
        $later = '$value = $client["fails"] ? %s : $client[$key];';
        yield 'a wrong value' => [sprintf($later, '"nobody stored this"'), 'my own cache returned string for the key'];
        yield 'an exception' => [sprintf($later, 'throw new RuntimeException("out of order")'), 'my own cache failed: RuntimeException: out of order'];
        yield 'a crash' => [sprintf($later, 'posix_kill(getmypid(), SIGKILL)'), 'The process that measured my own cache ended by itself'];
    }

    #[DataProvider('failures')]
    public function testASubjectThatFailsHasNoFiguresAndTheExitCodeSaysSo(string $read, string $expected): void
    {
        // The first process does well, so that there are figures when the second fails.
        file_put_contents("{$this->directory}/own.php", <<<CODE
            <?php
            use Larder\Bench\Subject\{Family, Subject};
            return new Subject(
                name: 'own', title: 'my own cache', family: Family::Memory,
                open: static fn () => new ArrayObject(['fails' => is_file('{$this->directory}/second') || !touch('{$this->directory}/second')]), read: static fn () => '\$client[\$key]',
                write: static fn () => '\$client[\$key] = \$value;', close: static function (): void {},
                connect: static fn () => <<<'READ'
                    {$read}
                    READ,
            );
            CODE);
        [$code, $output, $errors] = $this->bench('connect', '--subjects=own,file-disk', "--subject-php={$this->directory}/own.php");

        self::assertSame(1, $code, $output . $errors);
        self::assertStringContainsString($expected, $errors);
        $outcome = $this->report()->outcome('connect');
        self::assertStringContainsString($expected, $outcome?->leftOut['own'] ?? '');
        $measured = array_unique(array_map(static fn(Measurement $measurement): string => $measurement->subject, $outcome->measurements ?? []));
        self::assertSame(['file-disk'], array_values($measured), 'the other goes on');
        self::assertFalse($outcome?->isComplete, 'or it could not be resumed');
    }

    public function testAServerThatDoesNotStartIsToldWithItsLogAndTheExitCodeSaysSo(): void
    {
        file_put_contents("{$this->directory}/redis-server", "#!/bin/sh\necho 'Bad directive or wrong number of arguments'\nexit 1\n");
        chmod("{$this->directory}/redis-server", 0o755);
        [$code, , $errors] = $this->benchWith(['PATH' => "{$this->directory}:" . getenv('PATH')], 'connect', '--subjects=redis-tcp,file-disk');

        self::assertSame(1, $code, $errors);
        self::assertStringContainsString('Redis did not start because', $errors);
        self::assertStringContainsString('Bad directive or wrong number of arguments', $errors);
        self::assertNotSame([], $this->report()->outcome('connect')?->measurements, 'the other goes on');
    }

    public function testAServerThatIsNotInstalledIsAFailureWhereItWasAskedFor(): void
    {
        foreach (['setsid', 'taskset', 'sh', 'nproc'] as $program) {
            $path = Program::find($program);
            if ($path !== null) {
                symlink($path, "{$this->directory}/{$program}");
            }
        }
        [$code, , $errors] = $this->benchWith(['PATH' => $this->directory], 'connect', '--subjects=valkey-tcp,file-disk');

        self::assertSame(1, $code, $errors);
        self::assertStringContainsString('connect: Valkey cannot be started because no program valkey-server is on the PATH: install the package valkey-server.', $errors);
        self::assertNotSame([], $this->report()->outcome('connect')?->measurements, 'the other goes on');
        self::assertStringContainsString('install the package valkey-server', $this->report()->outcome('connect')->leftOut['valkey-tcp'] ?? '');
    }

    public function testTheReportNamesTheVersionsOfTheMeasuredProcesses(): void
    {
        [$code, $output, $errors] = $this->bench('connect', '--subjects=file-disk');

        self::assertSame(0, $code, $output . $errors);
        $versions = $this->report()->versions;
        // The suite loads the extension; the benchmark is started without it.
        self::assertSame(phpversion('larder'), $versions['ext-larder'] ?? null);
        self::assertSame(phpversion('apcu'), $versions['ext-apcu'] ?? null);
    }

    public function testAResumedRunKeepsWhatIsCompleteAndMeasuresTheRest(): void
    {
        [$code, , $errors] = $this->bench('connect', '--subjects=array,file-disk');
        self::assertSame(0, $code, $errors);
        $before = $this->report()->outcome('connect');
        [$code, , $errors] = $this->bench('connect', 'serializers', '--subjects=array,file-disk', '--resume');

        self::assertSame(0, $code, $errors);
        self::assertStringContainsString('Experiment 1 of 1', $errors);
        self::assertEquals($before, $this->report()->outcome('connect'));
        self::assertTrue($this->report()->outcome('serializers')?->isComplete);
        [$code, , $errors] = $this->bench('connect', '--resume');
        self::assertSame(2, $code);
        self::assertStringContainsString('cannot be resumed', $errors);
    }

    public function testARunOfAnotherVersionIsRefusedInOneSentence(): void
    {
        file_put_contents("{$this->directory}/old.json", '{"schema": 999}');
        [$code, , $errors] = $this->bench('report', 'old.json');

        self::assertSame(2, $code);
        self::assertStringContainsString('old.json: The run has schema 999 and this version reads', $errors);
    }

    public function testAComparisonSaysWhatGotWorseAndEndsAccordingly(): void
    {
        foreach (['before' => 100.0, 'after' => 200.0] as $name => $time) {
            file_put_contents("{$this->directory}/{$name}.json", (new RunFixture())->gets('page', 'get', ['shared-memory' => $time, 'redis-tcp' => 1000.0])->run()->toJson());
        }
        [$code, $output] = $this->bench('compare', 'before.json', 'after.json');
        self::assertSame(1, $code);
        self::assertMatchesRegularExpression('/shared-memory\s+\|\s+100 ns\s+\|\s+200 ns/', $output);
        self::assertStringContainsString('Of 2 measurements 0 got better, 1 got worse and 1 did not change', $output);

        self::assertSame(0, $this->bench('compare', 'after.json', 'before.json')[0]);
        self::assertSame(0, $this->bench('compare', 'before.json', 'after.json', '--subjects=redis-*')[0]);
    }

    public function testAComparisonOfNothingIsAMistake(): void
    {
        foreach (['before' => 600, 'after' => 2_000] as $name => $keys) {
            file_put_contents("{$this->directory}/{$name}.json", (new RunFixture())->gets('page', 'get', ['shared-memory' => 100.0])->parameters('gets', ['keys' => $keys])->run()->toJson());
        }
        [$code, $output, $errors] = $this->bench('compare', 'before.json', 'after.json');

        self::assertSame(2, $code);
        self::assertStringContainsString('gets is not compared, because it measured different things under the same names (keys: 600, then 2000): compare two runs of one profile and version.', $output);
        self::assertStringContainsString('The two runs have no measurement in common that can be compared', (string) preg_replace('/\s+/', ' ', $errors));
        self::assertSame(2, $this->bench('compare', 'before.json', 'before.json', '--subjects=nothing-of-this-name')[0]);
    }

    /** The end of a terminal is told by HUP, that of a machine or a service by TERM, and by timeout(1), to all processes of a group. */
    #[TestWith([SIGINT])]
    #[TestWith([SIGTERM])]
    #[TestWith([SIGHUP])]
    public function testAnInterruptedRunWritesWhatItHasAndLeavesNothingRunning(int $signal): void
    {
        $process = $this->measuring();
        $tmpfs = $this->tmpfs();
        self::assertNotSame([], $tmpfs);
        posix_kill(-proc_get_status($process)['pid'], $signal);
        $code = $this->end($process);

        self::assertSame(130, $code, $this->said());
        $run = $this->report();
        self::assertFalse($run->isComplete);
        self::assertFalse($run->outcome('gets')?->isComplete);
        self::assertSame([], $run->outcome('gets')->leftOut, 'a worker that ends with the run has not failed');
        self::assertStringContainsString('interrupted', (string) file_get_contents("{$this->directory}/report.html"));
        self::assertSame([], glob("{$this->directory}/larder-bench*"));
        self::assertSame([], array_filter($tmpfs, is_dir(...)));
    }

    public function testASecondInterruptionInTheMiddleOfABlockLeavesNothingEither(): void
    {
        $process = $this->measuring();
        $tmpfs = $this->tmpfs();
        // The second may come before the first was heard of; then one of them is all there is, and another comes.
        Wait::until('the benchmark has ended', static function () use ($process): bool {
            ['pid' => $leader, 'running' => $isRunning] = proc_get_status($process);
            posix_kill(-$leader, SIGINT);

            return !$isRunning;
        }, $this->said(...));
        $this->process = null;
        proc_close($process);

        self::assertSame([], glob("{$this->directory}/larder-bench*"));
        self::assertSame([], array_filter($tmpfs, is_dir(...)));
    }

    public function testWhatAKilledRunHasLeftTheNextOneRemoves(): void
    {
        $process = $this->measuring();
        $tmpfs = $this->tmpfs();
        $disk = glob("{$this->directory}/larder-benchmark-*") ?: [];
        $workers = array_diff(CpuTime::family(proc_get_status($process)['pid']), [proc_get_status($process)['pid']]);
        // All at once, so that no worker has time to remove its own.
        array_map(static fn(int $process): bool => posix_kill($process, SIGKILL), [...$workers, proc_get_status($process)['pid']]);
        $this->end($process);
        Wait::until('the killed processes have ended', static fn(): bool => array_filter($workers, CpuTime::isAlive(...)) === []);
        self::assertNotSame([], array_filter([...$tmpfs, ...$disk], is_dir(...)), 'it could remove nothing');

        [$code, , $errors] = $this->bench('connect', '--subjects=file-disk');
        self::assertSame(0, $code, $errors);
        self::assertStringContainsString('that a run had left behind when it was killed', $errors);
        self::assertSame([], array_filter([...$tmpfs, ...$disk], is_dir(...)));
    }

    /** @return resource a run that is in the middle of an experiment */
    private function measuring()
    {
        $process = $this->start('gets', '--subjects=array,file-disk,file-tmpfs');
        Wait::until(
            'a worker has compiled its first loop',
            fn(): bool => (glob("{$this->directory}/larder-benchmark-*/code/loop-1.php") ?: []) !== [],
            $this->said(...),
        );

        return $process;
    }

    /** @return list<string> the directories of its workers in memory */
    private function tmpfs(): array
    {
        $found = [];
        foreach ($this->process === null ? [] : CpuTime::family(proc_get_status($this->process)['pid']) as $process) {
            // A worker is told its place.
            preg_match('~"tmpfs":"([^"]+)"~', stripslashes((string) @file_get_contents("/proc/{$process}/cmdline")), $match);
            $found[] = $match[1] ?? '';
        }

        return array_values(array_filter($found));
    }

    private function report(): Run
    {
        return Run::fromJson((string) file_get_contents("{$this->directory}/report.json"));
    }

    /** @return array{int, string, string} exit code, output, errors */
    private function bench(string ...$arguments): array
    {
        $code = $this->end($this->start(...$arguments));

        return [$code, $this->written('output'), $this->written('errors')];
    }

    /**
     * @param array<string, string> $environment
     * @return array{int, string, string} exit code, output, errors
     */
    private function benchWith(array $environment, string ...$arguments): array
    {
        $this->environment = $environment;

        return $this->bench(...$arguments);
    }

    /** @return resource */
    private function start(string ...$arguments)
    {
        $process = proc_open(
            // A group of its own, to which signals are sent as a terminal sends them; and the tests may run under nohup(1), which a run respects.
            [(string) Program::find('setsid'), (string) Program::find('env'), '--default-signal=HUP', PHP_BINARY, dirname(__DIR__, 3) . '/bin/larder', 'bench', ...array_values($arguments)],
            // Files, because a pipe without a reader would stop it.
            [['file', '/dev/null', 'r'], ['file', "{$this->directory}/output", 'w'], ['file', "{$this->directory}/errors", 'w']],
            $pipes,
            $this->directory,
            [...getenv(), 'TMPDIR' => $this->directory, ...$this->environment],
        );
        self::assertIsResource($process);

        return $this->process = $process;
    }

    /**
     * Waits for its end.
     *
     * @param resource $process
     * @return int its exit code
     */
    private function end($process): int
    {
        $code = -1;
        Wait::until('the benchmark has ended', static function () use ($process, &$code): bool {
            // Only the first status after the end has the exit code.
            ['running' => $isRunning, 'exitcode' => $code] = proc_get_status($process);

            return !$isRunning;
        }, $this->said(...));
        $this->process = null;
        proc_close($process);

        return $code;
    }

    private function said(): string
    {
        return "The benchmark said:\n" . $this->written('output') . $this->written('errors');
    }

    private function written(string $stream): string
    {
        return (string) file_get_contents("{$this->directory}/{$stream}");
    }
}
