<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

/** A way of measuring subjects. */
interface Experiment
{
    /** What the command line calls it. */
    public function name(): string;

    public function title(): string;

    /** Which published measurement it re-creates, and how it differs from it. */
    public function recreates(): string;

    public function needs(Profile $profile): Needs;

    /**
     * Measures, and writes down what it finds as it finds it, so that an interrupted run keeps what it has.
     *
     * What cannot be measured is left out with its reason and does not end the experiment.
     *
     * @throws Interrupted the user wants to stop
     */
    public function run(Laboratory $laboratory, Progress $progress, Outcome $outcome): void;
}
