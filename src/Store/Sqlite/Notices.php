<?php

declare(strict_types=1);

namespace Larder\Store\Sqlite;

use Larder\System\PrivateDirectory;
use Larder\System\Process;

/**
 * A file beside a database whose size says that what is in the tables is dead: an invalidation for which a disk has no room is given
 * so, as SQLite writes each change into its log first. To change a size takes none.
 *
 *     cache.db-dead-PREFIX-EPOCH    empty: nothing; one byte: every item with a tag is dead; two: everything is, but leases
 *
 * A reader takes the rows and the clock's epoch in one look, and then reads from the file of that epoch, which it has open: at the
 * end of a file that has nothing that takes a third of a microsecond. What was invalidated before the reader began is so never
 * served: its notice is there by then, or the tables say it themselves under another epoch.
 *
 * Notices are given with the database's lock held, which takes no room either. The first writer that finds one brings it into the
 * tables in one transaction, which begins another epoch; none comes back. The file of the old one stays for an hour: a
 * reader that looked before that transaction may ask for it after it.
 */
final class Notices
{
    private const OF_TAGS = 1;

    private const OF_ALL = 2;

    /** Seconds, far more than there are between a reader's look and its question. */
    private const LINGER = 3_600;

    private readonly string $path;

    /** The epoch whose file is open, or was looked for. */
    private ?string $epoch = null;

    /** @var ?resource */
    private mixed $file = null;

    /** Which has opened it: a child would share where in it the next byte is read. */
    private int $process = 0;

    /** Whether something was read from it, once. */
    private bool $isGiven = false;

    public function __construct(string $database, string $prefix)
    {
        $this->path = (PrivateDirectory::followed($database) ?? $database) . "-dead-{$prefix}";
    }

    /** Whether there is one of this epoch. */
    public function areThere(string $epoch): bool
    {
        if ($this->file === null || $this->epoch !== $epoch || $this->process !== Process::id()) {
            $this->open($epoch);
        }

        return $this->isGiven || $this->isGiven = $this->file !== null && (string) fgetc($this->file) !== '';
    }

    /** Whether the one that there is says that everything is dead. */
    public function sayAll(string $epoch): bool
    {
        clearstatcache(true, $this->of($epoch));

        return self::isEpoch($epoch) && (int) @filesize($this->of($epoch)) >= self::OF_ALL;
    }

    /** Makes the file in which a notice is given, so that readers can have it open. */
    public function prepare(string $epoch): void
    {
        if (self::isEpoch($epoch) && $this->file === null) {
            $file = DatabaseFile::directory($this->path)->open($this->of($epoch));
            $file === false || fclose($file);
        }
    }

    /**
     * With the database's lock held: else the epoch might be over, and what was alive in it alive in the next.
     *
     * @param bool $all whether everything is dead, or what has tags
     *
     * @return bool false: the file is not there and cannot be made, or may not be written into
     */
    public function give(string $epoch, bool $all): bool
    {
        $file = self::isEpoch($epoch) ? DatabaseFile::directory($this->path)->open($this->of($epoch)) : false;
        if ($file === false) {
            return false;
        }
        $size = fstat($file)['size'] ?? 0;
        $needed = $all ? self::OF_ALL : self::OF_TAGS;
        $isGiven = $size >= $needed || @ftruncate($file, $needed);

        return fclose($file) && $isGiven;
    }

    /** The file may have been removed, and another made. */
    public function lookAgain(): void
    {
        $this->epoch = null;
    }

    /** This epoch is over, once a transaction is that is under way. Removes the files of those that are over for long. */
    public function retire(string $epoch): void
    {
        // Never made here: it would have the rights of any file.
        if (self::isEpoch($epoch) && file_exists($this->of($epoch))) {
            @touch($this->of($epoch));
        }
        $directory = \dirname($this->path);
        $pattern = '/^' . preg_quote(basename($this->path), '/') . '-([0-9A-F]{16})$/D';
        foreach (@scandir($directory) ?: [] as $name) {
            if (preg_match($pattern, $name, $parts) === 1 && $parts[1] !== $epoch && (int) @filemtime("{$directory}/{$name}") < time() - self::LINGER) {
                @unlink("{$directory}/{$name}");
            }
        }
    }

    private function open(string $epoch): void
    {
        $file = self::isEpoch($epoch) ? @fopen($this->of($epoch), 'rn') : false;
        $this->file = $file === false ? null : $file;
        $this->epoch = $epoch;
        $this->process = Process::id();
        $this->isGiven = false;
    }

    private function of(string $epoch): string
    {
        return "{$this->path}-{$epoch}";
    }

    /** What a damaged database has there is no part of a file's name. */
    private static function isEpoch(string $epoch): bool
    {
        return \strlen($epoch) === 16 && ctype_xdigit($epoch);
    }
}
