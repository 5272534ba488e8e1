<?php

declare(strict_types=1);

namespace Larder\WordPress;

/**
 * The DSN of the server that wp-config.php names for another object cache. It reads the constants of Redis Object Cache (WP_REDIS_*), the
 * array of Object Cache Pro (WP_REDIS_CONFIG), and the servers of the Memcached plugins.
 */
final class Servers
{
    private function __construct() {}

    /** @return ?string null: it names none */
    public static function dsn(): ?string
    {
        $configuration = \defined('WP_REDIS_CONFIG') && \is_array(WP_REDIS_CONFIG) ? WP_REDIS_CONFIG : self::constants();
        if ($configuration !== []) {
            return self::redis($configuration);
        }
        $servers = $GLOBALS['memcached_servers'] ?? (\defined('WP_MEMCACHED_SERVERS') ? WP_MEMCACHED_SERVERS : null);
        if (!\is_array($servers)) {
            return null;
        }
        $names = [];
        array_walk_recursive($servers, static function (mixed $server) use (&$names): void {
            if (\is_string($server) && preg_match('/[a-z.]/i', $server) === 1) {
                $names[] = preg_replace('~^(?:tcp|memcached|unix)://|(?<=[^\d.:]):0$~', '', $server);
            }
        });
        $names = array_unique($names);
        if ($names === []) {
            return null;
        }

        return str_starts_with((string) $names[0], '/') ? 'memcached+unix:' . $names[0] : 'memcached://' . implode(',', $names);
    }

    /** @return array<string, mixed> */
    private static function constants(): array
    {
        $named = [];
        foreach (['scheme', 'host', 'port', 'path', 'username', 'password', 'database', 'timeout', 'read_timeout', 'servers', 'cluster', 'sentinel', 'ssl_context'] as $name) {
            $constant = 'WP_REDIS_' . strtoupper($name);
            if (\defined($constant)) {
                $named[$name] = \constant($constant);
            }
        }

        // That plugin's own defaults are a server on this machine; only what is said counts as a configuration.
        return isset($named['host']) || isset($named['path']) || isset($named['servers']) || isset($named['cluster']) || isset($named['scheme']) ? $named : [];
    }

    /** @param array<array-key, mixed> $of */
    private static function redis(array $of): string
    {
        $of = self::master($of);
        $text = static fn(string $name): string => \is_scalar($of[$name] ?? null) ? (string) $of[$name] : '';
        $password = $of['password'] ?? '';
        [$user, $password] = \is_array($password) ? (\count($password) > 1 ? array_values($password) : ['', reset($password)]) : [$text('username'), $password];
        $user = \is_scalar($user) ? (string) $user : '';
        $password = \is_scalar($password) ? (string) $password : '';
        $login = $password === '' ? '' : rawurlencode($user) . ':' . rawurlencode($password) . '@';
        $options = [];
        foreach (['timeout', 'read_timeout'] as $name) {
            if (is_numeric($of[$name] ?? null) && $of[$name] > 0) {
                $options[] = "{$name}=" . $of[$name];
            }
        }
        $database = max(0, (int) $text('database'));
        $host = $text('host') === '' ? '127.0.0.1' : $text('host');
        $scheme = strtolower($text('scheme'));
        $path = $text('path') !== '' ? $text('path') : (str_starts_with($host, '/') || str_starts_with($host, 'unix://') ? substr($host, (int) strpos($host, '/')) : '');
        $servers = \is_array($of['servers'] ?? null) ? $of['servers'] : [];
        [$service, $sentinels] = $text('sentinel') !== '' ? [$text('sentinel'), $servers] : [$text('service'), $of['sentinels'] ?? null];
        $cluster = $of['cluster'] ?? null;
        $first = \is_array($cluster) && $cluster !== [] ? reset($cluster) : (\is_array($sentinels) && $sentinels !== [] ? reset($sentinels) : $host);
        $isSecure = \in_array($scheme, ['tls', 'rediss', 'ssl'], true) || (\is_string($first) && preg_match('~^(?:tls|rediss|ssl)://~', $first) === 1);
        $redis = $isSecure ? 'rediss' : 'redis';
        if ($isSecure) {
            array_push($options, ...self::tls($of['ssl_context'] ?? $of['tls_options'] ?? null));
        }
        if (\is_array($cluster) && $cluster !== []) {
            $dsn = "{$redis}+cluster://{$login}" . self::hosts($cluster);
        } elseif ($service !== '' && \is_array($sentinels) && $sentinels !== []) {
            $dsn = "{$redis}+sentinel://{$login}" . self::hosts($sentinels) . "/{$database}";
            $options[] = 'service=' . rawurlencode($service);
        } elseif (($scheme === 'unix' || $path !== '') && $path !== '') {
            $options[] = "database={$database}";
            $dsn = 'redis+unix:' . ($login === '' ? '' : "//{$login}") . preg_replace('~^/+~', '/', $path);
        } else {
            $port = (int) $text('port');
            $dsn = "{$redis}://{$login}" . preg_replace('~^\w+://~', '', $host) . ($port > 0 ? ":{$port}" : '') . "/{$database}";
        }

        return $dsn . ($options === [] ? '' : '?' . implode('&', $options));
    }

    /**
     * Where a configuration lists a master and its replicas, the master's place is that of the only server.
     *
     * @param array<array-key, mixed> $of
     *
     * @return array<array-key, mixed>
     */
    private static function master(array $of): array
    {
        if (isset($of['host']) || isset($of['sentinel']) || isset($of['sentinels']) || !\is_array($of['servers'] ?? null)) {
            return $of;
        }
        $servers = array_values(array_filter($of['servers'], is_string(...)));
        $masters = array_values(array_filter($servers, static fn(string $server): bool => preg_match('~[?&](?:role|alias)=(?:master|primary)\b~', $server) === 1));
        $place = parse_url($masters[0] ?? $servers[0] ?? '');
        if (!\is_array($place) || !isset($place['host'])) {
            return $of;
        }
        parse_str($place['query'] ?? '', $query);

        return array_intersect_key($query, ['database' => true, 'password' => true]) + ['host' => $place['host'], 'port' => $place['port'] ?? 6379, 'scheme' => $place['scheme'] ?? 'tcp'] + $of;
    }

    /** @return list<string> options of a DSN that mean what this context of PHP's streams does */
    private static function tls(mixed $context): array
    {
        $context = \is_array($context) && \is_array($context['stream'] ?? null) ? $context['stream'] : $context;
        $options = [];
        foreach (['cafile' => 'tls_ca', 'local_cert' => 'tls_cert', 'local_pk' => 'tls_key', 'peer_name' => 'tls_name'] as $name => $option) {
            if (\is_array($context) && \is_string($context[$name] ?? null) && $context[$name] !== '') {
                $options[] = "{$option}=" . rawurlencode($context[$name]);
            }
        }
        if (\is_array($context) && ($context['verify_peer'] ?? true) === false) {
            $options[] = 'tls_verify=no';
        }

        return $options;
    }

    /** @param array<array-key, mixed> $servers */
    private static function hosts(array $servers): string
    {
        $hosts = [];
        foreach ($servers as $server) {
            if (\is_string($server)) {
                $hosts[] = (string) preg_replace('~^\w+://|[/?].*$~', '', $server);
            }
        }

        return implode(',', $hosts);
    }
}
