<?php

declare(strict_types=1);

namespace Larder;

/**
 * Whose the files are that this process makes. What root makes in another user's directory, such as a cron job in the cache of
 * a web server, is given to that user, who could otherwise neither use it nor see that it is of no use to him.
 *
 * He may be up to something: whoever owns a directory can at any moment put a link in the place of what is in it. So root
 * gives away, and writes into, nothing that such a link leads to (see logrotate's option "su" for what comes of that).
 */
final class Owner
{
    private const KIND = 0o170000;

    private const LINK = 0o120000;

    private function __construct() {}

    /** Gives a file or directory that root has just made to whom the directory belongs that it lies in. */
    public static function give(string $path): void
    {
        if (!\function_exists('posix_geteuid') || posix_geteuid() !== 0 || !\function_exists('lchown') || !\function_exists('lchgrp')) {
            return;
        }
        $directory = @stat(\dirname($path));
        if ($directory !== false && ($directory['uid'] !== 0 || $directory['gid'] !== posix_getegid())) {
            // Not chown(), which would follow a link. A hard link to a file of root's cannot be made where fs.protected_hardlinks
            // is 1, as it is unless somebody has changed it.
            @lchgrp($path, $directory['gid']);
            @lchown($path, $directory['uid']);
        }
    }

    /**
     * Opens a file to read it and to write into it. One that is not there is made, and given to the directory's owner; but not
     * at the end of a link that leads nowhere: PHP follows that by itself, also where the kernel is not to (O_EXCL).
     *
     * @param ?int $rights   of one that is made; null: as usual
     * @param bool $isShared whether those may write into it, too, who may write into the directory as members of its group
     *
     * @return resource|false
     */
    public static function open(string $path, ?int $rights = null, bool $isShared = false): mixed
    {
        // Twice, as another process may make it in between.
        for ($tries = 0; $tries < 2; $tries++) {
            $file = @fopen($path, 'r+');
            if ($file !== false) {
                return $file;
            }
            clearstatcache(true, $path);
            $file = is_link($path) ? false : self::make($path, $isShared ? self::sharedRights(\dirname($path)) : $rights);
            if ($file !== false) {
                self::give($path);

                return $file;
            }
        }

        return false;
    }

    /**
     * Makes a file, which is this process's own; under a name that nobody could know, or where no link lies (see open()).
     *
     * @param ?int $rights which it has from the beginning, as to change them later would be to follow a link; null: as usual
     *
     * @return resource|false
     */
    public static function make(string $path, ?int $rights): mixed
    {
        if ($rights === null || \PHP_ZTS) {
            // What is withheld from files is withheld from those of all threads.
            $file = @fopen($path, 'x+');
            if ($file !== false && $rights !== null) {
                @chmod($path, $rights);
            }

            return $file;
        }
        $usual = umask(~$rights & 0o777);
        try {
            return @fopen($path, 'x+');
        } finally {
            umask($usual);
        }
    }

    /** Whether this user may look for what is in a directory. */
    public static function mayEnter(string $directory): bool
    {
        return \DIRECTORY_SEPARATOR !== '/' || @is_executable($directory);
    }

    /**
     * Whether a file that is open may be written into: it is still the one of that name, and not what another user's link
     * leads to.
     *
     * @param resource $file
     */
    public static function isThere(mixed $file, string $path): bool
    {
        clearstatcache(true, $path);
        $here = fstat($file);
        $there = @lstat($path);
        if ($there !== false && ($there['mode'] & self::KIND) === self::LINK) {
            $there = self::isOursOrRoots($there) ? @stat($path) : false;
        }

        return $here !== false && $there !== false && $here['ino'] === $there['ino'];
    }

    /** Whether somebody has put a link there that would have root make a file in a place of his choice. */
    public static function isTrap(string $path): bool
    {
        if (!\function_exists('posix_geteuid') || posix_geteuid() !== 0) {
            return false;
        }
        clearstatcache(true, $path);
        $link = @lstat($path);

        return $link !== false && ($link['mode'] & self::KIND) === self::LINK && !self::isOursOrRoots($link);
    }

    /** Whether another user has put there what is there, as everybody may who likes. */
    public static function isStrangers(string $path): bool
    {
        clearstatcache(true, $path);
        $there = @stat($path);
        $directory = @stat(\dirname($path));

        return $there !== false && $directory !== false && ($directory['mode'] & 0o002) !== 0
            && $there['uid'] !== $directory['uid'] && !self::isOursOrRoots($there);
    }

    private static function sharedRights(string $directory): int
    {
        return 0o600 | (0o644 & ~umask()) | (self::isSharedByGroup($directory) ? 0o060 : 0);
    }

    /** Whether its group may write there, and what this process makes there comes to be that group's. */
    private static function isSharedByGroup(string $directory): bool
    {
        $status = @stat($directory);
        if ($status === false || ($status['mode'] & 0o020) === 0) {
            return false;
        }

        return ($status['mode'] & 0o2000) !== 0
            || (\function_exists('posix_geteuid') && (posix_geteuid() === 0 || posix_getegid() === $status['gid']));
    }

    /** @param array<array-key, int> $status */
    private static function isOursOrRoots(array $status): bool
    {
        return $status['uid'] === 0 || !\function_exists('posix_geteuid') || $status['uid'] === posix_geteuid();
    }
}
