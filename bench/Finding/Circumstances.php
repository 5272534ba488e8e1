<?php

declare(strict_types=1);

namespace Larder\Bench\Finding;

use Larder\Bench\Experiment\Clients;
use Larder\Bench\Experiment\Outcome;

/** In what two runs differ beside the code that they measure. */
final class Circumstances
{
    /** What a run finds out for itself is another in each. */
    private const FOUND = 'requests a second at which latencies are measured';

    /**
     * Parameters that say how often and how long something was measured, or what is in the name of each case. In whatever else
     * two runs differ, they measured different things under the same names.
     */
    private const HOW_OFTEN = [
        'processes', 'blocks in each process', 'milliseconds a block', 'milliseconds a slice', 'starts of nginx and php-fpm', 'turns of all scripts in each',
        'turns of the empty script and shared memory alone', 'loops', 'requests', 'pairs of generators', 'runs', 'runs of the extension\'s own call, each in a pool of its own',
        'seconds at most', 'seconds at most of the cleans that are compared', 'seconds at most of the writes after them',
        'places in which cleans in files are compared', 'blocks in each', 'requests a block', 'runs that are compared', 'runs that are timed',
        'operations that are timed, at most', 'seconds of these, at most', 'starts of all processes', 'milliseconds a round', 'rounds in each start',
    ];

    /** How parameters begin that say what the machine is, or what the measured code made of it. */
    private const OF_THE_MACHINE = ['placement', Clients::PROCESSORS, 'MiB of the pool'];

    /**
     * Nothing of Larder's own, which is what runs are compared for, and nothing of experiments that cannot be compared.
     *
     * @return list<string> what differs, each with both of its values, as far as there are few of them
     */
    public static function differences(Run $before, Run $after): array
    {
        $differences = [];
        foreach (self::of($before) as $what => $was) {
            $is = self::of($after)[$what] ?? null;
            if ($is !== null && $is !== $was) {
                $differences[] = "{$what} ({$was}, then {$is})";
            }
        }
        foreach ($before->outcomes as $outcome) {
            $later = $after->outcome($outcome->name);
            $changed = $later === null || self::others($outcome, $later) !== [] ? [] : self::changed($outcome, $later);
            if ($changed !== []) {
                $differences[] = "parameters of {$outcome->name} (" . implode(', ', $changed) . ')';
            }
        }

        return $differences;
    }

    /**
     * By what an experiment measured something else in one run than in the other, such as more keys.
     *
     * @return list<string> parameters, each with both of its values
     */
    public static function others(Outcome $before, Outcome $after): array
    {
        $others = [];
        foreach (self::changed($before, $after) as $name) {
            if (!in_array($name, self::HOW_OFTEN, true) && array_filter(self::OF_THE_MACHINE, static fn(string $begin): bool => str_starts_with($name, $begin)) === []) {
                $others[] = sprintf('%s: %s, then %s', $name, $before->parameters[$name] ?? 'not stated', $after->parameters[$name] ?? 'not stated');
            }
        }

        return $others;
    }

    /** @return list<string> names of parameters */
    private static function changed(Outcome $before, Outcome $after): array
    {
        $changed = array_diff_assoc($before->parameters, $after->parameters) + array_diff_assoc($after->parameters, $before->parameters);

        return array_values(array_diff(array_keys($changed), [self::FOUND]));
    }

    /** @return array<string, string> */
    private static function of(Run $run): array
    {
        $own = array_filter($run->versions, static fn(string $name): bool => $name !== 'ext-larder', ARRAY_FILTER_USE_KEY);

        return ['profile' => $run->profile, ...$run->environment, 'placement' => $run->placement, ...$own];
    }
}
