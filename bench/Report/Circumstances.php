<?php

declare(strict_types=1);

namespace Larder\Bench\Report;

/** In what two runs differ beside the code that they measure. */
final class Circumstances
{
    private const FOUND = 'requests a second at which latencies are measured';

    /**
     * Nothing of Larder's own: that is what runs are compared for.
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
            $later = $after->outcome($outcome->name)?->parameters;
            $changed = $later === null ? [] : array_keys(array_diff_assoc($outcome->parameters, $later) + array_diff_assoc($later, $outcome->parameters));
            // What a run finds out for itself is another in each.
            $changed = array_diff($changed, [self::FOUND]);
            if ($changed !== []) {
                $differences[] = "parameters of {$outcome->name} (" . implode(', ', $changed) . ')';
            }
        }

        return $differences;
    }

    /** @return array<string, string> */
    private static function of(Run $run): array
    {
        $own = array_filter($run->versions, static fn(string $name): bool => $name !== 'ext-larder', ARRAY_FILTER_USE_KEY);

        return ['profile' => $run->profile, ...$run->environment, 'placement' => $run->placement, ...$own];
    }
}
