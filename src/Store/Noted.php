<?php

declare(strict_types=1);

namespace Larder\Store;

/**
 * What the processes of a user on one machine tell each other about a server, so that not each of them has to ask it: a file
 * for each thing, in a directory that is this user's alone. Where there is no such directory, nobody is told.
 */
final class Noted
{
    /** Seconds that a file stays that nobody writes any more. */
    private const REMEMBERED = 86_400;

    /** What the paths of all files begin with; '': there is no place for them. */
    private ?string $beginning = null;

    /**
     * @param ?string $server    the name that all processes give it; null: it is told nobody
     * @param ?string $directory where the files are; null: one of this user's, in the system's for temporary files
     */
    public function __construct(
        private readonly ?string $server = null,
        private readonly ?string $directory = null,
    ) {}

    /** @return ?array{float, string} when it was written, in Unix seconds, and what; null: nothing that is younger than so many seconds */
    public function read(string $about, float $age): ?array
    {
        $path = $this->path($about);
        $note = $path === null ? false : @file_get_contents($path);
        // Who reads while another writes may find a part.
        if ($note === false || preg_match('/^(\d+\.\d+) ([^\n]*)\n$/D', $note, $parts) !== 1) {
            return null;
        }
        $since = microtime(true) - (float) $parts[1];

        // One from the future was written before the clock was set back.
        return $since >= 0.0 && $since <= $age ? [(float) $parts[1], $parts[2]] : null;
    }

    /**
     * @param string $what without a line feed
     * @param float  $age  seconds that a note stays as it is, so that few write
     */
    public function write(string $about, string $what, float $age = 0.0): void
    {
        $path = $this->path($about);
        if ($path === null) {
            return;
        }
        clearstatcache(true, $path);
        $written = @filemtime($path);
        if ($written === false) {
            $this->tidy(\dirname($path));
        } elseif (abs(time() - $written) < $age) {
            return;
        }
        @file_put_contents($path, sprintf("%.6F %s\n", microtime(true), $what), \LOCK_EX);
    }

    public function forget(string $about): void
    {
        $path = $this->path($about);
        if ($path !== null) {
            @unlink($path);
        }
    }

    private function path(string $about): ?string
    {
        $this->beginning ??= $this->beginning();

        return $this->beginning === '' ? null : "{$this->beginning}-{$about}";
    }

    private function beginning(): string
    {
        if ($this->server === null) {
            return '';
        }
        $user = \function_exists('posix_geteuid') ? posix_geteuid() : getmyuid();
        $directory = $this->directory ?? sys_get_temp_dir() . "/larder-{$user}";
        if (!is_dir($directory)) {
            @mkdir($directory, 0o700);
        }
        $found = @lstat($directory);
        $isOurs = $found !== false && $found['uid'] === $user && ($found['mode'] & 0o170022) === 0o040000;

        return $isOurs ? "{$directory}/noted-" . hash('xxh128', $this->server) : '';
    }

    /** What was written about servers that nobody has asked for since. */
    private function tidy(string $directory): void
    {
        foreach (glob("{$directory}/noted-*") ?: [] as $path) {
            if (@filemtime($path) < time() - self::REMEMBERED) {
                @unlink($path);
            }
        }
    }
}
