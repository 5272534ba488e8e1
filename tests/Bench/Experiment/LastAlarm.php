<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Experiment;

use Larder\Bench\Experiment\Task;
use Larder\Bench\Fields;

/** Writes down, when its process ends, in how many seconds an alarm is to come; 0: in none. */
final class LastAlarm implements Task
{
    public function run(Fields $arguments): array
    {
        $file = $arguments->string('file');
        register_shutdown_function(static function () use ($file): void {
            file_put_contents($file, (string) pcntl_alarm(0));
        });

        return $arguments->string('how') === 'answers' ? [] : throw new \RuntimeException('The task was told to fail.');
    }
}
