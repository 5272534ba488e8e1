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
    /**
     * @param string $title whose task it is, for messages
     * @param class-string<Task> $task
     * @param array<string, string|int> $arguments
     * @param array<string, string> $settings of php.ini, beside those of every worker
     * @param list<string> $placement a command that runs its arguments
     * @throws WorkerFailed
     */
    public static function run(string $title, string $task, array $arguments, array $settings = [], array $placement = []): Fields
    {
        $command = [...$placement, PHP_BINARY];
        if (Extension::built() !== null) {
            array_push($command, '-d', 'extension=' . Extension::built());
        }
        foreach ([...WorkerProcess::SETTINGS, ...$settings] as $name => $value) {
            array_push($command, '-d', "{$name}={$value}");
        }
        array_push($command, __DIR__ . '/child.php', WorkerProcess::autoloader(), $task, json_encode((object) $arguments, JSON_THROW_ON_ERROR));
        $errors = tmpfile();
        if ($errors === false) {
            throw new \RuntimeException('No temporary file could be made: free some space or set TMPDIR to a directory that is writable.');
        }
        $process = proc_open($command, [['file', '/dev/null', 'r'], ['pipe', 'w'], $errors], $pipes);
        if ($process === false) {
            throw new \RuntimeException("The process that measures {$title} could not be started: too many processes may be running.");
        }
        $answer = (string) stream_get_contents($pipes[1]);
        $code = proc_close($process);
        if ($code !== 0) {
            rewind($errors);

            throw WorkerFailed::ended($title, (string) stream_get_contents($errors));
        }

        return Fields::ofJson($answer, 'answer');
    }
}
