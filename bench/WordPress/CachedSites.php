<?php

declare(strict_types=1);

namespace Larder\Bench\WordPress;

use Larder\Bench\Fields;
use Larder\Bench\FileSystem;
use Larder\Bench\Server\MariaDbServer;
use Larder\Bench\Server\NginxServer;
use Larder\Bench\Server\PhpFpmServer;
use Larder\Bench\Server\Server;
use Larder\Bench\Server\ServerFailed;
use Larder\Bench\Subject\Extension;
use Larder\Bench\Subject\TemporaryDirectory;
use Larder\Bench\Subject\WorkerFailed;
use Larder\Bench\Subject\WorkerProcess;

/**
 * A WordPress with each page cache, in a folder each under one nginx and php-fpm: one pair with the extension, and one without.
 * All share a database, which has the pages.
 */
final class CachedSites
{
    public const WORKERS = 4;

    private const DATABASE = 'pages';
    private const NGINX_CACHE = '/nginx-cache.php';
    private const AGENT = 'benchmark';

    /** @var array<string, WorkerFailed> why a design has no site, by its name */
    public array $failures = [];

    /** @var list<int> of the posts, in the order of their sizes */
    private array $posts = [];

    /**
     * @param array<int, PhpFpmServer>      $fpms    by whether they have the extension
     * @param array<int, NginxServer>       $fronts  the same
     * @param array<string, PageCacheDesign> $designs by name
     */
    private function __construct(
        private readonly TemporaryDirectory $directory,
        private readonly MariaDbServer $database,
        private readonly array $fpms,
        private readonly array $fronts,
        private readonly array $designs,
    ) {}

    public function __destruct()
    {
        foreach ($this->designs as $design) {
            if ($design->isLarder && $design->hasExtension) {
                // All share a pool, which goes after the answer.
                $this->answer($design->name, 'do.php?do=clean');
                break;
            }
        }
        array_map(static fn(Server $server) => $server->stop(), [...$this->fronts, ...$this->fpms, $this->database]);
    }

    /**
     * @param string                         $wordpress where it is
     * @param array<string, PageCacheDesign> $designs   by name
     * @param array<string, Server>          $stores    the servers of those that have one, by name
     * @param non-empty-list<int>            $bytes     of the pages
     * @param list<string>                   $placement a command that runs its arguments where servers run
     *
     * @throws ServerFailed
     * @throws WorkerFailed when WordPress cannot be installed
     */
    public static function open(string $wordpress, array $designs, array $stores, array $bytes, array $placement): self
    {
        $directory = TemporaryDirectory::make(FileSystem::onDisk());
        $root = $directory->part('public');
        $database = MariaDbServer::start($placement);
        $fpms = $fronts = [];
        foreach ([1, 0] as $hasExtension) {
            $settings = [...($hasExtension === 1 ? Extension::settings() : []), ...WorkerProcess::SETTINGS, 'memory_limit' => '256M', 'error_reporting' => (string) (E_ALL & ~E_DEPRECATED), 'display_errors' => '0'];
            $fpms[$hasExtension] = PhpFpmServer::start($settings, self::WORKERS, $placement);
            $fronts[$hasExtension] = NginxServer::start($root, $fpms[$hasExtension]->socket, 1, $placement, true, self::NGINX_CACHE);
        }
        $sites = new self($directory, $database, $fpms, $fronts, $designs);
        (new \mysqli('localhost', 'root', '', '', 0, $database->socket))->query('CREATE DATABASE ' . self::DATABASE);
        $isInstalled = false;
        foreach ($designs as $name => $design) {
            if (!$design->isSite()) {
                continue;
            }
            $site = $sites->install($wordpress, $root, $design, $stores[$name] ?? null);
            if (!$isInstalled) {
                $sites->do($name, ['do' => 'install']);
                $sites->posts = array_map(intval(...), $sites->do($name, ['do' => 'fill', 'bytes' => implode(' ', $bytes)])->numbers('posts'));
                $isInstalled = true;
            }
            if ($design->isLarder || $design->original !== null) {
                try {
                    // Many originals write their drop-in when they are switched on.
                    $mistake = $sites->do($name, $design->original === null ? ['do' => 'enable'] : ['do' => 'activate', 'plugin' => (string) $design->original->main()])->string('mistake');
                    if ($mistake !== '') {
                        throw WorkerFailed::said($design->title, $mistake);
                    }
                } catch (WorkerFailed $failure) {
                    $sites->failures[$name] = $failure;
                }
            } elseif ($design->rival !== null) {
                $code = '';
                foreach ([$design->rival, 'rival'] as $part) {
                    $code .= preg_replace('~^<\?php|declare\(strict_types=1\);~m', '', (string) file_get_contents(self::scripts() . "/{$part}.inc"));
                }
                file_put_contents("{$site->root}/wp-content/advanced-cache.php", "<?php declare(strict_types=1); {$code}");
            }
        }
        file_put_contents("{$root}/empty.php", '<?php');
        $sites->makeLimits($root);

        return $sites;
    }

    private static function scripts(): string
    {
        return Shop::scripts() . '/page-cache';
    }

    /** The path of a page, which generators ask for. */
    public function path(string $name, int $page): string
    {
        return match ($name) {
            PageCacheDesign::EMPTY, PageCacheDesign::EMPTY_PLAIN => '/empty.php',
            PageCacheDesign::NGINX => "/static/{$page}.html",
            PageCacheDesign::NGINX_CACHE => self::NGINX_CACHE . "?{$page}",
            default => "/{$name}/?page_id={$this->posts[$page]}",
        };
    }

    public function port(string $name): int
    {
        return $this->fronts[(int) $this->designs[$name]->hasExtension]->port;
    }

    /** @return list<int> the processes that a design's requests are served by; those of its store are not among them */
    public function processIds(string $name): array
    {
        $which = (int) $this->designs[$name]->hasExtension;

        return [...$this->fronts[$which]->processIds(), ...$this->fpms[$which]->processIds(), ...$this->database->processIds()];
    }

    /** @return array<string, array{version: string, command: string}> */
    public function descriptions(): array
    {
        return ['nginx' => $this->fronts[1]->description(), 'php-fpm' => $this->fpms[1]->description(), 'MariaDB for WordPress' => $this->database->description()];
    }

    /**
     * Has a site show a page twice, so that it is kept.
     *
     * @return int bytes on the wire of a page that is served
     *
     * @throws WorkerFailed when the page is not what it should be
     */
    public function warm(string $name, int $page, int $bytes): int
    {
        $answer = '';
        $made = 0;
        for ($i = 0; $i < 2; $i++) {
            $made = $this->made($name);
            $answer = $this->answer($name, $this->path($name, $page), true);
        }
        [$head, $body] = explode("\r\n\r\n", $answer, 2) + [1 => ''];
        $isEmpty = $name === PageCacheDesign::EMPTY || $name === PageCacheDesign::EMPTY_PLAIN;
        $isOriginal = $this->designs[$name]->original !== null;
        $plain = $isEmpty ? '' : (@gzdecode($body) ?: ($isOriginal ? $body : false));
        // An original may send a page as it is, and say something at its end.
        $isWhole = $plain !== false && ($isEmpty || ($isOriginal ? \strlen($plain) >= $bytes && str_contains($plain, '</html>') : \strlen($plain) === $bytes && str_ends_with($plain, "</html>\n")));
        if (!str_contains($head, ' 200 ') || !$isWhole) {
            throw WorkerFailed::said($this->designs[$name]->title, sprintf('a page of %d bytes is none: "%s"', $bytes, substr($answer, 0, 400)));
        }
        $isHit = match (true) {
            $this->designs[$name]->isLarder => str_contains($head, 'Larder; hit'),
            $this->designs[$name]->rival !== null => str_contains($head, 'X-Cache: HIT'),
            $isOriginal => $this->made($name) === $made,
            default => true,
        };
        if (!$isHit) {
            throw WorkerFailed::said($this->designs[$name]->title, "a page is not served from the cache: \"{$head}\"");
        }

        return \strlen($answer);
    }

    /** @throws WorkerFailed */
    public function save(string $name, int $page, string $title): void
    {
        $this->do($name, ['do' => 'save', 'post' => $this->posts[$page], 'title' => $title]);
    }

    /** @return string the title that a visitor sees now; empty: the page failed */
    public function title(string $name, int $page): string
    {
        $body = explode("\r\n\r\n", $this->answer($name, $this->path($name, $page), true), 2)[1] ?? '';

        // WordPress itself compresses nothing.
        return preg_match('~<h1>(.*?)</h1>~', @gzdecode($body) ?: $body, $match) === 1 ? $match[1] : '';
    }

    /** How often WordPress has made a page of a site. */
    public function made(string $name): int
    {
        clearstatcache();

        return (int) @filesize("{$this->directory->path}/public/{$name}/made");
    }

    /** @param array<string, string|int> $arguments */
    private function do(string $name, array $arguments): Fields
    {
        $answer = $this->answer($name, "/{$name}/do.php?" . http_build_query($arguments));
        if (!str_starts_with($answer, '{')) {
            throw WorkerFailed::said($this->designs[$name]->title, substr(trim(strip_tags($answer)), 0, 300));
        }

        return Fields::ofJson($answer, "answer of {$name}");
    }

    private function answer(string $name, string $path, bool $isRaw = false): string
    {
        // As the load generator asks, so that WordPress and its caches know one host only.
        $context = stream_context_create(['http' => ['ignore_errors' => true, 'timeout' => 120, 'protocol_version' => '1.1', 'user_agent' => self::AGENT, 'follow_location' => 0, 'header' => ['Host: 127.0.0.1', 'Connection: close', 'Accept-Encoding: gzip']]]);
        $body = (string) @file_get_contents("http://127.0.0.1:{$this->port($name)}" . ($path[0] === '/' ? $path : "/{$name}/{$path}"), false, $context);

        return $isRaw ? implode("\r\n", $http_response_header) . "\r\n\r\n{$body}" : $body;
    }

    private function install(string $wordpress, string $root, PageCacheDesign $design, ?Server $store): Installation
    {
        $site = Installation::make($wordpress, "{$root}/{$design->name}", self::DATABASE, $this->database->socket);
        copy(self::scripts() . '/site.inc', "{$site->root}/wp-content/mu-plugins/site.php");
        copy(self::scripts() . '/do.inc', "{$site->root}/do.php");
        $socket = (string) ($store?->endpoint()['socket'] ?? '');
        $url = var_export("http://127.0.0.1/{$design->name}", true);
        $lines = [
            "define('WP_HOME', {$url}); define('WP_SITEURL', {$url});",
            // Each has a pool, a directory and keys of its own.
            'define("WP_LARDER_PREFIX", ' . var_export($design->name, true) . ');',
            'define("WP_LARDER_DIRECTORY", ' . var_export($this->directory->part("{$design->name}-store"), true) . ');',
            'define("RIVAL_DIRECTORY", ' . var_export($this->directory->part("{$design->name}-pages"), true) . ');',
            'define("RIVAL_SOCKET", ' . var_export($socket, true) . ');',
            'define("WP_POST_REVISIONS", false);',
        ];
        $design->original?->add($site);
        if ($design->isLarder) {
            $site->addLarder(\dirname(Shop::scripts()));
            file_put_contents("{$site->root}/wp-content/mu-plugins/larder.php", '<?php require WP_PLUGIN_DIR . "/larder/larder.php";');
            if ($design->hasExtension) {
                $lines[] = 'define("WP_LARDER_DSN", ' . var_export("shm:{$this->directory->name()}", true) . ');';
            }
        }
        $quick = str_starts_with($design->lines, '@include') ? strstr("{$design->lines}\n", "\n", true) : '';
        $site->configure(implode("\n", $lines) . "\n" . ($quick === '' ? strtr($design->lines, ['{socket}' => $socket]) : ''));
        if ($quick !== '') {
            $file = "{$site->root}/wp-config.php";
            file_put_contents($file, "<?php\n{$quick}\n" . substr((string) file_get_contents($file), \strlen("<?php\n")));
        }

        return $site;
    }

    /** What nginx serves alone: the pages of the first site, compressed as those of the caches. */
    private function makeLimits(string $root): void
    {
        mkdir("{$root}/static");
        $first = array_key_first(array_filter($this->designs, static fn(PageCacheDesign $design): bool => $design->isSite()));
        foreach (array_keys($this->posts) as $page) {
            $body = explode("\r\n\r\n", $this->answer((string) $first, $this->path((string) $first, $page), true), 2)[1] ?? '';
            $plain = (string) (@gzdecode($body) ?: $body);
            file_put_contents("{$root}/static/{$page}.html", $plain);
            file_put_contents("{$root}/static/{$page}.html.gz", gzencode($plain, 6));
        }
        file_put_contents($root . self::NGINX_CACHE, '<?php header("Content-Encoding: gzip"); readfile(__DIR__ . "/static/" . (int) explode("?", $_SERVER["REQUEST_URI"] ?? "?0")[1] . ".html.gz");');
    }
}
