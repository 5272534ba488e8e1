<?php

declare(strict_types=1);

namespace Larder\Store\Sqlite;

use Larder\Exception\StoreUnavailable;
use Larder\Owner;

/** The file of a database, made for whom its directory belongs to. */
final class DatabaseFile
{
    /**
     * SQLite's other files get the owner and the rights of this one, from SQLite.
     *
     * @throws StoreUnavailable if another user has put something in its place
     */
    public static function make(string $path): void
    {
        if (Owner::isStrangers($path)) {
            throw self::planted($path, 'it is another user\'s, who could put it there as everybody may write into its directory');
        }
        if (@file_exists($path)) {
            return;
        }
        $file = Owner::open($path, isShared: true);
        if ($file !== false) {
            // SQLite's locks would go with it, if this process had any.
            fclose($file);
        } elseif (Owner::isTrap($path)) {
            throw self::planted($path, 'another user has put a link in its place that leads nowhere');
        }
    }

    private static function planted(string $path, string $why): StoreUnavailable
    {
        return StoreUnavailable::because("The SQLite database \"{$path}\"", $why, 'remove it, and name one in a directory of PHP\'s user');
    }
}
