<?php

declare(strict_types=1);

namespace Larder\WordPress\Tests;

use Larder\Bench\Server\MariaDbServer;
use Larder\Tests\System\CacheServer;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/** Sites that move in with the constants of other object caches, over real servers. */
#[CoversNothing]
final class ServersTest extends TestCase
{
    private static MariaDbServer $database;

    private static Site $site;

    private ?CacheServer $server = null;

    public static function setUpBeforeClass(): void
    {
        self::$database = MariaDbServer::start();
        self::$site = new Site(self::$database);
    }

    public static function tearDownAfterClass(): void
    {
        self::$site->removePool();
        self::$database->stop();
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
        $other = new Site(self::$database, strtr($configuration, ['{socket}' => $redis->socket]));
        $other->activate();
        try {
            self::$site->run('wp_cache_set("key", "ours", "shop");');
            self::assertSame('none', $other->run('echo wp_cache_get("key", "shop") ?: "none"; wp_cache_flush();'));
            self::assertSame('ours', self::$site->run('echo wp_cache_get("key", "shop");'));
        } finally {
            $other->removePool();
        }
    }

    private function begin(CacheServer $server, string $configuration): void
    {
        $this->server = $server;
        $server->start();
        self::$site->configure(strtr($configuration, ['{socket}' => $server->socket, '{port}' => (string) $server->port]));
        self::$site->run('require_once ABSPATH . "wp-admin/includes/plugin.php"; deactivate_plugins("larder/larder.php"); $e = activate_plugin("larder/larder.php"); if (is_wp_error($e)) { echo $e->get_error_message(); exit(1); }');
    }
}
