<?php

declare(strict_types=1);

namespace Larder\WordPress\Tests;

use Larder\Bench\Server\RedisServer;
use Larder\Bench\Subject\WorkerFailed;
use Larder\Bench\WordPress\CachedSites;
use Larder\Bench\WordPress\Installation;
use Larder\Bench\WordPress\ObjectCache;
use Larder\Bench\WordPress\PageCacheDesign;
use Larder\Bench\WordPress\Shop;
use Larder\Bench\WordPress\ShopSite;
use Larder\SharedMemory;
use Larder\Tests\Scratch;
use Larder\Tests\Stores\RedisFlavours;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/** The sites that the experiments `transients`, `pages` and `pagecache` measure: each cache does what it is measured for. */
#[CoversNothing]
final class BenchmarkTest extends TestCase
{
    private const PRODUCTS = 20;
    private const STORY = 1_000 + 4 * self::PRODUCTS + 39;

    private static ?Shop $shop = null;

    private static int $sites = 0;

    public static function tearDownAfterClass(): void
    {
        self::$shop = null;
    }

    /** @return iterable<string, array{string}> */
    public static function caches(): iterable
    {
        foreach (array_diff(array_keys(ObjectCache::all('redis', 'Redis')), [ObjectCache::LIMIT]) as $name) {
            yield $name => [$name];
        }
    }

    #[DataProvider('caches')]
    public function testASiteShowsWhatWasSavedAndKeepsTransientsWithAnyObjectCache(string $name): void
    {
        $site = $this->site(ObjectCache::all('redis', 'Redis')[$name]);
        $catalogue = '/?post_type=product&paged=2';
        $site->pages('/', 'Story 35', 1);
        $site->pages($catalogue, 'Product 0020', 2);
        $warm = $site->counted($catalogue);
        if ($name === ObjectCache::NONE) {
            self::assertSame(-1, $warm['calls']);
        } else {
            // Where a read is a trip the page is read in two.
            $isReadAhead = \in_array($name, [ObjectCache::SQLITE, ObjectCache::REDIS], true);
            // What is not used within a second is read again, so that a page which is slow for once makes more.
            for ($tries = 0; $isReadAhead && $warm['calls'] >= 10 && $tries < 20; $tries++) {
                $warm = $site->counted($catalogue);
            }
            self::assertSame($isReadAhead, $warm['calls'] < 10, "{$warm['calls']} calls");
            $site->visit('flush');
            self::assertGreaterThan($warm['queries'], $site->counted($catalogue)['queries']);
        }
        $before = $site->pages($catalogue, 'Product 0020', 1);
        self::assertGreaterThan(1_000_000, $before->workers);
        self::assertGreaterThan(0, $before->servers);
        $site->measuredVisit('save', ['post' => self::STORY, 'title' => "New {$name}"], '"saved":' . self::STORY);
        $site->pages('/', "New {$name}", 1);
        foreach (['set', 'get', 'delete'] as $phase) {
            $found = $site->visit('transients', ['number' => 30, 'phase' => $phase, 'block' => 10]);
            self::assertFalse($found->has('wrong'), $phase);
            self::assertCount(30, $found->numbers('times'));
            self::assertCount(3, $found->rows('cpu'));
        }
        self::assertTrue($site->visit('transients', ['number' => 30, 'phase' => 'get', 'block' => 10])->has('wrong'), 'a transient that is deleted is gone');
        self::assertGreaterThan(0, $site->cron()->workers);
    }

    public function testTheLimitReadsAPageInOneCallAndAsksTheDatabaseForNothing(): void
    {
        $site = $this->site(ObjectCache::all('redis', 'Redis')[ObjectCache::LIMIT]);
        $site->pages('/?p=' . (self::STORY - 1), 'Story 39', 2);

        self::assertSame(['queries' => 0, 'calls' => 1], $site->counted('/?p=' . (self::STORY - 1)));
    }

    public function testASiteLeavesNoPool(): void
    {
        foreach ([ObjectCache::POOL, ObjectCache::LIMIT] as $name) {
            $site = $this->site(ObjectCache::all('redis', 'Redis')[$name]);
            $site->pages('/', '</html>', 2);
            $pool = $site->visit('pool')->string('pool');
            self::assertContains($pool, SharedMemory::names());
            unset($site);
            self::assertNotContains($pool, SharedMemory::names());
        }
    }

    public function testAnOriginalPluginIsMeasuredWithItsDropIn(): void
    {
        $scratch = new Scratch();
        mkdir("{$scratch->path}/plugins/theirs/includes", recursive: true);
        file_put_contents("{$scratch->path}/plugins/theirs/theirs.php", "<?php\n/* Plugin Name: Theirs */\nadd_action('wp_footer', static fn() => print('theirs is active'));");
        file_put_contents("{$scratch->path}/plugins/theirs/includes/object-cache.php", "<?php\nrequire ABSPATH . WPINC . '/cache.php'; add_action('wp_footer', static fn() => print('its drop-in is loaded'));");
        $cache = ObjectCache::all('redis', 'Redis', "{$scratch->path}/plugins")['peer-theirs'];
        $site = $this->site($cache);

        foreach (['theirs is active', 'its drop-in is loaded'] as $said) {
            self::assertGreaterThan(0, $site->pages('/', $said, 1)->time);
        }
    }

    public function testAnOriginalPageCacheIsMeasuredAsItsActivationLeavesIt(): void
    {
        $scratch = new Scratch();
        foreach (['theirs' => 'true', 'idle' => 'false'] as $plugin => $keeps) {
            mkdir("{$scratch->path}/{$plugin}");
            file_put_contents("{$scratch->path}/{$plugin}/main.php", "<?php\n/* Plugin Name: Theirs */\nregister_activation_hook(__FILE__, static fn() => file_put_contents(WP_CONTENT_DIR . '/switched-on', ''));");
            file_put_contents("{$scratch->path}/{$plugin}/advanced-cache.php", <<<PHP
                <?php
                \$file = __DIR__ . '/' . md5(\$_SERVER['REQUEST_URI']);
                if ({$keeps} && is_file(__DIR__ . '/switched-on') && is_file(\$file)) { readfile(\$file); echo '<!-- theirs -->'; exit; }
                ob_start(static function (string \$body) use (\$file): string { file_put_contents(\$file, \$body); return \$body; });
                PHP);
        }
        $designs = array_filter(PageCacheDesign::all('redis', 'Redis', $scratch->path), static fn(PageCacheDesign $design): bool => $design->original !== null);
        self::assertSame(['peer-idle', 'peer-theirs'], array_keys($designs));
        $sites = CachedSites::open((string) (getenv('LARDER_WORDPRESS') ?: Installation::DEFAULT), $designs, [], [10_240], []);
        self::assertSame([], $sites->failures);
        self::assertGreaterThan(10_240, $sites->warm('peer-theirs', 0, 10_240));

        $this->expectException(WorkerFailed::class);
        $this->expectExceptionMessage('a page is not served from the cache');
        $sites->warm('peer-idle', 0, 10_240);
    }

    public function testAPageThatIsNotWhatIsExpectedHasNoFigures(): void
    {
        $site = $this->site(ObjectCache::all('redis', 'Redis')[ObjectCache::NONE]);

        $this->expectException(WorkerFailed::class);
        $this->expectExceptionMessage('a page has no "Story 99" in it');
        $site->pages('/', 'Story 99', 1);
    }

    private function site(ObjectCache $cache): ShopSite
    {
        self::$shop ??= Shop::open((string) (getenv('LARDER_WORDPRESS') ?: Installation::DEFAULT), self::PRODUCTS, []);
        // It ends with the site, which keeps it.
        $store = $cache->isOnRedis() ? RedisServer::start(RedisFlavours::first()) : null;

        return ShopSite::open(self::$shop, $cache, $store, 'site-' . ++self::$sites, []);
    }
}
