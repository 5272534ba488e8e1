<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Fields;

/** A task in a fresh process that answers questions, one line each, and ends with the process that asks. */
final class Companion
{
    /**
     * @param resource $process
     * @param resource $orders
     * @param resource $answers
     * @param resource $errors
     */
    private function __construct(private $process, private $orders, private $answers, private $errors) {}

    public function __destruct()
    {
        fclose($this->orders);
        proc_close($this->process);
    }

    /**
     * @param class-string<Task> $task that reads its standard input and answers each line with one
     * @param array<string, string|int> $arguments
     * @param array<string, string> $settings of php.ini, beside those of every worker
     */
    public static function start(string $task, array $arguments, array $settings): self
    {
        $errors = tmpfile();
        $process = $errors === false ? false : proc_open(ChildProcess::command($task, $arguments, $settings), [['pipe', 'r'], ['pipe', 'w'], $errors], $pipes);
        if ($errors === false || $process === false) {
            throw new \RuntimeException('A second process could not be started: too many may be running, or no temporary file can be made.');
        }

        return new self($process, $pipes[0], $pipes[1], $errors);
    }

    /**
     * @param array<string, mixed> $order
     * @throws \RuntimeException with what the process said when it ended instead of answering
     */
    public function ask(array $order): Fields
    {
        $line = @fwrite($this->orders, json_encode($order, JSON_THROW_ON_ERROR) . "\n") === false ? false : fgets($this->answers);
        if ($line === false) {
            rewind($this->errors);
            throw new \RuntimeException(trim((string) stream_get_contents($this->errors)) ?: 'A second process ended without a word: there may be too little memory.');
        }

        return Fields::ofJson($line, 'answer');
    }
}
