<?php

declare(strict_types=1);

namespace Larder\Store\File;

use Larder\Exception\InvalidOption;
use Larder\Exception\StoreUnavailable;
use Larder\System\FileLock;
use Larder\System\Guests;
use Larder\System\PrivateDirectory;

/**
 * The directory of a store: its contents, and who may change them.
 *
 * It belongs to one user, and its contents are for that user alone. Root may work in it, too, unless PHP runs its files (see
 * PrivateDirectory).
 */
final class Folder
{
    /** What the name of a lease begins with (see AddedLeases). */
    public const LEASE = 'l';

    public readonly string $path;

    public readonly PrivateDirectory $directory;

    /** @var array<string, resource> the locks' files that this process holds, by directory */
    private array $held = [];

    /**
     * @param string $path    used by this store alone; made if it is not there
     * @param float  $timeout seconds to wait for another writer
     * @param bool   $isCode  whether PHP runs what is in it, which then has to belong to its user alone
     *
     * @throws InvalidOption
     */
    public function __construct(
        string $path,
        private readonly float $timeout,
        private readonly bool $isCode = false,
    ) {
        $this->path = rtrim($path, '/');
        if ($this->path === '') {
            throw InvalidOption::directory($path, 'is no place for a cache', 'name a directory of its own');
        }
        if (file_exists($this->path) && !is_dir($this->path)) {
            throw InvalidOption::directory($path, 'is a file', 'name a directory');
        }
        $this->directory = new PrivateDirectory($this->path, $isCode ? Guests::None : Guests::Root);
        $mistake = $this->directory->mistake();
        if ($mistake !== null) {
            throw InvalidOption::directory($mistake->what, $mistake->why, $mistake->remedy);
        }
    }

    /**
     * Nothing is read or written that another user may have put there.
     *
     * @throws StoreUnavailable
     */
    public function check(): void
    {
        $distrust = $this->directory->distrust();
        if ($distrust !== null) {
            throw $this->unavailable($distrust->reason(), remedy: $distrust->remedy);
        }
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

    /** @param string $path of an item */
    public static function isLease(string $path): bool
    {
        return basename($path)[0] === self::LEASE;
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
        $this->check();
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
        if (@is_dir($there) && !PrivateDirectory::mayEnter($there)) {
            throw $this->unavailable("this user cannot list the contents of \"{$there}\"", remedy: 'give all that is in it to the user of PHP');
        }
    }

    /**
     * Does something that no other process does meanwhile in that directory. Within it, the same may be asked for again.
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
        $this->check();
        $deadline = hrtime(true) + (int) ($this->timeout * 1e9);
        while (true) {
            $lock = $this->open("{$directory}/.lock", $directory);
            try {
                match (FileLock::take($lock, \LOCK_EX, $deadline)) {
                    true => null,
                    false => throw $this->unavailable('another process holds a lock in it for too long', isBusy: true),
                    null => throw $this->unavailable('its file system has no locks', remedy: 'name one on a local disk'),
                };
                if ($this->directory->holds($lock, "{$directory}/.lock")) {
                    $this->held[$directory] = $lock;

                    return $section($lock);
                }
                $distrust = $this->directory->distrustOf("{$directory}/.lock");
                if ($distrust !== null) {
                    throw $this->unavailable($distrust->reason(), remedy: $distrust->remedy);
                }
                // Another process has removed the file before we had its lock, and others may lock another by now.
            } finally {
                unset($this->held[$directory]);
                fclose($lock);
            }
        }
    }

    /** Writes a file under another name first, so that a reader sees all of it or nothing. */
    public function replace(string $path, string $bytes): bool
    {
        $temporary = \dirname($path) . '/.' . bin2hex(random_bytes(12)) . '.tmp';
        $file = $this->directory->make($temporary);
        if ($file === false) {
            return false;
        }
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
        if (!$this->directory->trustsWithin($directory)) {
            throw $this->unavailable("\"{$directory}\" is a link or belongs to another user", remedy: 'remove it');
        }
        $file = $this->directory->open($path);
        if ($file === false) {
            $this->makeDirectory($directory);
            $file = $this->directory->open($path) ?: throw $this->unavailable('its lock cannot be opened');
        }

        return $file;
    }

    private function makeDirectory(string $directory): void
    {
        $missing = [];
        for ($each = $directory; !@is_dir($each) && $each !== \dirname($each); $each = \dirname($each)) {
            $missing[] = $each;
        }
        foreach (array_reverse($missing) as $each) {
            // A directory of code that root makes stays root's, who would not run another user's.
            PrivateDirectory::makeDirectory($each, isGiven: !$this->isCode || str_starts_with($each, "{$this->path}/"));
        }
        clearstatcache();
        if (!is_dir($directory)) {
            throw $this->unavailable('it cannot be made');
        }
        $this->check();
    }
}
