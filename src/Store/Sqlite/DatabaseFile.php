<?php

declare(strict_types=1);

namespace Larder\Store\Sqlite;

use Larder\Exception\StoreUnavailable;
use Larder\System\Distrust;
use Larder\System\Guests;
use Larder\System\PrivateDirectory;

/** The file of a database, and the files that SQLite has beside it. No other user may write to them (see PrivateDirectory). */
final class DatabaseFile
{
    /** What SQLite adds to the name. It makes these with the owner and the rights of the database. */
    private const BESIDE = ['', '-wal', '-shm', '-journal'];

    /**
     * Makes the file if it is not there.
     *
     * @return string its path, without links in it where that can be told
     *
     * @throws StoreUnavailable if another user may have put something in its place, or beside it
     */
    public static function ready(string $path): string
    {
        $real = PrivateDirectory::followed($path);
        if ($real === null) {
            throw self::unavailable($path, 'another user has put a link in its place', 'remove it');
        }
        $directory = self::directory($real);
        if (!$directory->exists()) {
            throw self::unavailable($path, "the directory \"{$directory->path}\" is not there", 'create it, or name another place for the database');
        }
        $distrust = self::distrust($real, $directory);
        if ($distrust !== null) {
            throw self::unavailable($path, $distrust->reason(), $distrust->remedy);
        }
        if (!@file_exists($real)) {
            $file = $directory->open($real);
            // SQLite's locks would go with it, if this process had any.
            $file === false || fclose($file);
        }

        return $directory->real() === null ? $real : rtrim($directory->real(), '/') . '/' . basename($real);
    }

    public static function directory(string $path): PrivateDirectory
    {
        return new PrivateDirectory(\dirname($path), Guests::RootAndGroup);
    }

    /** @return ?Distrust of the directory, the database or what SQLite has beside it */
    public static function distrust(string $path, ?PrivateDirectory $directory = null): ?Distrust
    {
        $directory ??= self::directory($path);
        $distrust = $directory->distrust();
        foreach (self::BESIDE as $suffix) {
            $distrust ??= $directory->distrustOf($path . $suffix, tightens: true);
        }

        return $distrust;
    }

    private static function unavailable(string $path, string $why, string $remedy): StoreUnavailable
    {
        return StoreUnavailable::because("The SQLite database \"{$path}\"", $why, $remedy);
    }
}
