<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Random\Randomizer;

/** The order in which subjects take their turn: another one each time, so that none always follows the same one. */
final class Shuffled
{
    /**
     * @template Name of array-key
     * @template Entry
     * @param array<Name, Entry> $entries
     * @return array<Name, Entry> in a random order
     */
    public static function of(array $entries): array
    {
        $shuffled = [];
        foreach ((new Randomizer())->shuffleArray(array_keys($entries)) as $name) {
            $shuffled[$name] = $entries[$name];
        }

        return $shuffled;
    }
}
