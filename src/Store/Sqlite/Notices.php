<?php

declare(strict_types=1);

namespace Larder\Store\Sqlite;

use Larder\Exception\StoreUnavailable;
use Larder\System\PrivateDirectory;
use Larder\System\Process;

/**
 * A file beside a database that declares items in the tables dead. It holds invalidations for which a disk has no room, as SQLite
 * writes each change into its log first. Changing a file's size takes no room, and neither does overwriting its bytes.
 *
 *     cache.db-dead-PREFIX-EPOCH    4,096 bytes, a map of keys (see Notice), and nothing behind them: nothing is dead
 *                                   one byte more: the items whose keys are in the map; two: every item with a tag as well;
 *                                   three: everything but leases
 *
 * A reader takes the rows and the clock's epoch in one look. Then it reads from the file of that epoch, which it has open. At the
 * end of a file without notices that takes a third of a microsecond. So the reader never serves
 * an item that was invalidated before it began. The notice is there by then, or the tables say it themselves under another epoch.
 *
 * Notices are given with the database's lock held, which takes no room either. The first writer that finds one brings it into the
 * tables in one transaction, which begins another epoch; none comes back. The file of the old one stays for an hour: a
 * reader that looked before that transaction may ask for it after it.
 *
 * The map is written when the file is made, so that the disk has its place. Where there was no room, no key may fit. The same holds
 * where overwritten bytes move to another place (btrfs, ZFS). Tags and everything always fit.
 */
final class Notices
{
    /** Seconds, far more than there are between a reader's look and its question. */
    private const LINGER = 3_600;

    private readonly string $path;

    /** The epoch whose file is open, or was looked for. */
    private ?string $epoch = null;

    /** @var ?resource */
    private mixed $file = null;

    /** Which has opened it: a child would share where in it the next byte is read. */
    private int $process = 0;

    /** Whether something was read from behind the map, once. */
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

    /** What those say that are there; where they cannot be read any more, that everything is dead. */
    public function read(string $epoch): Notice
    {
        $bytes = self::isEpoch($epoch) ? (string) @file_get_contents($this->of($epoch), length: Notice::MAP + Reach::Everything->value) : '';
        $reach = Reach::tryFrom(\strlen($bytes) - Notice::MAP) ?? Reach::Everything;

        return new Notice($reach, substr($bytes, 0, Notice::MAP));
    }

    /** Makes the file in which a notice is given, so that readers can have it open. */
    public function prepare(string $epoch): void
    {
        $file = self::isEpoch($epoch) && $this->file === null ? DatabaseFile::directory($this->path)->open($this->of($epoch)) : false;
        if ($file === false) {
            return;
        }
        // Another process may make it, and give a notice at once.
        if (flock($file, \LOCK_EX) && (fstat($file)['size'] ?? 0) === 0) {
            @fwrite($file, (new Notice(Reach::Keys, ''))->with([]));
        }
        fclose($file);
    }

    /**
     * With the database's lock held: else the epoch might be over, and its living items alive in the next.
     *
     * @param list<string> $keys that are dead
     *
     * @throws StoreUnavailable the file is not there and cannot be made, or may not be written into; or a key is that of a lease
     */
    public function give(string $epoch, Reach $reach, array $keys = []): void
    {
        $leases = array_filter($keys, Notice::isOfLease(...));
        $file = $leases === [] && self::isEpoch($epoch) ? DatabaseFile::directory($this->path)->open($this->of($epoch)) : false;
        $isGiven = false;
        if ($file !== false) {
            $isGiven = flock($file, \LOCK_EX) && ($keys === [] || self::add($keys, $file)) && self::reach($reach, $file);
            fclose($file);
        }
        if (!$isGiven) {
            throw StoreUnavailable::because("The file \"{$this->of($epoch)}\"", 'it cannot be written into', 'free some space on its disk', takesNothing: true);
        }
    }

    /** The file may have been removed, and another made. */
    public function lookAgain(): void
    {
        $this->epoch = null;
    }

    /** This epoch is over, once a transaction is that is in flight. Removes the files of those that are over for long. */
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

    /**
     * @param list<string> $keys
     * @param resource     $file
     */
    private static function add(array $keys, mixed $file): bool
    {
        $map = (new Notice(Reach::Keys, (string) stream_get_contents($file, Notice::MAP, 0)))->with($keys);

        return fseek($file, 0) === 0 && @fwrite($file, $map) === Notice::MAP;
    }

    /** @param resource $file */
    private static function reach(Reach $reach, mixed $file): bool
    {
        return (fstat($file)['size'] ?? 0) >= Notice::MAP + $reach->value || @ftruncate($file, Notice::MAP + $reach->value);
    }

    private function open(string $epoch): void
    {
        $file = self::isEpoch($epoch) ? @fopen($this->of($epoch), 'rn') : false;
        $this->file = $file === false || fseek($file, Notice::MAP) !== 0 ? null : $file;
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
