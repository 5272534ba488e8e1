<?php

declare(strict_types=1);

namespace Larder\Bench\WordPress;

use Larder\Bench\FileSystem;
use Larder\Bench\Server\Program;
use Larder\Bench\Subject\Extension;

/** The files of a WordPress site in a document root of its own, over a database of a private MariaDB. */
final readonly class Installation
{
    /** Where Debian's package has WordPress. */
    public const DEFAULT = '/usr/share/wordpress';

    /** What requests of a site of the benchmark are addressed to. */
    public const HOST = 'shop.example.com';

    /** Code that makes the tables, for a process that has the constant ROOT and has loaded nothing yet. */
    public const INSTALL = 'define("WP_INSTALLING", true); require ROOT . "/wp-load.php"; require_once ABSPATH . "wp-admin/includes/upgrade.php"; wp_install("Shop", "admin", "admin@example.com", true, "", "password");';

    /**
     * @param string $root     the document root
     * @param string $database its name
     * @param string $socket   of MariaDB
     */
    private function __construct(public string $root, public string $database, private string $socket) {}

    /**
     * Copies WordPress.
     *
     * @param string $wordpress where it is
     * @param string $root      the document root, a directory that is not there yet
     * @param string $database  its name; it need not be there yet
     * @param string $socket    of MariaDB
     */
    public static function make(string $wordpress, string $root, string $database, string $socket): self
    {
        mkdir($root);
        foreach (glob("{$wordpress}/*.php") ?: [] as $file) {
            if (basename($file) !== 'wp-config.php') {
                copy($file, $root . '/' . basename($file));
            }
        }
        // What lies in wp-includes asks for ABSPATH; what lies in wp-admin for the folder above.
        symlink(realpath("{$wordpress}/wp-includes") ?: $wordpress, "{$root}/wp-includes");
        FileSystem::copy("{$wordpress}/wp-admin", "{$root}/wp-admin");
        foreach (['', '/plugins', '/mu-plugins', '/themes'] as $folder) {
            mkdir("{$root}/wp-content{$folder}");
        }
        // The distribution's themes lie beside its WordPress; another WordPress may have none.
        foreach ([$wordpress, self::DEFAULT] as $from) {
            foreach (glob("{$from}/wp-content/themes/*", \GLOB_ONLYDIR) ?: [] as $theme) {
                @symlink(realpath($theme) ?: $theme, "{$root}/wp-content/themes/" . basename($theme));
            }
        }

        return new self($root, $database, $socket);
    }

    /** @return string|null what is wrong with the directory as one that has WordPress in it, in a sentence; null: nothing */
    public static function mistake(string $wordpress): ?string
    {
        return is_file("{$wordpress}/wp-includes/version.php") && is_dir("{$wordpress}/wp-admin")
            ? null
            : "The directory {$wordpress} has no WordPress in it (wp-includes/version.php, wp-admin): give the directory that has its wp-load.php.";
    }

    /** @return string|null what a measurement of it needs and is not here, in a sentence; null: nothing */
    public static function missing(string $wordpress): ?string
    {
        return match (true) {
            !is_dir(\dirname(__DIR__, 2) . '/integrations/wordpress') => 'the folder integrations/wordpress is not there: measure in a checkout of the repository.',
            self::mistake($wordpress) !== null => 'WordPress is not installed: install the package wordpress, or name a directory that has it by --wordpress.',
            Program::find('mariadbd') === null => 'MariaDB is not installed: install mariadb-server-core.',
            Program::find('php-fpm' . PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION, 'php-fpm') === null => 'php-fpm is not installed: install php-fpm.',
            default => Extension::missing('mysqli', 'php-mysql'),
        };
    }

    public static function version(string $wordpress): string
    {
        return preg_match('/^\$wp_version\s*=\s*\'([^\']+)/m', (string) @file_get_contents("{$wordpress}/wp-includes/version.php"), $match) === 1 ? $match[1] : 'unknown';
    }

    /** @param string $lines of PHP for wp-config.php, beside those that every site has */
    public function configure(string $lines): void
    {
        file_put_contents("{$this->root}/wp-config.php", <<<PHP
            <?php
            define('DB_NAME', '{$this->database}');
            define('DB_USER', 'root');
            define('DB_PASSWORD', '');
            define('DB_HOST', 'localhost:{$this->socket}');
            define('DB_CHARSET', 'utf8mb4');
            define('AUTH_KEY', 'a'); define('SECURE_AUTH_KEY', 'b'); define('LOGGED_IN_KEY', 'c'); define('NONCE_KEY', 'd');
            define('AUTH_SALT', 'e'); define('SECURE_AUTH_SALT', 'f'); define('LOGGED_IN_SALT', 'g'); define('NONCE_SALT', 'h');
            define('WP_HTTP_BLOCK_EXTERNAL', true); define('DISABLE_WP_CRON', true); define('WP_DEBUG', false);
            define('AUTOMATIC_UPDATER_DISABLED', true);
            {$lines}
            \$table_prefix = 'wp_';
            if (!defined('ABSPATH')) { define('ABSPATH', __DIR__ . '/'); }
            require_once ABSPATH . 'wp-settings.php';
            PHP);
    }

    /** The folder of a plugin. */
    public function plugin(string $name): string
    {
        return "{$this->root}/wp-content/plugins/{$name}";
    }

    /**
     * Copies the plugin Larder: that of a checkout, whose library is elsewhere in the checkout, or one that was built.
     *
     * @param string $from its folder
     */
    public function addLarder(string $from): void
    {
        $plugin = $this->plugin('larder');
        FileSystem::copy($from, $plugin, ['tests', 'bench']);
        if (!is_dir("{$plugin}/library")) {
            $autoload = str_replace("'../../", "'" . \dirname($from, 2) . '/', (string) file_get_contents("{$plugin}/autoload.php"));
            file_put_contents("{$plugin}/autoload.php", str_replace("__DIR__ . '/' . \$folder", "(\$folder[0] === '/' ? '' : __DIR__ . '/') . \$folder", $autoload));
        }
    }
}
