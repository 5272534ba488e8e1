<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Fields;

/** The versions of what is measured, asked for where it is measured: the process in front loads other extensions. */
final class Versions implements Task
{
    public function run(Fields $arguments): array
    {
        return Environment::versions();
    }
}
