<?php

declare(strict_types=1);

namespace Larder\Cache;

use Larder\Exception\InvalidOption;
use Larder\Exception\StoreUnavailable;
use Larder\System\Cause;
use Larder\System\Distrust;
use Larder\System\FileLock;
use Larder\System\Guests;
use Larder\System\PrivateDirectory;

/**
 * The changes that a store has missed, in a file that outlives the process. Its first line names it, and tells until when no process
 * tries to deliver it, and why the store has failed last. Each other line is a lost delete, overwrite, invalidation or clear. The next process that opens a cache with this
 * journal delivers it before it reads anything. A damaged line, or a file that has grown too large, stands for a clear.
 *
 * It belongs to the owner of the directory, also if root has made it. In a group's directory it belongs to the group, too (see
 * PrivateDirectory).
 *
 * The file's lock is held while it is read or written, never while the store is asked. So a store that does not answer keeps one
 * process waiting, and the others know at once that there is something undelivered.
 */
final class Journal
{
    /** Bytes; beyond, everything is cleared. */
    private const MOST = 1 << 20;

    /** Seconds in which no other process tries, while a delivery is not over. */
    private const TURN = 1.0;

    /**
     * A delivery that failed is tried again after so many times what it took: of a store that refuses at once the others learn soon
     * that it is back, and few of them wait for one that does not answer. In seconds at least and at most.
     */
    private const TIMES_LONGER = 2.0;

    private const SHORTEST_PAUSE = 0.05;

    private const LONGEST_PAUSE = 0.5;

    /** Seconds to wait for others who read or write it: once, until its lock was had again. A holder may be away for long. */
    private const TIMEOUT = 0.5;

    /** Microseconds, least and most, between two looks whether another process has delivered it. Of many, none looks in step with another. */
    private const LOOK_AGAIN = [1_000, 5_000];

    /** What the file begins with, and is overwritten in place; after it comes a random name in the same line. */
    private const UNTIL = '%017.6F';

    /** Bytes of the cause in that line, which is filled with spaces. */
    private const WHY = 400;

    private const HEAD = 17 + 1 + 16 + 1 + self::WHY + 1;

    private readonly PrivateDirectory $directory;

    private string $why = '';

    /** Whether the lock was last waited for in vain. */
    private bool $isHeld = false;

    /** Whether another process was found to be delivering it to a store that has not failed since it began. */
    private bool $isInFlight = false;

    /**
     * @param \Closure(): float $clock the time in Unix seconds
     *
     * @throws InvalidOption
     */
    public function __construct(
        private readonly string $path,
        private readonly \Closure $clock,
    ) {
        $this->directory = self::directoryOf($path);
        $mistake = $this->directory->mistake();
        if ($mistake !== null) {
            throw InvalidOption::directory($mistake->what, $mistake->why, $mistake->remedy);
        }
        if (is_dir($path)) {
            throw InvalidOption::directory($path, 'stands where the journal should be', 'name a file in it');
        }
    }

    /** The journal of a namespace lies beside that of the whole. No name of one has a plus in it (see NamespacedStore), so that no two meet. */
    public static function pathIn(string $path, string $namespace): string
    {
        return "{$path}+{$namespace}";
    }

    /** A journal that cannot be seen is not taken for empty. */
    public function isEmpty(): bool
    {
        clearstatcache(true, $this->path);
        $status = @stat($this->path);
        if ($status === false) {
            $directory = \dirname($this->path);

            return !is_dir($directory) || PrivateDirectory::mayEnter($directory);
        }

        return !is_file($this->path) || $status['size'] === 0;
    }

    public static function directoryOf(string $path): PrivateDirectory
    {
        return new PrivateDirectory(\dirname($path), Guests::RootAndGroup);
    }

    /** Which other user could have changed it, or that its directory is gone; null: neither. */
    public function distrust(): ?Distrust
    {
        if (!$this->directory->exists()) {
            return new Distrust($this->directory->path, 'is not there', 'create it, or name another place for the journal');
        }

        return $this->directory->distrust() ?? $this->directory->distrustOf($this->path);
    }

    /**
     * The changes in it, which stay there.
     *
     * @return ?Undelivered null: it cannot be read
     */
    public function undelivered(): ?Undelivered
    {
        if (!is_readable(\dirname($this->path))) {
            // Whether there is one cannot be seen, either.
            return null;
        }
        if ($this->isEmpty()) {
            return new Undelivered(0, 0, false);
        }
        $found = null;
        $this->locked(static function (mixed $file) use (&$found): bool {
            $bytes = (string) stream_get_contents($file);
            [$keys, $tags, $clears] = $bytes === '' ? [[], [], false] : self::entries($bytes);
            $found = new Undelivered(\count($keys), \count($tags), $clears);

            return true;
        }, isRead: true);

        return $found;
    }

    /**
     * @param list<string> $keys
     * @param list<string> $tags
     * @param string       $why  the store has failed; '': it was not asked
     *
     * @return bool false: it could not be written
     */
    public function append(array $keys, array $tags, bool $clears, string $why = ''): bool
    {
        return $this->locked(static function (mixed $file) use ($keys, $tags, $clears, $why): bool {
            fseek($file, 0, \SEEK_END);
            if (ftell($file) > self::MOST) {
                ftruncate($file, 0);
                rewind($file);
                [$keys, $tags, $clears] = [[], [], true];
            }
            $head = ftell($file) === 0 ? self::head($why) : '';
            $line = json_encode(['keys' => array_map(base64_encode(...), $keys), 'tags' => array_map(base64_encode(...), $tags), 'clears' => $clears]) . "\n";

            return @fwrite($file, $head . $line) === \strlen($head . $line) && fflush($file);
        });
    }

    /**
     * Has everything in it delivered, and is empty then, but for what was added meanwhile. That is the next process's, at once:
     * one that has delivered adds nothing any more, so that each of many needs only one turn until none adds.
     *
     * Processes that find it so add what they write to it. On a busy host some would always begin during a delivery, and it would
     * never be empty. So a process waits for another's delivery, unless the store failed last.
     *
     * @param \Closure(list<string>, list<string>, bool): void $deliver keys, tags, whether to clear; an exception of its leaves
     *                                                                 the journal as it is
     * @param bool                                             $waits   false: another process's delivery is not waited for
     *
     * @return bool false: it could not be opened, or another process is delivering it, or failed to do so a moment ago
     */
    public function deliver(\Closure $deliver, bool $waits = true): bool
    {
        $end = hrtime(true) + (int) (1e9 * self::TIMEOUT);
        while (($delivered = $this->begin()) === null) {
            if (!$waits || !$this->isInFlight || hrtime(true) >= $end) {
                return false;
            }
            usleep(random_int(...self::LOOK_AGAIN));
        }
        $began = ($this->clock)();
        try {
            if ($delivered !== '') {
                $deliver(...self::entries($delivered));
            }
        } catch (\Throwable $failure) {
            $this->postpone($delivered, self::TIMES_LONGER * (($this->clock)() - $began), $failure instanceof StoreUnavailable ? $failure->getMessage() : '');

            throw $failure;
        }
        $this->end($delivered);

        return true;
    }

    /** Why the store had failed, when another process was found to be delivering it, or to have put it off; '': that is not known. */
    public function why(): string
    {
        return $this->why;
    }

    /** Leaves it to the next process, after a pause of about so many seconds. */
    private function postpone(string $undelivered, float $seconds, string $why): void
    {
        $this->locked(function (mixed $file) use ($undelivered, $seconds, $why): bool {
            $head = (string) fread($file, self::HEAD);
            rewind($file);
            $pause = max(self::SHORTEST_PAUSE, min(self::LONGEST_PAUSE, $seconds));

            return self::name($head) === '' || self::name($head) !== self::name($undelivered) || @fwrite($file, self::line(($this->clock)() + $pause, self::name($head), $why)) !== false;
        });
    }

    /** @return ?string what is in it, which is this process's to deliver for a while; null: it is not */
    private function begin(): ?string
    {
        $found = null;
        $this->why = '';
        $this->isInFlight = false;
        $this->locked(function (mixed $file) use (&$found): bool {
            // The rest may be long, and a process that asks while another delivers it need not read it.
            $head = (string) fread($file, self::HEAD);
            $now = ($this->clock)();
            $until = (float) $head;
            // A clock that was set back must not stop it for longer than ever was meant.
            if ($now < $until && $until <= $now + self::TURN) {
                $this->why = rtrim(substr($head, -self::WHY - 1));
                $this->isInFlight = $this->why === '';

                return false;
            }
            $bytes = $head . stream_get_contents($file);
            rewind($file);
            if (self::name($bytes) === '' || @fwrite($file, sprintf(self::UNTIL, $now + self::TURN)) !== false) {
                $found = $bytes;
            }

            return true;
        });

        return $found;
    }

    /** Leaves in it what was added to what was delivered. */
    private function end(string $delivered): void
    {
        $this->locked(static function (mixed $file) use ($delivered): bool {
            $now = (string) stream_get_contents($file);
            if (self::name($now) !== self::name($delivered)) {
                // It is another by now, which another process has begun when this one was delivered.
                return true;
            }
            $added = substr($now, \strlen($delivered));
            if ($added === '') {
                return ftruncate($file, 0);
            }
            // Of another name, as another process may have taken this one over. One that is not written to its end stands for a clear.
            $rest = self::head('') . $added;
            rewind($file);

            return @fwrite($file, $rest) === \strlen($rest) && ftruncate($file, \strlen($rest));
        });
    }

    /** Of one that any process may deliver. */
    private static function head(string $why): string
    {
        return self::line(0.0, bin2hex(random_bytes(8)), $why);
    }

    private static function line(float $until, string $name, string $why): string
    {
        return sprintf(self::UNTIL, $until) . " {$name} " . str_pad(Cause::line($why, self::WHY), self::WHY) . "\n";
    }

    /** @return array{list<string>, list<string>, bool} */
    private static function entries(string $bytes): array
    {
        $keys = $tags = [];
        $lines = explode("\n", substr($bytes, self::HEAD));
        if (self::name($bytes) === '' || array_pop($lines) !== '') {
            return [[], [], true];
        }
        foreach ($lines as $line) {
            $entry = json_decode($line, true);
            $lost = self::strings($entry, 'keys');
            $dead = self::strings($entry, 'tags');
            if (!\is_array($entry) || $lost === null || $dead === null || ($entry['clears'] ?? true) !== false) {
                return [[], [], true];
            }
            array_push($keys, ...$lost);
            array_push($tags, ...$dead);
        }

        return [array_values(array_unique($keys)), array_values(array_unique($tags)), false];
    }

    /** @return string '': it does not begin as it should */
    private static function name(string $bytes): string
    {
        return preg_match('/^\d{10}\.\d{6} ([0-9a-f]{16}) [^\n]{' . self::WHY . '}\n/', $bytes, $parts) === 1 ? $parts[1] : '';
    }

    /** @return ?list<string> null if they are damaged */
    private static function strings(mixed $entry, string $name): ?array
    {
        $strings = [];
        $encoded = \is_array($entry) ? $entry[$name] ?? null : null;
        if (!\is_array($encoded)) {
            return null;
        }
        foreach ($encoded as $each) {
            $string = \is_string($each) ? base64_decode($each, true) : false;
            if ($string === false || $string === '') {
                return null;
            }
            $strings[] = $string;
        }

        return $strings;
    }

    /** @param \Closure(resource): bool $work */
    private function locked(\Closure $work, bool $isRead = false): bool
    {
        if ((!$isRead && !$this->directory->exists()) || $this->directory->distrust() !== null) {
            return false;
        }
        for ($end = hrtime(true) + ($this->isHeld ? 0 : (int) (1e9 * self::TIMEOUT));;) {
            $file = $isRead ? @fopen($this->path, 'rn') : $this->directory->open($this->path);
            if ($file === false) {
                return false;
            }
            try {
                $isTaken = FileLock::take($file, $isRead ? \LOCK_SH : \LOCK_EX, $end);
                $this->isHeld = $isTaken === false;
                if ($isTaken !== true) {
                    return false;
                }
                if ($this->directory->holds($file, $this->path)) {
                    return $work($file);
                }
            } finally {
                fclose($file);
            }
            // Another process has removed it meanwhile, or it is not to be written into.
            if ($this->directory->distrustOf($this->path) !== null) {
                return false;
            }
        }
    }
}
