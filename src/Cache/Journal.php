<?php

declare(strict_types=1);

namespace Larder\Cache;

use Larder\Exception\InvalidOption;

/**
 * What a store has missed, in a file that outlives the process: a line for each lost delete, overwrite, invalidation
 * or clear. Whoever opens a cache with this journal next delivers it before anything is read. A line that is damaged,
 * and a file that has grown too large, stand for a clear.
 */
final class Journal
{
    /** Bytes; beyond, everything is cleared. */
    private const MOST = 1 << 20;

    /** @throws InvalidOption */
    public function __construct(
        private readonly string $path,
    ) {
        $directory = \dirname($path);
        if (!is_dir($directory)) {
            throw InvalidOption::directory($directory, 'does not exist', 'create it, or name another place for the journal');
        }
        if (is_dir($path)) {
            throw InvalidOption::directory($path, 'stands where the journal should be', 'name a file in it');
        }
    }

    public function isEmpty(): bool
    {
        clearstatcache(true, $this->path);

        return !is_file($this->path) || @filesize($this->path) === 0;
    }

    /**
     * @param list<string> $keys
     * @param list<string> $tags
     *
     * @return bool false: it could not be written
     */
    public function append(array $keys, array $tags, bool $clears): bool
    {
        return $this->locked(static function (mixed $file) use ($keys, $tags, $clears): bool {
            fseek($file, 0, \SEEK_END);
            if (ftell($file) > self::MOST) {
                ftruncate($file, 0);
                rewind($file);
                [$keys, $tags, $clears] = [[], [], true];
            }
            $line = json_encode(['keys' => array_map(base64_encode(...), $keys), 'tags' => array_map(base64_encode(...), $tags), 'clears' => $clears]) . "\n";

            return fwrite($file, $line) === \strlen($line) && fflush($file);
        });
    }

    /**
     * Has everything in it delivered, and is empty then. Others wait meanwhile.
     *
     * @param \Closure(list<string>, list<string>, bool): void $deliver keys, tags, whether to clear; what it throws leaves
     *                                                                 the journal as it is
     *
     * @return bool false: it could not be opened
     */
    public function deliver(\Closure $deliver): bool
    {
        return $this->locked(static function (mixed $file) use ($deliver): bool {
            $keys = $tags = [];
            $clears = false;
            while (($line = fgets($file)) !== false) {
                $entry = str_ends_with($line, "\n") ? json_decode($line, true) : null;
                $lost = self::strings($entry, 'keys');
                $dead = self::strings($entry, 'tags');
                if (!\is_array($entry) || $lost === null || $dead === null || ($entry['clears'] ?? true) !== false) {
                    $clears = true;
                    break;
                }
                array_push($keys, ...$lost);
                array_push($tags, ...$dead);
            }
            $deliver($clears ? [] : array_values(array_unique($keys)), $clears ? [] : array_values(array_unique($tags)), $clears);

            return ftruncate($file, 0);
        });
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
    private function locked(\Closure $work): bool
    {
        $file = @fopen($this->path, 'c+');
        if ($file === false) {
            return false;
        }
        try {
            return flock($file, \LOCK_EX) && $work($file);
        } finally {
            fclose($file);
        }
    }
}
