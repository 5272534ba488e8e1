<?php

declare(strict_types=1);

namespace Larder\Store\Sqlite;

use Larder\Exception\StoreUnavailable;
use Larder\System\FileLock;
use Larder\System\Guests;
use Larder\System\PrivateDirectory;
use Larder\System\Process;

/**
 * A file beside a database by whose size a request learns, without opening the database, that nothing was written. Only the
 * size counts: to change it is atomic, cheap, and needs no room on the disk.
 *
 * Its size is odd while a write is in flight, and even and larger afterwards. A writer makes it odd inside its transaction, before
 * the commit, and even after it. If it is even and unchanged, there was no commit. Only the last of several writers makes it even. A
 * writer that dies leaves it odd, which sends all readers to the database. That is slow, but right, until the next writer has
 * finished, or a process repairs it while no transaction is open.
 *
 * A missing or empty file counts as odd. A file that has grown large is replaced by another one. So the file's own number and time
 * are part of the comparison, and no state ever comes back.
 *
 * The database may be removed, or restored from a copy, while this file stays. So the identity of the database file is part of the
 * comparison, too. SQLite changes that file only when it carries over its log, not with every write. A request goes to the
 * database once more then.
 */
final class HeadFile
{
    /** Seconds after which an odd size is that of a writer that has died, or is stuck. */
    private const ABANDONED = 2;

    /** Bytes. */
    private const LARGE = 1 << 24;

    /** @var ?resource kept open, as to open it takes longer than to change it */
    private mixed $file = null;

    /** Its number, which stays what it is: to ask for it again would be a system call. */
    private int $number = 0;

    /** Which has opened it: a child would share its lock. */
    private int $process = 0;

    /**
     * @param string          $path     of this file
     * @param string          $database of the database, whatever links lead there
     * @param float           $timeout  seconds to wait for another process that changes it
     * @param \Closure(): int $clock    the time in Unix seconds
     */
    public function __construct(
        private readonly string $path,
        private readonly string $database,
        private readonly float $timeout,
        private readonly \Closure $clock,
    ) {}

    public function exists(): bool
    {
        clearstatcache(true, $this->path);

        return @is_file($this->path);
    }

    /** @return ?string the state of the file, if it is even; null: a write is in flight, or may be */
    public function read(): ?string
    {
        clearstatcache();
        // PHP looks at a file once and keeps what it saw until it is asked for another. The array of all that it saw takes longer than the look.
        $size = @filesize($this->path);
        if ($size === false || ($size & 1) === 1 || $size === 0) {
            return null;
        }
        $head = @fileinode($this->path) . ":{$size}:" . @filemtime($this->path);
        $bytes = @filesize($this->database);

        return $bytes === false ? null : "{$head}:" . @fileinode($this->database) . ":{$bytes}:" . @filectime($this->database);
    }

    /**
     * A write begins. Called with the database's lock held.
     *
     * @return string for end()
     *
     * @throws StoreUnavailable
     */
    public function begin(): string
    {
        return $this->change(function (int $size): int {
            if ($size > self::LARGE) {
                // The next writer makes another. Meanwhile there is none, which is as good as an odd one.
                @unlink($this->path);
            }

            return $size === 0 ? self::first() + 1 : $size + 1 + ($size & 1);
        });
    }

    /**
     * The write is over, and what came of it can be seen.
     *
     * @return ?string what read() tells from now on until another write begins; null: another one has begun meanwhile, or it is
     *                 not known
     *
     * @phpstan-impure
     */
    public function end(string $begun): ?string
    {
        $head = null;
        try {
            // Even if it is gone by now: then this one has no readers.
            $this->change(
                static fn(int $size, string $state): int => $state === $begun ? $size + 1 : $size,
                false,
                function (string $state, string $before) use ($begun, &$head): void {
                    // Under the lock, so that no other write has begun. A file that took this one's place is another's.
                    $now = $before === $begun ? $this->read() : null;
                    $head = $now !== null && str_starts_with($now, "{$state}:") ? $now : null;
                },
            );
        } catch (StoreUnavailable) {
            // It stays odd, until it is repaired.
        }

        return $head;
    }

    /** Whether it is worth to repair it. */
    public function isAbandoned(): bool
    {
        return $this->read() === null && (int) @filemtime($this->path) < ($this->clock)() - self::ABANDONED;
    }

    /**
     * Nothing is in flight. Called with the database's lock held.
     *
     * @throws StoreUnavailable
     */
    public function repair(): void
    {
        $this->change(static fn(int $size): int => $size === 0 ? self::first() : $size + ($size & 1));
    }

    /**
     * @param \Closure(int, string): int $next  the next size after the one that there is, with the file's number before it
     * @param bool                       $looks whether to see that the file that is open is still the one of that name
     * @param ?\Closure(string, string): void $then what to do under the lock, with the file's number and size after and before
     *
     * @return string what there is then
     *
     * @throws StoreUnavailable
     */
    private function change(\Closure $next, bool $looks = true, ?\Closure $then = null): string
    {
        [$file, $before] = $this->locked($looks);
        try {
            $size = $next($before, "{$this->number}:{$before}");
            if ($size !== $before && !ftruncate($file, max(0, $size))) {
                throw $this->unavailable('it cannot be written');
            }
            if ($then !== null) {
                $then("{$this->number}:{$size}", "{$this->number}:{$before}");
            }

            return "{$this->number}:{$size}";
        } finally {
            flock($file, \LOCK_UN);
        }
    }

    /**
     * @return array{resource, int} with its size
     *
     * @throws StoreUnavailable
     */
    private function locked(bool $looks): array
    {
        $deadline = hrtime(true) + (int) ($this->timeout * 1e9);
        while (true) {
            $file = $this->opened();
            match (FileLock::take($file, \LOCK_EX, $deadline)) {
                true => null,
                false => throw $this->unavailable('another process holds its lock for too long'),
                null => throw $this->unavailable('its file system has no locks'),
            };
            clearstatcache();
            if (!$looks) {
                return [$file, fstat($file)['size'] ?? throw $this->unavailable('nothing is known about it')];
            }
            $size = @filesize($this->path);
            if ($size !== false && @fileinode($this->path) === $this->number) {
                return [$file, $size];
            }
            // It was removed.
            fclose($file);
            $this->file = null;
        }
    }

    /**
     * @return resource
     *
     * @throws StoreUnavailable
     */
    private function opened(): mixed
    {
        $process = Process::id();
        if ($this->file !== null && $this->process === $process) {
            return $this->file;
        }
        $directory = new PrivateDirectory(\dirname($this->path), Guests::RootAndGroup);
        $file = $directory->open($this->path) ?: throw $this->unavailable('it cannot be opened');
        if (!$directory->holds($file, $this->path)) {
            // It was removed meanwhile, which is noticed when its lock is taken.
            $distrust = $directory->distrustOf($this->path);
            if ($distrust !== null) {
                throw StoreUnavailable::because("The head of a log, \"{$this->path}\",", $distrust->reason(), $distrust->remedy);
            }
        }
        $this->number = fstat($file)['ino'] ?? throw $this->unavailable('nothing is known about it');
        $this->process = $process;

        return $this->file = $file;
    }

    /** An even size to begin with. */
    private static function first(): int
    {
        return 2 * random_int(1, 1 << 16);
    }

    private function unavailable(string $why): StoreUnavailable
    {
        return StoreUnavailable::because("The head of a log, \"{$this->path}\",", $why, 'see that its disk has room and PHP\'s user may write to it');
    }
}
