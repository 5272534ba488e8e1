<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Fields;
use Larder\Bench\Subject\Extension;
use Larder\Bench\Subject\WorkerFailed;
use Larder\Bench\Subject\WorkerProcess;

/** One task of an experiment in a fresh process of PHP, until it has said what it found; it does not outlive this object. */
final class ChildProcess
{
    private const PAUSE_US = 200_000;

    /**
     * @param resource|null $process
     * @param resource $pipe
     * @param resource $errors
     */
    private function __construct(private readonly string $title, private $process, private $pipe, private $errors) {}

    public function __destruct()
    {
        $this->stop();
    }

    /**
     * Starts a task and waits until it ends.
     *
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
        return self::start($title, $task, $arguments, $settings, $placement)->answer($isInterrupted);
    }

    /**
     * Starts a task that others may run beside.
     *
     * @param string $title whose task it is, for messages
     * @param class-string<Task> $task
     * @param array<string, string|int> $arguments
     * @param array<string, string> $settings of php.ini, beside those of every worker
     * @param list<string> $placement a command that runs its arguments
     */
    public static function start(string $title, string $task, array $arguments, array $settings = [], array $placement = []): self
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

        return new self($title, $process, $pipes[1], $errors);
    }

    /**
     * Waits until the task ends.
     *
     * @param (\Closure(): bool)|null $isInterrupted asked now and then; the task is stopped when it says so
     * @throws WorkerFailed
     * @throws Interrupted
     */
    public function answer(?\Closure $isInterrupted = null): Fields
    {
        stream_set_blocking($this->pipe, false);
        $answer = '';
        while (!feof($this->pipe)) {
            $readable = [$this->pipe];
            $none = null;
            // A signal ends the waiting, which is no error.
            @stream_select($readable, $none, $none, 0, self::PAUSE_US);
            $answer .= stream_get_contents($this->pipe);
            if ($isInterrupted !== null && $isInterrupted()) {
                $this->stop();
                throw Interrupted::byTheUser();
            }
        }
        if ($this->close() !== 0) {
            // A TERM to the whole process group has reached the task before us.
            if ($isInterrupted !== null && $isInterrupted()) {
                throw Interrupted::byTheUser();
            }
            rewind($this->errors);

            throw WorkerFailed::ended($this->title, (string) stream_get_contents($this->errors));
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
        foreach ([...Extension::settings(), ...WorkerProcess::SETTINGS, ...$settings] as $name => $value) {
            array_push($command, '-d', "{$name}={$value}");
        }

        return [...$command, __DIR__ . '/child.php', WorkerProcess::autoloader(), $task, json_encode((object) $arguments, JSON_THROW_ON_ERROR)];
    }

    private function stop(): void
    {
        if ($this->process !== null) {
            proc_terminate($this->process, SIGTERM);
            $this->close();
        }
    }

    /** @return int its exit code, when it has ended */
    private function close(): int
    {
        [$process, $this->process] = [$this->process, null];
        // First, because a task that was told to stop may be waiting for a reader of its output.
        fclose($this->pipe);

        return $process === null ? -1 : proc_close($process);
    }
}
