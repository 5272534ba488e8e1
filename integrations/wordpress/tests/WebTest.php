<?php

declare(strict_types=1);

namespace Larder\WordPress\Tests;

use Larder\Bench\Server\NginxServer;
use Larder\Bench\Server\PhpFpmServer;
use Larder\Tests\System\Extension\Workers;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;

/** A site behind nginx and php-fpm. */
#[CoversNothing]
final class WebTest extends TestCase
{
    private static PhpFpmServer $fpm;

    private static NginxServer $nginx;

    private static Site $site;

    public static function setUpBeforeClass(): void
    {
        self::$site = new Site();
        self::$fpm = PhpFpmServer::start(['extension' => Workers::extension(), 'display_errors' => 0], 4);
        self::$nginx = NginxServer::start(self::$site->root, self::$fpm->socket, 2, isSite: true);
        $url = 'http://127.0.0.1:' . self::$nginx->port;
        self::$site->configure("define('WP_HOME', '{$url}'); define('WP_SITEURL', '{$url}');");
        self::$site->activate();
    }

    public static function tearDownAfterClass(): void
    {
        self::$nginx->stop();
        self::$fpm->stop();
        self::$site->removePool();
    }

    public function testFillsGoOutAfterTheResponseAndTheNextRequestReadsThem(): void
    {
        self::$site->run('wp_cache_flush();');
        file_put_contents(self::$site->root . '/late.php', <<<'PHP'
            <?php
            require __DIR__ . '/wp-load.php';
            // Whatever ends after the response is seen by no visitor; a fill that went out before it would be in the store here.
            wp_cache_get('late', 'posts');
            wp_cache_add('late', 'filled', 'posts');
            $pool = Larder\SharedMemory::open('POOL');
            register_shutdown_function(static function () use ($pool): void {
                echo $pool->has('posts:late') ? 'too early' : 'not yet';
            });
            PHP);
        file_put_contents(self::$site->root . '/late.php', str_replace('POOL', self::$site->pool(), (string) file_get_contents(self::$site->root . '/late.php')));
        self::assertSame('not yet', $this->get('/late.php')[1]);
        for ($tries = 0; $tries < 1_000 && self::$site->run('echo wp_cache_get("late", "posts") ?: "none";') === 'none'; $tries++) {
            usleep(10_000);
        }
        self::assertSame('filled', self::$site->run('echo wp_cache_get("late", "posts");'));
    }

    public function testEveryPageIsServedWhileWorkersAreKilledAndThePoolIsResized(): void
    {
        $served = 0;
        for ($round = 0; $round < 12; $round++) {
            if ($round % 3 === 0) {
                foreach (\array_slice(self::$fpm->processIds(), 1, 2) as $worker) {
                    posix_kill($worker, \SIGKILL);
                }
            }
            if ($round % 4 === 1) {
                self::$site->run('$m = (new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->resize((int) $argv[1] << 20); echo $m; exit($m === null ? 0 : 1);', [(string) (8 + 8 * ($round % 3))]);
            }
            self::$site->run('update_option("blogname", $argv[1]);', ["Round {$round}"]);
            [$status, $page] = $this->get('/');
            // A worker that was killed in the middle of a request is nginx's 502, not the cache's; none was at work here.
            self::assertSame(200, $status);
            self::assertStringContainsString("Round {$round}", $page);
            self::assertStringContainsString('</html>', $page);
            $served++;
        }
        self::assertSame(12, $served);
    }

    public function testAStoreThatWpConfigNamesAnewIsBegunEmptyWhateverItHasOfBefore(): void
    {
        $url = 'http://127.0.0.1:' . self::$nginx->port;
        $home = "define('WP_HOME', '{$url}'); define('WP_SITEURL', '{$url}');";
        file_put_contents(self::$site->root . '/mark.php', '<?php require __DIR__ . "/wp-load.php"; $cache = Larder\WordPress\ObjectCache::current(); $settings = Larder\WordPress\Settings::ofThisSite(); echo $cache === null ? "none" : $settings->pool ?? $settings->dsn, " ", get_option("mark");');
        $scratch = \dirname(self::$site->root);
        try {
            foreach (['a' => 'first', 'b' => 'second', 'a again' => 'second'] as $file => $mark) {
                $dsn = "sqlite:{$scratch}/{$file[0]}.db";
                self::$site->configure("{$home} define('WP_LARDER_PREFETCH', false); define('WP_LARDER_DSN', '{$dsn}');");
                $file === 'a again' || self::$site->run('update_option("mark", $argv[1], false);', [$mark]);
                self::assertSame($mark, $this->mark($dsn), $file);
                self::$site->run('get_option("mark");');
            }
            // A server that is named later takes the place of the local store at once, also while it does not answer.
            self::$site->configure("{$home} define('WP_REDIS_HOST', '127.0.0.1'); define('WP_REDIS_PORT', 1);");
            self::assertSame('second', $this->mark('redis://127.0.0.1:1/0'));
        } finally {
            self::$site->configure($home);
            self::assertSame('second', $this->mark(self::$site->pool()));
        }
    }

    /** What an option is for a visitor, once the store of that DSN, or the pool of that name, is in use. */
    private function mark(string $store): string
    {
        // PHP looks for changes of wp-config.php every other second, and the first request that sees one writes the drop-in.
        for ($end = hrtime(true) + 120_000_000_000; hrtime(true) < $end; usleep(20_000)) {
            [$used, $mark] = explode(' ', $this->get('/mark.php')[1] . ' ');
            if ($used === $store) {
                return $mark;
            }
        }
        self::fail("The store {$store} was not used.");
    }

    public function testTheSettingsPageResizesAndFlushesAndSwitchesInABrowser(): void
    {
        $seen = Browser::run(__DIR__ . '/settings.mjs', ['http://127.0.0.1:' . self::$nginx->port]);
        self::assertSame([], $seen['errors']);
        self::assertSame('The object cache is on and uses shared memory.', $seen['state']);
        self::assertSame('Size of the pool in MB', $seen['label']);
        self::assertSame(['Done.', 'Done.'], [$seen['resized'], $seen['flushed']]);
        self::assertIsArray($seen['after']);
        self::assertSame('24.0 MB', $seen['after']['At most']);
        self::assertGreaterThan('50', $seen['after']['Items']);
        self::assertSame('The object cache is off: WordPress asks the database for everything in each request.', $seen['off']);
        self::assertSame('The object cache is on and uses shared memory.', $seen['on']);
    }

    /** @param string $configuration with %s for the document root */
    #[TestWith(["define('WP_LARDER_DIRECTORY', '%s/wp-content/uploads/cache');"])]
    #[TestWith(["define('WP_LARDER_DSN', 'apcu: > sqlite:%s/shop/site.db?size=4M');"])]
    public function testFilesThatTheWebServerHandsOutAreASentenceInSiteHealthAndDoctor(string $configuration): void
    {
        $url = 'http://127.0.0.1:' . self::$nginx->port;
        $home = "define('WP_HOME', '{$url}'); define('WP_SITEURL', '{$url}');";
        foreach (['wp-content/uploads', 'wp-content/uploads/cache', 'shop'] as $directory) {
            @mkdir(self::$site->root . "/{$directory}", 0o755);
        }
        $health = 'echo json_encode((apply_filters("site_status_tests", ["direct" => []])["direct"]["larder_database"]["test"])());';
        try {
            self::assertStringContainsString('"status":"good"', self::$site->run($health));
            self::$site->configure($home . \sprintf($configuration, self::$site->root));
            // The drop-in has the directory of when it was written.
            self::assertSame(0, self::$site->command(['larder', 'enable'])->wait());
            $said = self::$site->run($health);
            self::assertStringContainsString('"status":"recommended"', $said);
            self::assertStringContainsString('The web server hands out the files in ', $said);
            $doctor = self::$site->command(['larder', 'doctor']);
            self::assertSame(1, $doctor->wait(), $doctor->getOutput());
            self::assertStringContainsString('The web server hands out the files in ', $doctor->getErrorOutput());
            self::assertSame([], glob(self::$site->root . '/{shop,wp-content/uploads/cache}/larder-*', \GLOB_BRACE));
        } finally {
            self::$site->configure($home);
            self::assertSame(0, self::$site->command(['larder', 'enable'])->wait());
        }
    }

    /** @return array{int, string} status and body */
    private function get(string $path): array
    {
        $page = file_get_contents('http://127.0.0.1:' . self::$nginx->port . $path, context: stream_context_create(['http' => ['ignore_errors' => true, 'timeout' => 300]]));
        preg_match('~^HTTP/\S+ (\d+)~', $http_response_header[0] ?? '', $status);

        return [(int) ($status[1] ?? 0), (string) $page];
    }
}
