<?php

declare(strict_types=1);

namespace Larder\Tests;

/**
 * A directory for one test, removed with everything in it by the process that made it. It does not lie in /tmp itself, where no
 * directory of another user is trusted, so that a test may give it to one.
 */
final class Scratch
{
    public readonly string $path;

    private readonly int $process;

    public function __construct()
    {
        $above = sys_get_temp_dir() . '/larder-test-' . bin2hex(random_bytes(6));
        $this->path = "{$above}/here";
        $this->process = (int) getmypid();
        if (!mkdir($above, 0o711) || !mkdir($this->path, 0o700)) {
            throw new \RuntimeException("The directory {$this->path} could not be made; set TMPDIR to one that is writable.");
        }
    }

    public function __destruct()
    {
        if ($this->process === getmypid()) {
            self::remove(\dirname($this->path));
        }
    }

    /** Bytes in all files in it. */
    public function bytes(): int
    {
        clearstatcache();
        $bytes = 0;
        foreach (new \RecursiveIteratorIterator(new \RecursiveDirectoryIterator($this->path, \FilesystemIterator::SKIP_DOTS)) as $file) {
            $status = $file instanceof \SplFileInfo ? @lstat($file->getPathname()) : false;
            $bytes += $status === false ? 0 : $status['size'];
        }

        return $bytes;
    }

    private static function remove(string $path): void
    {
        if (!is_dir($path) || is_link($path)) {
            unlink($path);

            return;
        }
        foreach (array_diff(scandir($path) ?: [], ['.', '..']) as $name) {
            self::remove("{$path}/{$name}");
        }
        rmdir($path);
    }
}
