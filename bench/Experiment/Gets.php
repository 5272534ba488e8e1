<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Subject\Operation;
use Larder\Bench\Subject\Values;

/** Reading one value again and again within one process. */
final class Gets implements Experiment
{
    /** Subjects that read any value in the same time. */
    private const IN_PLACE = ['none', 'array', 'array-object', 'shared-memory', 'shared-memory-tags'];
    /** Of which deletes are measured as well. */
    private const DELETED = ['none', 'shared-memory', 'cache-shared-memory', 'cache-shared-memory-namespace'];
    /** Values that are read under many keys, too: those of the sizes and shapes that a cache has many of. */
    private const MANY = ['string-20', 'string-1k', 'page', 'post', 'entity', 'product'];
    /**
     * What differs from another subject in the connection or in the library above it only, which the number of keys does
     * not touch; storing a thousand files in each process would take longer than all blocks together.
     */
    private const NOT_MANY = ['*-connect-*', '*-predis-*', 'cache-redis', 'cache-redis-predis', 'cache-redis-tags', 'redis-script', 'cache-memcached', 'cache-*file', 'cache-sqlite', 'sqlite-rows', 'cache-tier-*'];

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

    public function needs(Profile $profile): Needs
    {
        return new Needs($profile === Profile::Quick ? 400 : 700, 2_048, $profile === Profile::Quick ? 200 : 650);
    }

    public function run(Laboratory $laboratory, Progress $progress, Outcome $outcome): void
    {
        $subjects = $laboratory->subjects;
        $outcome->parameters = [
            'processes' => $laboratory->profile->processes(),
            'blocks in each process' => $laboratory->profile->blocks(),
            'milliseconds a block' => intdiv($laboratory->profile->blockNanoseconds(), 1_000_000),
            'keys where they are many' => sprintf('%s, or as many as %d MiB hold', number_format($laboratory->profile->keys()), $laboratory->profile->bytesOfMany() >> 20),
            'memory limit of each subject that has one' => "{$laboratory->profile->megabytes()} MiB, servers " . Laboratory::MEGABYTES . ' MiB',
        ];
        $steps = [];
        foreach (Values::all() as $value) {
            $steps[] = new Step($value, [...Operation::reads(), Operation::Set]);
        }
        $steps[] = new Step(Values::long(), [Operation::Get], without: array_values(array_diff(array_keys($subjects), self::IN_PLACE)));
        $steps[] = new Step(Values::named('string-20'), [Operation::Delete], without: array_values(array_diff(array_keys($subjects), self::DELETED)));
        foreach (self::MANY as $name) {
            $value = Values::named($name);
            $fitting = intdiv($laboratory->profile->bytesOfMany(), strlen(serialize($value->make(0))));
            $steps[] = new Step($value, [Operation::Get], min($laboratory->profile->keys(), $fitting), self::NOT_MANY);
        }
        (new Interleaving($laboratory, $progress))->run($outcome, $subjects, $steps);
        (new Placements($laboratory, $progress))->run($outcome, array_diff_key($subjects, $outcome->leftOut), Values::named('hello'));
        (new Counting($laboratory, $progress))->run($outcome, array_diff_key($subjects, $outcome->leftOut), Values::named('hello'));
    }
}
