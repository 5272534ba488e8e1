<?php

declare(strict_types=1);

namespace Larder\System;

/** A directory that is this user's alone, for small files in which the processes of the user on this machine tell each other something. */
final class UserDirectory
{
    /** Seconds that a file stays after its last write. */
    private const REMEMBERED = 86_400;

    private function __construct() {}

    /** @param ?string $path null: one in the system's directory for temporary files */
    public static function path(?string $path): string
    {
        $user = Process::user();

        return $path ?? sys_get_temp_dir() . '/larder-' . ($user === -1 ? getmyuid() : $user);
    }

    /**
     * @param ?string $path as of path()
     *
     * @return ?PrivateDirectory null if it cannot be had, or others may write into it
     */
    public static function at(?string $path): ?PrivateDirectory
    {
        $path = self::path($path);
        // Outside of open_basedir it is a warning, not a false.
        if (!@is_dir($path)) {
            PrivateDirectory::makeDirectory($path, isGiven: false);
        }
        $directory = new PrivateDirectory($path, Guests::None);

        return @is_dir($path) && $directory->distrust() === null ? $directory : null;
    }

    /** Removes files whose names begin so, if they were not written for a day. */
    public static function tidy(string $directory, string $beginning): void
    {
        // Not by glob(), which would take some of what a path may have in it for patterns.
        foreach (@scandir($directory, \SCANDIR_SORT_NONE) ?: [] as $name) {
            $path = "{$directory}/{$name}";
            if (str_starts_with($name, $beginning) && @filemtime($path) < time() - self::REMEMBERED) {
                @unlink($path);
            }
        }
    }
}
