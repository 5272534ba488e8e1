<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Report\Fields;
use Larder\Bench\Subject\Extension;
use Larder\Bench\Subject\WorkerFailed;
use Larder\Bench\Subject\WorkerProcess;

/** Runs one task of an experiment in a fresh process of PHP and returns what it found. */
final class ChildProcess
{
    private const PAUSE_US = 200_000;

    /**
     * @param string $title whose task it is, for messages
     * @param class-string<Task> $task
     * @param array<string, string|int> $arguments
     * @param array<string, string> $settings of php.ini, beside those of every worker
     * @param list<string> $placement a command that runs its arguments
     * @param (\Closure(): bool)|null $isInterrupted asked now and then; the task is stopped when it says so
     * @throws WorkerFailed
     * @throws Interrupted
     */
    public static function run(string $title, string $task, array $arguments, array $settings = [], array $placement = [], ?\Closure $isInterrupted = null): Fields
    {
        $command = [...$placement, ...self::command($task, $arguments, $settings)];
        $errors = tmpfile();
        if ($errors === false) {
            throw new \RuntimeException('No temporary file could be made: free some space or set TMPDIR to a directory that is writable.');
        }
        $process = proc_open($command, [['file', '/dev/null', 'r'], ['pipe', 'w'], $errors], $pipes);
        if ($process === false) {
            throw new \RuntimeException("The process that measures {$title} could not be started: too many processes may be running.");
        }
        $answer = self::answer($process, $pipes[1], $isInterrupted ?? static fn(): bool => false);
        $code = proc_close($process);
        if ($answer === null) {
            throw Interrupted::byTheUser();
        }
        if ($code !== 0) {
            rewind($errors);

            throw WorkerFailed::ended($title, (string) stream_get_contents($errors));
        }

        return Fields::ofJson($answer, 'answer');
    }

    /**
     * @param class-string<Task> $task
     * @param array<string, string|int> $arguments
     * @param array<string, string> $settings of php.ini, beside those of every worker
     * @return non-empty-list<string>
     */
    public static function command(string $task, array $arguments, array $settings): array
    {
        $command = [PHP_BINARY];
        if (Extension::built() !== null) {
            array_push($command, '-d', 'extension=' . Extension::built());
        }
        foreach ([...WorkerProcess::SETTINGS, ...$settings] as $name => $value) {
            array_push($command, '-d', "{$name}={$value}");
        }

        return [...$command, __DIR__ . '/child.php', WorkerProcess::autoloader(), $task, json_encode((object) $arguments, JSON_THROW_ON_ERROR)];
    }

    /**
     * @param resource $process
     * @param resource $pipe
     * @param \Closure(): bool $isInterrupted
     * @return string|null what the task said; null when it was told to stop
     */
    private static function answer($process, $pipe, \Closure $isInterrupted): ?string
    {
        stream_set_blocking($pipe, false);
        $answer = '';
        while (!feof($pipe)) {
            $readable = [$pipe];
            $none = null;
            // A signal ends the waiting, which is no error.
            @stream_select($readable, $none, $none, 0, self::PAUSE_US);
            $answer .= stream_get_contents($pipe);
            if ($isInterrupted()) {
                proc_terminate($process, SIGTERM);

                return null;
            }
        }

        return $answer;
    }
}
