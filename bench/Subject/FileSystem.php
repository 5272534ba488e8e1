<?php

declare(strict_types=1);

namespace Larder\Bench\Subject;

/** Finds directories by what they lie on: files in memory and files on a disk are two subjects. */
final class FileSystem
{
    private const IN_MEMORY = ['tmpfs', 'ramfs'];

    /** A directory on a disk: the usual one for temporary files unless that is in memory. */
    public static function onDisk(): string
    {
        foreach ([sys_get_temp_dir(), '/var/tmp', dirname(__DIR__, 2)] as $directory) {
            if (is_writable($directory) && !in_array(self::type($directory), self::IN_MEMORY, true)) {
                return $directory;
            }
        }

        throw new \RuntimeException('No directory on a disk can be written to: set TMPDIR to one.');
    }

    public static function inMemory(): string
    {
        if (!is_writable('/dev/shm')) {
            throw new \RuntimeException('The directory /dev/shm cannot be written to: mount a tmpfs there.');
        }

        return '/dev/shm';
    }

    /** The kernel's name of the file system that the path lies on, such as `ext4`. */
    public static function type(string $path): string
    {
        $type = 'unknown';
        $longest = -1;
        $path = rtrim((string) realpath($path), '/') . '/';
        foreach (file('/proc/self/mounts') ?: [] as $line) {
            [, $point, $kind] = [...explode(' ', $line), '', '', ''];
            if (strlen($point) > $longest && str_starts_with($path, rtrim($point, '/') . '/')) {
                $type = $kind;
                $longest = strlen($point);
            }
        }

        return $type;
    }

    /** Removes a directory and all that is in it, if it is there. */
    public static function remove(string $directory): void
    {
        if (!is_dir($directory)) {
            return;
        }
        foreach (scandir($directory) ?: [] as $entry) {
            $path = "{$directory}/{$entry}";
            match (true) {
                $entry === '.' || $entry === '..' => null,
                is_dir($path) && !is_link($path) => self::remove($path),
                default => unlink($path),
            };
        }
        rmdir($directory);
    }
}
