<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Subject\Operation;
use Larder\Bench\Subject\Subject;
use Larder\Bench\Subject\Values;

/** Reading one value again and again within one process. */
final class Gets implements Experiment
{
    private const MANY = ['string-1k'];

    public function name(): string
    {
        return 'gets';
    }

    public function title(): string
    {
        return 'Reads and writes within one process';
    }

    public function recreates(): string
    {
        return 'Source A reads the text "hello world" 10,000 times within one request of WordPress, under the profiler '
            . 'Xhprof. Ours runs without a profiler and without WordPress, and adds sizes from 20 bytes to 1 MiB and the '
            . 'shapes that sites cache.';
    }

    public function run(Laboratory $laboratory, Progress $progress): Outcome
    {
        $subjects = $laboratory->subjects;
        $outcome = Outcome::of($this, [
            'processes' => $laboratory->profile->processes(),
            'blocks in each process' => $laboratory->profile->blocks(),
            'milliseconds a block' => intdiv($laboratory->profile->blockNanoseconds(), 1_000_000),
            'keys where they are many' => $laboratory->profile->keys(),
            'memory limit of each subject that has one' => Laboratory::MEGABYTES . ' MiB',
        ]);
        $steps = [];
        foreach (Values::all() as $value) {
            $steps[] = new Step($value, [...Operation::reads(), Operation::Set]);
        }
        foreach (self::MANY as $name) {
            $steps[] = new Step(Values::named($name), [Operation::Get], $laboratory->profile->keys());
        }
        (new Interleaving($laboratory, $progress))->run($outcome, $subjects, $steps);
        if (!$laboratory->isInterrupted()) {
            (new Counting($laboratory, $progress))->run($outcome, $this->counted($outcome, $subjects), Values::named('hello'));
        }

        return $outcome;
    }

    /**
     * @param array<string, Subject> $subjects
     * @return array<string, Subject>
     */
    private function counted(Outcome $outcome, array $subjects): array
    {
        return array_diff_key($subjects, $outcome->leftOut);
    }
}
