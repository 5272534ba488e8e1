<?php

declare(strict_types=1);

namespace Larder\WordPress\Tests;

use Larder\Bench\Server\RedisClusterServer;
use Larder\Bench\Server\ServerProcess;
use Larder\Tests\Stores\RedisFlavours;
use Larder\Tests\System\CacheServer;
use Larder\Tests\System\Certificates;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/** Sites that move in with the constants of other object caches, over real servers. */
#[CoversNothing]
final class ServersTest extends TestCase
{
    private static Site $site;

    private ?CacheServer $server = null;

    public static function setUpBeforeClass(): void
    {
        self::$site = new Site();
    }

    public static function tearDownAfterClass(): void
    {
        self::$site->removePool();
    }

    protected function tearDown(): void
    {
        $this->server?->stop();
        self::$site->configure('');
    }

    /** @return iterable<string, array{\Closure(): CacheServer, string}> the server; lines of wp-config.php, in which {socket} and {port} stand for its own */
    public static function configurations(): iterable
    {
        yield 'Redis Object Cache: a socket' => [CacheServer::redis(...), "define('WP_REDIS_SCHEME', 'unix'); define('WP_REDIS_PATH', '{socket}');"];
        yield 'Redis Object Cache: a port and a database' => [CacheServer::redisOnPort(...), "define('WP_REDIS_HOST', '127.0.0.1'); define('WP_REDIS_PORT', {port}); define('WP_REDIS_DATABASE', 3);"];
        yield 'Redis Object Cache: a password with signs' => [
            static fn(): CacheServer => CacheServer::redisOnPort(['--requirepass', 'p@ss/w:?#%']),
            "define('WP_REDIS_HOST', '127.0.0.1'); define('WP_REDIS_PORT', {port}); define('WP_REDIS_PASSWORD', 'p@ss/w:?#%');",
        ];
        yield 'Redis Object Cache: a password on a socket' => [
            static fn(): CacheServer => CacheServer::redis(['--requirepass', 'p@ss']),
            "define('WP_REDIS_SCHEME', 'unix'); define('WP_REDIS_PATH', '{socket}'); define('WP_REDIS_PASSWORD', 'p@ss');",
        ];
        yield 'Redis Object Cache: an array of a user and a password' => [
            static fn(): CacheServer => CacheServer::redisOnPort(['--user', 'shop', 'on', '>secret', '~*', '&*', '+@all', '--user', 'default', 'off']),
            "define('WP_REDIS_HOST', '127.0.0.1'); define('WP_REDIS_PORT', {port}); define('WP_REDIS_PASSWORD', ['shop', 'secret']);",
        ];
        yield 'Object Cache Pro: its array' => [
            static fn(): CacheServer => CacheServer::redisOnPort(['--requirepass', 'secret']),
            "define('WP_REDIS_CONFIG', ['token' => 'x', 'host' => '127.0.0.1', 'port' => {port}, 'database' => 2, 'password' => 'secret', 'timeout' => 0.5, 'read_timeout' => 0.5, 'split_alloptions' => true]);",
        ];
        yield 'Object Cache Pro: a socket as the host' => [CacheServer::redis(...), "define('WP_REDIS_CONFIG', ['host' => 'unix://{socket}', 'port' => 0]);"];
        yield 'Memcached: servers by bucket' => [
            static fn(): CacheServer => CacheServer::memcached(),
            "\$memcached_servers = ['default' => ['unix://{socket}:0']];",
        ];
        yield 'Memcached: a list' => [static fn(): CacheServer => CacheServer::memcached(), "\$memcached_servers = ['{socket}'];"];
    }

    /** @param \Closure(): CacheServer $start */
    #[DataProvider('configurations')]
    public function testASiteKeepsTheServerThatItsConfigurationNames(\Closure $start, string $configuration): void
    {
        $this->begin($start(), $configuration);
        self::assertSame('The object cache is on and uses the server that wp-config.php names.', self::$site->run('echo (new Larder\WordPress\Report(new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder")))->state();'));
        self::$site->run('wp_cache_set("key", ["kept"], "shop"); update_option("blogname", "Served");');
        self::assertSame('kept Served', self::$site->run('echo wp_cache_get("key", "shop")[0] ?? "none", " ", get_option("blogname");'));
        // It is that server which has it: without its memory there is nothing.
        $this->server?->kill();
        $this->server?->start();
        self::assertSame('none Served', self::$site->run('echo wp_cache_get("key", "shop")[0] ?? "none", " ", get_option("blogname");'));
    }

    /** @return iterable<string, array{string}> lines of wp-config.php, in which {hosts} stands for the nodes */
    public static function clusters(): iterable
    {
        yield 'Redis Object Cache' => ["define('WP_REDIS_CLUSTER', {hosts});"];
        yield 'Object Cache Pro' => ["define('WP_REDIS_CONFIG', ['token' => 'x', 'cluster' => {hosts}]);"];
    }

    #[DataProvider('clusters')]
    public function testASiteKeepsItsCluster(string $configuration): void
    {
        $cluster = RedisClusterServer::start(RedisFlavours::first(), 64);
        try {
            $ports = array_map(static fn(string $host): int => (int) substr((string) strrchr($host, ':'), 1), explode(',', $cluster->endpoint()['hosts']));
            $this->keeps(strtr($configuration, ['{hosts}' => self::urls($ports)]), $ports);
        } finally {
            $cluster->stop();
        }
    }

    /** @return iterable<string, array{string}> lines of wp-config.php, in which {sentinels} stands for the sentinels */
    public static function sentinels(): iterable
    {
        yield 'Redis Object Cache' => ["define('WP_REDIS_SENTINEL', 'shop'); define('WP_REDIS_SERVERS', {sentinels});"];
        yield 'Object Cache Pro' => ["define('WP_REDIS_CONFIG', ['token' => 'x', 'sentinels' => {sentinels}, 'service' => 'shop']);"];
    }

    #[DataProvider('sentinels')]
    public function testASiteKeepsTheMasterThatItsSentinelsName(string $configuration): void
    {
        $master = CacheServer::redisOnPort()->start();
        $sentinel = CacheServer::sentinel($master->port, 1)->start();
        try {
            $this->keeps(strtr($configuration, ['{sentinels}' => self::urls([$sentinel->port])]), [$master->port]);
        } finally {
            $sentinel->stop();
            $master->stop();
        }
    }

    /** @return iterable<string, array{string}> lines of wp-config.php, in which {port} and {ca} stand for the server's, and {other} for the port of a replica that is down */
    public static function secure(): iterable
    {
        yield 'Redis Object Cache' => ["define('WP_REDIS_SCHEME', 'tls'); define('WP_REDIS_HOST', '127.0.0.1'); define('WP_REDIS_PORT', {port}); define('WP_REDIS_SSL_CONTEXT', ['cafile' => '{ca}']);"];
        yield 'Redis Object Cache, which believes any server' => ["define('WP_REDIS_SCHEME', 'tls'); define('WP_REDIS_HOST', '127.0.0.1'); define('WP_REDIS_PORT', {port}); define('WP_REDIS_SSL_CONTEXT', ['verify_peer' => false, 'verify_peer_name' => false]);"];
        yield 'Redis Object Cache, a master and a replica' => ["define('WP_REDIS_SERVERS', ['tls://127.0.0.1:{other}?alias=replica-1', 'tls://127.0.0.1:{port}?alias=master&database=4']); define('WP_REDIS_SSL_CONTEXT', ['cafile' => '{ca}']);"];
        yield 'Object Cache Pro' => ["define('WP_REDIS_CONFIG', ['token' => 'x', 'scheme' => 'tls', 'host' => 'localhost', 'port' => {port}, 'tls_options' => ['cafile' => '{ca}', 'peer_name' => 'localhost']]);"];
        yield 'Object Cache Pro, a master and a replica' => ["define('WP_REDIS_CONFIG', ['token' => 'x', 'servers' => ['tls://127.0.0.1:{port}?role=master', 'tls://127.0.0.1:{other}?role=replica'], 'tls_options' => ['cafile' => '{ca}']]);"];
    }

    #[DataProvider('secure')]
    public function testASiteKeepsAServerWithTls(string $configuration): void
    {
        $certificates = new Certificates();
        $server = CacheServer::redisWithTls($certificates, ['--tls-auth-clients', 'no'])->start();
        try {
            $this->keeps(strtr($configuration, ['{port}' => (string) $server->port, '{ca}' => "{$certificates->path}/ca.crt", '{other}' => (string) ServerProcess::freePort()]), [$server->socket]);
        } finally {
            $server->stop();
        }
    }

    public function testAServerWithTlsAndAnUntrustedCertificateIsNotUsedAndTheReportSaysSo(): void
    {
        $certificates = new Certificates();
        $server = CacheServer::redisWithTls($certificates, ['--tls-auth-clients', 'no'])->start();
        try {
            $tls = "define('WP_REDIS_SCHEME', 'tls'); define('WP_REDIS_HOST', '127.0.0.1'); define('WP_REDIS_PORT', {$server->port});";
            $this->keeps("{$tls} define('WP_REDIS_SSL_CONTEXT', ['cafile' => '{$certificates->path}/ca.crt']);", [$server->socket]);
            self::$site->configure($tls);
            self::assertSame('none Served', self::$site->run('echo wp_cache_get("key29", "shop")[0] ?? "none", " ", get_option("blogname");'));
            self::assertStringContainsString('goes on without a cache', self::$site->run('echo implode("\n", (new Larder\WordPress\Report(new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder")))->problems());'));
        } finally {
            $server->stop();
        }
    }

    public function testTheGroupsAndTheMaxTtlOfRedisObjectCacheMeanWhatTheyMeantThere(): void
    {
        $redis = CacheServer::redis();
        $this->begin($redis, "define('WP_REDIS_SCHEME', 'unix'); define('WP_REDIS_PATH', '{socket}'); define('WP_REDIS_IGNORED_GROUPS', ['local']); define('WP_REDIS_UNFLUSHABLE_GROUPS', ['kept']);");
        self::$site->run('wp_cache_set("key", 1, "local"); wp_cache_set("key", 2, "kept"); wp_cache_set("key", 3, "shop");');
        self::assertSame('none 2 3', self::$site->run('echo wp_cache_get("key", "local") ?: "none", " ", wp_cache_get("key", "kept"), " ", wp_cache_get("key", "shop");'));
        self::assertSame('1 2 none', self::$site->run('wp_cache_set("key", 2, "kept"); wp_cache_flush(); wp_cache_set("new", 1, "local"); echo wp_cache_get("new", "local"), " ", wp_cache_get("key", "kept", true), " ", wp_cache_get("key", "shop") ?: "none";'));
        self::$site->configure(strtr("define('WP_REDIS_SCHEME', 'unix'); define('WP_REDIS_PATH', '{socket}'); define('WP_REDIS_MAXTTL', 1);", ['{socket}' => $redis->socket]));
        self::assertSame('gone', self::$site->run('wp_cache_set("forever", 1, "shop"); for ($i = 0; $i < 3000 && wp_cache_get("forever", "shop", true) !== false; $i++) { usleep(10000); } echo wp_cache_get("forever", "shop", true) ?: "gone";'));
    }

    public function testTwoSitesWithOnePrefixAndServerAreKeptApartByTheirDatabases(): void
    {
        $configuration = "define('WP_REDIS_SCHEME', 'unix'); define('WP_REDIS_PATH', '{socket}'); define('WP_REDIS_PREFIX', 'shop:');";
        $redis = CacheServer::redis();
        $this->begin($redis, $configuration);
        $other = new Site(strtr($configuration, ['{socket}' => $redis->socket]));
        $other->activate();
        try {
            self::$site->run('wp_cache_set("key", "ours", "shop");');
            self::assertSame('none', $other->run('echo wp_cache_get("key", "shop") ?: "none"; wp_cache_flush();'));
            self::assertSame('ours', self::$site->run('echo wp_cache_get("key", "shop");'));
        } finally {
            $other->removePool();
        }
    }

    /** @param list<int|string> $servers ports or sockets of those that have to have its items */
    private function keeps(string $configuration, array $servers): void
    {
        self::$site->configure($configuration);
        $this->moveIn();
        self::assertSame('The object cache is on and uses the server that wp-config.php names.', self::$site->run('echo (new Larder\WordPress\Report(new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder")))->state();'));
        self::$site->run('for ($i = 0; $i < 30; $i++) { wp_cache_set("key{$i}", ["kept {$i}"], "shop"); } update_option("blogname", "Served");');
        self::assertSame('kept 29 Served', self::$site->run('echo wp_cache_get("key29", "shop")[0] ?? "none", " ", get_option("blogname");'));
        foreach ($servers as $server) {
            self::assertGreaterThan(3, $this->items($server));
        }
    }

    private function items(int|string $server): int
    {
        $redis = new \Redis();
        \is_int($server) ? $redis->connect('127.0.0.1', $server) : $redis->connect($server);
        // Of all its databases.
        $items = 0;
        foreach ((array) $redis->info('keyspace') as $about) {
            $items += \is_string($about) && preg_match('/keys=(\d+)/', $about, $keys) === 1 ? (int) $keys[1] : 0;
        }

        return $items;
    }

    /** @param list<int> $ports */
    private static function urls(array $ports): string
    {
        return var_export(array_map(static fn(int $port): string => "tcp://127.0.0.1:{$port}", $ports), true);
    }

    private function begin(CacheServer $server, string $configuration): void
    {
        $this->server = $server;
        $server->start();
        self::$site->configure(strtr($configuration, ['{socket}' => $server->socket, '{port}' => (string) $server->port]));
        $this->moveIn();
    }

    private function moveIn(): void
    {
        self::$site->run('require_once ABSPATH . "wp-admin/includes/plugin.php"; deactivate_plugins("larder/larder.php"); $e = activate_plugin("larder/larder.php"); if (is_wp_error($e)) { echo $e->get_error_message(); exit(1); }');
    }
}
