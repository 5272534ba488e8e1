<?php

declare(strict_types=1);

namespace Larder\Bench\Console;

/** A file of results: all of it is there, or what was there before. */
final class ResultFile
{
    /** @throws \RuntimeException when it could not be written */
    public static function write(string $path, string $bytes): void
    {
        // What is no file, such as /dev/stdout, is written to and not replaced.
        $isFile = !file_exists($path) || is_file($path);
        $new = $isFile ? "{$path}.new" : $path;
        $isWritten = @file_put_contents($new, $bytes) === strlen($bytes);
        if ($isWritten && (!$isFile || @rename($new, $path))) {
            return;
        }
        if ($isFile && is_file($new)) {
            unlink($new);
        }

        throw new \RuntimeException("The file {$path} could not be written: free some space there, or give another path.");
    }
}
