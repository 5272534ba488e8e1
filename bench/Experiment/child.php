<?php

/**
 * The process of one task: prints what it found as JSON.
 *
 *   child.php AUTOLOADER TASK ARGUMENTS
 */

declare(strict_types=1);

use Larder\Bench\Experiment\Task;
use Larder\Bench\Report\Fields;

/** @var list<string> $argv */
[, $autoloader, $class, $arguments] = $argv;
require $autoloader;

// A Ctrl-C reaches the whole foreground process group; the benchmark decides what it means, and says so with a TERM.
pcntl_signal(SIGINT, SIG_IGN);
pcntl_async_signals(true);
pcntl_signal(SIGTERM, static function (): never {
    throw new RuntimeException('The task was told to stop.');
});
try {
    $task = is_subclass_of($class, Task::class) ? new $class() : throw new InvalidArgumentException("There is no task {$class}.");
    fwrite(STDOUT, json_encode($task->run(Fields::ofJson($arguments, 'arguments')), JSON_THROW_ON_ERROR));
} catch (Throwable $problem) {
    fwrite(STDERR, $problem::class . ': ' . $problem->getMessage());
    exit(1);
}
