<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Server\Program;
use Symfony\Component\Process\Process;

/** A program that runs a command and counts what it did. */
final readonly class Counter
{
    /**
     * @param string $title what is counted
     * @param non-empty-list<string> $command with `%s` where the file is named that the count shall be written to
     * @param string $pattern finds the count in that file
     * @param int $reads how many make what differs between two starts of PHP disappear, and end soon
     */
    private function __construct(public string $title, private array $command, private string $pattern, public int $reads) {}

    /** @return self|string why nothing can be counted, where that is so */
    public static function systemCalls(): self|string
    {
        $strace = Program::find('strace');
        if ($strace === null) {
            return 'System calls were not counted, because strace is not installed: install the package strace.';
        }
        $counter = new self('system calls', [$strace, '-f', '-c', '-U', 'calls,name', '-o', '%s'], '/^\s*(\d+)\s+total$/m', 1_000);

        return $counter->counts() ? $counter : 'System calls were not counted, because strace may not trace processes here.';
    }

    /** @return self|string why nothing can be counted, where that is so */
    public static function instructions(Profile $profile): self|string
    {
        // Where a virtual machine hides the processor's counters, perf ends well and writes "<not supported>".
        $perf = self::ofInstructions('perf', ['stat', '-x', ',', '-e', 'instructions:u', '-o', '%s'], '/^(\d+),[^,]*,instructions/m');
        if ($perf !== null) {
            return $perf;
        }
        // It counts the same and takes seconds to start PHP, twice for each subject.
        if ($profile === Profile::Quick) {
            return 'Instructions were not counted, because perf cannot count them here and valgrind would take minutes: run gets with --thorough.';
        }

        return self::ofInstructions('valgrind', ['--tool=callgrind', '--callgrind-out-file=/dev/null', '--log-file=%s'], '/Collected : (\d+)/')
            ?? 'Instructions were not counted, because neither perf nor valgrind can count them here: install the package valgrind.';
    }

    /** @param list<string> $options */
    private static function ofInstructions(string $name, array $options, string $pattern): ?self
    {
        $program = Program::find($name);
        $counter = $program === null ? null : new self('user-mode instructions', [$program, ...$options], $pattern, 10_000);

        return $counter?->counts() === true ? $counter : null;
    }

    /** @return list<string> what stands before the command whose deeds are counted */
    public function before(string $file): array
    {
        return str_replace('%s', $file, $this->command);
    }

    /**
     * @param string $report what was written to the file
     * @throws CountingFailed for a report that holds no count, or a count of nothing, which no process gets by with
     */
    public function read(string $report): int
    {
        $count = preg_match($this->pattern, $report, $match) === 1 ? (int) $match[1] : 0;

        return $count > 0 ? $count : throw CountingFailed::of($this->title, $report);
    }

    private function counts(): bool
    {
        $file = (string) tempnam(sys_get_temp_dir(), 'larder-bench-');
        try {
            if ((new Process([...$this->before($file), 'true'], timeout: null))->run() !== 0) {
                return false;
            }
            $this->read((string) file_get_contents($file));

            return true;
        } catch (CountingFailed) {
            return false;
        } finally {
            unlink($file);
        }
    }
}
