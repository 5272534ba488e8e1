<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Trace;

use Larder\Bench\Experiment\Task;
use Larder\Bench\Fields;

/** Replays a trace on one reference policy. */
final class Simulation implements Task
{
    public function run(Fields $arguments): array
    {
        $policy = Reference::from($arguments->string('policy'));

        return ['miss ratio' => $policy->missRatio(Trace::read($arguments->string('file'))->keys, $arguments->int('items'))];
    }
}
