<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

use Larder\Dsn;
use Larder\Exception;
use Larder\Exception\ExtensionMissing;
use Larder\Exception\InvalidDsn;
use Larder\Exception\InvalidOption;

/** The connection that a DSN describes. */
final class Connections
{
    /** The options of a DSN that fromDsn() reads. */
    public const OPTIONS = ['client', 'database', 'timeout', 'read_timeout', 'retry_after', 'persistent'];

    public const TLS_OPTIONS = ['tls_ca', 'tls_cert', 'tls_key', 'tls_name', 'tls_verify'];

    public const SENTINEL_OPTIONS = ['service', 'sentinel_user', 'sentinel_password'];

    /** How many parts the items of a cluster are divided into, unless the configuration says. */
    public const SHARDS = 32;

    private function __construct() {}

    /**
     * @throws Exception
     */
    public static function fromDsn(Dsn $dsn): Connection
    {
        $server = self::server($dsn);
        $connect = self::client($dsn->text('client', 'auto'));

        return match (true) {
            // So nearly always.
            $dsn->scheme === 'redis', $dsn->scheme === 'redis+unix' => $connect($server),
            self::isCluster($dsn) => new ClusterConnection(array_map(static fn(array $place): Server => $server->at($place[0], $place[1] ?? 6379), $dsn->hosts), $connect),
            self::isSentinel($dsn) => new SentinelConnection(self::sentinels($dsn), self::service($dsn), $server, $connect),
            default => $connect($server),
        };
    }

    public static function isCluster(Dsn $dsn): bool
    {
        return str_ends_with($dsn->scheme, '+cluster');
    }

    public static function isSentinel(Dsn $dsn): bool
    {
        return str_ends_with($dsn->scheme, '+sentinel');
    }

    /** @return list<string> the options that a DSN of this scheme may have */
    public static function options(Dsn $dsn): array
    {
        if ($dsn->scheme === 'redis' || $dsn->scheme === 'redis+unix') {
            return self::OPTIONS;
        }

        return [
            ...array_diff(self::OPTIONS, self::isCluster($dsn) ? ['database'] : []),
            ...str_starts_with($dsn->scheme, 'rediss') ? self::TLS_OPTIONS : [],
            ...self::isSentinel($dsn) ? self::SENTINEL_OPTIONS : [],
            ...self::isCluster($dsn) ? ['shards'] : [],
        ];
    }

    private static function server(Dsn $dsn): Server
    {
        $isSocket = $dsn->scheme === 'redis+unix';
        if (!$isSocket && preg_match(self::isCluster($dsn) ? '/^$/D' : '/^\d*$/D', $dsn->path) !== 1) {
            throw self::isCluster($dsn)
                ? InvalidDsn::part("{$dsn->written}://{$dsn->host}/{$dsn->path}", 'has a database, but a cluster has only one', "write it as \"{$dsn->written}://host:port,host:port\"")
                : InvalidDsn::part("{$dsn->written}://{$dsn->host}/{$dsn->path}", 'has no number for its database', "write it as \"{$dsn->written}://host:port/0\"");
        }
        $database = $dsn->integer('database', $isSocket ? 0 : (int) $dsn->path);
        if ($database < 0) {
            throw InvalidOption::range('database', $database, '0 or more');
        }

        return new Server(
            host: $dsn->host ?? '127.0.0.1',
            port: $dsn->port ?? 6379,
            socket: $isSocket ? $dsn->absolutePath() : null,
            tls: str_starts_with($dsn->scheme, 'rediss') ? self::tls($dsn) : null,
            user: $dsn->user,
            password: $dsn->password,
            database: $database,
            timeout: $dsn->seconds('timeout', Server::TIMEOUT),
            readTimeout: $dsn->seconds('read_timeout', Server::READ_TIMEOUT),
            retryAfter: $dsn->seconds('retry_after', Server::RETRY_AFTER),
            persistent: $dsn->switch('persistent', false),
        );
    }

    private static function tls(Dsn $dsn): Tls
    {
        $files = [];
        foreach (['tls_ca', 'tls_cert', 'tls_key'] as $option) {
            $path = $dsn->text($option, '');
            if ($path !== '' && !is_readable($path)) {
                throw InvalidDsn::option($option, $path, 'a file that can be read');
            }
            $files[] = $path === '' ? null : $path;
        }
        $name = $dsn->text('tls_name', '');

        return new Tls($files[0], $files[1], $files[2], $name === '' ? null : $name, $dsn->switch('tls_verify', true));
    }

    /** @return non-empty-list<Server> */
    private static function sentinels(Dsn $dsn): array
    {
        $user = $dsn->text('sentinel_user', '');
        $password = $dsn->text('sentinel_password', '');

        return array_map(static fn(array $place): Server => new Server(
            host: $place[0],
            port: $place[1] ?? 26_379,
            tls: str_starts_with($dsn->scheme, 'rediss') ? self::tls($dsn) : null,
            user: $user === '' ? null : $user,
            password: $password === '' ? null : $password,
            timeout: $dsn->seconds('timeout', Server::TIMEOUT),
            readTimeout: $dsn->seconds('read_timeout', Server::READ_TIMEOUT),
            retryAfter: $dsn->seconds('retry_after', Server::RETRY_AFTER),
            isSentinel: true,
        ), $dsn->hosts);
    }

    private static function service(Dsn $dsn): string
    {
        $service = $dsn->text('service', '');

        return $service !== '' ? $service : throw InvalidDsn::part("{$dsn->written}://{$dsn->host}", 'does not say which master it means', 'add the name that the sentinels have for it, such as "?service=mymaster"');
    }

    /** @return \Closure(Server): Connection */
    private static function client(string $client): \Closure
    {
        return match ($client) {
            'auto' => match (true) {
                \extension_loaded('redis') => self::client('phpredis'),
                class_exists(\Predis\Client::class) => self::client('predis'),
                default => throw ExtensionMissing::ofClient('RedisStore', 'the PHP extension redis', 'the package predis/predis'),
            },
            'phpredis' => static fn(Server $server): Connection => new PhpRedisConnection($server),
            'predis' => static fn(Server $server): Connection => new PredisConnection($server),
            default => throw InvalidOption::choice('client', $client, 'auto', 'phpredis', 'predis'),
        };
    }
}
