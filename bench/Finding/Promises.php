<?php

declare(strict_types=1);

namespace Larder\Bench\Finding;

/**
 * The promises that Larder makes, computed from a run: those that the experiments of the run show.
 *
 * Each is a ratio within one run. APCu is the one with the serialiser that was fastest for that very value and
 * operation. A promise whose subjects were not measured is neither met nor missed.
 */
final class Promises
{
    /** @return list<Promise> */
    public static function of(Findings $findings): array
    {
        $promises = [];
        foreach ([EnginePromises::of(...), PoolPromises::of(...), HostPromises::of(...), TagPromises::of(...), SitePromises::of(...), ShapePromises::of(...), WordPressPromises::of(...)] as $of) {
            foreach ($of($findings) as $experiment => $those) {
                if ($findings->run->outcome($experiment) !== null) {
                    array_push($promises, ...$those);
                }
            }
        }

        return $promises;
    }
}
