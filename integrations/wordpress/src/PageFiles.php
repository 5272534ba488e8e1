<?php

declare(strict_types=1);

namespace Larder\WordPress;

/**
 * Pages in files: for a machine without the extension.
 *
 * A page lies in a file that is named by the hash of its key, in one of 256 folders. It notes the length that the log of invalidations
 * had before the page was made. It is served as long as the log has named none of its tags since. So no page needs to be found to be
 * invalidated, and one that was made from old rows is dead before it is stored.
 *
 *     current          names the epoch of the log
 *     log-EPOCH        8 bytes for each invalidated tag: a hash of it
 *     log.lock         of writers, one at a time
 *     locks/N          of those that make pages
 *     3f/3f9c…         a page: a hash of the head, its length in 8 digits, the head, and the parts. The head is a serialised
 *                      array, and has the lengths of the parts and their hashes
 *     kept-NAME        what the plugin keeps beside the pages: a hash of the rest, and a serialised array
 *     watched/HASH     there if pages may carry a tag, of those whose changes mostly concern no page. The log has no others of these
 *
 * A log of another epoch is another life: its pages are dead. A process that is killed while it writes leaves a file without a
 * page's name, or a piece of a record. The next writer fills that up.
 *
 * The name of a file is no secret, and hides none. It comes from an address that any visitor may ask for, and the file has what they all get.
 */
final class PageFiles implements PageStore
{
    /** Bytes of the log, at which it begins anew, and with it the cache. */
    private const LONGEST_LOG = 256 << 10;

    private const FOLDERS = 256;

    /** Parts of a page that lie behind its head as they are, so that a hit need not take them apart. */
    private const PARTS = ['gzip' => 0, 'br' => 0, 'tags' => 0];

    private ?string $trouble = null;

    /**
     * @param int   $bytes    that all pages may take
     * @param int   $files    how many they may be
     * @param float $timeLeft seconds that this request waits for other writers in all
     */
    public function __construct(
        private readonly string $directory,
        private readonly int $bytes = 256 << 20,
        private readonly int $files = 50_000,
        private float $timeLeft = 5.0,
    ) {}

    /** @return ?string why pages cannot lie there, in a sentence */
    public function prepare(): ?string
    {
        return $this->asOwner(function (): ?string {
            foreach ([$this->directory, "{$this->directory}/locks"] as $directory) {
                if (!is_dir($directory) && !@mkdir($directory, 0o700) && !is_dir($directory)) {
                    return "The directory {$directory} could not be made; make the one above it writable for PHP.";
                }
                $this->own($directory);
            }

            return $this->invalidate(['everything']) ? null : $this->trouble;
        });
    }

    public function fill(PageRequest $request, array $page, array $tags, int $seconds): bool
    {
        $token = $request->token;
        if (!\is_array($token) || !\is_string($token[0] ?? null) || !\is_int($token[1] ?? null)) {
            return false;
        }
        $page += ['key' => $request->key, 'epoch' => $token[0], 'position' => $token[1], 'marks' => implode('', array_map(self::mark(...), [...$tags, 'everything']))];
        if (!PageHit::isTrue($this->directory, $page)) {
            return false;
        }
        $path = $this->directory . '/' . PageHit::file($request->key);
        $text = self::packed($page);

        return \strlen($text) <= $this->bytes / self::FOLDERS && $this->asOwner(fn(): bool => $this->makeRoom(\dirname($path), basename($path), \strlen($text)) && $this->store($path, $text, time() + $seconds));
    }

    public function invalidate(array $tags, int $stale = 0): bool
    {
        return $tags === [] || $this->asOwner(fn(): bool => $this->note($tags)) || $this->fail();
    }

    public function watch(string $tag): bool
    {
        $file = $this->watched($tag);
        if (is_file($file)) {
            return true;
        }
        $folder = \dirname($file);

        return $this->asOwner(function () use ($folder, $file): bool {
            if (!is_dir($folder) && !@mkdir($folder, 0o700) && !is_dir($folder) || !@touch($file)) {
                return false;
            }
            $this->own($folder);
            $this->own($file);

            return true;
        });
    }

    public function isWatched(string $tag): bool
    {
        return is_file($this->watched($tag));
    }

    public function find(string $key): ?array
    {
        $page = PageHit::inFile($this->directory, $key);
        if ($page === null || !\is_int($page['until'] ?? null) || $page['until'] <= time() || !PageHit::isTrue($this->directory, $page)) {
            return null;
        }

        $tags = @gzuncompress(\is_string($page['tags'] ?? null) ? $page['tags'] : '');

        return ['tags' => self::unserialised((string) $tags)] + $page;
    }

    public function kept(string $name): array
    {
        $text = @file_get_contents("{$this->directory}/kept-{$name}");

        return $text === false || self::hashed(substr($text, 16)) !== $text ? [] : self::unserialised(substr($text, 16));
    }

    public function keep(string $name, array $what): void
    {
        $this->asOwner(fn(): bool => $this->put("{$this->directory}/kept-{$name}", self::hashed(serialize($what))));
    }

    public function trouble(): ?string
    {
        return $this->trouble;
    }

    /** Deletes everything, the directory as well. */
    public function remove(): void
    {
        $this->asOwner(fn() => self::delete($this->directory));
    }

    private static function delete(string $path): void
    {
        if (is_link($path) || !is_dir($path)) {
            @unlink($path);

            return;
        }
        foreach (array_diff(@scandir($path) ?: [], ['.', '..']) as $name) {
            self::delete("{$path}/{$name}");
        }
        @rmdir($path);
    }

    /** @param int $end in Unix time */
    private function store(string $path, string $text, int $end): bool
    {
        if (!$this->put($path, $text)) {
            // What is there was made before.
            @unlink($path);
            $this->trouble = "The directory {$this->directory} takes no pages; see whether its disk is full, and whether PHP may write to it.";

            return false;
        }
        // What ends first makes room first.
        @touch($path, $end);

        return true;
    }

    /** @param list<string> $tags that are invalidated */
    private function note(array $tags): bool
    {
        $lock = @fopen("{$this->directory}/log.lock", 'c');
        if ($lock === false || !$this->hold($lock)) {
            // Without a log no page is served. A writer that is stopped goes on with a log that counts no more.
            return $this->forgetLog();
        }
        $this->own("{$this->directory}/log.lock");
        try {
            $log = PageRequest::log($this->directory);
            if ($log === null || $log[1] > self::LONGEST_LOG || \in_array('everything', $tags, true)) {
                return $this->begin();
            }

            return $this->append("{$this->directory}/log-{$log[0]}", $tags) || $this->forgetLog();
        } finally {
            fclose($lock);
        }
    }

    /**
     * Waits for other writers, but no save waits long for one that is stopped.
     *
     * @param resource $lock
     */
    private function hold($lock): bool
    {
        while (!flock($lock, \LOCK_EX | \LOCK_NB)) {
            if ($this->timeLeft <= 0.0) {
                return false;
            }
            $began = hrtime(true);
            usleep(5_000);
            $this->timeLeft -= (hrtime(true) - $began) / 1e9;
        }

        return true;
    }

    /** @param list<string> $tags */
    private function append(string $log, array $tags): bool
    {
        // No file is made anew under the name of an epoch: positions in the former one would count in it.
        $file = @fopen($log, 'r+');
        if ($file === false) {
            return false;
        }
        fseek($file, 0, \SEEK_END);
        $records = implode('', array_map(self::mark(...), $tags));
        $begun = (int) ftell($file) % 8;
        if ($begun !== 0) {
            $records = str_repeat("\0", 8 - $begun) . $records;
        }
        $isWritten = @fwrite($file, $records) === \strlen($records) && fflush($file);
        fclose($file);

        return $isWritten;
    }

    /** Another epoch: all pages are dead. */
    private function begin(): bool
    {
        // The old one goes first: while it is there its pages are served, and nothing is appended to it any more.
        if (!$this->forgetLog()) {
            return false;
        }
        $epoch = bin2hex(random_bytes(16));
        $pending = "{$this->directory}/." . bin2hex(random_bytes(8));
        if (@file_put_contents("{$this->directory}/log-{$epoch}", '') !== 0 || @file_put_contents($pending, $epoch) !== 32 || !@rename($pending, "{$this->directory}/current")) {
            @unlink($pending);
            @unlink("{$this->directory}/log-{$epoch}");
        } else {
            $this->own("{$this->directory}/log-{$epoch}");
            $this->own("{$this->directory}/current");
        }

        // Without one there are no pages, which is what was asked for.
        return true;
    }

    private function forgetLog(): bool
    {
        // Not by glob(), which would take some of what a path may have in it for patterns.
        $names = @scandir($this->directory);
        if ($names === false) {
            // What this user may not see is not gone.
            return @stat(\dirname($this->directory) . '/.') !== false && !file_exists($this->directory);
        }
        foreach (array_filter($names, static fn(string $name): bool => str_starts_with($name, 'log-')) as $log) {
            if (!@unlink("{$this->directory}/{$log}") && is_file("{$this->directory}/{$log}")) {
                return false;
            }
        }

        return true;
    }

    private function fail(): bool
    {
        $this->trouble = "The pages in {$this->directory} may show what was changed, as PHP may not write there; make it writable, or delete it.";
        error_log("Larder: {$this->trouble}");

        return false;
    }

    /** Deletes what ends first in a folder until a page fits into its share. */
    private function makeRoom(string $folder, string $name, int $bytes): bool
    {
        if (!is_dir($folder) && !@mkdir($folder, 0o700) && !is_dir($folder)) {
            $this->trouble = "The directory {$folder} could not be made; see whether the disk is full, and whether PHP may write there.";

            return false;
        }
        $this->own($folder);
        $ends = $sizes = [];
        foreach (@scandir($folder) ?: [] as $file) {
            if ($file === '.' || $file === '..' || $file === $name) {
                continue;
            }
            $status = @stat("{$folder}/{$file}");
            if ($status === false) {
                continue;
            }
            if ($file[0] === '.' && $status['mtime'] < time() - 60) {
                // Its writer was killed.
                @unlink("{$folder}/{$file}");
                continue;
            }
            $ends[$file] = $status['mtime'];
            $sizes[$file] = $status['size'];
        }
        asort($ends);
        $sum = array_sum($sizes) + $bytes;
        $count = \count($sizes) + 1;
        foreach (array_keys($ends) as $next) {
            if ($sum <= $this->bytes / self::FOLDERS && $count <= max(1, $this->files / self::FOLDERS)) {
                break;
            }
            @unlink("{$folder}/{$next}");
            $sum -= $sizes[$next];
            $count--;
        }

        return true;
    }

    /** Gives a file its content at once: whole, or as it was. */
    private function put(string $path, string $text): bool
    {
        $pending = \dirname($path) . '/.' . bin2hex(random_bytes(8));
        if (@file_put_contents($pending, $text) !== \strlen($text) || !@rename($pending, $path)) {
            @unlink($pending);

            return false;
        }
        $this->own($path);

        return true;
    }

    /** @param array<array-key, mixed> $page */
    private static function packed(array $page): string
    {
        $parts = [];
        foreach (array_intersect_key($page, self::PARTS) as $name => $part) {
            $parts[$name] = \is_string($part) ? $part : (string) gzcompress(serialize($part));
        }
        $head = serialize(array_diff_key($page, $parts) + ['parts' => array_map(strlen(...), $parts), 'sums' => array_map(static fn(string $part): string => hash('xxh3', $part), array_diff_key($parts, ['tags' => 0]))]);

        return hash('xxh3', $head) . sprintf('%08d', \strlen($head)) . $head . implode('', $parts);
    }

    private static function hashed(string $text): string
    {
        return hash('xxh3', $text) . $text;
    }

    /** @return array<array-key, mixed> */
    private static function unserialised(string $text): array
    {
        $what = unserialize($text, ['allowed_classes' => false]);

        return \is_array($what) ? $what : [];
    }

    /**
     * @template T
     *
     * @param \Closure(): T $changes files in the directory
     *
     * @return T
     */
    private function asOwner(\Closure $changes): mixed
    {
        return PHP_SAPI === 'cli' ? Directory::asOwner(\dirname($this->directory), $changes) : $changes();
    }

    /** What a web server makes that runs as root, the owner of the directory must be able to change. A link in its place leads to what is none of its. */
    private function own(string $path): void
    {
        if (\function_exists('posix_geteuid') && posix_geteuid() === 0) {
            $owner = @fileowner(\dirname($this->directory));
            $status = $owner === false || $owner === 0 ? false : @lstat($path);
            if ($status !== false && $status['uid'] === 0) {
                @lchown($path, (int) $owner);
            }
        }
    }

    private function watched(string $tag): string
    {
        return "{$this->directory}/watched/" . hash('xxh128', $tag);
    }

    private static function mark(string $tag): string
    {
        return hash('xxh3', $tag, true);
    }
}
