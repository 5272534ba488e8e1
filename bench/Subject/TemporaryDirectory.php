<?php

declare(strict_types=1);

namespace Larder\Bench\Subject;

use Larder\Bench\FileSystem;

/**
 * A directory of a run's own, which goes with this object. It goes also where an exception keeps the caller from noting that it has it.
 *
 * A killed process removes nothing. So the directory itself is locked (flock(2)) by the process that made it, and by those that it
 * starts, which inherit the lock. A directory without a lock was left behind, and the next run removes it. Two runs may begin at
 * once. So the maker of a directory waits for its lock. It makes another if a run has taken this one for a dead run's meanwhile.
 */
final class TemporaryDirectory
{
    public const PREFIX = 'larder-benchmark-';

    /** @param resource|null $lock null where the file system has no locks: then it is not taken for a dead run's, either */
    private function __construct(public readonly string $path, private $lock) {}

    public function __destruct()
    {
        $this->remove();
    }

    /** @param string $parent an existing directory */
    public static function make(string $parent): self
    {
        do {
            $path = "{$parent}/" . self::PREFIX . bin2hex(random_bytes(6));
            if (!@mkdir($path, 0o700)) {
                throw new \RuntimeException("The directory {$path} could not be made: free some space there, or set TMPDIR to a directory that is writable.");
            }
            // Not closed on exec: a worker that outlives us for a moment holds it, too.
            $lock = @fopen($path, 'r') ?: null;
            if ($lock !== null) {
                flock($lock, LOCK_EX);
            }
            clearstatcache();
        } while (!is_dir($path));

        return new self($path, $lock);
    }

    /** The last part of its path, which no other has: for what must be named, too, such as a pool. */
    public function name(): string
    {
        return basename($this->path);
    }

    /** Makes a directory in it. */
    public function part(string $name): string
    {
        $path = "{$this->path}/{$name}";
        if (!@mkdir($path, 0o700)) {
            throw new \RuntimeException("The directory {$path} could not be made: free some space there.");
        }

        return $path;
    }

    public function remove(): void
    {
        FileSystem::remove($this->path);
        if ($this->lock !== null) {
            fclose($this->lock);
            $this->lock = null;
        }
    }

    /**
     * Removes what runs of this user's that were killed have left.
     *
     * @return list<string> the names of the directories
     */
    public static function removeLeftBehind(string ...$parents): array
    {
        $removed = [];
        foreach (array_unique($parents) as $parent) {
            foreach (@scandir($parent) ?: [] as $name) {
                $path = "{$parent}/{$name}";
                if (preg_match('/^' . self::PREFIX . '[0-9a-f]+$/', $name) !== 1) {
                    continue;
                }
                $lock = is_link($path) || @fileowner($path) !== posix_geteuid() ? false : @fopen($path, 'r');
                if ($lock === false) {
                    continue;
                }
                if (flock($lock, LOCK_EX | LOCK_NB)) {
                    FileSystem::remove($path);
                    $removed[] = $name;
                }
                fclose($lock);
            }
        }

        return $removed;
    }
}
