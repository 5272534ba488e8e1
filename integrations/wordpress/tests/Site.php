<?php

declare(strict_types=1);

namespace Larder\WordPress\Tests;

use Larder\Bench\Server\MariaDbServer;
use Larder\SharedMemory;
use Larder\Tests\Scratch;
use Larder\Tests\System\Extension\Workers;
use Symfony\Component\Process\Process;

/** A real WordPress over a database of its own, with the plugin in it. */
final class Site
{
    /** Code that makes the front page; its status comes last. */
    public const PAGE = '$_SERVER += ["REQUEST_METHOD" => "GET", "SERVER_PROTOCOL" => "HTTP/1.1", "SERVER_NAME" => "example.com"]; define("WP_USE_THEMES", true); add_the_end(); require ROOT . "/wp-blog-header.php"; function add_the_end(): void { register_shutdown_function(static fn() => register_shutdown_function(static function (): void { echo "status ", http_response_code() ?: 200; })); }';

    /** Of the document root. */
    public readonly string $root;

    public readonly string $database;

    private readonly Scratch $scratch;

    /**
     * @param string  $configuration lines of PHP for wp-config.php
     * @param ?string $plugin        its folder; null: that of the checkout
     */
    public function __construct(
        private readonly MariaDbServer $server,
        string $configuration = '',
        private readonly bool $isNetwork = false,
        private readonly ?string $plugin = null,
    ) {
        $this->scratch = new Scratch();
        $this->root = "{$this->scratch->path}/public";
        $this->database = 'wordpress_' . bin2hex(random_bytes(4));
        $this->copyWordPress();
        $this->configure($configuration, false);
        $connection = new \mysqli('localhost', 'root', '', '', 0, $server->socket);
        $connection->query("CREATE DATABASE {$this->database}");
        $this->run('define("WP_INSTALLING", true); require ROOT . "/wp-load.php"; require_once ABSPATH . "wp-admin/includes/upgrade.php"; wp_install("Shop", "admin", "admin@example.com", true, "", "password");', loads: false);
        if ($isNetwork) {
            $this->run('require_once ABSPATH . "wp-admin/includes/upgrade.php"; foreach ($GLOBALS["wpdb"]->tables("ms_global") as $t => $p) { $GLOBALS["wpdb"]->$t = $p; } install_network(); populate_network(1, "example.com", "admin@example.com", "Shops", "/", false);');
            $this->configure($configuration, true);
        }
    }

    public static function wordpress(): string
    {
        return (string) (getenv('LARDER_WORDPRESS') ?: '/usr/share/wordpress');
    }

    /** Other lines for wp-config.php. */
    public function configure(string $configuration, ?bool $isNetwork = null): void
    {
        $network = $isNetwork ?? $this->isNetwork
            ? "define('MULTISITE', true); define('SUBDOMAIN_INSTALL', false); define('DOMAIN_CURRENT_SITE', 'example.com'); define('PATH_CURRENT_SITE', '/'); define('SITE_ID_CURRENT_SITE', 1); define('BLOG_ID_CURRENT_SITE', 1);"
            : '';
        file_put_contents("{$this->root}/wp-config.php", <<<PHP
            <?php
            define('DB_NAME', '{$this->database}');
            define('DB_USER', 'root');
            define('DB_PASSWORD', '');
            define('DB_HOST', 'localhost:{$this->server->socket}');
            define('DB_CHARSET', 'utf8mb4');
            define('AUTH_KEY', 'a'); define('SECURE_AUTH_KEY', 'b'); define('LOGGED_IN_KEY', 'c'); define('NONCE_KEY', 'd');
            define('AUTH_SALT', 'e'); define('SECURE_AUTH_SALT', 'f'); define('LOGGED_IN_SALT', 'g'); define('NONCE_SALT', 'h');
            define('WP_HTTP_BLOCK_EXTERNAL', true); define('DISABLE_WP_CRON', true); define('WP_DEBUG', false);
            define('AUTOMATIC_UPDATER_DISABLED', true);
            {$configuration}
            {$network}
            \$table_prefix = 'wp_';
            if (!defined('ABSPATH')) { define('ABSPATH', __DIR__ . '/'); }
            require_once ABSPATH . 'wp-settings.php';
            PHP);
    }

    /**
     * Runs code in WordPress on the command line, and gives back what it says.
     *
     * @param list<string>  $arguments
     * @param ?list<string> $options   of PHP; null: the extension
     * @param list<string>  $within    a command that runs its arguments
     */
    public function run(string $code, array $arguments = [], bool $loads = true, ?array $options = null, string $host = 'example.com', array $within = []): string
    {
        $process = $this->start($code, $arguments, $loads, $options, $host, $within);
        if ($process->wait() !== 0) {
            throw new \RuntimeException("PHP ended with {$process->getExitCode()}: {$process->getOutput()}{$process->getErrorOutput()}");
        }

        return $process->getOutput() . $process->getErrorOutput();
    }

    /**
     * Starts code in WordPress on the command line.
     *
     * @param list<string>  $arguments
     * @param ?list<string> $options   of PHP; null: the extension
     * @param list<string>  $within    a command that runs its arguments
     */
    public function start(string $code, array $arguments = [], bool $loads = true, ?array $options = null, string $host = 'example.com', array $within = []): Process
    {
        $file = "{$this->scratch->path}/code-" . bin2hex(random_bytes(6)) . '.php';
        file_put_contents($file, '<?php error_reporting(E_ALL & ~E_DEPRECATED); $_SERVER["HTTP_HOST"] = ' . var_export($host, true) . '; $_SERVER["REQUEST_URI"] = "/"; $_SERVER["REMOTE_ADDR"] = "127.0.0.1"; const ROOT = ' . var_export($this->root, true)
            . '; ' . ($loads ? 'require ROOT . "/wp-load.php"; ' : '') . $code);
        $process = new Process([...$within, PHP_BINARY, '-n', ...self::modules(), ...$options ?? ['-d', 'extension=' . Workers::extension()], '-d', 'display_errors=stderr', $file, ...$arguments], timeout: 300.0);
        $process->start();

        return $process;
    }

    /** The folder of the plugin. */
    public function plugin(): string
    {
        return "{$this->root}/wp-content/plugins/larder";
    }

    /** The name of this site's pool. */
    public function pool(): string
    {
        $parts = ['wp_', "localhost:{$this->server->socket}", $this->database, '', '', ''];

        return 'wordpress-' . substr(hash('sha256', serialize($parts)), 0, 12);
    }

    public function removePool(): void
    {
        SharedMemory::remove($this->pool());
    }

    /** Switches the plugin on, which writes the drop-in. */
    public function activate(): void
    {
        $this->run('require_once ABSPATH . "wp-admin/includes/plugin.php"; $e = activate_plugin("larder/larder.php", "", is_multisite()); if (is_wp_error($e)) { echo $e->get_error_message(); exit(1); }');
    }

    /** @return list<string> the modules that WordPress and the library need, from this PHP's own configuration */
    private static function modules(): array
    {
        $options = [];
        foreach (['mysqlnd', 'mysqli', 'dom', 'xml', 'simplexml', 'xmlreader', 'xmlwriter', 'mbstring', 'tokenizer', 'curl', 'posix', 'ctype', 'fileinfo', 'iconv', 'sqlite3', 'igbinary', 'redis', 'apcu', 'phar', 'pcntl'] as $module) {
            if (is_file(\ini_get('extension_dir') . "/{$module}.so")) {
                array_push($options, '-d', "extension={$module}");
            }
        }

        return $options;
    }

    private function copyWordPress(): void
    {
        $from = self::wordpress();
        mkdir($this->root);
        foreach (glob("{$from}/*.php") ?: [] as $file) {
            copy($file, $this->root . '/' . basename($file));
        }
        // What lies in wp-includes asks for ABSPATH; what lies in wp-admin for the folder above.
        symlink(realpath("{$from}/wp-includes") ?: $from, "{$this->root}/wp-includes");
        self::copy("{$from}/wp-admin", "{$this->root}/wp-admin");
        mkdir("{$this->root}/wp-content");
        mkdir("{$this->root}/wp-content/plugins");
        mkdir("{$this->root}/wp-content/themes");
        $themes = glob('{' . "{$from}/wp-content/themes,/usr/share/wordpress/wp-content/themes" . '}/*', \GLOB_BRACE | \GLOB_ONLYDIR) ?: [];
        foreach ($themes as $theme) {
            @symlink(realpath($theme) ?: $theme, "{$this->root}/wp-content/themes/" . basename($theme));
        }
        self::copy($this->plugin ?? \dirname(__DIR__), $this->plugin(), ['tests']);
        if (!is_dir($this->plugin() . '/library')) {
            // In a checkout the library is where that has it.
            $autoload = str_replace("'../../", "'" . \dirname(__DIR__, 3) . '/', (string) file_get_contents($this->plugin() . '/autoload.php'));
            file_put_contents($this->plugin() . '/autoload.php', str_replace("__DIR__ . '/' . \$folder", "(\$folder[0] === '/' ? '' : __DIR__ . '/') . \$folder", $autoload));
        }
    }

    /** @param list<string> $without names that stay */
    private static function copy(string $from, string $to, array $without = []): void
    {
        mkdir($to);
        foreach (array_diff(scandir($from) ?: [], ['.', '..', ...$without]) as $name) {
            is_dir("{$from}/{$name}") ? self::copy("{$from}/{$name}", "{$to}/{$name}") : copy("{$from}/{$name}", "{$to}/{$name}");
        }
    }
}
