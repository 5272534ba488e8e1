<?php

/**
 * The process in which a subject is measured: reads one order a line as JSON, answers each with one line.
 *
 *   worker.php AUTOLOADER SUBJECT SUBJECT-FILE CODE-DIRECTORY PLACE
 *
 * Ends when its standard input does, that is, at the latest when the benchmark does.
 */

declare(strict_types=1);

use Larder\Bench\Fields;
use Larder\Bench\FileSystem;
use Larder\Bench\Subject\Operation;
use Larder\Bench\Subject\Place;
use Larder\Bench\Subject\Subjects;
use Larder\Bench\Subject\Worker;

/** @var list<string> $argv */
[, $autoloader, $name, $file, $codeDirectory, $json] = $argv;
require $autoloader;

// A Ctrl-C, the end of a terminal and timeout(1) reach the whole process group; the benchmark decides what they mean.
foreach ([SIGINT, SIGHUP, SIGTERM] as $signal) {
    pcntl_signal($signal, SIG_IGN);
}
set_error_handler(static function (int $severity, string $message, string $source, int $line): bool {
    if ((error_reporting() & $severity) === 0) {
        return false;
    }
    throw new ErrorException($message, 0, $severity, $source, $line);
});

$place = Fields::ofJson($json, 'place');
$worker = new Worker(
    Subjects::all($file === '' ? null : $file)[$name] ?? throw new OutOfBoundsException("There is no subject {$name}."),
    new Place(
        $place->string('disk'),
        $place->string('tmpfs'),
        $place->string('name'),
        $place->int('bytes'),
        $place->scalars('endpoint'),
    ),
    $codeDirectory,
);
while (($line = fgets(STDIN)) !== false) {
    try {
        $order = Fields::ofJson($line, 'order');
        $answer = match ($order->string('do')) {
            'prepare' => $worker->prepare($order->string('value'), $order->int('keys')),
            'calibrate' => ['operations' => $worker->calibrate(Operation::from($order->string('operation')), $order->int('nanoseconds'))],
            'block' => $worker->block(Operation::from($order->string('operation')), $order->int('operations')),
            default => throw new UnexpectedValueException('The worker does not know the order ' . $order->string('do') . '.'),
        };
    } catch (Throwable $problem) {
        $answer = ['error' => $problem::class . ': ' . $problem->getMessage()];
    }
    fwrite(STDOUT, json_encode($answer, JSON_THROW_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE) . "\n");
}
try {
    $worker->finish();
} catch (Throwable) {
    // The server may be gone before us, and cannot be told.
} finally {
    FileSystem::remove(dirname($codeDirectory));
    FileSystem::remove($place->string('tmpfs'));
}
