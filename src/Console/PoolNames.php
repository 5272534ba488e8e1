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
    /** In a sentence; `larder pools` lists all. */
    private const LISTED = 10;

    private function __construct() {}

    /** @param string $purpose completes "there is no pool to …" */
    public static function withoutExtension(string $purpose): ?string
    {
        return \extension_loaded('larder') ? null : "The extension larder is not loaded, so there is no pool to {$purpose}; load it in this PHP's php.ini.";
    }

    /** @return ?string why no pool can have that name, in a sentence; null: one can */
    public static function mistake(string $name): ?string
    {
        if (str_contains($name, ':')) {
            return "\"{$name}\" is a DSN; give the name of a pool alone, such as shop.";
        }

        return SharedMemoryStore::canName($name) ? null : "\"{$name}\" is no name for a pool: " . SharedMemoryStore::NAMING_REMEDY . '.';
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

        return "There is no pool \"{$name}\" of this user; " . ($names === [] ? 'it has none' : Suggestion::among($name, $names, 'The pools are', 'the pools are', self::LISTED)) . '.';
    }
}
