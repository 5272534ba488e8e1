<?php

declare(strict_types=1);

namespace Larder\Store\File;

use Larder\Exception\InvalidOption;
use Larder\Exception\StoreUnavailable;

/** The directory of a store: what is in it, and who may change it. */
final class Folder
{
    public readonly string $path;

    /** @var array<string, resource> the locks' files that this process holds, by directory */
    private array $held = [];

    /**
     * @param string $path    used by this store alone; made if it is not there
     * @param float  $timeout seconds to wait for another writer
     * @param int    $others  the rights of others that are too many, such as 0o002
     *
     * @throws InvalidOption
     */
    public function __construct(
        string $path,
        private readonly float $timeout,
        private readonly int $others,
    ) {
        $this->path = rtrim($path, '/');
        if ($this->path === '') {
            throw InvalidOption::directory($path, 'is no place for a cache', 'name a directory of its own');
        }
        if (file_exists($this->path) && !is_dir($this->path)) {
            throw InvalidOption::directory($path, 'is a file', 'name a directory');
        }
        if (is_dir($this->path) && ((int) fileperms($this->path) & $others) !== 0) {
            throw InvalidOption::directory(
                $path,
                $others === 0o002 ? 'may be written to by everyone' : 'may be written to by others',
                'take that right away, or name another',
            );
        }
    }

    /**
     * Whether it is there, this user's, and nobody else may change what is in it, or to what place a link of this name leads.
     * It may have come since the constructor.
     */
    public function isOurs(): bool
    {
        // PHP keeps the answer for the path it asked for last.
        clearstatcache();
        $status = @stat($this->path);
        if ($status === false || ($status['mode'] & $this->others) !== 0) {
            return false;
        }
        if (!\function_exists('posix_geteuid')) {
            return true;
        }
        $link = @lstat($this->path);

        return $status['uid'] === posix_geteuid() && $link !== false && ($link['uid'] === $status['uid'] || $link['uid'] === 0);
    }

    /** @return list<string> paths of the shards that are there */
    public function shards(): array
    {
        return glob("{$this->path}/[0-9a-f][0-9a-f]", \GLOB_ONLYDIR | \GLOB_NOSORT) ?: [];
    }

    /** @return list<string> paths of the items that are there, leases among them */
    public function items(string $shard): array
    {
        return array_values(array_map(
            static fn(string $name): string => "{$shard}/{$name}",
            array_filter(@scandir($shard, \SCANDIR_SORT_NONE) ?: [], static fn(string $name): bool => preg_match('/^l?[0-9a-f]{30}$/D', $name) === 1),
        ));
    }

    /**
     * Does something that nobody else does meanwhile in that directory. Within it, the same may be asked for again.
     *
     * @template T
     *
     * @param \Closure(resource): T $section with the lock's file
     *
     * @return T
     *
     * @throws StoreUnavailable
     */
    public function locked(string $directory, \Closure $section): mixed
    {
        if (isset($this->held[$directory])) {
            return $section($this->held[$directory]);
        }
        $patience = hrtime(true) + (int) ($this->timeout * 1e9);
        while (true) {
            $lock = $this->open("{$directory}/.lock", $directory);
            try {
                while (!flock($lock, \LOCK_EX | \LOCK_NB)) {
                    if (hrtime(true) > $patience) {
                        throw $this->unavailable('another process holds a lock in it for too long', isBusy: true);
                    }
                    usleep(25);
                }
                if (self::isStillThere($lock, "{$directory}/.lock")) {
                    $this->held[$directory] = $lock;

                    return $section($lock);
                }
            } finally {
                unset($this->held[$directory]);
                fclose($lock);
            }
        }
    }

    public function make(string $directory): void
    {
        if (!is_dir($directory) && !@mkdir($directory, 0o700, true)) {
            clearstatcache(true, $directory);
            if (!is_dir($directory)) {
                throw $this->unavailable('it cannot be made');
            }
        }
    }

    /** Writes a file under another name first, so that a reader sees all of it or nothing. */
    public static function replace(string $path, string $bytes): bool
    {
        $temporary = \dirname($path) . '/.' . bin2hex(random_bytes(12)) . '.tmp';
        $file = @fopen($temporary, 'x');
        if ($file === false) {
            return false;
        }
        $written = @fwrite($file, $bytes);
        $closed = fclose($file);
        if ($written === \strlen($bytes) && $closed && @chmod($temporary, 0o600) && @rename($temporary, $path)) {
            return true;
        }
        @unlink($temporary);

        return false;
    }

    public static function unlink(string $path): bool
    {
        if (@unlink($path)) {
            return true;
        }
        clearstatcache(true, $path);

        return !file_exists($path) && !is_link($path);
    }

    /** @param bool $isBusy what failed may work in a moment, and has for another process */
    public function unavailable(string $why, bool $isBusy = false): StoreUnavailable
    {
        return StoreUnavailable::because(
            "The directory \"{$this->path}\"",
            $why,
            'see that its disk has room and PHP\'s user may write to it',
            takesNothing: !$isBusy,
        );
    }

    /** @return resource */
    private function open(string $path, string $directory): mixed
    {
        $file = @fopen($path, 'c+');
        if ($file === false) {
            $this->make($this->path);
            $this->make($directory);
            $file = @fopen($path, 'c+') ?: throw $this->unavailable('its lock cannot be opened');
        }

        return $file;
    }

    /**
     * Somebody may have removed the file before we had its lock, and others may lock another by now.
     *
     * @param resource $file
     */
    private static function isStillThere(mixed $file, string $path): bool
    {
        clearstatcache(true, $path);
        $here = fstat($file);
        $there = @stat($path);

        return $here !== false && $there !== false && $here['ino'] === $there['ino'];
    }
}
