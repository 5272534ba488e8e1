<?php

declare(strict_types=1);

namespace Larder\Bench;

/** Finds directories by what they lie on: files in memory and files on a disk are two subjects. */
final class FileSystem
{
    private const IN_MEMORY = ['tmpfs', 'ramfs'];
    private const SHARED_MEMORY = '/dev/shm';

    /** @return non-empty-list<string> where runs make directories, as far as these are there */
    public static function places(): array
    {
        return [...self::disks(), self::SHARED_MEMORY];
    }

    /** A directory on a disk: the usual one for temporary files unless that is in memory. */
    public static function onDisk(): string
    {
        foreach (self::disks() as $directory) {
            if (is_writable($directory) && !in_array(self::type($directory), self::IN_MEMORY, true)) {
                return $directory;
            }
        }

        throw new \RuntimeException('No directory on a disk can be written to: set TMPDIR to one.');
    }

    public static function inMemory(): string
    {
        if (!is_writable(self::SHARED_MEMORY)) {
            throw new \RuntimeException('The directory ' . self::SHARED_MEMORY . ' cannot be written to: mount a tmpfs there.');
        }

        return self::SHARED_MEMORY;
    }

    /** @return non-empty-list<string> */
    private static function disks(): array
    {
        return [sys_get_temp_dir(), '/var/tmp', dirname(__DIR__, 2)];
    }

    /** The kernel's name of the file system that the path lies on, such as `ext4`. */
    public static function type(string $path): string
    {
        return self::mount($path)[1];
    }

    /** The same, and that it has no journal: there a file costs several times as much to make while many were deleted lately near it. */
    public static function description(string $path): string
    {
        [$device, $type] = self::mount($path);
        $options = $type === 'ext4' ? @file('/proc/fs/ext4/' . basename((string) realpath($device)) . '/options', FILE_IGNORE_NEW_LINES) : false;

        // With one, the kernel says in which order it writes data and journal.
        return is_array($options) && preg_grep('/^data=/', $options) === [] ? "{$type} without a journal" : $type;
    }

    /** @return array{string, string} the device, and the kernel's name of the file system */
    private static function mount(string $path): array
    {
        $mount = ['', 'unknown'];
        $longest = -1;
        $path = rtrim((string) realpath($path), '/') . '/';
        foreach (file('/proc/self/mounts') ?: [] as $line) {
            [$device, $point, $type] = [...explode(' ', $line), '', '', ''];
            if (strlen($point) > $longest && str_starts_with($path, rtrim($point, '/') . '/')) {
                $mount = [$device, $type];
                $longest = strlen($point);
            }
        }

        return $mount;
    }

    /**
     * Copies a directory with all that is in it.
     *
     * @param string       $to      a directory that is not there yet
     * @param list<string> $without names in it that are left out
     */
    public static function copy(string $from, string $to, array $without = []): void
    {
        mkdir($to);
        foreach (array_diff(scandir($from) ?: [], ['.', '..', ...$without]) as $name) {
            is_dir("{$from}/{$name}") ? self::copy("{$from}/{$name}", "{$to}/{$name}") : copy("{$from}/{$name}", "{$to}/{$name}");
        }
    }

    /** Removes a directory and all that is in it, if it is there; a file that another process removes at the same time is no error. */
    public static function remove(string $directory): void
    {
        if (!is_dir($directory)) {
            return;
        }
        foreach (@scandir($directory) ?: [] as $entry) {
            $path = "{$directory}/{$entry}";
            match (true) {
                $entry === '.' || $entry === '..' => null,
                is_dir($path) && !is_link($path) => self::remove($path),
                default => @unlink($path),
            };
        }
        @rmdir($directory);
    }
}
