<?php

declare(strict_types=1);

namespace Larder\Bench\Server;

/** nginx in front of php-fpm, on a TCP port of 127.0.0.1; no log of requests, no file of the system's configuration. */
final class NginxServer implements Server
{
    /** What scripts of a site are told besides. */
    private const OF_A_SITE = [
        'REQUEST_URI' => '$request_uri', 'CONTENT_TYPE' => '$content_type', 'CONTENT_LENGTH' => '$content_length',
        'DOCUMENT_ROOT' => '$document_root', 'REMOTE_ADDR' => '$remote_addr', 'SERVER_NAME' => '$server_name', 'SERVER_PORT' => '$server_port',
    ];

    private function __construct(
        private readonly ServerProcess $process,
        private readonly string $version,
        private readonly string $configuration,
        public readonly int $port,
    ) {}

    /**
     * @param string $root the directory of the scripts
     * @param string $fpm php-fpm's socket
     * @param list<string> $placement a command that runs its arguments, such as `taskset -c 1`
     * @param bool $isSite whether it serves files that are no scripts, too, and tells scripts all of a request, bodies included
     * @param string $caching the script whose answers it keeps itself, and serves without PHP; empty: none
     * @param string $more directives beside the block of the server
     * @param string $ofScripts more directives for scripts
     * @throws ServerFailed
     */
    public static function start(string $root, string $fpm, int $workers, array $placement = [], bool $isSite = false, string $caching = '', string $more = '', string $ofScripts = ''): self
    {
        $program = Program::find('nginx') ?? throw ServerFailed::isNotInstalled('nginx', 'nginx', 'nginx-light');
        $directory = ServerProcess::directory();
        $port = ServerProcess::freePort();
        $configuration = self::configuration($directory, $root, $fpm, $port, $workers, $isSite, $caching, $more, $ofScripts);
        file_put_contents("{$directory}/nginx.conf", $configuration);
        $process = ServerProcess::start(
            'nginx',
            $directory,
            [...$placement, $program, '-p', $directory, '-e', "{$directory}/error.log", '-c', "{$directory}/nginx.conf"],
            static fn(): bool => ServerProcess::replies(
                "tcp://127.0.0.1:{$port}",
                "GET /nginx-is-here HTTP/1.0\r\n\r\n",
                'HTTP/1.1 204',
            ),
            ['error.log'],
        );

        return new self(
            $process,
            Program::version([$program, '-v']),
            strtr($configuration, [$directory => '', $root => '', $fpm => 'php-fpm']),
            $port,
        );
    }

    public function endpoint(): array
    {
        return ['host' => '127.0.0.1', 'port' => $this->port];
    }

    public function description(): array
    {
        return ['version' => $this->version, 'command' => $this->configuration];
    }

    public function processIds(): array
    {
        return $this->process->processIds();
    }

    public function stop(): void
    {
        $this->process->stop();
    }

    private static function configuration(string $directory, string $root, string $fpm, int $port, int $workers, bool $isSite, string $caching, string $more, string $ofScripts): string
    {
        $keeps = $more === '' ? '' : "\n    {$more}";
        $kept = '';
        if ($caching !== '') {
            $keeps .= "\n    fastcgi_cache_path {$directory}/kept keys_zone=kept:1m;";
            $kept = "\n        location = {$caching} { fastcgi_cache kept; fastcgi_cache_key \$request_uri; fastcgi_cache_valid 200 1h; fastcgi_pass unix:{$fpm}; fastcgi_param REQUEST_METHOD \$request_method; fastcgi_param REQUEST_URI \$request_uri; fastcgi_param SCRIPT_FILENAME {$root}{$caching}; }";
        }
        $parameters = $files = '';
        $scripts = 'location /';
        foreach ($isSite ? self::OF_A_SITE : [] as $name => $value) {
            $parameters .= "\n            fastcgi_param {$name} {$value};";
        }
        if ($isSite) {
            $files = "\n        root {$root};\n        index index.php;\n        gzip_static on;\n        types { text/html html; text/css css; text/javascript js; image/svg+xml svg; image/png png; }"
                . "\n        location ~ \\.(?:css|js|svg|png|gif|ico|woff2?)$ { try_files \$uri /index.php?\$args; }";
        }
        if ($isSite) {
            // Addresses that are no files are WordPress's.
            $scripts = "location / { try_files \$uri \$uri/ /index.php?\$args; }\n        location ~ \\.php$";
        }
        $parameters .= $ofScripts === '' ? '' : "\n            {$ofScripts}";
        $user = posix_geteuid() === 0 ? "user root;\n" : '';

        return <<<CONFIGURATION
            {$user}daemon off;
            master_process on;
            worker_processes {$workers};
            pid {$directory}/pid;
            events { worker_connections 1024; }
            http {
                access_log off;
                keepalive_requests 1000000;
                client_body_temp_path {$directory}/body;
                fastcgi_temp_path {$directory}/fastcgi;
                proxy_temp_path {$directory}/proxy;
                uwsgi_temp_path {$directory}/uwsgi;
                scgi_temp_path {$directory}/scgi;{$keeps}
                server {
                    listen 127.0.0.1:{$port} backlog=1024;
                    location = /nginx-is-here { return 204; }{$kept}{$files}
                    {$scripts} {
                        fastcgi_pass unix:{$fpm};
                        fastcgi_param REQUEST_METHOD \$request_method;
                        fastcgi_param QUERY_STRING \$query_string;
                        fastcgi_param SCRIPT_NAME \$uri;
                        fastcgi_param SCRIPT_FILENAME {$root}\$uri;
                        fastcgi_param SERVER_PROTOCOL \$server_protocol;{$parameters}
                    }
                }
            }

            CONFIGURATION;
    }
}
