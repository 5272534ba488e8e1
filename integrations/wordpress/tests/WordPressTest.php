<?php

declare(strict_types=1);

namespace Larder\WordPress\Tests;

use Larder\SharedMemory;
use Larder\Tests\System\CacheServer;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Process\Process;

/** A real WordPress over MariaDB, with real processes. */
#[CoversNothing]
final class WordPressTest extends TestCase
{
    private Site $site;

    protected function setUp(): void
    {
        $this->site = new Site();
    }

    protected function tearDown(): void
    {
        $this->site->removePool();
    }

    /** @return iterable<string, array{?\Closure(): CacheServer, string}> a server, and lines of wp-config.php */
    public static function stores(): iterable
    {
        yield 'a pool' => [null, ''];
        yield 'SQLite' => [null, "define('WP_LARDER_DSN', 'sqlite:' . dirname(__DIR__) . '/site.db');"];
        yield 'Redis' => [CacheServer::redis(...), "define('WP_LARDER_DSN', 'redis+unix:{socket}');"];
        yield 'Memcached' => [static fn(): CacheServer => CacheServer::memcached(), "define('WP_LARDER_DSN', 'memcached+unix:{socket}');"];
    }

    /** @param ?\Closure(): CacheServer $start */
    #[DataProvider('stores')]
    public function testFourProcessesLoseNoneOf150OptionsThatEachChangesAndDeletes(?\Closure $start, string $configuration): void
    {
        $server = $start === null ? null : $start()->start();
        try {
            $this->site->configure(strtr($configuration, ['{socket}' => $server->socket ?? '']));
            $this->site->activate();
            $this->raceForOptions();
        } finally {
            $server?->stop();
        }
    }

    /** The database knows only texts. Without an object cache the next request reads them. */
    public function testAnOptionIsATextToTheNextRequestAsWithoutACache(): void
    {
        $network = new Site(isNetwork: true);
        try {
            foreach ([$this->site, $network] as $site) {
                $site->activate();
                $site->run('foreach ([1, "x", 2.5, null, false] as $i => $is) { foreach (["yes", "no"] as $loads) { update_option("kind_{$loads}_{$i}", "before", $loads); } update_site_option("kind_{$i}", "before"); }');
                $of = 'foreach ([1, "x", 2.5, null, false] as $i => $_) { $said[] = [get_option("kind_yes_{$i}", "none"), get_option("kind_no_{$i}", "none"), get_site_option("kind_{$i}", "none"), get_option("added_{$i}", "none"), get_site_option("added_{$i}", "none")]; } echo json_encode($said);';
                $site->run($of);
                $site->run('foreach ([1, "x", 2.5, null, false] as $i => $is) { update_option("kind_yes_{$i}", $is); update_option("kind_no_{$i}", $is); update_site_option("kind_{$i}", $is); if ($is) { update_option("added_{$i}", $is); update_site_option("added_{$i}", $is); } }');
                $cached = $site->run($of);
                self::assertSame($site->run("wp_cache_flush(); {$of}"), $cached);
                self::assertStringStartsWith('[["1","1","1",', $cached);
            }
        } finally {
            $network->removePool();
        }
    }

    public function testOfTwoHundredProcessesThatAddOneLockOneGetsIt(): void
    {
        $this->site->activate();
        $said = $this->site->run(<<<'PHP'
            // All wait for the end of the same stream, so that none of them is busy meanwhile.
            [$gate, $opener] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
            $children = [];
            for ($i = 0; $i < 200; $i++) {
                $child = pcntl_fork();
                if ($child === 0) {
                    fclose($opener);
                    fread($gate, 1);
                    $got = wp_cache_add('lock', getmypid(), 'locks', 60);
                    posix_kill(getmypid(), $got ? SIGUSR1 : SIGKILL);
                }
                $children[] = $child;
            }
            fclose($opener);
            $got = 0;
            foreach ($children as $child) { pcntl_waitpid($child, $status); $got += pcntl_wtermsig($status) === SIGUSR1 ? 1 : 0; }
            echo $got;
            PHP);
        self::assertSame('1', $said);
    }

    /** @return iterable<string, array{?\Closure(): CacheServer, string}> */
    public static function shops(): iterable
    {
        foreach (self::stores() as $name => $store) {
            if ($name === 'a pool' || $name === 'Redis') {
                yield $name => $store;
            }
        }
    }

    /** @param ?\Closure(): CacheServer $start */
    #[DataProvider('shops')]
    public function testOfFiftyCheckoutsTwentyGetOneOfTwentyPiecesAndTenTheCoupon(?\Closure $start, string $configuration): void
    {
        $server = $start === null ? null : $start()->start();
        try {
            $this->site->configure(strtr($configuration, ['{socket}' => $server->socket ?? '']));
            $this->site->activate();
            $this->checkOut();
        } finally {
            $server?->stop();
        }
    }

    private function checkOut(): void
    {
        // As WooCommerce does it: the row is changed under its own condition, then the cache is told.
        $code = <<<'PHP'
            global $wpdb;
            echo 'ready ';
            flock(fopen(ROOT . '/gate', 'c'), LOCK_SH);
            $take = static function (string $name) use ($wpdb): bool {
                get_post_meta(1, $name, true);
                $taken = $wpdb->query($wpdb->prepare("UPDATE {$wpdb->postmeta} SET meta_value = meta_value - 1 WHERE post_id = 1 AND meta_key = %s AND meta_value > 0", $name)) === 1;
                wp_cache_delete(1, 'post_meta');
                return $taken;
            };
            echo (int) get_post_meta(1, 'stock', true) > 0 && $take('stock') ? 1 : 0, (int) get_post_meta(1, 'coupon', true) > 0 && $take('coupon') ? 1 : 0;
            wp_cache_incr('orders', 1, 'shop');
            PHP;
        $this->site->run('update_post_meta(1, "stock", 20); update_post_meta(1, "coupon", 10); wp_cache_set("orders", 0, "shop");');
        $pieces = $coupons = 0;
        // All are ready before one begins.
        $gate = fopen("{$this->site->root}/gate", 'c');
        self::assertIsResource($gate);
        flock($gate, \LOCK_EX);
        $processes = array_map(fn(): Process => $this->site->start($code), range(1, 50));
        foreach ($processes as $process) {
            $process->waitUntil(static fn(string $type, string $said): bool => str_contains($said, 'ready'));
        }
        flock($gate, \LOCK_UN);
        foreach ($processes as $process) {
            $process->wait();
            self::assertMatchesRegularExpression('/^ready [01]{2}$/', $process->getOutput() . $process->getErrorOutput());
            [, $said] = explode(' ', $process->getOutput());
            $pieces += (int) $said[0];
            $coupons += (int) $said[1];
        }
        self::assertSame([20, 10], [$pieces, $coupons]);
        self::assertSame('0 0 50', $this->site->run('echo get_post_meta(1, "stock", true), " ", get_post_meta(1, "coupon", true), " ", wp_cache_get("orders", "shop");'));
    }

    public function testAForeignDropInIsNotOverwrittenWithoutBeingAsked(): void
    {
        $foreign = "<?php\n/* Plugin Name: Another Object Cache */\nrequire ABSPATH . WPINC . '/cache.php';\n";
        $path = "{$this->site->root}/wp-content/object-cache.php";
        file_put_contents($path, $foreign);
        $this->site->activate();
        self::assertSame($foreign, file_get_contents($path));
        self::assertStringContainsString('another plugin (Another Object Cache', $this->problems());
        $this->site->run('require_once ABSPATH . "wp-admin/includes/plugin.php"; deactivate_plugins("larder/larder.php");');
        self::assertSame($foreign, file_get_contents($path));
    }

    public function testDeactivationRemovesOurDropInAndLeavesAPageThatWorks(): void
    {
        $this->site->activate();
        self::assertFileExists("{$this->site->root}/wp-content/object-cache.php");
        $this->site->run('require_once ABSPATH . "wp-admin/includes/plugin.php"; deactivate_plugins("larder/larder.php");');
        self::assertFileDoesNotExist("{$this->site->root}/wp-content/object-cache.php");
        self::assertSame('Shop', $this->site->run('echo get_option("blogname");'));
    }

    public function testTheDropInTellsNoSecret(): void
    {
        // What all users of the machine may read must not be what signs values.
        $this->site->run('require_once ABSPATH . "wp-admin/includes/plugin.php"; activate_plugin("larder/larder.php");', options: []);
        $dropIn = (string) file_get_contents("{$this->site->root}/wp-content/object-cache.php");
        self::assertStringNotContainsString('secret', $dropIn);
        self::assertDoesNotMatchRegularExpression('/[0-9a-f]{32}/', $dropIn);
        $this->site->run('wp_cache_set("key", "kept", "shop");', options: []);
        self::assertSame('kept', $this->site->run('echo wp_cache_get("key", "shop");', options: []));
        $said = $this->site->run('echo (new ReflectionClass(Larder\WordPress\Settings::class))->getMethod("secret")->invoke(null);', options: []);
        self::assertSame(64, \strlen($said));
        self::assertStringNotContainsString($said, $dropIn);
    }

    public function testADropInOfAnotherVersionIsNotUsedAndIsWrittenAnewForAnEmptyCache(): void
    {
        $this->site->activate();
        $this->site->run('wp_cache_set("key", "of before", "shop");');
        $path = "{$this->site->root}/wp-content/object-cache.php";
        $ours = (string) file_get_contents($path);
        $other = (string) preg_replace("/'format' => \\d+/", "'format' => 1", $ours);
        self::assertNotSame($ours, $other);
        file_put_contents($path, $other);
        self::assertSame('Shop, off', $this->site->run('echo get_option("blogname"), wp_using_ext_object_cache() ? ", on" : ", off";'));
        self::assertStringContainsString('of another version than the plugin, or for another store', $this->problems());
        self::assertSame($other, file_get_contents($path));
        $this->site->run('(new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->keepUp();');
        self::assertSame($ours, file_get_contents($path));
        self::assertSame('on, none', $this->site->run('echo wp_using_ext_object_cache() ? "on, " : "off, ", wp_cache_get("key", "shop") ?: "none";'));
    }

    public function testAPageLoadsNothingThatOnlyAdministrationAsksFor(): void
    {
        $this->site->activate();
        $page = $this->site->run(Site::PAGE . ' echo "\nloaded"; foreach (get_declared_classes() as $class) { $parts = explode(chr(92), $class); if ($parts[0] === "Larder" && ($parts[1] ?? "") === "WordPress") { echo " ", $parts[2]; } } echo "\n";', loads: false);
        self::assertStringContainsString('</html>', $page);
        preg_match('/^loaded (.*)$/m', $page, $loaded);
        $classes = explode(' ', $loaded[1] ?? '');
        self::assertContains('Plugin', $classes);
        self::assertSame([], array_values(array_intersect($classes, ['Choice', 'CommandLine', 'QueryMonitor', 'Report', 'SettingsPage', 'SiteHealth', 'Transients'])));
    }

    public function testAHalfRemovedPluginBreaksNoPage(): void
    {
        $this->site->activate();
        rename($this->site->plugin(), $this->site->plugin() . '-gone');
        self::assertSame('Shop, off', $this->site->run('echo get_option("blogname"), wp_using_ext_object_cache() ? ", on" : ", off";'));
    }

    /** @param ?list<string> $options of PHP */
    #[TestWith([null])]
    #[TestWith([[]])]
    public function testAPluginOfWhichAnyPartIsGoneBreaksNoPage(?array $options): void
    {
        $this->site->run('require_once ABSPATH . "wp-admin/includes/plugin.php"; activate_plugin("larder/larder.php");', options: $options);
        foreach (['autoload.php', 'functions.php', 'object-cache.php', 'larder.php', 'drop-in', 'src', ...array_map(static fn(string $class): string => "src/{$class}.php", ['Settings', 'Backend', 'PoolBackend', 'ObjectCache', 'Opening', 'Sample', 'Fill', 'Library', 'CacheBackend', 'LastFailure', 'Prefetch', 'Plugin', 'PageCache', 'PageRequest'])] as $part) {
            rename("{$this->site->plugin()}/{$part}", "{$this->site->plugin()}-part");
            try {
                $page = $this->site->run(Site::PAGE, loads: false, options: $options);
            } finally {
                rename("{$this->site->plugin()}-part", "{$this->site->plugin()}/{$part}");
            }
            self::assertStringContainsString('</html>', $page, $part);
            self::assertStringEndsWith('status 200', $page, $part);
        }
    }

    public function testAMovedSiteBreaksNoPageAndIsMendedByItsAdministration(): void
    {
        $this->site->run('require_once ABSPATH . "wp-admin/includes/plugin.php"; activate_plugin("larder/larder.php");', options: []);
        $this->site->run('wp_cache_set("key", "of before", "shop");', options: []);
        // What lay beside it stays behind, for a neighbour to find.
        rename($this->site->directory(), "{$this->site->directory()}-behind");
        mkdir("{$this->site->root}-moved");
        $moved = "{$this->site->root}-moved/public";
        rename($this->site->root, $moved);
        $in = fn(string $code): string => $this->site->run("require '{$moved}/wp-load.php'; {$code}", loads: false, options: []);
        try {
            self::assertSame('Shop, none', $in('echo get_option("blogname"), ", ", wp_cache_get("key", "shop") ?: "none";'));
            $in('(new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->keepUp();');
            self::assertSame('none, no problem', $in('echo wp_cache_get("key", "shop") ?: "none", ", ", implode((new Larder\WordPress\Report(new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder")))->problems()) ?: "no problem"; wp_cache_set("key", "of now", "shop");'));
            self::assertSame('of now', $in('echo wp_cache_get("key", "shop");'));
        } finally {
            rename($moved, $this->site->root);
        }
    }

    public function testACommandLineWithoutTheExtensionIsHeard(): void
    {
        $this->site->activate();
        $this->site->run('wp_cache_set("key", "old", "shop"); get_option("blogname");');
        $this->site->run('wp_cache_delete("key", "shop"); update_option("blogname", "Renamed");', options: []);
        self::assertSame('gone, Renamed', $this->site->run('echo wp_cache_get("key", "shop") === false ? "gone" : "there", ", ", get_option("blogname");'));
    }

    public function testACommandLineOfAnotherUserIsHeardByTheJournalOrSaysThatItIsNot(): void
    {
        if (posix_geteuid() !== 0) {
            self::markTestSkipped('Only root can become another user.');
        }
        $this->site->activate();
        $this->site->run('wp_cache_set("key", "old", "shop"); get_option("blogname");');
        $nobody = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'];
        $this->site->openToAll();
        $said = $this->site->run('wp_cache_delete("key", "shop"); wp_cache_delete("other", "shop"); echo "deleted";', within: $nobody);
        self::assertSame(1, substr_count($said, 'runs as another user than the web server (user id 0); run it as that user, or set larder.group. The web does not hear what it deletes.'), $said);
        self::assertStringContainsString('deleted', $said);
        self::assertSame('old', $this->site->run('echo wp_cache_get("key", "shop") ?: "gone";'));
        // The group of the directory may write to the journal.
        chgrp($this->site->directory(), 65_534);
        chmod($this->site->directory(), 0o2770);
        self::assertSame('reads nothing', $this->site->run('echo wp_cache_get("key", "shop") ?: "reads nothing"; wp_cache_delete("key", "shop"); update_option("blogname", "Renamed");', within: $nobody));
        self::assertSame('gone Renamed', $this->site->run('echo wp_cache_get("key", "shop") ?: "gone", " ", get_option("blogname");'));
    }

    public function testTransientsOfTheDatabaseAreGoneWhenTheCacheTakesOver(): void
    {
        $this->site->run('set_transient("news", "old", 3600);');
        $this->site->activate();
        self::assertSame('0 none', $this->site->run('global $wpdb; echo $wpdb->get_var("SELECT COUNT(*) FROM {$wpdb->options} WHERE option_name LIKE \'%transient_news\'"), " ", get_transient("news") === false ? "none" : "there";'));
        $this->site->run('set_transient("news", "new", 3600);');
        self::assertSame('new', $this->site->run('echo get_transient("news");'));
    }

    public function testACopyOverAnotherDatabaseReadsNothingOfTheFirst(): void
    {
        $this->site->activate();
        $this->site->run('wp_cache_set("key", "first", "shop");');
        $copy = new Site();
        $copy->activate();
        try {
            self::assertSame('none', $copy->run('echo wp_cache_get("key", "shop") ?: "none";'));
        } finally {
            $copy->removePool();
        }
    }

    public function testUninstallLeavesNothing(): void
    {
        $this->site->activate();
        $this->site->run('update_option("larder_pages", ["ttl" => 60]);');
        self::assertFileExists("{$this->site->root}/wp-content/advanced-cache.php");
        $this->site->run('define("WP_UNINSTALL_PLUGIN", "larder/larder.php"); require WP_PLUGIN_DIR . "/larder/uninstall.php";');
        self::assertFileDoesNotExist("{$this->site->root}/wp-content/object-cache.php");
        self::assertFileDoesNotExist("{$this->site->root}/wp-content/advanced-cache.php");
        self::assertSame('none', $this->site->run('echo get_option("larder_pages", "none");'));
        self::assertSame([], glob("{$this->site->root}/{.,wp-content/.,../.}larder*", \GLOB_BRACE));
        self::assertNotContains($this->site->pool(), SharedMemory::names());
    }

    public function testUninstallTakesTheSitesItemsOffAServerAndLeavesItsNeighbours(): void
    {
        $server = CacheServer::redis()->start();
        $this->site->configure("define('WP_REDIS_SCHEME', 'unix'); define('WP_REDIS_PATH', '{$server->socket}');");
        try {
            $this->site->activate();
            $this->site->run(Site::PAGE, loads: false);
            $this->site->run(Site::PAGE, loads: false);
            $redis = new \Redis();
            $redis->connect($server->socket);
            $identity = $this->site->run('echo Larder\WordPress\Settings::identity();');
            $keys = static fn(): array => \is_array($found = $redis->keys("*{$identity}*")) ? $found : [];
            self::assertGreaterThan(20, \count($keys()));
            $redis->set('a neighbour', 'stays');
            $this->site->run('define("WP_UNINSTALL_PLUGIN", "larder/larder.php"); require WP_PLUGIN_DIR . "/larder/uninstall.php";');
            self::assertSame([], $keys());
            self::assertSame('stays', $redis->get('a neighbour'));
        } finally {
            $server->stop();
        }
    }

    public function testAWrongDsnIsASentenceAndTheSiteGoesOn(): void
    {
        $this->site->activate();
        $this->site->configure("define('WP_LARDER_DSN', 'reddis://127.0.0.1');");
        self::assertSame('Shop', $this->site->run('echo get_option("blogname");'));
        self::assertStringContainsString('reddis', $this->problems());
    }

    public function testAWrongConstantIsASentenceAndTheSiteGoesOn(): void
    {
        $this->site->activate();
        foreach ([
            'WP_LARDER_DSN in wp-config.php is no text' => "define('WP_LARDER_DSN', ['redis://127.0.0.1']);",
            'WP_LARDER_DSN in wp-config.php is no text, or an empty one' => "define('WP_LARDER_DSN', '');",
            'WP_LARDER_DIRECTORY in wp-config.php names no directory' => "define('WP_LARDER_DIRECTORY', '/nowhere/at/all');",
            'WP_LARDER_DIRECTORY in wp-config.php names no directory that PHP may write to' => "define('WP_LARDER_DIRECTORY', 'relative');",
            'WP_LARDER_DIRECTORY in wp-config.php' => "define('WP_LARDER_DIRECTORY', []);",
            'WP_LARDER_MAXTTL in wp-config.php is no number' => "define('WP_LARDER_MAXTTL', 'a day');",
            'WP_REDIS_MAXTTL in wp-config.php is no number' => "define('WP_REDIS_MAXTTL', -1);",
            'WP_LARDER_IGNORED_GROUPS in wp-config.php is no list' => "define('WP_LARDER_IGNORED_GROUPS', 'posts');",
            'WP_REDIS_UNFLUSHABLE_GROUPS in wp-config.php is no list' => "define('WP_REDIS_UNFLUSHABLE_GROUPS', [['posts']]);",
            'WP_REDIS_PORT in wp-config.php is no number' => "define('WP_REDIS_PORT', 'tcp://redis:6379');",
            'WP_LARDER_SAMPLE in wp-config.php is no number' => "define('WP_LARDER_SAMPLE', 'few');",
        ] as $sentence => $configuration) {
            $this->site->configure($configuration);
            self::assertStringContainsString("Shop: {$sentence}", $this->site->run('echo get_option("blogname"), ": ", (new Larder\WordPress\Report(new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder")))->problems()[0] ?? "nothing is wrong";'));
        }
        self::assertDirectoryDoesNotExist(getcwd() . '/relative');
    }

    public function testANetworkKeepsTheItemsOfItsSitesApart(): void
    {
        $network = new Site(isNetwork: true);
        $network->activate();
        try {
            self::assertSame('first second first', $network->run(<<<'PHP'
                $id = wp_insert_site(['domain' => 'example.com', 'path' => '/two/', 'network_id' => 1, 'user_id' => 1]);
                update_option('mark', 'first');
                switch_to_blog(is_int($id) ? $id : 0); update_option('mark', 'second'); restore_current_blog();
                $a = get_option('mark'); switch_to_blog($id); $b = get_option('mark'); restore_current_blog();
                echo $a, ' ', $b, ' ', get_option('mark');
                PHP));
        } finally {
            $network->removePool();
        }
    }

    private function raceForOptions(): void
    {
        $code = <<<'PHP'
            $me = (int) $argv[1];
            for ($i = 0; $i < 150; $i++) {
                wp_cache_flush_runtime();
                update_option("race_{$me}_{$i}", $i, $i % 2 === 0);
                update_option("race_{$me}_{$i}", "changed {$i}");
                if ($i % 3 === 0) { delete_option("race_{$me}_{$i}"); }
                get_option("race_" . (($me + 1) % 4) . "_{$i}");
            }
            PHP;
        $processes = array_map(fn(int $me): Process => $this->site->start($code, [(string) $me]), range(0, 3));
        foreach ($processes as $process) {
            self::assertSame(0, $process->wait());
            self::assertSame('', $process->getOutput() . $process->getErrorOutput());
        }
        $said = $this->site->run(<<<'PHP'
            $wrong = $right = 0;
            for ($me = 0; $me < 4; $me++) {
                for ($i = 0; $i < 150; $i++) {
                    $expected = $i % 3 === 0 ? 'none' : "changed {$i}";
                    $actual = get_option("race_{$me}_{$i}", 'none');
                    $actual === $expected ? $right++ : $wrong++;
                    if ($actual !== $expected) {
                        global $wpdb;
                        echo "option {$i} of {$me}: expected {$expected}, cached ", var_export($actual, true), ", in the database ", var_export($wpdb->get_row("SELECT option_value, autoload FROM {$wpdb->options} WHERE option_name = 'race_{$me}_{$i}'"), true), "\n";
                    }
                }
            }
            echo "{$right} right, {$wrong} wrong";
            PHP);
        self::assertSame('600 right, 0 wrong', $said);
    }

    private function problems(): string
    {
        return $this->site->run('echo implode("\n", (new Larder\WordPress\Report(new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder")))->problems());');
    }
}
