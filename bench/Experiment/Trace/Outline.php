<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Trace;

use Larder\Bench\Experiment\Task;
use Larder\Bench\Fields;

/** How long a trace is, and how many keys it has. */
final class Outline implements Task
{
    public function run(Fields $arguments): array
    {
        $trace = Trace::read($arguments->string('file'));

        return ['accesses' => count($trace->keys), 'distinct' => $trace->distinct()];
    }
}
