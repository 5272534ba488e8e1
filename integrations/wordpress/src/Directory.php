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

    /** Whether a web server that serves files would serve those in it. */
    public static function isServed(string $directory): bool
    {
        return str_starts_with((string) realpath($directory), (string) realpath(ABSPATH) . '/') || str_starts_with((string) realpath($directory), (string) realpath(WP_CONTENT_DIR) . '/');
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
