<?php

/**
 * The process of one task: prints what it found as JSON.
 *
 *   child.php AUTOLOADER TASK ARGUMENTS
 */

declare(strict_types=1);

use Larder\Bench\Experiment\Task;
use Larder\Bench\Fields;

/** @var list<string> $argv */
[, $autoloader, $class, $arguments] = $argv;
require $autoloader;

// A Ctrl-C and the end of a terminal reach the whole foreground process group; the benchmark decides what they mean, and
// says so with a TERM.
pcntl_signal(SIGINT, SIG_IGN);
pcntl_signal(SIGHUP, SIG_IGN);
pcntl_async_signals(true);
pcntl_signal(SIGTERM, static function (): never {
    throw new RuntimeException('The task was told to stop.');
});
// A killed benchmark does not say so.
$parent = posix_getppid();
pcntl_signal(SIGALRM, static function () use ($parent): void {
    if (posix_getppid() !== $parent) {
        throw new RuntimeException('The process that waited for the task has ended.');
    }
    pcntl_alarm(1);
});
pcntl_alarm(1);
$status = 0;
try {
    $task = is_subclass_of($class, Task::class) ? new $class() : throw new InvalidArgumentException("There is no task {$class}.");
    fwrite(STDOUT, json_encode($task->run(Fields::ofJson($arguments, 'arguments')), JSON_THROW_ON_ERROR));
} catch (Throwable $problem) {
    fwrite(STDERR, $problem::class . ': ' . $problem->getMessage());
    $status = 1;
}
// PHP forgets its handlers before it gives its memory back, which takes a while; an alarm in between would kill it.
pcntl_signal(SIGALRM, SIG_IGN);
pcntl_alarm(0);
exit($status);
