<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

/** All experiments, in the order they run. */
final class Experiments
{
    /** @return non-empty-array<string, Experiment> by name */
    public static function all(): array
    {
        $experiments = [];
        foreach ([
            new Gets(), new Connect(), new Web(), new Clients(), new Serializers(), new Tags(), new Transients(), new Pages(), new PageCaches(), new Sessions(), new Memory(), new Full(),
            new Pins(), new Hosts(), new Shapes(), new Cold(), new Scale(), new Traces(),
        ] as $experiment) {
            $experiments[$experiment->name()] = $experiment;
        }

        return $experiments;
    }
}
