<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Fields;

/** Something that an experiment does in a process of its own; made without arguments. */
interface Task
{
    /** @return array<string, mixed> what it found, as JSON can say it */
    public function run(Fields $arguments): array;
}
