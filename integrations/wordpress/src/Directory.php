<?php

declare(strict_types=1);

namespace Larder\WordPress;

/** The directory of the database and the journal: outside the document root where possible, else under a name that cannot be guessed. */
final class Directory
{
    private function __construct() {}

    /** @return ?string null: there is none that PHP may write to */
    public static function find(string $identity): ?string
    {
        if (\defined('WP_LARDER_DIRECTORY')) {
            return self::made(Settings::text('WP_LARDER_DIRECTORY'), false);
        }
        $name = '.larder-' . substr(hash_hmac('sha256', $identity, Settings::text('AUTH_SALT')), 0, 24);
        $above = \dirname(ABSPATH);
        $served = $_SERVER['DOCUMENT_ROOT'] ?? '';
        $root = (\is_string($served) && $served !== '' ? realpath($served) : false) ?: rtrim(ABSPATH, '/');
        if (!str_starts_with($above . '/', $root . '/') && self::mayWrite($above)) {
            return self::made("{$above}/{$name}");
        }

        return self::made(WP_CONTENT_DIR . "/{$name}");
    }

    /** @return ?string what is wrong and what to change, if the web server hands out the files of this site's cache; it is asked for one */
    public static function served(): ?string
    {
        $settings = Settings::ofThisSite();
        preg_match_all('~(sqlite|file|php):(/[^?>\s]+)~', $settings->dsn ?? '', $stores, PREG_SET_ORDER);
        $directories = array_map(static fn(array $store): string => $store[1] === 'sqlite' ? \dirname($store[2]) : $store[2], $stores);
        foreach (array_unique([...$settings->directory === null ? [] : [$settings->directory], ...$directories]) as $directory) {
            $url = self::url($directory);
            if ($url !== null && self::isHandedOut($directory, $url)) {
                return "The web server hands out the files in {$directory}. Anyone who guesses a name can read the cache. Name a place outside the document root in wp-config.php (WP_LARDER_DIRECTORY, or WP_LARDER_DSN), or forbid the web server to serve this one.";
            }
        }

        return null;
    }

    /** @return ?string null: it is outside the document root */
    private static function url(string $directory): ?string
    {
        $path = (string) realpath($directory);
        foreach ([WP_CONTENT_DIR => content_url(), ABSPATH => site_url()] as $root => $url) {
            $root = (string) realpath($root);
            if ($path !== '' && $root !== '' && str_starts_with("{$path}/", "{$root}/")) {
                return $url . implode('/', array_map(rawurlencode(...), explode('/', substr($path, \strlen($root)))));
            }
        }

        return null;
    }

    private static function isHandedOut(string $directory, string $url): bool
    {
        $probe = 'larder-' . bin2hex(random_bytes(8)) . '.txt';
        if (self::asOwner($directory, static fn(): int|false => @file_put_contents("{$directory}/{$probe}", $probe)) === false) {
            return false;
        }
        $answer = wp_remote_get("{$url}/{$probe}", ['timeout' => 5, 'sslverify' => false]);
        self::asOwner($directory, static fn(): bool => @unlink("{$directory}/{$probe}"));

        return !is_wp_error($answer) && wp_remote_retrieve_body($answer) === $probe;
    }

    public static function remove(string $directory): void
    {
        (new PageFiles("{$directory}/pages"))->remove();
        self::asOwner($directory, static function () use ($directory): void {
            // Not by glob(), which would take some of what a path may have in it for patterns.
            foreach (array_diff(@scandir($directory) ?: [], ['.', '..']) as $name) {
                @unlink("{$directory}/{$name}");
            }
        });
        is_link($directory) ? @unlink($directory) : @rmdir($directory);
    }

    /**
     * Has root on the command line change files in a directory as the directory's owner does. The web server, mostly that owner, can change then
     * what is made. And a link that it has put there leads to nothing that it may not change itself.
     *
     * @template T
     *
     * @param \Closure(): T $changes nothing else
     *
     * @return T
     */
    public static function asOwner(string $directory, \Closure $changes): mixed
    {
        if (PHP_SAPI !== 'cli' || !\function_exists('posix_geteuid') || posix_geteuid() !== 0) {
            return $changes();
        }
        clearstatcache(true, $directory);
        $status = @lstat($directory);
        // A link of root's own leads where root wants to.
        $owner = ($status !== false && $status['uid'] === 0 ? @stat($directory) : $status)['uid'] ?? 0;
        if ($owner === 0) {
            return $changes();
        }
        $group = posix_getegid();
        try {
            posix_setegid(posix_getpwuid($owner)['gid'] ?? $group);
            posix_seteuid($owner);

            return $changes();
        } finally {
            posix_seteuid(0);
            posix_setegid($group);
        }
    }

    /**
     * The user of the web server, as far as it can be told. What root makes on the command line that user must be able to change.
     *
     * @return ?int null: this process is not root, or nothing tells
     */
    public static function owner(): ?int
    {
        if (PHP_SAPI !== 'cli' || !\function_exists('posix_geteuid') || posix_geteuid() !== 0) {
            return null;
        }
        // Where the code is root's, what visitors send is not.
        foreach ([Settings::installed()['owner'] ?? null, @fileowner(WP_CONTENT_DIR), @fileowner(WP_CONTENT_DIR . '/uploads')] as $owner) {
            if (\is_int($owner) && $owner > 0) {
                return $owner;
            }
        }

        return null;
    }

    /** Gives a file or folder of root to the user of the web server. That user may have put a link in its place, which then is all that is given. */
    private static function give(string $path): bool
    {
        $owner = self::owner();
        $status = $owner === null ? false : @lstat($path);

        return $status !== false && $status['uid'] === 0 && @lchown($path, (int) $owner);
    }

    /** Makes a file anew, and replaces what the web server's user has put in its place, such as a link: PHP would write through that. */
    public static function put(string $path, string $text): void
    {
        $pending = \dirname($path) . '/.' . bin2hex(random_bytes(8));
        if (@file_put_contents($pending, $text) === \strlen($text)) {
            @rename($pending, $path);
        }
        @unlink($pending);
    }

    /** Whether the web server may write there, as root may anywhere. */
    private static function mayWrite(string $directory): bool
    {
        $owner = self::owner();
        $status = $owner === null ? false : @stat($directory);
        if ($status === false) {
            return is_writable($directory);
        }
        $user = posix_getpwuid((int) $owner);

        return ($status['mode'] & match (true) {
            $status['uid'] === $owner => 0o200,
            $user !== false && $status['gid'] === $user['gid'] => 0o020,
            default => 0o002,
        }) !== 0;
    }

    /** @param bool $isOurs whether no other program has files there */
    private static function made(string $directory, bool $isOurs = true): ?string
    {
        // A relative one would be another for each process.
        if (!str_starts_with($directory, '/')) {
            return null;
        }
        $isNew = !is_dir($directory);
        if ($isNew && !@mkdir($directory, 0o700)) {
            return null;
        }
        if (($isNew || $isOurs) && self::give($directory)) {
            foreach (new \RecursiveIteratorIterator(new \RecursiveDirectoryIterator($directory, \FilesystemIterator::SKIP_DOTS), \RecursiveIteratorIterator::SELF_FIRST) as $file) {
                $file instanceof \SplFileInfo && self::give($file->getPathname());
            }
        }
        if (!is_writable($directory)) {
            return null;
        }
        self::asOwner($directory, static function () use ($directory): void {
            foreach (is_file("{$directory}/index.php") ? [] : ['index.php' => "<?php\n// Nothing to see.\n", '.htaccess' => "Require all denied\n"] as $name => $text) {
                self::put("{$directory}/{$name}", $text);
            }
        });

        return $directory;
    }
}
