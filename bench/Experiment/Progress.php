<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

/** Where an experiment says how far it is. */
interface Progress
{
    public function begin(string $title, int $steps): void;

    public function advance(string $doing): void;

    public function end(): void;
}
