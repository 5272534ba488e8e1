<?php

declare(strict_types=1);

namespace Larder\Store;

use Larder\System\PrivateDirectory;
use Larder\System\UserDirectory;

/**
 * Facts about a server that the processes of a user on one machine share, so that not each of them has to ask it. Each fact is a file
 * in a directory that is this user's alone. Without such a directory, nothing is shared.
 */
final class Noted
{
    /** What the paths of all files begin with; '': there is no place for them. */
    private ?string $beginning = null;

    private ?PrivateDirectory $place = null;

    /**
     * @param ?string $server    the name that all processes give it; null: no other process is told
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
        $note = $path === null ? null : $this->place?->contents($path);
        // A process that reads while another writes may find a part.
        if ($note === null || preg_match('/^(\d+\.\d+) ([^\n]*)\n$/D', $note, $parts) !== 1) {
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
        // A young one is left as it is. Whether the directory can be trusted takes longer to tell, and matters to readers and writers.
        if ($this->server === null || ($age > 0.0 && $this->age("{$this->files()}-{$about}") < $age)) {
            return;
        }
        $path = $this->path($about);
        if ($path === null) {
            return;
        }
        is_file($path) || UserDirectory::tidy(\dirname($path), 'noted-');
        // Not under a lock, whose holder may be stopped: all others would wait for it.
        $this->place?->replace($path, sprintf("%.6F %s\n", microtime(true), $what));
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
        $this->place = UserDirectory::at($this->directory);

        return $this->place === null ? '' : $this->files();
    }

    private function files(): string
    {
        return UserDirectory::path($this->directory) . '/noted-' . hash('xxh128', (string) $this->server);
    }

    /** @return float seconds; infinite: there is no such file */
    private function age(string $path): float
    {
        clearstatcache(true, $path);
        $written = @filemtime($path);

        return $written === false ? \INF : (float) abs(time() - $written);
    }
}
