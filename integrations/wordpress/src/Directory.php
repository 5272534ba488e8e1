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
            return self::made(Settings::text('WP_LARDER_DIRECTORY'));
        }
        $name = '.larder-' . substr(hash_hmac('sha256', $identity, Settings::text('AUTH_SALT')), 0, 24);
        $above = \dirname(ABSPATH);
        $served = $_SERVER['DOCUMENT_ROOT'] ?? '';
        $root = (\is_string($served) && $served !== '' ? realpath($served) : false) ?: rtrim(ABSPATH, '/');
        if (!str_starts_with($above . '/', $root . '/') && is_writable($above)) {
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
        if (@file_put_contents("{$directory}/{$probe}", $probe) === false) {
            return false;
        }
        $answer = wp_remote_get("{$url}/{$probe}", ['timeout' => 5, 'sslverify' => false]);
        @unlink("{$directory}/{$probe}");

        return !is_wp_error($answer) && wp_remote_retrieve_body($answer) === $probe;
    }

    public static function remove(string $directory): void
    {
        (new PageFiles("{$directory}/pages"))->remove();
        foreach (glob($directory . '/{,.}*', \GLOB_BRACE) ?: [] as $file) {
            if (is_file($file)) {
                @unlink($file);
            }
        }
        @rmdir($directory);
    }

    private static function made(string $directory): ?string
    {
        // A relative one would be another for each process.
        if (!str_starts_with($directory, '/')) {
            return null;
        }
        if (!is_dir($directory) && !@mkdir($directory, 0o700)) {
            return null;
        }
        if (!is_writable($directory)) {
            return null;
        }
        if (!is_file("{$directory}/index.php")) {
            @file_put_contents("{$directory}/index.php", "<?php\n// Nothing to see.\n");
            @file_put_contents("{$directory}/.htaccess", "Require all denied\n");
        }

        return $directory;
    }
}
