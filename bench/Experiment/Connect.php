<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Subject\Operation;
use Larder\Bench\Subject\Subject;
use Larder\Bench\Subject\Values;

/** Connecting, reading one value and closing, again and again: what a request pays that reads only once. */
final class Connect implements Experiment
{
    public function name(): string
    {
        return 'connect';
    }

    public function title(): string
    {
        return 'Connect, get, close';
    }

    public function recreates(): string
    {
        return 'Source A connects, reads the text "hello world" and closes 10,000 times, under the profiler Xhprof. Ours '
            . 'runs without a profiler; the figure for 10,000 is that of one, times 10,000. It adds what a request of php-fpm pays '
            . 'in processor time that opens Larder\Cache and reads one value, beside a connection by hand.';
    }

    public function needs(Profile $profile): Needs
    {
        return new Needs(300, 1_024, $profile === Profile::Quick ? 10 : 30);
    }

    public function run(Laboratory $laboratory, Progress $progress, Outcome $outcome): void
    {
        $value = Values::named('hello');
        $subjects = array_filter(
            $laboratory->subjects,
            static fn(Subject $subject): bool => $subject->exempt(Operation::Connect, $value) === null,
        );
        $outcome->parameters = [
            'processes' => $laboratory->profile->processes(),
            'blocks in each process' => $laboratory->profile->blocks(),
            'milliseconds a block' => intdiv($laboratory->profile->blockNanoseconds(), 1_000_000),
        ];
        (new Interleaving($laboratory, $progress))->run($outcome, $subjects, [new Step($value, [Operation::Connect])]);
        OpeningRequests::measure($laboratory, $outcome);
    }
}
