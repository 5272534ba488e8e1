<?php

declare(strict_types=1);

namespace Larder\WordPress\Tests;

use Larder\Bench\Server\MariaDbServer;
use Larder\Bench\WordPress\Installation;
use Larder\SharedMemory;
use Larder\Tests\Scratch;
use Larder\Tests\System\Extension\Workers;
use Symfony\Component\Process\Process;

/** A real WordPress over a database of its own, with the plugin in it. */
final class Site
{
    /** Code that makes the front page; its status comes last. */
    public const PAGE = '$_SERVER += ["REQUEST_METHOD" => "GET", "SERVER_PROTOCOL" => "HTTP/1.1", "SERVER_NAME" => "example.com"]; define("WP_USE_THEMES", true); add_the_end(); require ROOT . "/wp-blog-header.php"; function add_the_end(): void { register_shutdown_function(static fn() => register_shutdown_function(static function (): void { echo "status ", http_response_code() ?: 200; })); }';

    private static ?Scratch $code = null;

    /** Of the document root. */
    public readonly string $root;

    public readonly string $database;

    private readonly Scratch $scratch;

    private readonly MariaDbServer $server;

    private readonly Installation $installation;

    /**
     * @param string  $configuration lines of PHP for wp-config.php
     * @param ?string $plugin        its folder; null: that of the checkout
     */
    public function __construct(
        string $configuration = '',
        private readonly bool $isNetwork = false,
        ?string $plugin = null,
    ) {
        $this->scratch = new Scratch();
        $this->root = "{$this->scratch->path}/public";
        $this->database = 'wordpress_' . bin2hex(random_bytes(4));
        $this->server = Database::shared()->server;
        $this->installation = Installation::make(self::wordpress(), $this->root, $this->database, $this->server->socket);
        $this->installation->addLarder($plugin ?? \dirname(__DIR__));
        $this->configure($configuration, false);
        Database::shared()->make($this->database, $isNetwork ? 'network' : 'site', function () use ($isNetwork): void {
            $this->run(Installation::INSTALL, loads: false);
            if ($isNetwork) {
                $this->run('require_once ABSPATH . "wp-admin/includes/upgrade.php"; foreach ($GLOBALS["wpdb"]->tables("ms_global") as $t => $p) { $GLOBALS["wpdb"]->$t = $p; } install_network(); populate_network(1, "example.com", "admin@example.com", "Shops", "/", false);');
            }
        });
        if ($isNetwork) {
            $this->configure($configuration, true);
        }
    }

    public static function wordpress(): string
    {
        return (string) (getenv('LARDER_WORDPRESS') ?: Installation::DEFAULT);
    }

    /** Other lines for wp-config.php. */
    public function configure(string $configuration, ?bool $isNetwork = null): void
    {
        $network = $isNetwork ?? $this->isNetwork
            ? "define('MULTISITE', true); define('SUBDOMAIN_INSTALL', false); define('DOMAIN_CURRENT_SITE', 'example.com'); define('PATH_CURRENT_SITE', '/'); define('SITE_ID_CURRENT_SITE', 1); define('BLOG_ID_CURRENT_SITE', 1);"
            : '';
        $this->installation->configure("{$configuration}\n{$network}");
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
        // Another user may not read what this one has compiled.
        $compiled = $within === [] ? self::compiled() : [];
        $process = new Process([...$within, PHP_BINARY, '-n', ...self::modules(), ...$compiled, ...$options ?? ['-d', 'extension=' . Workers::extension()], '-d', 'display_errors=stderr', $file, ...$arguments], timeout: 300.0);
        $process->start();

        return $process;
    }

    /**
     * Starts a command of WP-CLI.
     *
     * @param list<string>  $arguments
     * @param ?list<string> $options   of PHP; null: the extension
     */
    public function command(array $arguments, ?array $options = null): Process
    {
        $wp = \dirname((string) (new \ReflectionClass(\Composer\Autoload\ClassLoader::class))->getFileName(), 2) . '/wp-cli/wp-cli/php/boot-fs.php';
        $process = new Process(
            [
                PHP_BINARY, '-n', ...self::modules(), ...self::compiled(), ...$options ?? ['-d', 'extension=' . Workers::extension()],
                '-d', 'display_errors=stderr', '-d', 'error_reporting=' . (\E_ALL & ~\E_DEPRECATED), $wp,
                "--path={$this->root}", '--url=http://example.com', '--no-color', ...posix_geteuid() === 0 ? ['--allow-root'] : [], ...$arguments,
            ],
            env: ['WP_CLI_CONFIG_PATH' => '/dev/null', 'WP_CLI_CACHE_DIR' => $this->scratch->path, 'WP_CLI_PACKAGES_DIR' => $this->scratch->path],
            timeout: 300.0,
        );
        $process->start();

        return $process;
    }

    /** The directory of the journal. */
    public function directory(): string
    {
        return (glob("{$this->scratch->path}/.larder-*") ?: glob("{$this->root}/wp-content/.larder-*") ?: throw new \RuntimeException('The plugin has no directory.'))[0];
    }

    /** Lets other users read it and reach the database. */
    public function openToAll(): void
    {
        foreach ([$this->scratch->path, \dirname($this->server->socket)] as $directory) {
            chmod($directory, 0o755);
        }
    }

    /** The folder of the plugin. */
    public function plugin(): string
    {
        return $this->installation->plugin('larder');
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
        foreach (['mysqlnd', 'mysqli', 'dom', 'xml', 'simplexml', 'xmlreader', 'xmlwriter', 'mbstring', 'tokenizer', 'curl', 'posix', 'ctype', 'fileinfo', 'iconv', 'sqlite3', 'igbinary', 'msgpack', 'redis', 'memcached', 'apcu', 'phar', 'pcntl'] as $module) {
            if (is_file(\ini_get('extension_dir') . "/{$module}.so")) {
                array_push($options, '-d', "extension={$module}");
            }
        }

        return $options;
    }

    /** @return list<string> options by which processes share what they have compiled of WordPress, which is half of what a command takes */
    private static function compiled(): array
    {
        self::$code ??= new Scratch();

        return is_file(\ini_get('extension_dir') . '/opcache.so')
            ? ['-d', 'zend_extension=opcache', '-d', 'opcache.enable_cli=1', '-d', 'opcache.file_cache_only=1', '-d', 'opcache.file_cache=' . self::$code->path]
            : [];
    }
}
