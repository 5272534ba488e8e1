<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Report\Fields;

/** Something that an experiment does in a process of its own; made without arguments. */
interface Task
{
    /** @return array<string, int|float|string> what it found */
    public function run(Fields $arguments): array;
}
