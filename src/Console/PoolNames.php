<?php

declare(strict_types=1);

namespace Larder\Console;

use Larder\Exception\PoolUnusable;
use Larder\SharedMemory;

/** The pools of this user, as commands ask for them and speak of them. */
final class PoolNames
{
    private function __construct() {}

    /** @param string $purpose completes "there is no pool to …" */
    public static function withoutExtension(string $purpose): ?string
    {
        return \extension_loaded('larder') ? null : "The extension larder is not loaded, so there is no pool to {$purpose}; load it in this PHP's php.ini.";
    }

    /** @throws PoolUnusable */
    public static function absent(string $name): string
    {
        $names = SharedMemory::names();
        sort($names);

        return "There is no pool \"{$name}\" of this user; " . ($names === [] ? 'it has none' : 'the pools are: ' . implode(', ', $names)) . '.';
    }
}
