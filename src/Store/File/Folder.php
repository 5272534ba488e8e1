<?php

declare(strict_types=1);

namespace Larder\Store\File;

use Larder\Exception\InvalidOption;
use Larder\Exception\StoreUnavailable;
use Larder\FileLock;
use Larder\Owner;

/**
 * The directory of a store: what is in it, and who may change it.
 *
 * It is one user's: what is in it is for its owner alone. Root may work in it, too, and gives him what it makes there.
 */
final class Folder
{
    public readonly string $path;

    /** The rights of others that are too many. */
    private readonly int $others;

    /** @var array<string, resource> the locks' files that this process holds, by directory */
    private array $held = [];

    /**
     * @param string $path    used by this store alone; made if it is not there
     * @param float  $timeout seconds to wait for another writer
     * @param bool   $isCode  whether what is in it is run, and so has to be nobody's but its user's
     *
     * @throws InvalidOption
     */
    public function __construct(
        string $path,
        private readonly float $timeout,
        private readonly bool $isCode = false,
    ) {
        $this->path = rtrim($path, '/');
        $this->others = $isCode ? 0o022 : 0o002;
        if ($this->path === '') {
            throw InvalidOption::directory($path, 'is no place for a cache', 'name a directory of its own');
        }
        if (file_exists($this->path) && !is_dir($this->path)) {
            throw InvalidOption::directory($path, 'is a file', 'name a directory');
        }
        if (is_dir($this->path) && ((int) fileperms($this->path) & $this->others) !== 0) {
            throw InvalidOption::directory(
                $path,
                $isCode ? 'may be written to by others' : 'may be written to by everyone',
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

    /**
     * @return list<string> paths of the shards that are there
     *
     * @throws StoreUnavailable
     */
    public function shards(): array
    {
        return array_values(array_filter($this->in($this->path, '/^[0-9a-f]{2}$/D'), is_dir(...)));
    }

    /**
     * @return list<string> paths of the items that are there, leases among them
     *
     * @throws StoreUnavailable
     */
    public function items(string $shard): array
    {
        return $this->in($shard, '/^l?[0-9a-f]{30}$/D');
    }

    /**
     * Not by glob(), which would take some of what a path may have in it for patterns.
     *
     * @return list<string> paths of what is in a directory under names of that form
     *
     * @throws StoreUnavailable
     */
    public function in(string $directory, string $form): array
    {
        $names = @scandir($directory, \SCANDIR_SORT_NONE);
        if ($names === false) {
            $this->see($directory);
            if (@is_dir($directory)) {
                throw $this->unavailable("\"{$directory}\" cannot be read");
            }
        }

        $names = array_filter($names ?: [], static fn(string $name): bool => preg_match($form, $name) === 1);

        return array_map(static fn(string $name): string => "{$directory}/{$name}", array_values($names));
    }

    /**
     * Makes sure that what is not found in a directory is not there, rather than out of this user's sight.
     *
     * @throws StoreUnavailable
     */
    public function see(string $directory): void
    {
        clearstatcache();
        for ($there = $directory; !@is_dir($there) && $there !== \dirname($there);) {
            $there = \dirname($there);
        }
        if (@is_dir($there) && !Owner::mayEnter($there)) {
            throw $this->unavailable("what is in \"{$there}\" cannot be seen by this user", remedy: 'give all that is in it to the user of PHP');
        }
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
                match (FileLock::take($lock, \LOCK_EX, $patience)) {
                    true => null,
                    false => throw $this->unavailable('another process holds a lock in it for too long', isBusy: true),
                    null => throw $this->unavailable('its file system has no locks', remedy: 'name one on a local disk'),
                };
                if (Owner::isThere($lock, "{$directory}/.lock")) {
                    $this->held[$directory] = $lock;

                    return $section($lock);
                }
                if (is_link("{$directory}/.lock")) {
                    throw $this->unavailable('another user has put a link in place of its lock', remedy: 'remove it');
                }
                // Somebody has removed the file before we had its lock, and others may lock another by now.
            } finally {
                unset($this->held[$directory]);
                fclose($lock);
            }
        }
    }

    /** Writes a file under another name first, so that a reader sees all of it or nothing. */
    public static function replace(string $path, string $bytes): bool
    {
        $temporary = \dirname($path) . '/.' . bin2hex(random_bytes(12)) . '.tmp';
        $file = Owner::make($temporary, 0o600);
        if ($file === false) {
            return false;
        }
        Owner::give($temporary);
        $written = @fwrite($file, $bytes);
        $closed = fclose($file);
        if ($written === \strlen($bytes) && $closed && @rename($temporary, $path)) {
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
    public function unavailable(string $why, bool $isBusy = false, string $remedy = 'see that its disk has room and PHP\'s user may write to it'): StoreUnavailable
    {
        return StoreUnavailable::because("The directory \"{$this->path}\"", $why, $remedy, takesNothing: !$isBusy);
    }

    /** @return resource */
    private function open(string $path, string $directory): mixed
    {
        if (Owner::isTrap($directory)) {
            throw $this->unavailable("another user has put a link in place of \"{$directory}\"", remedy: 'remove it');
        }
        $file = Owner::open($path);
        if ($file === false) {
            $this->make($directory);
            $file = Owner::open($path) ?: throw $this->unavailable('its lock cannot be opened');
        }

        return $file;
    }

    private function make(string $directory): void
    {
        $missing = [];
        for ($each = $directory; !@is_dir($each) && $each !== \dirname($each); $each = \dirname($each)) {
            $missing[] = $each;
        }
        foreach (array_reverse($missing) as $each) {
            // A directory of code that root makes stays root's, who would not run another user's.
            if (@mkdir($each, 0o700) && (!$this->isCode || str_starts_with($each, "{$this->path}/"))) {
                Owner::give($each);
            }
        }
        clearstatcache();
        if (!is_dir($directory)) {
            throw $this->unavailable('it cannot be made');
        }
    }
}
