<?php

declare(strict_types=1);

namespace Larder\Console;

use Larder\Dsn;
use Larder\Exception;
use Larder\Exception\InvalidDsn;
use Larder\SharedMemory;
use Larder\Store\FileStore;
use Larder\Store\PhpFileStore;
use Larder\Store\SharedMemory\PoolFiles;
use Larder\Store\SharedMemoryStore;
use Larder\Store\SqliteStore;

/**
 * Tells whether the store that a DSN names exists already. Opening a store makes its pool, database or directory. This is right for a
 * site, and wrong for a question about a misspelt name.
 */
final class Presence
{
    private function __construct() {}

    /**
     * @return ?string what is not there, in a sentence; null: everything, as far as can be told without opening it
     *
     * @throws InvalidDsn a pool cannot have that name, or the store has no such option
     * @throws Exception
     */
    public static function complaint(Dsn $dsn): ?string
    {
        // A near store that is not there yet is empty: the far one has everything.
        while ($dsn->far !== null) {
            $dsn = $dsn->far;
        }

        // A store that is not there is not opened, which would check them.
        $options = self::optionsOf($dsn->scheme);
        if ($options !== null) {
            $dsn->allow(...$options);
        }

        return match ($dsn->scheme) {
            'shm' => self::ofPool(SharedMemoryStore::poolOf($dsn)),
            'sqlite' => self::ofDatabase($dsn->absolutePath()),
            'file', 'php' => self::ofDirectory($dsn->absolutePath()),
            default => null,
        };
    }

    /** @return ?string why no other process can see what is done to it from here */
    public static function beyondReach(Dsn $dsn): ?string
    {
        return $dsn->scheme === 'apcu' && $dsn->far === null && \PHP_SAPI === 'cli'
            ? 'The APCu of the command line ends with this command, and that of PHP-FPM cannot be reached from here. Run it in PHP-FPM, or use "apcu: > sqlite:/path", where deletes of the command line reach it.'
            : null;
    }

    /** @return ?list<string> */
    private static function optionsOf(string $scheme): ?array
    {
        return match ($scheme) {
            'shm' => SharedMemoryStore::OPTIONS,
            'sqlite' => SqliteStore::OPTIONS,
            'file' => FileStore::OPTIONS,
            'php' => PhpFileStore::OPTIONS,
            default => null,
        };
    }

    private static function ofPool(string $name): ?string
    {
        if (!\extension_loaded('larder') || \in_array($name, SharedMemory::names(), true)) {
            return null;
        }
        if (!SharedMemoryStore::canName($name)) {
            throw SharedMemoryStore::misnamed($name);
        }
        $others = (new PoolFiles())->owners($name);

        return PoolNames::absent($name) . ($others === [] ? '' : ' ' . ucfirst(implode(' and ', $others)) . (\count($others) === 1 ? ' has' : ' have') . " one of that name: run this as that user, or give both the same larder.group in php.ini.");
    }

    private static function ofDatabase(string $path): ?string
    {
        return match (true) {
            @is_dir($path) || @is_file($path) => null,
            @is_dir(\dirname($path)) => "There is no database \"{$path}\"; give the path of one, or store something to make it.",
            // A store says of this what is wrong with it.
            default => null,
        };
    }

    private static function ofDirectory(string $path): ?string
    {
        return @file_exists($path) || !@is_dir(\dirname($path)) ? null : "There is no directory \"{$path}\"; give the path of one, or store something to make it.";
    }
}
