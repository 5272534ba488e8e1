<?php

declare(strict_types=1);

namespace Larder\Console;

use Larder\Exception\PoolUnusable;
use Larder\Exception\Suggestion;
use Larder\SharedMemory;
use Larder\Store\SharedMemoryStore;

/** The pools of this user, as commands ask for them and speak of them. */
final class PoolNames
{
    /** What to do about a name that no pool can have. */
    public const REMEDY = 'give 1 to 64 letters, digits, dots, dashes and underscores, the first a letter, digit or underscore';

    private function __construct() {}

    /** @param string $purpose completes "there is no pool to …" */
    public static function withoutExtension(string $purpose): ?string
    {
        return \extension_loaded('larder') ? null : "The extension larder is not loaded, so there is no pool to {$purpose}; load it in this PHP's php.ini.";
    }

    /** @return ?string why no pool can have that name, in a sentence; null: one can */
    public static function mistake(string $name): ?string
    {
        // The extension says so itself, but as it says that a pool cannot be had now.
        return preg_match('/^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/D', $name) === 1
            ? null
            : "\"{$name}\" is no name for a pool: " . self::REMEDY . '.';
    }

    /**
     * @return list<string> those that hold items, and no other pool's locks
     *
     * @throws PoolUnusable
     */
    public static function ofItems(): array
    {
        $names = SharedMemory::names();
        sort($names);

        return array_values(array_diff($names, array_keys(SharedMemoryStore::leasesAmong($names))));
    }

    /** @throws PoolUnusable */
    public static function absent(string $name): string
    {
        $names = self::ofItems();

        return "There is no pool \"{$name}\" of this user; " . ($names === [] ? 'it has none' : Suggestion::among($name, $names, 'The pools are', 'the pools are')) . '.';
    }
}
