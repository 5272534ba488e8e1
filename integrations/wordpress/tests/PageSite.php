<?php

declare(strict_types=1);

namespace Larder\WordPress\Tests;

use Larder\Bench\Server\NginxServer;
use Larder\Bench\Server\PhpFpmServer;
use Larder\Tests\System\Extension\Workers;

/** A site with a page cache, behind nginx and php-fpm. */
final class PageSite
{
    /** The ways to switch it on, in wp-config.php. */
    public const ORDINARY = "define('WP_CACHE', true);";
    public const QUICK = "@include __DIR__ . '/wp-content/advanced-cache.php';";

    public readonly string $host;

    public readonly string $url;

    private function __construct(
        public readonly Site $site,
        public readonly PhpFpmServer $fpm,
        public readonly NginxServer $nginx,
        private readonly string $configuration,
        private readonly bool $hasExtension,
        private readonly bool $isNetwork,
    ) {
        $this->host = $isNetwork ? 'example.com' : "127.0.0.1:{$nginx->port}";
        $this->url = "http://{$this->host}";
    }

    public static function start(string $configuration = self::ORDINARY, bool $hasExtension = true, int $workers = 4, bool $isNetwork = false): self
    {
        $site = new Site(isNetwork: $isNetwork);
        $ini = ['display_errors' => 0, 'opcache.enable' => 1, 'opcache.revalidate_freq' => 0];
        $fpm = PhpFpmServer::start($hasExtension ? ['extension' => Workers::extension(), ...$ini] : $ini, $workers);
        $nginx = NginxServer::start($site->root, $fpm->socket, 2, isSite: true);
        $self = new self($site, $fpm, $nginx, $configuration, $hasExtension, $isNetwork);
        $self->configure();
        $self->run('require_once ABSPATH . "wp-admin/includes/plugin.php"; $e = activate_plugin("larder/larder.php", "", is_multisite()); if (is_wp_error($e)) { echo $e->get_error_message(); exit(1); }'
            . ' update_option("permalink_structure", "/%postname%/"); '
            // The command line has guessed them. One site has them in wp-config.php.
            . ($isNetwork ? "update_option('siteurl', '{$self->url}'); update_option('home', '{$self->url}');" : ''));
        // Taxonomies have addresses only in a request that begins with these.
        $self->run('flush_rewrite_rules();');
        // The first page that a site shows makes posts and options that it lacks.
        $self->visit('/?first');
        $self->visit('/hello-world/?first');

        return $self;
    }

    public function stop(): void
    {
        $this->nginx->stop();
        $this->fpm->stop();
        if ($this->hasExtension) {
            $this->site->removePool();
        }
    }

    /** Other lines of wp-config.php. */
    public function configure(?string $lines = null): void
    {
        $this->site->configure(($lines ?? $this->configuration) . ($this->isNetwork ? '' : " define('WP_HOME', '{$this->url}'); define('WP_SITEURL', '{$this->url}');"));
    }

    /**
     * Runs code in WordPress on the command line.
     *
     * @param list<string> $arguments
     */
    public function run(string $code, array $arguments = [], ?string $host = null): string
    {
        return $this->site->run($code, $arguments, options: $this->hasExtension ? null : [], host: $host ?? $this->host);
    }

    /**
     * @param list<string>          $headers whole lines
     * @param array<string, string> $fields  of a form; empty: none
     */
    public function visit(string $uri, array $headers = [], string $method = 'GET', array $fields = []): Answer
    {
        return Answer::of($this->request($uri, $headers, $method, $fields));
    }

    /**
     * Many at once.
     *
     * @param list<array{string, list<string>, 2?: string, 3?: array<string, string>}> $visits URIs, headers, methods, fields of forms
     *
     * @return list<Answer>
     */
    public function visitAtOnce(array $visits): array
    {
        $all = curl_multi_init();
        $handles = array_map(fn(array $visit): \CurlHandle => $this->request(...$visit), $visits);
        foreach ($handles as $handle) {
            curl_multi_add_handle($all, $handle);
        }
        do {
            curl_multi_exec($all, $running);
            curl_multi_select($all, 1.0);
        } while ($running > 0);

        return array_map(static fn(\CurlHandle $handle): Answer => Answer::ofText((string) curl_multi_getcontent($handle), curl_getinfo($handle, \CURLINFO_HEADER_SIZE)), $handles);
    }

    /**
     * A request that is not sent yet.
     *
     * @param list<string>          $headers whole lines
     * @param array<string, string> $fields  of a form; empty: none
     */
    public function request(string $uri, array $headers = [], string $method = 'GET', array $fields = []): \CurlHandle
    {
        $handle = curl_init();
        if (preg_grep('/^host:/i', $headers) === []) {
            $headers[] = "Host: {$this->host}";
        }
        if ($uri === '' || $method === '') {
            throw new \ValueError('A request has a method and an address.');
        }
        curl_setopt_array($handle, [
            \CURLOPT_URL => "http://127.0.0.1:{$this->nginx->port}/", \CURLOPT_REQUEST_TARGET => $uri, \CURLOPT_PATH_AS_IS => true, \CURLOPT_HTTPHEADER => $headers, \CURLOPT_RETURNTRANSFER => true, \CURLOPT_HEADER => true, \CURLOPT_TIMEOUT => 300,
            \CURLOPT_CUSTOMREQUEST => $method, \CURLOPT_NOBODY => $method === 'HEAD', \CURLOPT_PROXY => '',
        ]);
        if ($fields !== []) {
            curl_setopt($handle, \CURLOPT_POSTFIELDS, http_build_query($fields));
        }

        return $handle;
    }
}
