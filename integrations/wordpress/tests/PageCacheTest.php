<?php

declare(strict_types=1);

namespace Larder\WordPress\Tests;

use Larder\Bench\Server\NginxServer;
use Larder\Bench\Server\RedisFlavour;
use Larder\Bench\Server\RedisServer;
use Larder\WordPress\HttpPurger;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Process\Process;

/** The page cache of a real site, over each store and in both places. */
#[CoversNothing]
final class PageCacheTest extends TestCase
{
    /** @var array<int, PageSite> */
    private static array $sites = [];

    public static function tearDownAfterClass(): void
    {
        foreach (self::$sites as $site) {
            $site->stop();
        }
        self::$sites = [];
    }

    /** @return iterable<string, array{string, bool}> the line in wp-config.php, whether the extension is there */
    public static function ways(): iterable
    {
        yield 'shared memory, advanced-cache.php' => [PageSite::ORDINARY, true];
        yield 'shared memory, a line in wp-config.php' => [PageSite::QUICK, true];
        yield 'files, advanced-cache.php' => [PageSite::ORDINARY, false];
        yield 'files, a line in wp-config.php' => [PageSite::QUICK, false];
    }

    /** @return iterable<string, array{bool}> */
    public static function stores(): iterable
    {
        yield 'shared memory' => [true];
        yield 'files' => [false];
    }

    #[DataProvider('ways')]
    public function testASecondVisitorGetsTheStoredPage(string $line, bool $hasExtension): void
    {
        $site = $this->site($hasExtension, $line);
        [$first, $second] = $this->storedAndServed($site);
        self::assertStringContainsString('</html>', $second->body);
        foreach (['etag', 'content-type', 'link', 'vary'] as $name) {
            self::assertNotSame('', $second->header($name), $name);
            self::assertSame($first->header($name), $second->header($name), $name);
        }
        self::assertSame(['private, max-age=0, must-revalidate', 'public, max-age=0, must-revalidate'], [$first->header('cache-control'), $second->header('cache-control')]);
        self::assertMatchesRegularExpression('/^\d+$/D', $second->header('age'));

        $zipped = $site->visit('/hello-world/', ['Accept-Encoding: gzip, deflate']);
        self::assertSame('gzip', $zipped->header('content-encoding'));
        self::assertSame($first->body, gzdecode($zipped->body));
        self::assertSame((string) \strlen($zipped->body), $zipped->header('content-length'));
        self::assertSame('', $site->visit('/hello-world/', ['Accept-Encoding: gzip;q=0, *'])->header('content-encoding'));

        $head = $site->visit('/hello-world/', method: 'HEAD');
        self::assertSame([200, '', (string) \strlen($first->body)], [$head->status, $head->body, $head->header('content-length')]);
        self::assertTrue($head->isHit());

        foreach ([$first->header('etag'), '"other", ' . $first->header('etag'), substr($first->header('etag'), 2), substr($first->header('etag'), 0, -1) . '-gzip"', '*'] as $known) {
            $same = $site->visit('/hello-world/', ["If-None-Match: {$known}"]);
            self::assertSame([304, ''], [$same->status, $same->body]);
            self::assertSame($first->header('etag'), $same->header('etag'));
        }
        self::assertSame(200, $site->visit('/hello-world/', ['If-None-Match: W/"other"'])->status);
    }

    /** PHP words each warning, and WordPress looks at the last one, even where it is not read: both cost a part of a hit. */
    #[DataProvider('ways')]
    public function testAHitMeetsNoErrorNotEvenASilencedOne(string $line, bool $hasExtension): void
    {
        $site = $this->site($hasExtension, $line);
        $site->visit('/hello-world/');
        $seen = "{$site->site->root}/last-error";
        $site->configure('register_shutdown_function(static function () { file_put_contents(' . var_export($seen, true) . ", json_encode(error_get_last())); }); {$line}");
        // Its answer comes after the functions at the end, as it has no body that could come before.
        self::assertTrue($site->visit('/hello-world/', method: 'HEAD')->isHit());
        self::assertStringEqualsFile($seen, 'null');
    }

    public function testAnArgumentThatTellsWhereAVisitorComesFromIsInNoPage(): void
    {
        $site = $this->site(true);
        $first = $site->visit('/hello-world/?utm_source=campaign-marker&fbclid=%22%3E%3Cscript%3Emarker');
        self::assertTrue($first->isStored(), $first->header('cache-status'));
        self::assertStringNotContainsString('marker', $first->body);
        self::assertTrue($site->visit('/hello-world/')->isHit());
        self::assertTrue($site->visit('/hello-world/?gclid=other')->isHit());
    }

    #[DataProvider('ways')]
    public function testNoPageShowsWhatIsInAHarmlessCookieOfTheFirstVisitor(string $line, bool $hasExtension): void
    {
        $site = $this->site($hasExtension, $line);
        $this->plugin($site, 'add_action("wp_footer", static function (): void { echo "<p>", esc_html(json_encode([$_COOKIE, $_REQUEST, $_SERVER["HTTP_COOKIE"] ?? ""])), "</p>"; });');
        $first = $site->visit('/hello-world/', ['Cookie: _ga=marker; _fbp=marker']);
        self::assertTrue($first->isStored(), $first->header('cache-status'));
        self::assertStringNotContainsString('marker', $first->body);
        self::assertTrue($site->visit('/hello-world/')->isHit());
    }

    /** A download, for instance: the server has sent its beginning before its end is read, and the page takes no more memory than without the cache. */
    #[DataProvider('stores')]
    public function testAPageOfHundredsOfMegabytesGoesThrough(bool $hasExtension): void
    {
        $site = $this->site($hasExtension);
        $this->plugin($site, 'add_action("template_redirect", static function (): void { if (is_page()) { for ($i = 0; $i < 200; $i++) { echo str_repeat("x", 1 << 20); } echo "</html>"; exit; } });');
        for ($i = 0; $i < 2; $i++) {
            $long = $site->visit('/sample-page/');
            self::assertSame([200, (200 << 20) + 7, false], [$long->status, \strlen($long->body), $long->isHit()]);
        }
    }

    #[DataProvider('ways')]
    public function testARedirectKeepsWhatTellsWhereAVisitorComesFrom(string $line, bool $hasExtension): void
    {
        $site = $this->site($hasExtension, $line);
        $campaign = 'utm_source=a%20b&gclid=c"d';
        $location = static function (string $uri) use ($site): array {
            $answer = $site->visit($uri);

            return [$answer->status, substr($answer->header('location'), \strlen($site->url))];
        };
        foreach (['the first', 'one from the cache'] as $visitor) {
            self::assertSame([301, '/hello-world/?utm_source=a%20b&gclid=c%22d'], $location("/hello-world?{$campaign}"), $visitor);
        }
        self::assertSame([301, '/hello-world/'], $location('/hello-world'));
        self::assertSame([301, '/hello-world/?fbclid=e'], $location('/?p=1&fbclid=e'));
        // One that is not stored, and those that leave the site.
        $this->plugin($site, 'add_action("template_redirect", static function (): void { if (!is_single()) { wp_redirect(is_page() ? home_url("/?a=1#b") : "https://elsewhere.example/?a=1"); exit; } });');
        self::assertSame([302, '/?a=1&utm_source=a%20b&gclid=c%22d#b'], $location("/sample-page/?{$campaign}"));
        self::assertSame('https://elsewhere.example/?a=1', $site->visit("/?{$campaign}")->header('location'));
    }

    /** What a reader of a feed has, and what parts of a page, are questions to a stored page. Of WordPress they would make an answer that is none. */
    #[DataProvider('stores')]
    public function testAConditionOfAVisitorKeepsNoPageFromTheOthers(bool $hasExtension): void
    {
        $site = $this->site($hasExtension);
        $readers = ['If-Modified-Since: Tue, 01 Jan 2036 00:00:00 GMT', 'If-None-Match: "other"', 'Range: bytes=0-9'];
        self::assertTrue($site->visit('/feed/', $readers)->isStored());
        self::assertTrue($site->visit('/feed/')->isHit());
        // Only what is there has not changed.
        foreach (['/hello-world' => 301, '/not-there/' => 404] as $uri => $status) {
            $etag = $site->visit($uri)->header('etag');
            self::assertSame([$status, $status], [$site->visit($uri, ['If-None-Match: *'])->status, $site->visit($uri, ["If-None-Match: {$etag}"])->status]);
        }
    }

    #[DataProvider('ways')]
    public function testAHeaderOnlyTheSiteBelievesMakesNoPageOfAnotherScheme(string $line, bool $hasExtension): void
    {
        $believes = 'if (str_contains($_SERVER["HTTP_CF_VISITOR"] ?? "", "https") || ($_SERVER["HTTP_X_FORWARDED_PROTO"] ?? "") === "https") { $_SERVER["HTTPS"] = "on"; }';
        $site = $this->site($hasExtension, $line === PageSite::QUICK ? "{$line} {$believes}" : "{$believes} {$line}");
        $this->plugin($site, 'add_action("wp_footer", static function (): void { echo is_ssl() ? "by https" : "by http"; });');
        $visitor = 'CF-Visitor: {"scheme":"https"}';
        foreach ([[$visitor], [$visitor, 'X-Forwarded-Proto: http']] as $headers) {
            self::assertStringContainsString('by https', $site->visit('/hello-world/', $headers)->body);
            // The others do not get it, and do not have to wait.
            self::assertStringContainsString('by http<', str_replace("\n", '<', $site->visit('/hello-world/', \array_slice($headers, 1))->body));
        }
        // What the name of the page says is believed.
        for ($i = 0; $i < 2; $i++) {
            $page = $site->visit('/sample-page/', [$visitor, 'X-Forwarded-Proto: https']);
            self::assertStringContainsString('by https', $page->body);
        }
        self::assertTrue($page->isHit());
    }

    #[DataProvider('stores')]
    public function testEachHitIsCountedWithWhatItSaved(bool $hasExtension): void
    {
        $site = $this->site($hasExtension, "define('WP_LARDER_SAMPLE', 1); " . PageSite::ORDINARY);
        $figures = function () use ($site): array {
            $figures = json_decode($site->run(<<<'PHP'
                Larder\WordPress\Figures::takeHits((new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->installed());
                $now = array_combine(Larder\WordPress\Figures::COLUMNS, Larder\WordPress\Figures::now($GLOBALS["wp_object_cache"]));
                echo json_encode([$now["page-hits"], $now["page-ms"], $now["page-queries"]]);
                PHP), true);
            self::assertIsArray($figures);

            return array_map(static fn(mixed $figure): int => \is_int($figure) ? $figure : 0, $figures);
        };
        // Made from the database, it has asked that for something.
        $site->run('wp_cache_flush();');
        $site->visit('/hello-world/');
        $before = $figures();
        for ($i = 0; $i < 3; $i++) {
            self::assertTrue($site->visit('/hello-world/')->isHit());
        }
        $after = $figures();
        self::assertSame(($before[0] ?? 0) + 3, $after[0] ?? 0);
        self::assertGreaterThan($before[1] ?? 0, $after[1] ?? 0);
        self::assertGreaterThan($before[2] ?? 0, $after[2] ?? 0);
        self::assertSame($after, $figures(), 'a hit is counted once');
    }

    public function testAHeadRequestStoresNothing(): void
    {
        $site = $this->site(true);
        self::assertStringContainsString('bypass', $site->visit('/hello-world/', method: 'HEAD')->header('cache-status'));
        self::assertTrue($site->visit('/hello-world/')->isStored());
    }

    #[DataProvider('stores')]
    public function testFeedsRedirectsAndPagesThatAreNotThereAreStoredUntilTheyAre(bool $hasExtension): void
    {
        $site = $this->site($hasExtension);
        foreach (['/feed/' => 200, '/hello-world' => 301, '/wp-sitemap.xml' => 200, '/robots.txt' => 200] as $uri => $status) {
            $first = $site->visit($uri);
            self::assertSame($status, $first->status, $uri);
            self::assertTrue($first->isStored(), $uri . ' ' . $first->header('cache-status'));
            $second = $site->visit($uri);
            self::assertTrue($second->isHit(), $uri);
            self::assertSame([$status, $first->body, $first->header('location')], [$second->status, $second->body, $second->header('location')]);
        }
        $missing = $site->visit('/to-come/');
        self::assertSame(404, $missing->status);
        $again = $site->visit('/to-come/');
        self::assertSame(404, $again->status);
        self::assertSame($missing->isStored(), $again->isHit());
        $site->run('wp_insert_post(["post_title" => "To come", "post_name" => "to-come", "post_status" => "publish", "post_content" => "It has come."]);');
        $there = $site->visit('/to-come/');
        self::assertSame(200, $there->status);
        self::assertStringContainsString('It has come.', $there->body);
        self::assertStringContainsString('To come', $site->visit('/feed/')->body);
    }

    #[DataProvider('stores')]
    public function testAChangeKillsExactlyThePagesThatShowIt(bool $hasExtension): void
    {
        $site = $this->site($hasExtension);
        $made = self::listed($site->run(<<<'PHP'
            // Whatever earlier tests have written is older.
            foreach (get_posts(['numberposts' => -1]) as $post) {
                wp_update_post(['ID' => $post->ID, 'post_date' => '2019-01-01 00:00:00', 'post_date_gmt' => '2019-01-01 00:00:00']);
            }
            $cats = [];
            foreach (['red', 'blue'] as $name) { $cats[$name] = wp_insert_term($name . bin2hex(random_bytes(3)), 'category')['term_id']; }
            $posts = [];
            foreach (['old' => ['red', '2020-01-01 00:00:00'], 'new' => ['blue', '2025-01-01 00:00:00']] as $name => [$cat, $date]) {
                $posts[$name] = wp_insert_post(['post_title' => "{$name} title", 'post_content' => "{$name} text", 'post_status' => 'publish', 'post_date' => $date, 'post_category' => [$cats[$cat]]]);
            }
            update_option('posts_per_page', 1); update_option('posts_per_rss', 1);
            $page = wp_insert_post(['post_type' => 'page', 'post_title' => 'A page', 'post_content' => 'page text', 'post_status' => 'publish']);
            $out = ['red' => (string) $cats['red'], 'old-id' => (string) $posts['old'], 'new-id' => (string) $posts['new']];
            foreach (['old' => get_permalink($posts['old']), 'new' => get_permalink($posts['new']), 'red' => get_term_link($cats['red']), 'blue' => get_term_link($cats['blue']), 'page' => get_permalink($page), 'front' => home_url('/'), 'feed' => home_url('/feed/')] as $name => $url) {
                $out["/{$name}"] = substr($url, strlen(home_url()));
            }
            echo json_encode($out);
            PHP));
        $uris = [];
        foreach ($made as $name => $uri) {
            if ($name[0] === '/') {
                $uris[substr($name, 1)] = $uri;
            }
        }
        $fill = static function () use ($site, $uris): void {
            foreach ($uris as $name => $uri) {
                self::assertSame(200, $site->visit($uri)->status, "{$name} {$uri}");
                self::assertTrue($site->visit($uri)->isHit(), "{$name} {$uri}");
            }
        };
        $killed = static function (string $code) use ($site, $uris, $fill): array {
            $fill();
            $site->run($code);
            $killed = [];
            foreach ($uris as $name => $uri) {
                if (!$site->visit($uri)->isHit()) {
                    $killed[] = $name;
                }
            }

            return $killed;
        };
        self::assertStringContainsString('new title', $site->visit($uris['front'])->body);
        // Its own page, and the lists that show it.
        self::assertSame(['old', 'red'], $killed("wp_update_post(['ID' => {$made['old-id']}, 'post_content' => 'other text']);"));
        self::assertStringContainsString('other text', $site->visit($uris['old'])->body);
        self::assertSame(['new', 'blue', 'front', 'feed'], $killed("update_post_meta({$made['new-id']}, 'key', 'value');"));
        // A new one comes into the lists.
        $after = $killed("wp_insert_post(['post_title' => 'Another', 'post_status' => 'publish', 'post_category' => [{$made['red']}]]);");
        self::assertContains('red', $after);
        self::assertContains('front', $after);
        self::assertContains('feed', $after);
        self::assertNotContains('page', $after);
        // The name of the site is on all of them.
        self::assertSame(array_keys($uris), $killed('update_option("blogname", "Renamed");'));
        self::assertStringContainsString('Renamed', $site->visit($uris['page'])->body);
        self::assertSame([], $killed('update_option("something_else", "1"); set_transient("t", 1, 100); wp_schedule_single_event(time() + 1000, "x");'));
        self::assertSame(array_keys($uris), $killed('do_action("switch_theme", "x", wp_get_theme());'));
        self::assertSame(array_keys($uris), $killed('do_action("_core_updated_successfully", "99.9");'));
        self::assertSame(array_keys($uris), $killed('update_option("sidebars_widgets", ["a" => [mt_rand()]]);'));
        // A comment shows on its post.
        $commented = $killed("wp_insert_comment(['comment_post_ID' => {$made['old-id']}, 'comment_content' => 'A comment', 'comment_approved' => 1, 'comment_author' => 'A']);");
        self::assertContains('old', $commented);
        self::assertNotContains('page', $commented);
        self::assertStringContainsString('A comment', $site->visit($uris['old'])->body);
        self::assertSame([], $killed("wp_insert_comment(['comment_post_ID' => {$made['old-id']}, 'comment_content' => 'Held', 'comment_approved' => 0, 'comment_author' => 'A']);"));
        $renamed = $killed("wp_update_term({$made['red']}, 'category', ['name' => 'Crimson']);");
        self::assertContains('red', $renamed);
        self::assertContains('old', $renamed);
        self::assertNotContains('page', $renamed);
        self::assertStringContainsString('Crimson', $site->visit($uris['red'])->body);
        $trashed = $killed("wp_trash_post({$made['new-id']});");
        self::assertContains('new', $trashed);
        self::assertContains('blue', $trashed);
        self::assertContains('front', $trashed);
        self::assertSame(404, $site->visit($uris['new'])->status);
    }

    #[DataProvider('stores')]
    public function testAPageThatReadsATableBySqlOfItsOwnDiesWithEachSaveInIt(bool $hasExtension): void
    {
        $site = $this->site($hasExtension);
        $site->run('$wpdb->query("CREATE TABLE IF NOT EXISTS {$wpdb->prefix}things (id BIGINT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(100)) ENGINE=InnoDB"); $wpdb->query("CREATE TABLE IF NOT EXISTS {$wpdb->prefix}others LIKE {$wpdb->prefix}things"); $wpdb->query("CREATE TABLE IF NOT EXISTS {$wpdb->prefix}actionscheduler_actions LIKE {$wpdb->prefix}things");');
        // The code of a queue, which all pages run.
        @mkdir("{$site->site->root}/wp-content/plugins/action-scheduler");
        file_put_contents("{$site->site->root}/wp-content/plugins/action-scheduler/queue.php", '<?php $GLOBALS["wpdb"]->get_var("SELECT COUNT(*) FROM {$GLOBALS["wpdb"]->prefix}actionscheduler_actions"); $GLOBALS["wpdb"]->get_var("SELECT COUNT(*) FROM {$GLOBALS["wpdb"]->posts} WHERE post_type = \'scheduled-action\'");');
        $this->plugin($site, <<<'PHP'
            add_action('wp_footer', static function (): void {
                global $wpdb;
                require WP_PLUGIN_DIR . '/action-scheduler/queue.php';
                // A page of two tables, one of WordPress's own, and the front page of neither.
                if (is_page()) { echo 'shown:', implode(',', $wpdb->get_col("SELECT t.name FROM {$wpdb->prefix}things AS t ORDER BY id")), ';'; }
                if (is_single()) { echo 'shown:', implode(',', $wpdb->get_col("SELECT post_title FROM `{$wpdb->posts}` WHERE post_type = 'thing' ORDER BY ID")), ';'; }
                if (is_single()) { $wpdb->get_var("SELECT COUNT(*) FROM {$wpdb->prefix}actionscheduler_actions"); }
                if (isset($_COOKIE['reader']) || is_404()) { $wpdb->insert("{$wpdb->prefix}things", ['name' => 'visit']); $wpdb->query("UPDATE {$wpdb->posts} SET comment_count = comment_count + 1 WHERE ID = 1"); }
            });
            PHP);
        $uris = ['/', '/sample-page/', '/hello-world/'];
        $killed = static function (string $code, ?callable $between = null) use ($site, $uris): array {
            foreach ($uris as $uri) {
                $site->visit($uri);
                self::assertTrue($site->visit($uri)->isHit(), $uri);
            }
            $between === null ? $site->run($code) : $between();

            return array_values(array_filter($uris, static fn(string $uri): bool => !$site->visit($uri)->isHit()));
        };
        $shown = static fn(string $uri): string => preg_match('/shown:([a-z,]*);/', $site->visit($uri)->body, $shown) === 1 ? $shown[1] : 'nothing';

        self::assertSame(['/sample-page/'], $killed('$wpdb->insert("{$wpdb->prefix}things", ["name" => "a"]);'));
        self::assertSame('a', $shown('/sample-page/'));
        self::assertSame(['/sample-page/'], $killed('$wpdb->query("/* why */ UPDATE {$wpdb->prefix}others o JOIN {$wpdb->prefix}things t ON o.id = t.id SET t.name = o.name");'));
        self::assertSame(['/hello-world/'], $killed('wp_insert_post(["post_type" => "thing", "post_title" => "b", "post_status" => "publish"]);'));
        self::assertSame('b', $shown('/hello-world/'));
        self::assertSame(['/hello-world/'], $killed('$wpdb->update($wpdb->posts, ["post_title" => "c"], ["post_type" => "thing"]);'));
        self::assertSame('c', $shown('/hello-world/'));
        self::assertSame([], $killed('$wpdb->insert("{$wpdb->prefix}others", ["name" => "a"]); update_option("unread", mt_rand()); $wpdb->get_var("SELECT COUNT(*) FROM {$wpdb->prefix}things");'));
        // What a plugin reads of its own queue is on no page, but what others read of it is.
        self::assertSame(['/hello-world/'], $killed('$wpdb->insert("{$wpdb->prefix}actionscheduler_actions", ["name" => "a"]);'));
        // What a visit counts is no save, for any visitor.
        self::assertSame([], $killed('', static fn() => [$site->visit('/'), $site->visit('/', ['Cookie: reader=1']), $site->visit('/not-there-' . mt_rand() . '/')]));
        self::assertSame(['/sample-page/'], $killed('$wpdb->query("TRUNCATE TABLE `{$wpdb->prefix}things`");'));

        $site->visit('/sample-page/');
        $table = $site->run('echo $wpdb->prefix, "things";');
        self::assertStringContainsString("by SQL of its own: {$table}.", $site->run('$pages = (new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages; echo implode(" ", (new Larder\WordPress\PageReport($pages))->explanation($pages->explain(home_url("/sample-page/"))));'));

        // No other process sees what is not committed, and a visitor meanwhile keeps nothing old for the others.
        $site->run('$wpdb->query("START TRANSACTION"); $wpdb->insert("{$wpdb->prefix}things", ["name" => "d"]); usleep(60_000); $wpdb->get_var("SELECT 1"); file_get_contents("http://127.0.0.1:' . $site->nginx->port . '/sample-page/"); $wpdb->query("COMMIT");');
        self::assertSame('d', $shown('/sample-page/'));
        // Nor does one who comes between a write and the end of a long request, which knows itself what it has saved.
        self::assertStringContainsString('shown:d,e,f;', $site->run('$wpdb->insert("{$wpdb->prefix}things", ["name" => "e"]); $wpdb->get_var("SELECT 1"); file_get_contents(home_url("/sample-page/")); $wpdb->insert("{$wpdb->prefix}things", ["name" => "f"]); echo wp_remote_get(home_url("/sample-page/"))["body"];'));
        if (!$hasExtension) {
            // What no page reads makes no log longer, through which each hit looks.
            $log = static fn(): array => array_map(filesize(...), glob("{$site->site->directory()}/pages/log-*") ?: self::fail('There is no log.'));
            $before = $log();
            $site->run('$wpdb->insert("{$wpdb->prefix}others", ["name" => "b"]);');
            clearstatcache();
            self::assertSame($before, $log());
        }
        $site->run('(new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->configure(["tables" => ["{$wpdb->prefix}things"]]);');
        self::assertSame([], $killed('$wpdb->insert("{$wpdb->prefix}things", ["name" => "g"]);'));
    }

    /** Others read the old rows until then, and would keep them. */
    #[DataProvider('stores')]
    public function testASaveInATransactionIsSeenWhenItIsCommittedAndNeverIfItIsNot(bool $hasExtension): void
    {
        $site = $this->site($hasExtension);
        $site->run('wp_update_post(["ID" => 1, "post_content" => "Before."]); update_option("posts_per_page", 1);');
        $meanwhile = static fn(string $save, string $end): string => $site->run('$wpdb->query("START TRANSACTION"); ' . $save . ' $wpdb->get_var("SELECT 1"); foreach (["/hello-world/", "/"] as $uri) { for ($i = 0; $i < 2; $i++) { file_get_contents("http://127.0.0.1:' . $site->nginx->port . '$uri"); } } $wpdb->query("' . $end . '");');
        $meanwhile('wp_update_post(["ID" => 1, "post_content" => "Committed."]); wp_insert_post(["post_title" => "A committed one", "post_status" => "publish"]);', 'COMMIT');
        self::assertStringContainsString('Committed.', $site->visit('/hello-world/')->body);
        self::assertStringContainsString('A committed one', $site->visit('/')->body);
        $meanwhile('wp_update_post(["ID" => 1, "post_content" => "Withdrawn."]); get_post(1); update_option("blogname", "Withdrawn name"); get_option("blogname"); wp_insert_post(["post_title" => "A withdrawn one", "post_status" => "publish"]); get_posts();', 'ROLLBACK');
        foreach (['/hello-world/', '/', '/?p=1', '/feed/'] as $uri) {
            self::assertDoesNotMatchRegularExpression('/withdrawn/i', $site->visit($uri)->body);
        }
        self::assertStringNotContainsString('Withdrawn', $site->run('echo get_post(1)->post_content, get_option("blogname");'));
        // After a COMMIT that is the last query, another server may ask this site.
        $site->visit('/hello-world/');
        $asked = $site->run('$wpdb->query("START TRANSACTION"); wp_update_post(["ID" => 1, "post_content" => "Asked for."]); file_get_contents("' . $site->url . '/hello-world/"); $wpdb->query("COMMIT"); echo wp_remote_retrieve_body(wp_remote_get("' . $site->url . '/hello-world/"));');
        self::assertStringContainsString('Asked for.', $asked);
        // Each COMMIT begins another.
        $site->run('$wpdb->query("SET autocommit = 0"); $wpdb->query("COMMIT"); wp_update_post(["ID" => 1, "post_content" => "The second."]); file_get_contents("' . $site->url . '/hello-world/"); $wpdb->query("COMMIT");');
        self::assertStringContainsString('The second.', $site->visit('/hello-world/')->body);
        $site->run('update_option("posts_per_page", 10);');
    }

    /** It reads the rows of its beginning, whatever others have saved since. */
    #[DataProvider('stores')]
    public function testATransactionGivesOthersNoRowsOfItsBeginning(bool $hasExtension): void
    {
        $site = $this->site($hasExtension);
        $site->run('wp_update_post(["ID" => 1, "post_content" => "Of the beginning."]);');
        $this->plugin($site, 'add_action("init", static function (): void { if (isset($_GET["save"])) { wp_update_post(["ID" => 1, "post_content" => "Saved meanwhile."]); wp_cache_delete(1, "posts"); exit; } });');
        $read = $site->run('$wpdb->query("START TRANSACTION"); $wpdb->get_var("SELECT COUNT(*) FROM $wpdb->posts"); file_get_contents("' . $site->url . '/?save=1"); wp_cache_flush_runtime(); echo get_post(1)->post_content; file_get_contents("' . $site->url . '/hello-world/"); $wpdb->query("COMMIT"); $wpdb->query("SELECT 1"); echo get_post(1)->post_content;');
        self::assertSame('Of the beginning.Saved meanwhile.', $read);
        self::assertStringContainsString('Saved meanwhile.', $site->visit('/hello-world/')->body);
    }

    #[DataProvider('stores')]
    public function testAPageDiesWithATransientThatASaveRenewsOrDeletes(bool $hasExtension): void
    {
        $site = $this->site($hasExtension);
        $site->run('$wpdb->query("CREATE TABLE IF NOT EXISTS {$wpdb->prefix}dates (name VARCHAR(100)) ENGINE=InnoDB"); foreach (["dates", "days"] as $name) { delete_transient($name); delete_site_transient($name); }');
        $this->plugin($site, <<<'PHP'
            function dates(string $of, bool $isOfAll = false): string {
                $kept = $isOfAll ? get_site_transient($of) : get_transient($of);
                if ($kept === false) {
                    $kept = (string) $GLOBALS['wpdb']->get_var("SELECT GROUP_CONCAT(name) FROM {$GLOBALS['wpdb']->prefix}dates");
                    $isOfAll ? set_site_transient($of, $kept, 600) : set_transient($of, $kept, 600);
                }
                return $kept;
            }
            add_action('wp_footer', static function (): void {
                if (is_page()) { echo 'shown:', dates('dates'), ';'; }
                if (is_single()) { echo 'shown:', dates('days', true), ';'; }
            });
            PHP);
        $uris = ['/', '/sample-page/', '/hello-world/'];
        $killed = static function (string $code) use ($site, $uris): array {
            foreach ($uris as $uri) {
                // The first time the transient is made.
                $site->run('$pages = (new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages; $pages->forget(home_url($argv[1]));', [$uri]);
                $site->visit($uri);
                self::assertTrue($site->visit($uri)->isHit(), $uri);
            }
            $site->run($code);

            return array_values(array_filter($uris, static fn(string $uri): bool => !$site->visit($uri)->isHit()));
        };
        $killed('');
        self::assertSame(['/sample-page/'], $killed('$wpdb->insert("{$wpdb->prefix}dates", ["name" => "monday"]); delete_transient("dates");'));
        self::assertStringContainsString('shown:monday;', $site->visit('/sample-page/')->body);
        self::assertSame(['/hello-world/'], $killed('set_site_transient("days", "tuesday", 600);'));
        self::assertStringContainsString('shown:tuesday;', $site->visit('/hello-world/')->body);
        self::assertSame([], $killed('set_transient("days", 1); delete_transient("unread"); set_site_transient("update_plugins", 1);'));
    }

    #[DataProvider('stores')]
    public function testWhatPluginsKeepForThemselvesEndsNoPageBeforeItChangesUnlessItIsFoundByWhenSomethingHasChanged(bool $hasExtension): void
    {
        $site = $this->site($hasExtension);
        $other = trim($site->run('echo wp_insert_post(["post_title" => "Another", "post_status" => "publish"]);'));
        $site->run('delete_transient("kept"); wp_cache_flush_group("kept"); wp_update_nav_menu_item(wp_create_nav_menu("a-menu"), 0, ["menu-item-title" => "Elsewhere", "menu-item-url" => "/elsewhere/", "menu-item-status" => "publish"]);');
        $this->plugin($site, <<<'PHP'
            wp_cache_add_non_persistent_groups(['passing']);
            function titles(): string { return implode(',', wp_list_pluck(get_posts(["orderby" => "ID"]), 'post_title')); }
            function kept(string $key): string {
                $kept = wp_cache_get($key, 'kept');
                is_string($kept) || wp_cache_set($key, $kept = titles(), 'kept');
                return $kept;
            }
            add_action('wp_footer', static function (): void {
                if (is_page('sample-page')) {
                    get_transient('kept') || set_transient('kept', 'mine', 900);
                    get_transient('filter_data-transient-version') || set_transient('filter_data-transient-version', '1');
                    wp_cache_get('one', 'kept') || wp_cache_set('one', 'mine', 'kept');
                    wp_cache_set('one', 'mine', 'passing');
                    wp_cache_get('one', 'passing');
                    echo is_multi_author() ? 'many' : 'one';
                } elseif (is_single()) {
                    echo 'shown:', kept('titles:' . wp_cache_get_last_changed('posts')), ';';
                } elseif (is_page('about')) {
                    echo 'shown:', kept('titles:' . wp_cache_get('last_changed', 'posts')), ';';
                } elseif (is_page('judged')) {
                    wp_nav_menu(['menu' => 'a-menu']);
                    echo get_transient('filter_data-transient-version') . json_encode(get_transient('wc_filter_data_1'));
                }
            });
            PHP);
        $site->run('foreach (["about", "judged"] as $name) { wp_insert_post(["post_title" => "A page", "post_name" => $name, "post_status" => "publish", "post_type" => "page", "post_date" => "2020-01-01 00:00:00"]); }');
        $uris = ['/sample-page/', '/hello-world/', '/about/', '/judged/'];
        $killed = static function (string $code) use ($site, $uris): array {
            foreach ([1, 2] as $_) {
                // The first time what was missing is made.
                $site->run('$pages = (new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages; foreach (array_slice($argv, 1) as $uri) { $pages->forget(home_url($uri)); }', $uris);
                array_map(static fn(string $uri) => $site->visit($uri), $uris);
            }
            foreach ($uris as $uri) {
                self::assertTrue($site->visit($uri)->isHit(), $uri);
            }
            $site->run($code);

            return array_values(array_filter($uris, static fn(string $uri): bool => !$site->visit($uri)->isHit()));
        };
        $killed('');
        self::assertSame(['/hello-world/', '/about/'], $killed("wp_update_post(['ID' => {$other}, 'post_title' => 'Renamed']);"));
        foreach (['/hello-world/', '/about/'] as $uri) {
            self::assertMatchesRegularExpression('~shown:[^;]*Renamed~', $site->visit($uri)->body);
        }
        self::assertNotContains('/sample-page/', $killed("wp_update_post(['ID' => 1, 'post_content' => 'Other text']);"));
        self::assertSame(['/judged/'], $killed('set_transient("filter_data-transient-version", (string) mt_rand());'));
        self::assertSame(['/sample-page/'], $killed('set_transient("kept", "yours", 900);'));
        self::assertSame(['/sample-page/'], $killed('wp_cache_set("one", "yours", "kept");'));
        self::assertSame([], $killed('wp_cache_set("none reads it", "yours", "kept");'));
        self::assertNotContains('/judged/', $killed('wp_insert_post(["post_title" => "In no menu", "post_status" => "publish"]);'), 'a menu');
        self::assertContains('/sample-page/', $killed('wp_insert_post(["post_title" => "Of another", "post_status" => "publish", "post_author" => wp_insert_user(["user_login" => "w" . mt_rand(), "user_pass" => "x", "role" => "author"])]);'));
        self::assertStringContainsString('many', $site->visit('/sample-page/')->body);
    }

    public function testAPageDiesWithWhatAPluginChangesInItsOwnGroupOfTheObjectCacheAndNotWithAFill(): void
    {
        $site = $this->site(true);
        $this->plugin($site, <<<'PHP'
            $GLOBALS['wpdb']->thingmeta = $GLOBALS['wpdb']->prefix . 'thingmeta';
            function things(): mixed {
                $value = wp_cache_get('all', 'things');
                if ($value === false) {
                    $value = $GLOBALS['wpdb']->get_var("SELECT value FROM {$GLOBALS['wpdb']->prefix}listed_things");
                    wp_cache_set('all', $value, 'things');
                }
                return $value;
            }
            add_action('wp_footer', static function (): void {
                if (is_single()) { echo 'shown:', things(), wp_cache_get('count', 'counts-of-things'), get_metadata('thing', 1, 'colour', true), ';'; }
                if (is_page()) { wp_cache_set('all-of-visits', microtime(), 'things'); wp_cache_delete('nothing', 'things'); }
            });
            PHP);
        $site->run('$wpdb->query("CREATE TABLE {$wpdb->prefix}listed_things (value TEXT)"); $wpdb->query("CREATE TABLE {$wpdb->prefix}thingmeta (meta_id BIGINT AUTO_INCREMENT PRIMARY KEY, thing_id BIGINT, meta_key VARCHAR(99), meta_value TEXT)");'
            . ' $wpdb->query("INSERT INTO {$wpdb->prefix}listed_things VALUES (\'first\')"); wp_cache_set("count", 1, "counts-of-things"); update_metadata("thing", 1, "colour", "red");');
        $shown = static fn(): string => preg_match('/shown:(.*?);/', $site->visit('/hello-world/')->body, $shown) === 1 ? $shown[1] : '';
        $save = static fn(string $value): string => "\$wpdb->query(\"UPDATE {\$wpdb->prefix}listed_things SET value = '{$value}'\");";
        $of = 'first1red';
        foreach ([
            $save('deleted') . ' wp_cache_delete("all", "things");' => 'deleted1red',
            $save('set') . ' wp_cache_set("all", "set", "things");' => 'set1red',
            $save('replaced') . ' wp_cache_replace("all", "replaced", "things");' => 'replaced1red',
            'wp_cache_get("gone", "things"); ' . $save('many') . ' wp_cache_delete_multiple(["all", "none"], "things");' => 'many1red',
            $save('flushed') . ' wp_cache_flush_group("things");' => 'flushed1red',
            'wp_cache_delete("all", "things"); wp_cache_get("all", "things"); ' . $save('after') . ' wp_cache_set("all", "after", "things");' => 'after1red',
            'wp_cache_incr("count", 1, "counts-of-things");' => 'after2red',
            'update_metadata("thing", 1, "colour", "blue");' => 'after2blue',
        ] as $change => $then) {
            // What fills the cache reads the tables; a page that is made afterwards does not.
            $site->run('things(); get_metadata("thing", 1, "colour"); (new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->flush();');
            self::assertSame([$of, $of], [$shown(), $shown()], $change);
            self::assertTrue($site->visit('/hello-world/')->isHit(), $change);
            $site->run($change);
            self::assertSame($then, $shown(), $change);
            $of = $then;
        }
        $site->visit('/sample-page/');
        $site->run('wp_cache_get("none", "things"); wp_cache_set("none", 1, "things"); wp_cache_add("lock", 1, "things"); wp_cache_set("a", 1, "others");');
        self::assertTrue($site->visit('/hello-world/')->isHit(), 'what a visit sets, and what was missing');
    }

    public function testAPageDiesWithWhatAPluginChangesInTheObjectCacheWithoutAGroupAndWithNothingElseThere(): void
    {
        $site = $this->site(true);
        $this->plugin($site, <<<'PHP'
            add_action('wp_footer', static function (): void {
                if (is_single()) {
                    $leaves = wp_cache_get('all-leaves');
                    if ($leaves === false) {
                        $leaves = $GLOBALS['wpdb']->get_var("SELECT value FROM {$GLOBALS['wpdb']->prefix}leaves");
                        wp_cache_set('all-leaves', $leaves);
                    }
                    echo "shown:{$leaves};";
                }
                if (is_page()) { wp_cache_set('all-leaves', 'of a visit'); wp_cache_delete('all-leaves'); }
            });
            PHP);
        $site->run('$wpdb->query("CREATE TABLE {$wpdb->prefix}leaves (value TEXT)"); $wpdb->query("INSERT INTO {$wpdb->prefix}leaves VALUES (\'first\')");');
        $shown = static fn(): string => preg_match('/shown:(.*?);/', $site->visit('/hello-world/')->body, $shown) === 1 ? $shown[1] : '';
        $save = static fn(string $value): string => "\$wpdb->query(\"UPDATE {\$wpdb->prefix}leaves SET value = '{$value}'\");";
        $shown();
        foreach ([
            'deleted' => 'wp_cache_delete("all-leaves");',
            'set' => 'wp_cache_set("all-leaves", "set");',
            'many' => 'wp_cache_delete_multiple(["none", "all-leaves"]);',
            'flushed' => 'wp_cache_flush_group("default");',
        ] as $value => $change) {
            // The page does not read the table, as the cache has its row.
            $site->run('(new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->flush();');
            $of = $shown();
            self::assertTrue($site->visit('/hello-world/')->isHit(), $change);
            $site->run($save($value) . $change);
            self::assertSame([$value, $value], [$shown(), $shown()], "{$change} after {$of}");
        }
        $site->visit('/sample-page/');
        $site->run('wp_cache_set("another", 1); wp_cache_delete("of-no-page"); wp_cache_delete("icon_files"); wp_cache_set("is_blog_installed", true);');
        self::assertTrue($site->visit('/hello-world/')->isHit(), 'what a visit sets, and what others keep');
        $site->visit('/');
        $front = $site->site->command(['larder', 'explain', "{$site->url}/", '--tags']);
        $front->wait();
        self::assertStringContainsString('list/post', $front->getOutput());
        self::assertStringNotContainsString('group/default', $front->getOutput(), 'WordPress keeps nothing there that pages show');
    }

    /** Code that writes by SQL of its own tells the object cache what it has changed. On a site without pages that is enough. */
    public function testAPageDiesWithRowsThatSqlChangesAndOnlyTheObjectCacheIsToldOf(): void
    {
        $site = $this->site(true);
        $this->plugin($site, <<<'PHP'
            add_action('wp_footer', static function (): void {
                if (is_single()) {
                    echo 'shown:', implode(',', [get_post(1)->post_excerpt, get_post_meta(1, 'told', true), get_term(1)->description, get_term_meta(1, 'told', true), get_user_meta(1, 'told', true), get_userdata(1)->user_url, get_comment(1)->comment_author, get_option('larder_none', get_option('told_option')), implode('', wp_get_object_terms(1, 'post_tag', ['fields' => 'names'])), get_posts(['meta_key' => 'told', 'post_type' => 'page'])[0]->post_title ?? '']), ';';
                }
            });
            PHP);
        $site->run('update_post_meta(1, "told", "0"); update_term_meta(1, "told", "0"); update_user_meta(1, "told", "0"); update_option("told_option", "0"); update_post_meta(2, "other", "0"); wp_insert_term("told", "post_tag");');
        $shown = static fn(): string => preg_match('/shown:(.*?);/', $site->visit('/hello-world/')->body, $shown) === 1 ? $shown[1] : '';
        $meta = '$wpdb->query("UPDATE $wpdb->postmeta SET meta_value = \"%s\" WHERE post_id = 1 AND meta_key = \"told\""); ';
        $stale = [];
        foreach ([
            '$wpdb->update($wpdb->posts, ["post_excerpt" => "a"], ["ID" => 1]); wp_cache_delete(1, "posts");',
            sprintf($meta, 'b') . 'wp_cache_delete(1, "post_meta");',
            sprintf($meta, 'c') . 'wp_cache_delete_multiple([7, 1], "post_meta");',
            sprintf($meta, 'd') . 'wp_cache_flush_group("post_meta");',
            sprintf($meta, 'e') . 'wp_cache_set(1, ["told" => ["e"]], "post_meta");',
            '$wpdb->query("START TRANSACTION"); ' . sprintf($meta, 'f') . 'wp_cache_delete(1, "post_meta"); $wpdb->query("COMMIT");',
            '$wpdb->update($wpdb->term_taxonomy, ["description" => "a"], ["term_id" => 1]); wp_cache_delete(1, "terms");',
            '$wpdb->update($wpdb->termmeta, ["meta_value" => "a"], ["term_id" => 1, "meta_key" => "told"]); wp_cache_delete(1, "term_meta");',
            '$wpdb->update($wpdb->usermeta, ["meta_value" => "a"], ["user_id" => 1, "meta_key" => "told"]); wp_cache_delete(1, "user_meta");',
            '$wpdb->update($wpdb->users, ["user_url" => "http://a.example"], ["ID" => 1]); wp_cache_delete(1, "users");',
            '$wpdb->update($wpdb->comments, ["comment_author" => "a"], ["comment_ID" => 1]); wp_cache_delete(1, "comment");',
            '$wpdb->update($wpdb->options, ["option_value" => "a"], ["option_name" => "told_option"]); wp_cache_delete("alloptions", "options");',
            '$wpdb->insert($wpdb->term_relationships, ["object_id" => 1, "term_taxonomy_id" => get_term_by("name", "told", "post_tag")->term_taxonomy_id]); clean_object_term_cache(1, "post");',
            // Which pages have the meta has changed as well.
            '$wpdb->query("UPDATE $wpdb->postmeta SET meta_key = \"told\" WHERE post_id = 2 AND meta_key = \"other\""); wp_cache_delete(2, "post_meta"); wp_cache_set("last_changed", microtime(), "posts");',
        ] as $change) {
            $before = $shown();
            self::assertTrue($site->visit('/hello-world/')->isHit(), $change);
            $site->run($change);
            if ($shown() === $before) {
                $stale[] = $change;
            }
        }
        self::assertSame([], $stale);
        // The right page alone, and not by what WordPress itself keeps: as a lock of the editor, or the session of a user.
        $site->visit('/sample-page/');
        $site->visit('/hello-world/');
        $site->run(sprintf($meta, 'g') . 'wp_cache_delete(1, "post_meta"); $wpdb->update($wpdb->usermeta, ["meta_value" => "h"], ["user_id" => 99]); update_user_meta(1, "session_tokens", []); update_post_meta(2, "_edit_lock", "1:1");');
        self::assertSame([false, true], [$site->visit('/hello-world/')->isHit(), $site->visit('/sample-page/')->isHit()]);
        $site->run('$wpdb->update($wpdb->usermeta, ["meta_value" => "h"], ["user_id" => 99]); update_user_meta(1, "session_tokens", []); update_post_meta(1, "_edit_lock", "1:1"); wp_cache_delete(1, "posts");');
        self::assertTrue($site->visit('/hello-world/')->isHit(), 'nothing has changed');
    }

    public function testAPageDiesWithWhatOnlyAFilterOfAQueryOrMetaOfAllTellsOf(): void
    {
        $site = $this->site(true);
        $site->run('foreach (["first", "second"] as $i => $name) { $id = wp_insert_post(["post_title" => "$name of two", "post_name" => "$name-of-two", "post_status" => "publish", "post_date" => "2001-01-01 00:00:00"]); update_post_meta($id, "rank", 2 - $i); } update_user_meta(1, "motto", "m"); update_term_meta(1, "hue", "h"); $wpdb->insert($wpdb->links, ["link_url" => "http://a.example/", "link_name" => "a", "link_visible" => "Y"]);');
        $this->plugin($site, <<<'PHP'
            add_action('pre_get_posts', static function (WP_Query $query): void {
                if ($query->is_main_query() && $query->is_home()) {
                    $query->set('posts_per_page', 1);
                    add_filter('posts_clauses', static fn(array $clauses, WP_Query $of): array => ($of === $query ? ['join' => " JOIN {$GLOBALS['wpdb']->postmeta} r ON r.post_id = {$GLOBALS['wpdb']->posts}.ID AND r.meta_key = 'rank'", 'orderby' => 'r.meta_value DESC'] : []) + $clauses, 10, 2);
                }
            });
            add_action('wp_footer', static function (): void {
                if (is_single('hello-world')) { echo 'shown:', get_comment_meta(1, 'likes', true), get_post_meta(1, 'rank', true), get_user_meta(1, 'motto', true), get_term_meta(1, 'hue', true), ';'; }
                if (is_page()) { foreach (get_bookmarks() as $link) { echo "link:{$link->link_name};"; } }
            });
            PHP);
        $kills = static function (string $uri, string $code) use ($site): bool {
            $site->visit($uri);
            $again = $site->visit($uri);
            self::assertTrue($again->isHit(), "{$uri} {$again->status} {$again->header('cache-status')} {$again->header('location')}");
            $site->run($code);

            return !$site->visit($uri)->isHit();
        };
        $alive = [];
        foreach ([
            ['/hello-world/', 'update_comment_meta(1, "likes", "l" . mt_rand());'],
            ['/hello-world/', 'delete_comment_meta(1, "likes");'],
            ['/hello-world/', 'update_post_meta(1, "rank", 1); '],
            ['/hello-world/', 'delete_post_meta_by_key("rank");'],
            ['/hello-world/', 'delete_metadata("user", 0, "motto", "", true);'],
            ['/hello-world/', 'delete_metadata("term", 0, "hue", "", true);'],
            ['/sample-page/', 'require_once ABSPATH . "wp-admin/includes/bookmark.php"; wp_insert_link(["link_url" => "http://b.example/", "link_name" => "b"]);'],
            ['/sample-page/', 'require_once ABSPATH . "wp-admin/includes/bookmark.php"; wp_delete_link((int) $wpdb->get_var("SELECT MAX(link_id) FROM {$wpdb->links}"));'],
        ] as [$uri, $code]) {
            if (!$kills($uri, $code)) {
                $alive[] = "{$uri} {$code}";
            }
        }
        $site->run('foreach (["first" => 1, "second" => 2] as $name => $rank) { update_post_meta(get_page_by_path("$name-of-two", OBJECT, "post")->ID, "rank", $rank); }');
        self::assertStringContainsString('second of two', $site->visit('/')->body);
        if (!$kills('/', 'update_post_meta(get_page_by_path("first-of-two", OBJECT, "post")->ID, "rank", 3);')) {
            $alive[] = 'the first of a list by a filter';
        }
        self::assertSame([], $alive);
    }

    #[DataProvider('stores')]
    public function testAListThatIsOrderedByATableOfAPluginIsAsTheTableSaysAfterASave(bool $hasExtension): void
    {
        $site = $this->site($hasExtension);
        $site->run('$wpdb->query("CREATE TABLE IF NOT EXISTS {$wpdb->prefix}ranks (post_id BIGINT PRIMARY KEY, points INT) ENGINE=InnoDB"); foreach (["cheap", "dear"] as $points => $name) { $wpdb->replace("{$wpdb->prefix}ranks", ["post_id" => wp_insert_post(["post_title" => "The {$name} one", "post_name" => "{$name}-one", "post_status" => "publish"]), "points" => $points]); }');
        $this->plugin($site, <<<'PHP'
            add_action('wp_footer', static function (): void {
                if (is_page()) {
                    $byRank = static fn(array $clauses): array => ['join' => " JOIN {$GLOBALS['wpdb']->prefix}ranks r ON r.post_id = {$GLOBALS['wpdb']->posts}.ID", 'orderby' => 'r.points'] + $clauses;
                    add_filter('posts_clauses', $byRank);
                    $listed = (new WP_Query(['posts_per_page' => 1]))->posts;
                    remove_filter('posts_clauses', $byRank);
                    echo 'first: ', $listed[0]->post_title ?? 'none', ';';
                }
            });
            PHP);
        self::assertStringContainsString('first: The cheap one;', $site->visit('/sample-page/')->body);
        self::assertTrue($site->visit('/sample-page/')->isHit());
        $site->run('$wpdb->update("{$wpdb->prefix}ranks", ["points" => 7], ["post_id" => get_page_by_path("cheap-one", OBJECT, "post")->ID]);');
        $after = $site->visit('/sample-page/');
        self::assertFalse($after->isHit());
        self::assertStringContainsString('first: The dear one;', $after->body);
    }

    /** WordPress counts them by SQL, which no query of its classes tells of. */
    /** Neither a hook nor the object cache tells of some queries of WordPress itself, and what is not there has no post or user that could tell. */
    #[DataProvider('stores')]
    public function testAPageDiesWithWhatOnlyWordPressItselfReadsAndWithWhatWasNotThere(bool $hasExtension): void
    {
        $site = $this->site($hasExtension);
        $plugin = <<<'PHP'
            add_action('wp_footer', static function (): void {
                static $is = 0;
                if (is_page('asks-for-@') && $is++ === 0) { echo 'shown:', json_encode(@), ';'; }
            });
            PHP;
        $says = [
            'many' => 'count_many_users_posts([1])',
            'files' => 'wp_count_attachments()',
            'gallery' => 'count(get_posts(["post_type" => "attachment", "fields" => "ids"]))',
            'below' => 'count(get_children(["post_parent" => 1]))',
            'kinds' => 'get_available_post_mime_types()',
            'term' => 'get_objects_in_term(1, "category")',
            'title' => 'get_page_by_title("By title", OBJECT, "thing")?->post_title',
            'path' => 'get_page_by_path("by-path", OBJECT, "thing")?->post_title',
            'edited' => 'get_lastpostmodified("gmt")',
            'talk' => 'get_lastcommentmodified()',
            'held' => 'wp_count_comments()->moderated',
            'spam' => 'get_comments(["status" => "spam", "count" => true])',
            'first' => 'get_users(["orderby" => "display_name", "number" => 1])[0]->display_name',
            'grade' => 'count(get_users(["meta_key" => "grade", "meta_value" => "a"]))',
            'may' => 'count(get_users(["capability" => "moderate_things"]))',
            'image' => 'count(get_posts(["post_type" => "attachment", "post_status" => "inherit", "post_mime_type" => "image/avif", "fields" => "ids"]))',
            'address' => 'attachment_url_to_postid(wp_upload_dir()["baseurl"] . "/late.png") > 0',
            'meta' => 'get_metadata_by_mid("post", (int) get_option("larder_meta"))->meta_value',
            'options' => 'wp_load_alloptions()["shown_at_all"] ?? ""',
            'login' => 'username_exists("late")',
            'mail' => 'email_exists("late@example.com")',
            'nobody' => 'get_userdata((int) get_option("larder_user") + 3) !== false',
            'skills' => 'implode(",", wp_get_object_terms(9999, "skill", ["fields" => "names"]))',
        ];
        $this->plugin($site, "add_action('init', static fn() => [register_post_type('thing', ['public' => true]), register_taxonomy('skill', 'user')]);\n" . implode("\n", array_map(static fn(string $name, string $code): string => strtr($plugin, ["'asks-for-@'" => "'asks-for-{$name}'", '@' => $code]), array_keys($says), $says)));
        $site->run('foreach (["' . implode('", "', array_keys($says)) . '"] as $name) { wp_insert_post(["post_title" => "Asks for $name", "post_type" => "page", "post_status" => "publish"]); }'
            . ' update_option("larder_meta", add_post_meta(1, "mid", "a"), false); wp_set_object_terms(9999, ["go"], "skill");'
            . ' wp_insert_post(["post_title" => "A post in one place", "post_name" => "in-one-place", "post_status" => "publish"]);'
            . ' update_option("larder_user", wp_insert_user(["user_login" => "wanders", "user_pass" => "p", "display_name" => "Wanders", "role" => "author", "user_nicename" => "before"]), false);');
        $at = static function (string $uri) use ($site): string {
            $answer = $site->visit($uri);

            return "{$answer->status} {$answer->header('location')} " . (preg_match('/shown:(.*?);/', $answer->body, $shown) === 1 ? $shown[1] : (preg_match('~<title>(.*?)</title>~', $answer->body, $title) === 1 ? $title[1] : ''));
        };
        foreach ([
            ['/asks-for-many/', 'wp_insert_post(["post_title" => "One more", "post_status" => "publish", "post_author" => 1]);'],
            ['/asks-for-files/', 'wp_insert_attachment(["post_title" => "a", "post_mime_type" => "image/gif", "post_status" => "inherit"], "/a.gif");'],
            ['/asks-for-gallery/', 'update_option("larder_file", wp_insert_attachment(["post_title" => "c", "post_mime_type" => "image/gif", "post_status" => "inherit"], "/c.gif"), false);'],
            ['/asks-for-below/', 'wp_update_post(["ID" => get_option("larder_file"), "post_parent" => 1]);'],
            ['/asks-for-kinds/', 'wp_insert_attachment(["post_title" => "b", "post_mime_type" => "image/webp", "post_status" => "inherit"], "/b.webp");'],
            ['/asks-for-term/', 'wp_insert_post(["post_title" => "Draft", "post_status" => "draft", "post_category" => [1]]);'],
            ['/asks-for-title/', 'wp_insert_post(["post_title" => "By title", "post_type" => "thing", "post_status" => "publish"]);'],
            ['/asks-for-path/', 'wp_insert_post(["post_title" => "By path", "post_type" => "thing", "post_status" => "publish"]);'],
            ['/asks-for-edited/', 'add_filter("wp_insert_post_data", static fn(array $post): array => ["post_modified" => "2031-01-01 00:00:00", "post_modified_gmt" => "2031-01-01 00:00:00"] + $post); wp_update_post(["ID" => 1, "post_content" => "Edited."]);'],
            ['/asks-for-talk/', 'wp_insert_comment(["comment_post_ID" => 1, "comment_content" => "Hi", "comment_approved" => 1, "comment_date_gmt" => "2031-01-01 00:00:00", "comment_date" => "2031-01-01 00:00:00"]);'],
            ['/asks-for-held/', 'wp_insert_comment(["comment_post_ID" => 1, "comment_content" => "Held", "comment_approved" => 0]);'],
            ['/asks-for-spam/', 'wp_spam_comment(get_comments(["status" => "hold"])[0]);'],
            ['/asks-for-first/', 'wp_update_user(["ID" => get_option("larder_user"), "display_name" => "AAA"]);'],
            ['/asks-for-grade/', 'update_user_meta(get_option("larder_user"), "grade", "a");'],
            ['/asks-for-may/', 'get_user_by("id", get_option("larder_user"))->add_cap("moderate_things");'],
            ['/asks-for-image/', 'wp_update_post(["ID" => get_option("larder_file"), "post_mime_type" => "image/avif"]);'],
            ['/asks-for-address/', 'update_attached_file(get_option("larder_file"), "late.png");'],
            ['/asks-for-meta/', 'update_post_meta(1, "mid", "b");'],
            ['/asks-for-options/', 'update_option("shown_at_all", 1);'],
            ['/asks-for-login/', 'wp_insert_user(["user_login" => "late", "user_pass" => "p"]);'],
            ['/asks-for-mail/', 'wp_insert_user(["user_login" => "mails", "user_pass" => "p", "user_email" => "late@example.com"]);'],
            ['/asks-for-nobody/', 'wp_insert_user(["user_login" => "third", "user_pass" => "p"]);'],
            ['/asks-for-skills/', 'wp_set_object_terms(9999, ["go", "php"], "skill");'],
            ['/author/after/', 'wp_update_user(["ID" => get_option("larder_user"), "user_nicename" => "after"]);'],
            ['/author/newcomer/', 'wp_insert_user(["user_login" => "newcomer", "user_pass" => "p", "role" => "author"]);'],
        ] as [$uri, $change]) {
            $before = $at($uri);
            self::assertTrue($site->visit($uri)->isHit(), $uri);
            $site->run($change);
            self::assertNotSame($before, $at($uri), $uri);
        }
        // A feed without posts says when any was edited.
        $site->run('wp_insert_term("without-posts", "post_tag");');
        $built = static fn(): string => preg_match('~<lastBuildDate>.*?<~', $site->visit('/tag/without-posts/feed/')->body, $parts) === 1 ? $parts[0] : '';
        $before = $built();
        self::assertTrue($site->visit('/tag/without-posts/feed/')->isHit());
        $site->run('add_filter("wp_insert_post_data", static fn(array $post): array => ["post_modified" => "2032-01-01 00:00:00", "post_modified_gmt" => "2032-01-01 00:00:00"] + $post); wp_update_post(["ID" => 1, "post_content" => "Edited again."]);');
        self::assertNotSame($before, $built());
        // A theme that lists nothing. WordPress looks for a page of this name before it looks for a post.
        $this->plugin($site, 'add_action("init", static fn() => register_post_type("thing", ["public" => true])); add_action("template_redirect", static function (): void { echo "<html><title>", get_the_title(), "</title></html>"; exit; });');
        self::assertSame('200  A post in one place', $at('/in-one-place/'));
        $site->run('wp_insert_post(["post_title" => "Elsewhere", "post_type" => "thing", "post_status" => "publish"]);');
        self::assertTrue($site->visit('/in-one-place/')->isHit());
        $site->run('wp_insert_post(["post_title" => "A page in its place", "post_name" => "in-one-place", "post_type" => "page", "post_status" => "publish"]);');
        self::assertSame('200  A page in its place', $at('/in-one-place/'));
    }

    public function testAPageThatCountsUsersOrTheirPostsDiesWithTheCount(): void
    {
        $site = $this->site(true);
        $counted = static function () use ($site): string {
            preg_match('~counted \d+;~', $site->visit('/sample-page/')->body, $shown);

            return $shown[0] ?? '';
        };
        $user = 'get_user_by("login", "counted")';
        foreach ([
            'count_users()["total_users"]' => ['wp_insert_user(["user_login" => "counted", "user_pass" => "x", "user_email" => "counted@example.com"]);'],
            'count(get_users(["role" => "author", "fields" => "ID"]))' => ["{$user}->add_role('author');", "{$user}->remove_role('author');"],
            'count_user_posts(1)' => [
                'wp_insert_post(["post_title" => "Counted", "post_status" => "publish", "post_author" => 1]);',
                'wp_delete_post(get_page_by_path("counted", OBJECT, "post")->ID, true);',
            ],
            'get_user_count()' => ['wp_insert_user(["user_login" => "counted-again", "user_pass" => "x"]);'],
            'count_users()["avail_roles"]["subscriber"] ?? 0' => ["require_once ABSPATH . 'wp-admin/includes/user.php'; wp_delete_user({$user}->ID);"],
        ] as $count => $changes) {
            $this->plugin($site, "add_action('wp_footer', static function (): void { echo 'counted ', {$count}, ';'; });");
            $site->run('(new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->flush();');
            foreach ($changes as $change) {
                $before = $counted();
                self::assertTrue($site->visit('/sample-page/')->isHit(), $change);
                $site->run($change);
                self::assertNotSame($before, $counted(), $change);
            }
        }
    }

    /** What WordPress says of it when it is done: the post is another, or the comments, or nothing. */
    #[DataProvider('stores')]
    public function testAPageDiesWithWhatAnotherChangeBringsAlong(bool $hasExtension): void
    {
        $site = $this->site($hasExtension);
        $says = [
            'heir' => 'count(get_posts(["author" => get_option("larder_heir"), "numberposts" => -1]))',
            'talk' => 'get_comments(["post_status" => "publish", "status" => "approve", "count" => true])',
            'count' => 'get_terms(["taxonomy" => "post_tag", "slug" => "counted-late", "hide_empty" => false])[0]->count',
        ];
        $this->plugin($site, implode("\n", array_map(static fn(string $name, string $code): string => "add_action('wp_footer', static function (): void { if (is_page('brings-{$name}')) { echo 'shown:', json_encode({$code}), ';'; } });", array_keys($says), $says)));
        $site->run('foreach (["' . implode('", "', array_keys($says)) . '"] as $name) { wp_insert_post(["post_title" => "Brings $name", "post_type" => "page", "post_status" => "publish"]); } wp_insert_term("counted-late", "post_tag");'
            . ' foreach (["heir", "leaver"] as $name) { update_option("larder_{$name}", wp_insert_user(["user_login" => $name, "user_pass" => "p", "role" => "author"]), false); }'
            . ' $id = wp_insert_post(["post_title" => "Left", "post_status" => "publish", "post_author" => get_option("larder_leaver")]); update_option("larder_left", $id, false); wp_insert_comment(["comment_post_ID" => $id, "comment_content" => "Hi", "comment_approved" => 1]);');
        $shown = static fn(string $uri): string => preg_match('/shown:(.*?);/', $site->visit($uri)->body, $parts) === 1 ? $parts[1] : '';
        $visit = 'wp_remote_get("http://127.0.0.1:' . $site->nginx->port . '/brings-count/");';
        // An object cache that stays keeps WordPress's list of comments over a change of their post.
        $forget = 'wp_cache_set("last_changed", microtime(), "comment");';
        foreach ([
            ['talk', -1, 'wp_update_post(["ID" => get_option("larder_left"), "post_status" => "private"]); ' . $forget],
            ['talk', 1, 'wp_update_post(["ID" => get_option("larder_left"), "post_status" => "publish"]); ' . $forget],
            ['talk', -1, 'wp_trash_post(get_option("larder_left"));'],
            ['talk', 1, 'add_filter("wp_untrash_post_status", static fn(): string => "publish"); wp_untrash_post(get_option("larder_left"));'],
            ['heir', 1, 'require_once ABSPATH . "wp-admin/includes/user.php"; wp_delete_user(get_option("larder_leaver"), get_option("larder_heir"));'],
            ['count', 1, "wp_defer_term_counting(true); wp_insert_post(['post_title' => 'Imported', 'post_status' => 'publish', 'tags_input' => ['counted-late']]); {$visit} wp_defer_term_counting(false);"],
        ] as [$name, $more, $change]) {
            $before = (int) $shown("/brings-{$name}/");
            self::assertTrue($site->visit("/brings-{$name}/")->isHit(), $change);
            $site->run($change);
            self::assertSame($before + $more, (int) $shown("/brings-{$name}/"), $change);
        }
    }

    /** Of posts that are moved by SQL, WordPress's own or a plugin's, it says only that they are others. */
    #[DataProvider('stores')]
    public function testAPageDiesWithAPostThatSqlMovesBetweenLists(bool $hasExtension): void
    {
        $site = $this->site($hasExtension);
        $says = [
            'type' => 'count(get_posts(["post_type" => "piece", "numberposts" => -1]))',
            'drafts' => 'wp_count_posts()->draft',
            'hand' => 'implode(",", get_posts(["fields" => "ids", "post_status" => ["publish", "draft"], "numberposts" => -1]))',
            'order' => 'get_posts(["post_type" => "piece", "orderby" => "menu_order", "order" => "ASC"])[0]->post_title',
            'author' => 'count(get_posts(["author" => 77, "post_type" => "piece"]))',
            'hidden' => 'count(get_posts(["post_type" => "piece", "post_status" => "publish", "numberposts" => -1]))',
            'file' => 'get_post(get_option("larder_loose"))->post_parent',
            'edited' => 'get_pages(["sort_column" => "post_modified", "sort_order" => "desc"])[0]->post_title',
            'tags' => 'implode(",", wp_get_object_terms((int) get_option("larder_one"), "post_tag", ["fields" => "names"]))',
            'sorted' => 'implode(",", wp_get_object_terms((int) get_option("larder_one"), "sorted", ["fields" => "names", "orderby" => "term_order"]))',
        ];
        $this->plugin($site, "add_action('init', static fn() => register_post_type('piece', ['public' => true, 'taxonomies' => ['post_tag']]) && register_taxonomy('sorted', 'piece', ['sort' => true]));\n" . implode("\n", array_map(static fn(string $name, string $code): string => "add_action('wp_footer', static function (): void { if (is_page('moves-{$name}')) { echo 'shown:', json_encode({$code}), ';'; } });", array_keys($says), $says)));
        $site->run('foreach (["' . implode('", "', array_keys($says)) . '"] as $name) { wp_insert_post(["post_title" => "Moves $name", "post_type" => "page", "post_status" => "publish", "post_date" => "2020-01-01 00:00:00"]); }'
            . ' foreach (["one", "two"] as $name) { update_option("larder_{$name}", wp_insert_post(["post_title" => $name, "post_type" => "piece", "post_status" => "publish", "menu_order" => 5]), false); }'
            . ' update_option("larder_moves", wp_insert_post(["post_title" => "Moves", "post_status" => "publish"]), false); update_option("larder_draft", wp_insert_post(["post_title" => "Draft"]), false);'
            . ' update_option("larder_loose", wp_insert_attachment(["post_title" => "Loose", "post_mime_type" => "image/gif", "post_status" => "inherit"], "/loose.gif"), false);');
        $shown = static fn(string $name): string => preg_match('/shown:(.*?);/', $site->visit("/moves-{$name}/")->body, $parts) === 1 ? $parts[1] : '';
        $visit = 'wp_remote_get("http://127.0.0.1:' . $site->nginx->port . '/moves-edited/");';
        $stale = [];
        $sql = '$GLOBALS["wpdb"]->query("UPDATE {$GLOBALS["wpdb"]->posts} SET %s WHERE ID = " . get_option("larder_two")); clean_post_cache(get_option("larder_two"));';
        foreach ([
            ['type', 'set_post_type(get_option("larder_moves"), "piece");'],
            ['type', 'set_post_type(get_option("larder_moves"), "post");'],
            // What the request has read before, and what the object cache has of it.
            ['type', '$post = get_post(get_option("larder_moves")); set_post_type($post->ID, "piece");'],
            ['type', 'wp_cache_delete(get_option("larder_moves"), "posts"); set_post_type(get_option("larder_moves"), "post");'],
            ['drafts', 'wp_insert_post(["post_title" => "One more"]);'],
            ['hand', 'wp_insert_post(["post_title" => "One more"]);'],
            ['drafts', 'wp_delete_post(get_option("larder_draft"), true);'],
            ['order', sprintf($sql, 'menu_order = 1')],
            ['author', sprintf($sql, 'post_author = 77')],
            ['author', sprintf($sql, 'post_author = 1')],
            ['hidden', sprintf($sql, "post_status = 'draft'")],
            ['file', 'require_once ABSPATH . "wp-admin/includes/admin.php"; wp_set_current_user(1); $_REQUEST["media"] = [get_option("larder_loose")]; wp_media_attach_action(1);'],
            ['tags', 'wp_set_object_terms(get_option("larder_one"), "fresh", "post_tag", true);'],
            ['sorted', 'wp_set_object_terms(get_option("larder_one"), ["a", "b"], "sorted");'],
            ['sorted', 'wp_set_object_terms(get_option("larder_one"), ["b", "a"], "sorted");'],
            // A visitor comes before WordPress has ended the lists that the object cache has.
            ['edited', "add_action('clean_page_cache', static function (): void { {$visit} }); wp_update_post(['ID' => get_page_by_path('moves-type')->ID, 'post_content' => 'Edited.']);"],
        ] as [$name, $change]) {
            $before = $shown($name);
            self::assertTrue($site->visit("/moves-{$name}/")->isHit(), $change);
            $site->run($change);
            if ($shown($name) === $before) {
                $stale[] = $change;
            }
        }
        // Menus of later tests would list them.
        $site->run('foreach (get_posts(["post_type" => "page", "s" => "Moves", "numberposts" => -1]) as $page) { wp_delete_post($page->ID, true); }');
        self::assertSame([], $stale);
    }

    #[DataProvider('stores')]
    public function testAPageWhoseMakingBeganBeforeAChangeIsNotStored(bool $hasExtension): void
    {
        $this->changesMeanwhile($this->site($hasExtension));
    }

    #[DataProvider('stores')]
    public function testOfFiftyVisitorsAfterAPurgeOneMakesThePage(bool $hasExtension): void
    {
        $site = $this->site($hasExtension);
        $this->plugin($site, <<<'PHP'
            add_action('wp_footer', static function (): void { file_put_contents(ABSPATH . 'made', '.', FILE_APPEND); });
            PHP);
        $site->visit('/hello-world/?first');
        file_put_contents("{$site->site->root}/made", '');
        $answers = $site->visitAtOnce(array_fill(0, 50, ['/hello-world/', []]));
        self::assertSame([200], array_values(array_unique(array_map(static fn(Answer $answer): int => $answer->status, $answers))));
        self::assertCount(1, array_unique(array_map(static fn(Answer $answer): string => $answer->body, $answers)));
        self::assertSame('.', file_get_contents("{$site->site->root}/made"));
    }

    public function testSomeoneWhoLogsInSeesTheirOwnPagesAndSomeoneWhoLogsOutThoseOfAll(): void
    {
        $site = $this->site(true);
        $site->visit('/hello-world/');
        $test = ['Cookie: wordpress_test_cookie=WP%20Cookie%20check'];
        $login = $site->visit('/wp-login.php', $test, 'POST', ['log' => 'admin', 'pwd' => 'password', 'wp-submit' => 'Log In', 'testcookie' => '1']);
        self::assertSame(302, $login->status);
        $cookies = ['Cookie: ' . implode('; ', $login->cookies())];
        $mine = $site->visit('/hello-world/', $cookies);
        self::assertFalse($mine->isHit());
        self::assertStringContainsString('wpadminbar', $mine->body);
        self::assertStringContainsString('_wpnonce', $mine->body);
        // A wrong cookie is no visitor's; it is none of the visitors without cookies either.
        self::assertFalse($site->visit('/hello-world/', ['Cookie: wordpress_logged_in_0=x'])->isHit());
        foreach ([$site->visit('/hello-world/'), $site->visit('/sample-page/'), $site->visit('/sample-page/')] as $page) {
            self::assertStringNotContainsString('wpadminbar', $page->body);
        }
        self::assertTrue($site->visit('/hello-world/')->isHit());
    }

    public function testACommenterSeesTheirOwnCommentAndOthersSeeItWhenItIsApproved(): void
    {
        $site = $this->site(true);
        $site->run('update_option("comment_moderation", "1"); update_option("comment_previously_approved", "0");');
        $site->visit('/hello-world/');
        $sent = $site->visit('/wp-comments-post.php', [], 'POST', ['comment' => 'Held comment marker', 'author' => 'Someone', 'email' => 's@example.com', 'comment_post_ID' => '1', 'wp-comment-cookies-consent' => 'yes']);
        self::assertSame(302, $sent->status, $sent->body);
        self::assertSame('1', $site->run('echo get_comments(["status" => "hold", "author_email" => "s@example.com", "count" => true]);'));
        $location = substr(strtok($sent->header('location'), '#') ?: '', \strlen($site->url));
        self::assertStringContainsString('Held comment marker', $site->visit($location, ['Cookie: ' . implode('; ', $sent->cookies())])->body);
        $site->visit('/hello-world/');
        $others = $site->visit('/hello-world/');
        self::assertTrue($others->isHit(), $others->header('cache-status'));
        self::assertStringNotContainsString('Held comment marker', $others->body);
        $site->run('foreach (get_comments(["status" => "hold"]) as $c) { wp_set_comment_status($c->comment_ID, "approve"); }');
        self::assertStringContainsString('Held comment marker', $site->visit('/hello-world/')->body);
    }

    public function testAProtectedPostAPreviewAndANonceAreNotStored(): void
    {
        $site = $this->site(true);
        $id = $site->run('echo wp_insert_post(["post_title" => "Secret", "post_name" => "secret", "post_content" => "Secret marker", "post_status" => "publish", "post_password" => "open"]);');
        for ($i = 0; $i < 2; $i++) {
            $form = $site->visit('/secret/');
            self::assertStringNotContainsString('Secret marker', $form->body);
            self::assertStringContainsString('bypass', $form->header('cache-status'));
        }
        $sent = $site->visit('/wp-login.php?action=postpass', ['Referer: ' . $site->url . '/secret/'], 'POST', ['post_password' => 'open']);
        $open = $site->visit('/secret/', ['Cookie: ' . implode('; ', $sent->cookies())]);
        self::assertStringContainsString('Secret marker', $open->body);
        self::assertStringNotContainsString('Secret marker', $site->visit('/secret/')->body);

        $draft = $site->run('echo wp_insert_post(["post_title" => "Draft", "post_content" => "Draft marker", "post_status" => "draft"]);');
        foreach (["/?p={$draft}", "/?p={$draft}&preview=true"] as $uri) {
            self::assertStringNotContainsString('Draft marker', $site->visit($uri)->body);
        }
        self::assertNotSame('', $id);

        $this->plugin($site, 'add_action("wp_footer", static function (): void { if (is_page()) { echo "nonce ", wp_create_nonce("a-form"); } elseif (is_single()) { wp_create_nonce("unseen"); } });');
        for ($i = 0; $i < 2; $i++) {
            self::assertSame('Larder; fwd=bypass; detail=nonce', $site->visit('/sample-page/')->header('cache-status'));
        }
        $site->visit('/hello-world/');
        self::assertTrue($site->visit('/hello-world/')->isHit());
    }

    /** As Akismet does, which each WordPress brings along: by default its nonce is in each form for comments. */
    public function testAPostWithAFormIsStoredWhereAkismetIsOnUnlessTheOwnerWantsItsNonce(): void
    {
        $site = $this->site(true);
        $this->plugin($site, 'add_action("comment_form", static function (): void { $is = apply_filters("akismet_comment_nonce", get_option("akismet_comment_nonce")); if ($is == "true" || $is == "") { wp_nonce_field("akismet_comment_nonce_1", "akismet_comment_nonce", false); } });');
        $site->visit('/hello-world/');
        self::assertTrue($site->visit('/hello-world/')->isHit());
        $site->run('update_option("akismet_comment_nonce", "true");');
        for ($i = 0; $i < 2; $i++) {
            self::assertSame('Larder; fwd=bypass; detail=nonce', $site->visit('/hello-world/')->header('cache-status'));
        }
        $site->run('delete_option("akismet_comment_nonce");');
    }

    /** With WooCommerce's hooks: it asks for the country with each page if its customers are located, and for the address of taxes with each price. */
    #[DataProvider('stores')]
    public function testNoVisitorGetsThePricesOfAnotherCountry(bool $hasExtension): void
    {
        $locate = '$country = apply_filters("woocommerce_geolocate_ip", false, "", true, false) ?: $_SERVER["HTTP_CF_IPCOUNTRY"] ?? "FR"; ';
        $tax = '[$country] = apply_filters("woocommerce_customer_taxable_address", [$country ?? "FR", "", "", ""]); ';
        $show = 'echo "for {$country};";';
        foreach ([
            'a shop that locates its customers' => ['geolocation', $locate . $tax . $show, false],
            'a page of it without prices' => ['geolocation', $locate, true],
            'a shop whose script locates them' => ['geolocation_ajax', $locate . $tax . $show, true],
            'a shop that does not' => ['base', $tax . $show, true],
            'one whose plugin does' => ['base', $locate . $show, false],
        ] as $shop => [$setting, $code, $isCached]) {
            $site = $this->site($hasExtension);
            $this->plugin($site, "add_filter('pre_option_woocommerce_default_customer_address', static fn() => '{$setting}'); add_action('wp_footer', static function () { {$code} });");
            $first = $site->visit('/hello-world/', ['CF-IPCountry: AT']);
            $second = $site->visit('/hello-world/', ['CF-IPCountry: DE']);
            self::assertSame([$isCached, $isCached], [$first->isStored(), $second->isHit()], $shop);
            if (!$isCached) {
                self::assertStringContainsString('for AT;', $first->body, $shop);
                self::assertStringContainsString('for DE;', $second->body, $shop);
                self::assertSame('Larder; fwd=bypass; detail=located', $second->header('cache-status'), $shop);
            }
        }
    }

    /** A hit would be without what the callback makes of the page. */
    public function testAPageThatAnEarlierBufferChangesIsNotStored(): void
    {
        $site = $this->site(true);
        $buffer = static fn(string $arguments): string => "ob_start({$arguments}); add_action('wp_footer', static function (): void { echo 'a marker'; });";
        $this->plugin($site, $buffer('static fn(string $page): string => str_replace("a marker", "a changed one", $page)'));
        for ($i = 0; $i < 2; $i++) {
            $page = $site->visit('/sample-page/');
            self::assertStringContainsString('a changed one', $page->body);
            self::assertSame('Larder; fwd=bypass; detail=buffer', $page->header('cache-status'));
        }
        $this->plugin($site, $buffer(''));
        $site->run('(new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->flush();');
        $site->visit('/sample-page/');
        self::assertTrue($site->visit('/sample-page/')->isHit());
    }

    public function testACookieASessionAConstantOrAnErrorKeepsAPageOut(): void
    {
        foreach ([
            'setcookie("a", "b");' => 'set-cookie', 'define("DONOTCACHEPAGE", true);' => 'DONOTCACHEPAGE', 'nocache_headers();' => 'cache-control', 'header("Vary: Cookie");' => 'vary', 'session_start();' => 'session',
            'wp_is_mobile();' => 'mobile', 'wp_cache_flush_runtime();' => 'flushed', 'update_option("seen", wp_rand());' => 'changes', 'status_header(503);' => 'status', 'echo "x"; exit;' => 'incomplete',
            'add_action("wp_footer", static function () { flush(); ob_flush(); });' => 'partial', 'wp_set_current_user(1); wp_set_current_user(0);' => 'logged-in',
        ] as $code => $why) {
            $site = $this->site(true);
            $this->plugin($site, "add_action('template_redirect', static function () { {$code} });");
            for ($i = 0; $i < 2; $i++) {
                $answer = $site->visit('/hello-world/');
                self::assertFalse($answer->isHit(), $code);
                if ($why !== 'partial' || $i > 0) {
                    self::assertSame("Larder; fwd=bypass; detail={$why}", $answer->header('cache-status'), $code);
                }
            }
        }
        $site = $this->site(true);
        $this->plugin($site, "add_action('wp_footer', static function () { no_such_function(); });");
        $site->visit('/hello-world/');
        self::assertFalse($site->visit('/hello-world/')->isHit());
    }

    /** WordPress goes on without the rows, and its page is whole. */
    #[DataProvider('stores')]
    public function testAPageWhoseQueriesFailedIsNotKeptNorIsWhatTheyDidNotSay(bool $hasExtension): void
    {
        $site = $this->site($hasExtension);
        $socket = substr($site->run('echo DB_HOST;'), \strlen('localhost:'));
        foreach ([
            'the server refuses' => ['$wpdb->query("SET SESSION max_statement_time = 0.001");', '$wpdb->query("SET SESSION max_statement_time = 0");'],
            'the server is gone' => ["rename('{$socket}', '{$socket}.gone'); mysqli_query(\$wpdb->dbh, 'KILL CONNECTION_ID()');", "rename('{$socket}.gone', '{$socket}');"],
        ] as $case => [$fails, $ends]) {
            foreach (['last', 'not last'] as $place) {
                $more = $place === 'last' ? '' : '$wpdb->get_var("SELECT 1");';
                $this->plugin($site, <<<PHP
                    add_filter('posts_where', static fn(string \$where, WP_Query \$query): string => \$where . (\$query->get('slow') ? " AND SLEEP(0.01) = 0 AND '{$case}' <> '{$place}'" : ''), 10, 2);
                    add_action('wp_footer', static function (): void {
                        global \$wpdb;
                        mysqli_report(MYSQLI_REPORT_OFF);
                        if (isset(\$_SERVER['HTTP_X_FAILS'])) { {$fails} }
                        \$posts = get_posts(['post_type' => 'page', 'fields' => 'ids', 'slow' => true, 'suppress_filters' => false]);
                        if (isset(\$_SERVER['HTTP_X_FAILS'])) { {$ends} {$more} }
                        echo '<p>pages: ', \$posts === [] ? 'none' : 'some', '</p>';
                    });
                    PHP);
                $site->run('(new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->flush();');
                $bad = $site->visit('/hello-world/', ['X-Fails: 1']);
                self::assertSame([200, true], [$bad->status, str_contains($bad->body, 'pages: none')], "{$case}, {$place}");
                self::assertSame('Larder; fwd=bypass; detail=database', $bad->header('cache-status'), "{$case}, {$place}");
                self::assertStringContainsString('pages: some', $site->visit('/hello-world/')->body, "{$case}, {$place}");
            }
        }
    }

    /** A table that a plugin could not make is missed on each page. */
    public function testAQueryThatNeverHasRowsKeepsNoPageOut(): void
    {
        $site = $this->site(true);
        foreach (['SELECT a FROM wp_not_there', 'SELECT not_there FROM wp_posts', 'SELECT a b c FROM wp_posts', 'SELECT not_there(1)'] as $sql) {
            $this->plugin($site, "add_action('wp_footer', static function (): void { mysqli_report(MYSQLI_REPORT_OFF); \$GLOBALS['wpdb']->get_var('{$sql}'); get_post_meta(1, 'any'); });");
            $site->run('(new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->flush(); wp_cache_delete(1, "post_meta");');
            $this->storedAndServed($site);
            self::assertSame('kept', $site->run('echo wp_cache_get(1, "post_meta") === false ? "not kept" : "kept";'), $sql);
        }
        // That of a site is missing only while a backup is played back.
        $this->plugin($site, 'add_action("wp_footer", static function (): void { mysqli_report(MYSQLI_REPORT_OFF); $GLOBALS["wpdb"]->get_var("SELECT link_id FROM wp_9_links"); });');
        $site->run('(new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->flush();');
        self::assertSame('Larder; fwd=bypass; detail=database', $site->visit('/hello-world/')->header('cache-status'));
    }

    #[DataProvider('stores')]
    public function testACookieThatIsSetWhenAllElseIsDoneKeepsThePageOut(bool $hasExtension): void
    {
        $site = $this->site($hasExtension);
        $site->run('(new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->configure(["cdn_seconds" => 600]);');
        $redirects = 'add_action("template_redirect", static function (): void { if (is_page()) { wp_redirect(home_url("/"), 301); exit; } });';
        foreach ([
            'add_action("wp_footer", static function (): void { add_action("shutdown", static fn(): bool => setcookie("late", "1"), 0); });',
            'header_register_callback(static fn() => header("Set-Cookie: late=1"));',
            'add_action("shutdown", static fn(): bool => setcookie("late", "1"));' . $redirects,
            'register_shutdown_function(static fn(): bool => setcookie("late", "1"));' . $redirects,
        ] as $code) {
            $this->plugin($site, $code);
            $site->run('(new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->flush();');
            $first = $site->visit('/sample-page/');
            self::assertSame(['late=1'], $first->cookies(), $code);
            self::assertStringContainsString('private', $first->header('cache-control'), $code);
            $second = $site->visit('/sample-page/');
            self::assertFalse($second->isHit(), $code);
            self::assertSame('Larder; fwd=bypass; detail=set-cookie', $second->header('cache-status'), $code);
        }
    }

    /** A hook of another plugin takes too long, or has a mistake. */
    #[DataProvider('stores')]
    public function testAChangeIsSeenThoughAPluginEndsTheRequestWhenItHearsOfIt(bool $hasExtension): void
    {
        $site = $this->site($hasExtension);
        $this->plugin($site, 'add_action("wp_footer", static function (): void { echo "<p>option ", get_option("cut_off"), "</p>"; });');
        foreach (['updated_option', 'clean_post_cache', 'transition_post_status'] as $hook) {
            $site->run('update_option("cut_off", "old"); wp_insert_post(["post_title" => "Cut off", "post_name" => "cut-off", "post_status" => "draft", "post_author" => 1]);');
            foreach (['/hello-world/', '/author/admin/'] as $uri) {
                $site->visit($uri);
                $site->visit($uri);
                self::assertTrue($site->visit($uri)->isHit(), $uri);
            }
            $ended = $site->run(
                'add_action($argv[1], static function () { echo "ended"; exit; });' . ($hook === 'updated_option' ? 'update_option("cut_off", "new");' : '$post = get_posts(["name" => "cut-off", "post_status" => "draft"])[0]; wp_update_post(["ID" => $post->ID, "post_status" => "publish"]);'),
                [$hook],
            );
            self::assertStringStartsWith('ended', $ended);
            foreach (['/hello-world/', '/author/admin/'] as $uri) {
                self::assertFalse($site->visit($uri)->isHit(), "{$hook}: {$uri}");
            }
            if ($hook !== 'updated_option') {
                // WordPress has not ended the lists that the object cache has.
                self::assertStringContainsString('>Cut off<', $site->visit('/author/admin/')->body, $hook);
            }
            $site->run('foreach (get_posts(["post_status" => "any", "s" => "Cut off"]) as $post) { wp_delete_post($post->ID, true); }');
        }
    }

    /** As php-fpm kills a process after its time limit: the database has the change, and no cache was told. */
    #[DataProvider('stores')]
    public function testASaveThatIsKilledIsSeenByTheNextRequestOfWordPress(bool $hasExtension): void
    {
        $site = $this->site($hasExtension);
        $save = '$title = $argv[1]; add_filter("add_post_metadata", static function () { echo "saving"; flush(); %s }); wp_update_post(["ID" => 1, "post_title" => $title, "meta_input" => [$title => 1]]);';
        $show = static function (string $title) use ($site): void {
            $site->visit('/?another');
            self::assertStringContainsString("<title>{$title} ", $site->visit('/hello-world/')->body);
            self::assertTrue($site->visit('/hello-world/')->isHit());
        };
        $site->run('wp_update_post(["ID" => 1, "post_title" => "Before"]);');
        $show('Before');
        $process = $site->site->start(sprintf($save, 'sleep(300);'), ['Killed'], options: $hasExtension ? null : [], host: $site->host);
        $process->waitUntil(static fn(string $type, string $said): bool => str_contains($said, 'saving'));
        // It may still come to its end.
        $show('Before');
        $process->signal(\SIGKILL);
        $process->wait();
        $show('Killed');

        try {
            $site->run(sprintf($save, 'trigger_error("The save has a mistake.", E_USER_ERROR);'), ['Mistaken']);
            self::fail('The save came to its end.');
        } catch (\RuntimeException $ended) {
            self::assertStringContainsString('The save has a mistake.', $ended->getMessage());
        }
        $show('Mistaken');
        self::assertSame([], glob("{$site->site->directory()}/*.save-*"));
    }

    /** The moment between the making of the file that notes a save, and its lock. */
    #[DataProvider('stores')]
    public function testASaveWhoseFileIsNotLockedYetEndsNothingAndIsSeenIfItIsKilledLater(bool $hasExtension): void
    {
        $site = $this->site($hasExtension);
        $go = "{$site->site->root}/go";
        $files = static fn(): array => glob("{$site->site->directory()}/*.save-*") ?: [];
        $start = function (string $title) use ($site, $hasExtension): Process {
            $process = $site->site->start(<<<'PHP'
                final class Held
                {
                    public $context;
                    private $file;
                    private function past(callable $do): mixed
                    {
                        stream_wrapper_restore("file");
                        $done = $do();
                        stream_wrapper_unregister("file");
                        stream_wrapper_register("file", self::class);
                        return $done;
                    }
                    public function stream_open(string $path, string $mode): bool
                    {
                        if (!str_contains($path, ".save-")) {
                            return is_resource($this->file = $this->past(static fn() => fopen($path, $mode)));
                        }
                        stream_wrapper_restore("file");
                        $this->file = fopen($path, $mode);
                        echo "made "; flush();
                        while (!is_file(ROOT . "/go")) { usleep(5_000); clearstatcache(); }
                        return is_resource($this->file);
                    }
                    public function url_stat(string $path): array|false { return $this->past(static fn() => @stat($path)); }
                    public function stream_stat(): array|false { return fstat($this->file); }
                    public function stream_read(int $bytes): string|false { return fread($this->file, $bytes); }
                    public function stream_eof(): bool { return feof($this->file); }
                    public function stream_set_option(): bool { return false; }
                    public function stream_lock(int $how): bool { return flock($this->file, $how); }
                    public function stream_close(): void { fclose($this->file); }
                }
                $title = $argv[1];
                add_filter("add_post_metadata", static function () { echo "saving "; flush(); sleep(300); });
                stream_wrapper_unregister("file");
                stream_wrapper_register("file", Held::class);
                wp_update_post(["ID" => 1, "post_title" => $title, "meta_input" => [$title => 1]]);
                PHP, [$title], options: $hasExtension ? null : [], host: $site->host);
            $this->waitFor($process, 'made ');

            return $process;
        };
        $site->run('wp_update_post(["ID" => 1, "post_title" => "Before"]);');
        $site->visit('/hello-world/');
        $late = $start('Late');
        self::assertCount(1, $files());
        $site->visit('/?another');
        self::assertSame([], $files());
        self::assertTrue($site->visit('/hello-world/')->isHit());
        touch($go);
        try {
            $this->waitFor($late, 'saving ');
        } finally {
            unlink($go);
        }
        self::assertCount(1, $files());
        $site->visit('/?another');
        self::assertTrue($site->visit('/hello-world/')->isHit());
        $late->signal(\SIGKILL);
        $late->wait();
        $site->visit('/?another');
        self::assertSame([], $files());
        self::assertStringContainsString('<title>Late ', $site->visit('/hello-world/')->body);

        $early = $start('Early');
        $early->signal(\SIGKILL);
        $early->wait();
        self::assertCount(1, $files());
        $site->visit('/?another');
        self::assertSame([], $files());
        self::assertTrue($site->visit('/hello-world/')->isHit());
    }

    /** As a plugin does that refuses something by wp_die(), though WordPress has it in the database by then. */
    #[DataProvider('stores')]
    public function testASaveThatAFilterEndsIsSeenAndOneThatHasChangedNothingEndsNothing(bool $hasExtension): void
    {
        $site = $this->site($hasExtension);
        $show = static function () use ($site): void {
            $site->visit('/hello-world/');
            $site->visit('/sample-page/');
            self::assertTrue($site->visit('/hello-world/')->isHit());
            self::assertTrue($site->visit('/sample-page/')->isHit());
        };
        $save = 'wp_update_post(["ID" => 1, "post_title" => $argv[1], "meta_input" => [$argv[1] => 1]]);';
        foreach ([
            'Exited' => ['add_filter("add_post_metadata", static function () { exit("ended"); });', $save],
            'Died' => ['add_action("set_object_terms", static function () { wp_die("ended"); });', 'do_action("form", add_action("form", static function () use ($argv) { wp_update_post(["ID" => 1, "post_title" => $argv[1], "post_category" => [1]]); }));'],
            'Nested' => ['add_filter("add_post_metadata", static function () { remove_all_filters("add_post_metadata"); wp_update_post(["ID" => 2, "post_title" => "Within"]); exit("ended"); });', $save],
            'Thrown' => ['add_filter("add_post_metadata", static function () { throw new Exception("ended"); });', "try { {$save} } catch (Exception \$e) { echo \$e->getMessage(); }"],
        ] as $title => [$end, $code]) {
            $show();
            self::assertStringContainsString('ended', $site->run($end . $code, [$title]), $title);
            self::assertStringContainsString("<title>{$title} ", $site->visit('/hello-world/')->body);
        }
        foreach (['update_option_blogname' => 'update_option("blogname", "Other");', 'add_option_page_for_larder' => 'add_option("page_for_larder", "1");', 'delete_option_page_for_larder' => 'delete_option("page_for_larder");'] as $hook => $code) {
            $show();
            self::assertStringContainsString('ended', $site->run("add_action('{$hook}', static function () { exit('ended'); }); {$code}"), $hook);
            self::assertFalse($site->visit('/hello-world/')->isHit(), $hook);
        }
        $title = 'Thrown';
        foreach ([
            'before anything is written' => 'add_action("pre_post_update", static function () { exit("ended"); });' . $save,
            'after the save' => 'add_action("form", static function () { wp_update_post(["ID" => 2, "post_title" => "Sample"]); wp_insert_term("term" . wp_rand(), "post_tag"); wp_insert_user(["user_login" => "user" . wp_rand(), "user_pass" => "x"]); do_action("done", add_action("done", static function () { exit("ended"); })); }); do_action("form");',
        ] as $when => $code) {
            $site->run('wp_cache_set("key", "kept", "shop");');
            self::assertStringContainsString('ended', $site->run($code, ['Never']), $when);
            self::assertSame('kept', $site->run('echo wp_cache_get("key", "shop");'), $when);
        }
        self::assertStringContainsString("<title>{$title} ", $site->visit('/hello-world/')->body);
    }

    public function testAThemeThatIsEditedInWpAdminIsSeen(): void
    {
        $site = $this->site(true);
        $this->plugin($site, 'add_action("init", static function (): void { if (isset($_GET["nonce-of"]) && is_user_logged_in()) { exit(wp_create_nonce($_GET["nonce-of"])); } });');
        $login = $site->visit('/wp-login.php', ['Cookie: wordpress_test_cookie=WP%20Cookie%20check'], 'POST', ['log' => 'admin', 'pwd' => 'password', 'testcookie' => '1']);
        $cookie = 'Cookie: ' . implode('; ', $login->cookies());
        [$theme, $folder] = explode(' ', $site->run('echo get_stylesheet(), " ", get_stylesheet_directory();'), 2);
        $file = 'parts/footer.html';
        $before = (string) file_get_contents("{$folder}/{$file}");
        $this->storedAndServed($site);
        try {
            $nonce = $site->visit('/?nonce-of=' . rawurlencode("edit-theme_{$theme}_{$file}"), [$cookie])->body;
            $answer = $site->visit('/wp-admin/admin-ajax.php', [$cookie], 'POST', ['action' => 'edit-theme-plugin-file', 'nonce' => $nonce, 'theme' => $theme, 'file' => $file, 'newcontent' => "{$before}<p>edited in wp-admin</p>"]);
            self::assertStringContainsString('"success":true', $answer->body);
            self::assertStringContainsString('edited in wp-admin', $site->visit('/hello-world/')->body);
        } finally {
            file_put_contents("{$folder}/{$file}", $before);
        }
    }

    #[DataProvider('stores')]
    public function testAPageEndsWithATransientOrASaleThatItShows(bool $hasExtension): void
    {
        $site = $this->site($hasExtension);
        $this->plugin($site, <<<'PHP'
            add_action('wp_footer', static function (): void {
                if (is_page()) { echo get_transient('weather'), get_site_transient('news'); }
                if (is_single()) { echo get_post_meta(1, '_sale_price', true); }
            });
            PHP);
        $ttl = static function (string $uri, string $change) use ($site): int {
            $site->run("{$change} (new Larder\\WordPress\\Plugin(WP_PLUGIN_DIR . '/larder'))->pages->flush();");
            $site->visit($uri);
            $answer = $site->visit($uri);
            self::assertTrue($answer->isHit(), "{$change} {$answer->header('cache-status')}");

            return (int) substr((string) strstr($answer->header('cache-status'), 'ttl='), 4);
        };
        self::assertGreaterThan(3_000, $ttl('/sample-page/', 'set_transient("weather", "sun");'), 'one without an end');
        foreach ([300 => [100, 301], 2 => [30, 60]] as $seconds => [$least, $most]) {
            foreach (["set_transient('weather', 'rain', {$seconds});", "set_transient('weather', 'sun', 900); set_site_transient('news', 'none', {$seconds});"] as $change) {
                $is = $ttl('/sample-page/', $change);
                self::assertGreaterThan($least, $is, $change);
                self::assertLessThanOrEqual($most, $is, $change);
                $site->run('delete_transient("weather"); delete_site_transient("news");');
            }
        }
        foreach (['from' => 'time() - 9', 'to' => 'time() + 300'] as $key => $time) {
            $last = $ttl('/hello-world/', "update_post_meta(1, '_sale_price_dates_{$key}', {$time});");
        }
        self::assertLessThanOrEqual(301, $last);
        self::assertLessThanOrEqual(200, $ttl('/hello-world/', 'update_post_meta(1, "_sale_price_dates_from", time() + 200);'), 'it has not begun');
        self::assertGreaterThan(3_000, $ttl('/hello-world/', 'update_post_meta(1, "_sale_price_dates_from", ""); update_post_meta(1, "_sale_price_dates_to", time() - 5);'), 'it is over');
        $site->run('delete_post_meta(1, "_sale_price_dates_from"); delete_post_meta(1, "_sale_price_dates_to");');
    }

    #[DataProvider('stores')]
    public function testAPageThatListsPostsEndsWhenTheNextOneIsDue(bool $hasExtension): void
    {
        $site = $this->site($hasExtension);
        $ttl = static function (string $uri) use ($site): int {
            $answer = $site->visit($uri);
            self::assertTrue($answer->isHit(), "{$uri} {$answer->header('cache-status')}");

            return (int) substr((string) strstr($answer->header('cache-status'), 'ttl='), 4);
        };
        $lists = ['/', '/author/admin/', '/feed/'];
        $visit = static function () use ($site, $lists): void {
            array_map($site->visit(...), $lists);
        };
        $visit();
        foreach ($lists as $uri) {
            self::assertGreaterThan(1_000, $ttl($uri), $uri);
        }
        // A page that is there already has to know of it, too.
        $site->run('foreach ([1_200, 600] as $seconds) { $at = gmdate("Y-m-d H:i:s", time() + $seconds); wp_insert_post(["post_title" => "Soon", "post_name" => "soon-{$seconds}", "post_status" => "future", "post_date" => get_date_from_gmt($at), "post_date_gmt" => $at]); }');
        $visit();
        foreach ($lists as $uri) {
            self::assertLessThanOrEqual(600, $ttl($uri), $uri);
        }
        $site->run('wp_delete_post(get_page_by_path("soon-600", OBJECT, "post")->ID, true);');
        $visit();
        foreach ($lists as $uri) {
            self::assertGreaterThan(600, $ttl($uri), $uri);
            self::assertLessThanOrEqual(1_200, $ttl($uri), $uri);
        }
        $site->run('wp_delete_post(get_page_by_path("soon-1200", OBJECT, "post")->ID, true);');
    }

    public function testAHostileRequestNeitherGetsNorMakesAPageOfOthers(): void
    {
        $site = $this->site(true);
        $this->plugin($site, 'add_action("wp_footer", static function (): void { echo "host ", esc_html($_SERVER["HTTP_HOST"] ?? ""), " ", esc_html(implode(" ", array_filter($_SERVER, static fn($v, $k): bool => is_string($v) && (str_starts_with($k, "HTTP_X") || $k === "HTTP_FORWARDED"), ARRAY_FILTER_USE_BOTH))); });');
        $site->visit('/hello-world/?first');
        foreach ([
            ['Host: evil.poison'], ['Host: 127.0.0.1'], ["Host: {$site->host}.poison"], ['X-Forwarded-Host: evil.poison'], ['X-Forwarded-Host: evil.poison', "Host: {$site->host}"], ['X-Host: evil.poison'], ['Forwarded: host=evil.poison'], ['X-Original-URL: /poison'], ['X-Rewrite-URL: /poison'],
            ['X-Forwarded-Prefix: /poison'], ['X-Forwarded-Scheme: poison'], ['X-Forwarded-Proto: poison'], ['X-Forwarded-Port: poison'], ['X-HTTP-Method-Override: poison'], ['X-Original-Host: evil.poison'], ['Authorization: Basic bWFya2VyOm1hcmtlcg=='],
        ] as $headers) {
            $hostile = $site->visit('/hello-world/', $headers);
            self::assertFalse($hostile->isHit(), $headers[0]);
            self::assertFalse($hostile->isStored(), $headers[0]);
            self::assertStringNotContainsString('poison', $site->visit('/hello-world/')->body, $headers[0]);
        }
        self::assertTrue($site->visit('/hello-world/')->isHit());
        foreach ([
            '/hello-world/..;/wp-admin/', '/hello-world%2f', '/hello-world/%2e%2e/', '//hello-world/', '/hello-world//', '/./hello-world/', '/hello-world/;a=b', '/hello-world/x.css', '/hello-world/x.js?y', '/hello-world/%00', '/index.php/hello-world/', '/hello-world/?a[]=1', '/hello-world/?' . str_repeat('a=1&', 1_000),
            '/hello-world/?p=1&p=2', '/hello-world/?%75tm_source=poison', '/hello-world/?p=%0d%0aSet-Cookie:a',
        ] as $uri) {
            $odd = $site->visit($uri);
            self::assertFalse($odd->isHit() || $odd->isStored(), substr($uri, 0, 40) . ' ' . $odd->header('cache-status'));
            self::assertStringNotContainsString('poison', $site->visit('/hello-world/')->body, substr($uri, 0, 40));
        }
        // nginx takes the host out of an address that is written whole, and tells PHP that of the header.
        self::assertStringNotContainsString('poison', $site->visit('http://evil.poison/hello-world/')->body);
        self::assertStringNotContainsString('poison', $site->visit('/hello-world/')->body);
    }

    public function testAnExclusionOfTheOwnerHoldsAtOnce(): void
    {
        $site = $this->site(true);
        $site->visit('/hello-world/');
        self::assertTrue($site->visit('/hello-world/')->isHit());
        $site->run('update_option("larder_pages", ["paths" => ["/hello*"]]);');
        self::assertSame('Larder; fwd=bypass; detail=path', $site->visit('/hello-world/')->header('cache-status'));
        $site->run('update_option("larder_pages", ["paths" => ["/sample*"]]);');
        $site->visit('/hello-world/');
        self::assertTrue($site->visit('/hello-world/')->isHit());
        $site->run('delete_option("larder_pages");');
        $site->visit('/sample-page/');
        self::assertTrue($site->visit('/sample-page/')->isHit());
    }

    /** A PHP that looks for changes of its files now and then goes on with the drop-in of before. */
    #[DataProvider('stores')]
    public function testNoPageOfFormerRulesIsStoredAfterTheOwnerHasChangedThem(bool $hasExtension): void
    {
        $site = $this->site($hasExtension);
        $file = "{$site->site->root}/wp-content/advanced-cache.php";
        $drop = static function (string $text) use ($file): void {
            file_put_contents("{$file}.new", $text);
            rename("{$file}.new", $file);
        };
        $before = (string) file_get_contents($file);
        $site->run('(new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->configure(["paths" => ["/hello*"]]);');
        $after = (string) file_get_contents($file);
        self::assertNotSame($before, $after);
        $drop($before);
        for ($i = 0; $i < 2; $i++) {
            self::assertSame('Larder; fwd=bypass; detail=rules', $site->visit('/hello-world/')->header('cache-status'));
        }
        $drop($after);
        self::assertSame('Larder; fwd=bypass; detail=path', $site->visit('/hello-world/')->header('cache-status'));
    }

    #[DataProvider('ways')]
    public function testNoPageIsServedWhoseTimeIsOver(string $line, bool $hasExtension): void
    {
        $site = $this->site($hasExtension, $line);
        $site->run('(new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->configure(["ttl" => 1]);');
        self::assertTrue($site->visit('/hello-world/')->isStored());
        sleep(2);
        self::assertTrue($site->visit('/hello-world/')->isStored());
    }

    #[DataProvider('ways')]
    public function testNoPageIsServedAfterSomethingWasSaid(string $line, bool $hasExtension): void
    {
        $site = $this->site($hasExtension, $line);
        $this->storedAndServed($site);
        $site->configure("ob_start(); echo 'said before'; {$line}");
        $answer = $site->visit('/hello-world/');
        self::assertSame('Larder; fwd=bypass; detail=late', $answer->header('cache-status'));
        self::assertStringStartsWith('said before<!DOCTYPE html>', $answer->body);
        $site->configure($line);
        self::assertTrue($site->visit('/hello-world/')->isHit());
    }

    /** A command line without the extension writes what it changes in a journal. */
    public function testAPageIsNotServedWhileAJournalWaits(): void
    {
        foreach ([PageSite::ORDINARY, PageSite::QUICK] as $line) {
            $site = $this->site(true, $line);
            $this->storedAndServed($site);
            $site->site->run('wp_update_post(["ID" => 1, "post_content" => $argv[1]]);', ["Changed before {$line}."], options: [], host: $site->host);
            $answer = $site->visit('/hello-world/');
            self::assertStringContainsString('Changed before', $answer->body);
            self::assertFalse($answer->isHit());
            $this->storedAndServed($site);
        }
    }

    /** The scheme may be in a header that names no page. */
    #[DataProvider('ways')]
    public function testARedirectToTheSameAddressInAnotherSchemeIsNotStored(string $line, bool $hasExtension): void
    {
        $site = $this->site($hasExtension, $line);
        $this->plugin($site, 'if (($_SERVER["HTTP_CLOUDFRONT_FORWARDED_PROTO"] ?? "") !== "https") { add_action("template_redirect", static function (): void { wp_redirect("https://{$_SERVER["HTTP_HOST"]}{$_SERVER["REQUEST_URI"]}", 301); exit; }); }');
        for ($i = 0; $i < 2; $i++) {
            self::assertSame([301, false], [($answer = $site->visit('/hello-world/', ['CloudFront-Forwarded-Proto: http']))->status, $answer->isHit()]);
        }
        self::assertSame(200, $site->visit('/hello-world/', ['CloudFront-Forwarded-Proto: https'])->status);
    }

    #[DataProvider('ways')]
    public function testAHeaderThatWpConfigSendsIsInAHitOnce(string $line, bool $hasExtension): void
    {
        $sends = 'header("Access-Control-Allow-Origin: *"); header("X-Two: 1"); header("X-Two: 2", false);';
        $site = $this->site($hasExtension, $line === PageSite::QUICK ? "{$sends} {$line}" : "{$line} {$sends}");
        [$first, $second] = $this->storedAndServed($site);
        foreach ([$first, $second, $site->visit('/hello-world/', ["If-None-Match: {$first->header('etag')}"])] as $answer) {
            self::assertSame(['*', '1, 2'], [$answer->header('access-control-allow-origin'), $answer->header('x-two')]);
            self::assertSame($first->headers['link'] ?? [], $answer->headers['link'] ?? []);
        }
    }

    public function testAPhpWhoseOwnerForbidsItToAskWhoItIsHasPages(): void
    {
        $site = $this->site(false);
        // What others have compiled knows that there is the function.
        $said = $site->site->run('$plugin = new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"); $plugin->keepUp(); echo json_encode([$plugin->pages->enable(), $plugin->pages->flush(), $plugin->toInstall()["owner"] === fileowner(ABSPATH)]);', options: ['-d', 'disable_functions=posix_geteuid'], host: $site->host, within: ['env']);
        self::assertSame('[null,true,true]', $said);
        $this->storedAndServed($site);
    }

    #[DataProvider('stores')]
    public function testCronMakesAnewThePagesThatVisitorsWaitForMostAfterAChange(bool $hasExtension): void
    {
        $site = $this->warmed($hasExtension, 2, '"1e9"');
        $site->run('update_option("blogname", "Made anew");');
        self::assertSame('soon', $site->run('$at = wp_next_scheduled("larder_warm"); echo $at > time() - 60 && $at < time() + 60 ? "soon" : $at; wp_unschedule_hook("larder_warm"); wp_schedule_single_event(1, "larder_warm");'));
        for ($i = 0; $i < 30_000 && \count($this->madeAnew($site)) < 2; $i++) {
            if ($i % 500 === 0) {
                // It does nothing while another one runs, which a visit may have begun.
                $site->visit('/wp-cron.php?doing_wp_cron');
            }
            usleep(10_000);
        }
        // What else was due, such as an earlier test's comment, may have killed one again.
        $site->run('do_action("larder_warm");');
        $made = $this->madeAnew($site);
        self::assertSame(['/hello-world/', '/sample-page/'], array_values(array_unique($made)));
        $site->run('do_action("larder_warm");');
        self::assertSame($made, $this->madeAnew($site), 'what is alive is not made anew');
        foreach (['/hello-world/', '/sample-page/'] as $uri) {
            $page = $site->visit($uri);
            self::assertTrue($page->isHit(), $uri);
            self::assertStringContainsString('Made anew', $page->body);
        }
        self::assertFalse($site->visit('/')->isHit());
        // However many addresses there are, few are counted.
        self::assertSame('10 /often/ /29/', $site->run('$pages = (new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages; $pages->store()->keep("waits-1", []); foreach (["/often/", "/often/", ...array_map(static fn(int $i): string => "/{$i}/", range(0, 29))] as $uri) { $pages->warming()->count($uri); } $uris = array_keys($pages->store()->kept("waits-1")); echo count($uris), " {$uris[0]} {$uris[1]}";'));
    }

    /** @return iterable<string, array{bool}> */
    public static function ends(): iterable
    {
        yield 'after a change' => [false];
        yield 'at the end of its time' => [true];
    }

    #[DataProvider('ends')]
    public function testOthersGetTheOldPageWhileOneMakesTheNewOneIfTheOwnerAllowsIt(bool $expires): void
    {
        $site = $this->allowStale($expires);
        $hold = "{$site->site->root}/hold";
        $this->plugin($site, <<<'PHP'
            add_action('wp_footer', static function (): void {
                file_put_contents(ABSPATH . 'made', '.', FILE_APPEND);
                for ($i = 0; $i < 60_000 && is_file(ABSPATH . 'hold'); $i++) { usleep(10_000); clearstatcache(); }
            });
            PHP);
        $site->run('wp_update_post(["ID" => 1, "post_content" => "As it was."]);');
        $old = $site->visit('/hello-world/');
        self::assertTrue($old->isStored(), $old->header('cache-status'));
        touch($hold);
        file_put_contents("{$site->site->root}/made", '');
        if ($expires) {
            for ($i = 0; $i < 60_000 && $site->run('echo (new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->explain($argv[1])["page"] === null ? "gone" : "there";', ["{$site->url}/hello-world/"]) !== 'gone'; $i++) {
                usleep(100_000);
            }
        } else {
            $site->run('wp_update_post(["ID" => 1, "post_content" => "Changed softly."]);');
        }
        $all = curl_multi_init();
        $first = $site->request('/hello-world/');
        curl_multi_add_handle($all, $first);
        for ($i = 0; $i < 60_000 && file_get_contents("{$site->site->root}/made") === ''; $i++) {
            curl_multi_exec($all, $running);
            usleep(10_000);
        }
        try {
            foreach ($site->visitAtOnce(array_fill(0, 10, ['/hello-world/', []])) as $other) {
                self::assertSame([200, $old->body, 'no-store'], [$other->status, $other->body, $other->header('cache-control')]);
                self::assertStringStartsWith('Larder; hit; detail=stale; ttl=', $other->header('cache-status'));
            }
            // What is cleared by hand meanwhile is not shown again: they wait. So does who makes pages anew, in any case.
            $warming = $site->request('/hello-world/', ['User-Agent: Larder (warming)']);
            curl_multi_add_handle($all, $warming);
            curl_multi_exec($all, $running);
            $site->run('(new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->forget($argv[1]);', ["{$site->url}/hello-world/"]);
            $waiting = $site->request('/hello-world/');
            curl_multi_add_handle($all, $waiting);
            for ($i = 0; $i < 50; $i++) {
                curl_multi_exec($all, $running);
                usleep(10_000);
            }
            self::assertSame(3, $running);
        } finally {
            unlink($hold);
        }
        do {
            curl_multi_exec($all, $running);
            curl_multi_select($all, 1.0);
        } while ($running > 0);
        foreach ([$first, $warming, $waiting] as $visit) {
            self::assertSame($expires ? 0 : 1, substr_count((string) curl_multi_getcontent($visit), 'Changed softly.'));
            self::assertStringContainsString('</html>', (string) curl_multi_getcontent($visit));
        }
    }

    public function testNoOldPageIsServedOfWhatWasMadePrivateOrClearedByHand(): void
    {
        $site = $this->allowStale();
        $changes = [
            'text' => 'wp_update_post(["ID" => $id, "post_content" => "Changed."]);',
            'title' => 'wp_update_post(["ID" => $id, "post_title" => "Changed."]);',
            'comment' => 'wp_insert_comment(["comment_post_ID" => $id, "comment_content" => "New.", "comment_approved" => 1]);',
            'stock' => 'update_post_meta($id, "_stock", "3"); do_action("woocommerce_updated_product_stock", $id);',
            'meta of a plugin' => 'update_post_meta($id, "members_only", "1");',
            'comment edited' => 'wp_update_comment(["comment_ID" => $comment, "comment_content" => "No name."]);',
            'comment without a name' => '$GLOBALS["wpdb"]->update($GLOBALS["wpdb"]->comments, ["comment_author" => "Anonymous"], ["comment_ID" => $comment]); clean_comment_cache($comment);',
            'comment held back' => 'wp_set_comment_status($comment, "hold");',
            'comment deleted' => 'wp_delete_comment($comment, true);',
            'password' => 'wp_update_post(["ID" => $id, "post_password" => "secret"]);',
            'private' => 'wp_update_post(["ID" => $id, "post_status" => "private"]);',
            'draft' => 'wp_update_post(["ID" => $id, "post_status" => "draft"]);',
            'trash' => 'wp_trash_post($id);',
            'deleted' => 'wp_delete_post($id, true);',
            'terms' => 'wp_set_object_terms($id, "members", "post_tag");',
            'by hand' => '$pages->forget($url);',
            'by hand after a change' => 'wp_update_post(["ID" => $id, "post_content" => "Changed."]); $pages->forget($url);',
            'private after a change' => 'wp_update_post(["ID" => $id, "post_content" => "Changed."]); wp_update_post(["ID" => $id, "post_status" => "private"]);',
            'a change after by hand' => '$pages->forget($url); wp_update_post(["ID" => $id, "post_content" => "Changed."]);',
            'all pages' => '$pages->flush();',
        ];
        $left = [];
        foreach ($changes as $name => $change) {
            $left[$name] = "(static function () use (\$pages): string { [\$id, \$url, \$comment] = made('" . md5($name) . "'); {$change} return left(\$url); })()";
        }
        // Each has a post of its own, and its page as a visitor left it.
        $code = <<<'PHP'
            $pages = (new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages;
            function made(string $name): array {
                $id = wp_insert_post(["post_title" => $name, "post_name" => $name, "post_status" => "publish", "post_content" => "Old."]);
                $comment = wp_insert_comment(["comment_post_ID" => $id, "comment_content" => "Old.", "comment_approved" => 1]);
                $url = get_permalink($id);
                file_get_contents($url, false, stream_context_create(["http" => ["header" => "Host: " . $_SERVER["HTTP_HOST"]]]));
                if ((new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->explain($url)["page"] === null) { throw new RuntimeException("{$url} is not cached."); }
                return [$id, $url, $comment];
            }
            function left(string $url): string {
                $plugin = new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder");
                if ($plugin->pages->explain($url)["page"] !== null) { return "alive"; }
                $installed = $plugin->pages->installed();
                return Larder\SharedMemory::open($installed["pool"])->stale(Larder\WordPress\PageHit::name($installed, "http||||" . substr($url, 7)), 600) === null ? "dead" : "stale";
            }
            PHP;
        $said = $site->run($code . ' echo json_encode([' . implode(', ', array_map(static fn(string $name, string $is): string => var_export($name, true) . " => {$is}", array_keys($left), $left)) . ']);');
        self::assertSame([...array_fill_keys(['text', 'title', 'comment', 'stock'], 'stale'), ...array_fill_keys(array_slice(array_keys($changes), 4), 'dead')], json_decode($said, true), $said);
    }

    public function testAPageThatVisitorsGetThroughAProxyIsMadeAnewForThem(): void
    {
        $site = $this->warmed(true, 2, '"1e9"');
        $proxy = ['X-Forwarded-Proto: https', 'X-Forwarded-Port: 443'];
        foreach (range(1, 4) as $i) {
            $site->run('update_post_meta(2, "key", wp_rand());');
            self::assertTrue($site->visit('/sample-page/', $proxy)->isStored());
        }
        $site->run('update_option("blogname", "Anew by proxy");');
        $site->run('do_action("larder_warm");');
        self::assertContains('/sample-page/', $this->madeAnew($site));
        $page = $site->visit('/sample-page/', $proxy);
        self::assertTrue($page->isHit(), $page->header('cache-status'));
        self::assertStringContainsString('Anew by proxy', $page->body);
        $made = $this->madeAnew($site);
        $site->run('do_action("larder_warm");');
        self::assertSame($made, $this->madeAnew($site), 'what is alive is not made anew');
        // The admin bar asks so, in the request of the user that sees it.
        $explain = '$_SERVER += json_decode($argv[2], true); echo (new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->explain($argv[1])["page"] === null ? "missing" : "there";';
        $site->run('update_post_meta(2, "key", wp_rand());');
        self::assertTrue($site->visit('/sample-page/', $proxy)->isStored());
        $ask = static fn(array $server): string => $site->run($explain, ["{$site->url}/sample-page/", (string) json_encode($server)]);
        self::assertSame(['missing', 'there'], [$ask([]), $ask(['HTTP_X_FORWARDED_PROTO' => 'https', 'HTTP_X_FORWARDED_PORT' => '443'])]);
    }

    public function testABusyMachineOrAFailureEndsWarmingAndTheOwnerMaySwitchItOff(): void
    {
        $site = $this->warmed(true, 2, '-1');
        $run = 'do_action("larder_warm"); $at = wp_next_scheduled("larder_warm"); echo $at === false ? "never" : ($at > time() + 200 ? "later" : "soon");';
        $site->run('update_option("blogname", "Busy");');
        $site->run('wp_unschedule_hook("larder_warm");');
        self::assertSame(['later', []], [$site->run($run), $this->madeAnew($site)]);

        $site = $this->warmed(true, 2, '"1e9"', 'if (($_SERVER["HTTP_USER_AGENT"] ?? "") === "Larder (warming)") { status_header(503); }');
        $site->run('update_option("blogname", "Failing");');
        $site->run('wp_unschedule_hook("larder_warm");');
        $said = $site->run($run);
        self::assertStringContainsString("no more pages are made anew for now: {$site->url}/hello-world/ answered 503.", $said);
        self::assertStringContainsString('never', $said);
        self::assertSame(['/hello-world/'], $this->madeAnew($site));

        $site = $this->warmed(true, 0, '"1e9"');
        $site->run('update_option("blogname", "Off");');
        self::assertSame(['never', []], [$site->run($run), $this->madeAnew($site)]);
        $site->run('delete_option("larder_pages"); (new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->keepUp();');
    }

    public function testAPageOfANetworkDiesWithWhatItShowsOfAnotherSite(): void
    {
        $site = PageSite::start(isNetwork: true);
        try {
            $site->run('wp_insert_site(["domain" => "example.com", "path" => "/two/", "title" => "Two", "user_id" => 1]); switch_to_blog(2); update_option("loaded", "a");');
            $this->plugin($site, <<<'PHP'
                add_action('wp_footer', static function (): void {
                    switch_to_blog(2);
                    $options = [get_option('loaded'), get_option('unknown', 'none')];
                    restore_current_blog();
                    echo 'shown:', json_encode([...$options, get_site(2)->blogname, get_site_transient('weather'), get_transient('tide')]), ';';
                });
                PHP);
            $shown = static fn(): string => preg_match('/shown:(.*?);/', $site->visit('/sample-page/')->body, $parts) === 1 ? $parts[1] : '';
            foreach (['with', 'without'] as $with) {
                foreach ([
                    'update_blog_option(2, "loaded", "#");', 'switch_to_blog(2); delete_option("unknown"); update_option("unknown", "#", false);', 'update_blog_option(2, "blogname", "#");',
                    'set_site_transient("weather", "#", 600);', 'set_transient("tide", "#", 600);',
                ] as $place => $change) {
                    $shown();
                    self::assertTrue($site->visit('/sample-page/')->isHit(), $change);
                    $site->run(str_replace('#', "new {$with}", $change));
                    self::assertSame("new {$with}", ((array) json_decode($shown(), true))[$place] ?? null, "{$change} {$with} an object cache");
                }
                @unlink("{$site->site->root}/wp-content/object-cache.php");
            }
            // What few pages show is no reason to kill all.
            $this->plugin($site, 'add_action("wp_footer", static function (): void { if (is_page()) { echo "shown:", get_user_count(), ";"; } });');
            $site->run('wp_update_network_user_counts(); (new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->flush();');
            $before = (int) $shown();
            self::assertTrue($site->visit('/sample-page/')->isHit());
            $site->visit('/hello-world/');
            $site->run('wp_insert_user(["user_login" => "counted", "user_pass" => "p"]); wp_update_network_user_counts();');
            self::assertTrue($site->visit('/hello-world/')->isHit());
            self::assertSame($before + 1, (int) $shown());
            // What the pages of the other site are built of.
            $this->plugin($site, 'add_action("wp_footer", static function (): void { switch_to_blog(2); echo "shown:", get_posts(["post_type" => "wp_block"])[0]->post_content ?? "", ";"; restore_current_blog(); });');
            $site->run('switch_to_blog(2); wp_insert_post(["post_title" => "Shared", "post_type" => "wp_block", "post_status" => "publish", "post_content" => "before"]); (new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->flush();');
            self::assertSame('before', $shown());
            self::assertTrue($site->visit('/sample-page/')->isHit());
            $site->run('switch_to_blog(2); wp_update_post(["ID" => get_posts(["post_type" => "wp_block"])[0]->ID, "post_content" => "after"]);');
            self::assertSame('after', $shown());
            // A user leaves the other site, and another one gets the posts.
            $this->plugin($site, 'add_action("wp_footer", static function (): void { switch_to_blog(2); echo "shown:", count(get_posts(["author" => 1, "numberposts" => -1])), ";"; restore_current_blog(); });');
            $site->run('$id = wp_insert_user(["user_login" => "leaver", "user_pass" => "p"]); add_user_to_blog(2, $id, "author"); switch_to_blog(2); wp_insert_post(["post_title" => "Left", "post_status" => "publish", "post_author" => $id]); (new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->flush();');
            $before = (int) $shown();
            self::assertTrue($site->visit('/sample-page/')->isHit());
            $site->run('remove_user_from_blog(get_user_by("login", "leaver")->ID, 2, 1);');
            self::assertSame($before + 1, (int) $shown());
            // Users of the other site, of this one and of any.
            foreach (['get_users(["blog_id" => 2, "fields" => "ID"])' => 2, 'get_users(["fields" => "ID"])' => 1, 'get_users(["blog_id" => 0, "capability" => "edit_posts", "fields" => "ID"])' => 0, 'get_users(["blog_id" => 2, "role" => "author", "fields" => "ID"])' => 2] as $users => $of) {
                $this->plugin($site, "add_action('wp_footer', static function (): void { echo 'shown:', count({$users}), ';'; });");
                $blog = max($of, 1);
                foreach (["add_user_to_blog({$blog}, get_user_by('login', 'counted')->ID, 'author');" => 1, "remove_user_from_blog(get_user_by('login', 'counted')->ID, {$blog});" => -1, "update_user_meta(get_user_by('login', 'counted')->ID, \$GLOBALS['wpdb']->get_blog_prefix({$blog}) . 'capabilities', ['author' => true]);" => 1, "switch_to_blog(2); (new WP_User(get_user_by('login', 'counted')->ID, '', {$blog}))->remove_all_caps();" => -1] as $change => $more) {
                    $site->run('remove_user_from_blog(get_user_by("login", "counted")->ID, $argv[1]); if ($argv[2] === "-1") { add_user_to_blog((int) $argv[1], get_user_by("login", "counted")->ID, "author"); } (new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->flush();', [(string) $blog, (string) $more]);
                    $before = (int) $shown();
                    self::assertTrue($site->visit('/sample-page/')->isHit(), $users);
                    $site->run($change);
                    if ($of !== 0) {
                        self::assertSame($before + $more, (int) $shown(), "{$users} after {$change}");
                    } else {
                        self::assertFalse($site->visit('/sample-page/')->isHit(), "{$users} after {$change}");
                    }
                }
            }
            // A post of the other site that is to come.
            $this->plugin($site, 'add_action("wp_footer", static function (): void { switch_to_blog(2); echo "shown:", get_posts()[0]->post_title, ";"; restore_current_blog(); });');
            $site->run('switch_to_blog(2); $at = gmdate("Y-m-d H:i:s", time() + 600); wp_insert_post(["post_title" => "Soon", "post_status" => "future", "post_date" => get_date_from_gmt($at), "post_date_gmt" => $at]); restore_current_blog(); (new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->flush();');
            $shown();
            self::assertLessThanOrEqual(600, (int) substr((string) strstr($site->visit('/sample-page/')->header('cache-status'), 'ttl='), 4));
        } finally {
            $site->stop();
        }
    }

    #[DataProvider('stores')]
    public function testTheSitesOfANetworkHavePagesOfTheirOwn(bool $hasExtension): void
    {
        $network = PageSite::start(hasExtension: $hasExtension, isNetwork: true);
        try {
            $network->run('wp_insert_site(["domain" => "second.example.com", "path" => "/", "network_id" => 1, "user_id" => 1, "title" => "Second marker"]); update_option("blogname", "First marker");');
            $hosts = ['First' => ['Host: example.com'], 'Second' => ['Host: second.example.com']];
            $network->visit('/?first', $hosts['Second']);
            foreach ($hosts as $name => $host) {
                self::assertStringContainsString("{$name} marker", $network->visit('/', $host)->body);
                $again = $network->visit('/', $host);
                self::assertTrue($again->isHit(), $name . $again->header('cache-status'));
                self::assertStringContainsString("{$name} marker", $again->body);
            }
            self::assertFalse($network->visit('/', ['Host: third.example.com'])->isHit());
            $network->run('update_option("blogname", "Second changed");', host: 'second.example.com');
            self::assertTrue($network->visit('/', $hosts['First'])->isHit());
            self::assertStringContainsString('Second changed', $network->visit('/', $hosts['Second'])->body);
            // From another site of the network.
            $network->visit('/', $hosts['Second']);
            $network->run('switch_to_blog(2); wp_update_post(["ID" => 1, "post_content" => "Written from elsewhere."]); restore_current_blog();');
            self::assertTrue($network->visit('/', $hosts['First'])->isHit());
            self::assertStringContainsString('Written from elsewhere.', $network->visit('/', $hosts['Second'])->body);
            $network->visit('/', $hosts['Second']);
            $network->run('(new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->flush(1);');
            self::assertFalse($network->visit('/', $hosts['First'])->isHit());
            self::assertTrue($network->visit('/', $hosts['Second'])->isHit());
            // A plugin may end the request before WordPress says so to all.
            foreach (['add' => 'add_site_option("larder_test", 1);', 'update' => 'update_site_option("larder_test", 2);', 'delete' => 'delete_site_option("larder_test");'] as $does => $code) {
                $network->visit('/', $hosts['Second']);
                self::assertTrue($network->visit('/', $hosts['Second'])->isHit());
                self::assertSame('ended', $network->run("add_action('{$does}_site_option_larder_test', static function () { exit('ended'); }); {$code}"));
                self::assertFalse($network->visit('/', $hosts['Second'])->isHit(), $does);
            }
        } finally {
            $network->stop();
        }
    }

    public function testExplainSaysWhetherAPageIsCachedAndWhyNot(): void
    {
        $site = $this->site(true);
        $explain = function (string ...$arguments) use ($site): string {
            $command = $site->site->command(['larder', 'explain', ...array_values($arguments)]);
            $command->wait();

            return $command->getOutput() . $command->getErrorOutput();
        };
        self::assertStringContainsString('The page cache is on, and keeps pages in shared memory.', $explain("{$site->url}/hello-world/"));
        self::assertStringContainsString('may be cached, but is not now', $explain("{$site->url}/hello-world/"));
        $site->visit('/hello-world/');
        self::assertMatchesRegularExpression('~This URL is cached: status 200, \d+ bytes, \d+ compressed.*  1/post/1\n~s', $explain("{$site->url}/hello-world/", '--tags'));
        self::assertStringContainsString('The visitor is logged in.', $explain("{$site->url}/hello-world/", '--cookie=wordpress_logged_in_0'));
        self::assertStringContainsString('The cookie wp-postpass_0 may belong', $explain("{$site->url}/hello-world/", '--cookie=wp-postpass_0'));
        self::assertStringContainsString('The argument s may make another page.', $explain("{$site->url}/?s=word"));
        self::assertStringContainsString('The method POST is none of a page', $explain("{$site->url}/", '--method=POST'));
        $this->plugin($site, 'add_action("wp_footer", static function (): void { echo wp_create_nonce("a-form"); });');
        $site->visit('/sample-page/');
        self::assertStringContainsString('The page has a nonce in it', $explain("{$site->url}/sample-page/"));
        // One page goes, the other stays.
        $site->visit('/feed/');
        foreach ([0 => 'Success: Flushed.', 1 => "Error: The cache had no page of {$site->url}/hello-world/ for visitors without cookies; `wp larder explain URL` says why."] as $status => $says) {
            $flush = $site->site->command(['larder', 'flush', "--page={$site->url}/hello-world/"]);
            self::assertSame([$status, "{$says}\n"], [$flush->wait(), $flush->getOutput() . $flush->getErrorOutput()]);
        }
        self::assertStringContainsString('is not now', $explain("{$site->url}/hello-world/"));
        self::assertTrue($site->visit('/feed/')->isHit());
    }

    public function testTheSettingsAndTheAdminBarInABrowser(): void
    {
        $site = $this->site(true);
        $site->visit('/hello-world/');
        $seen = Browser::run(__DIR__ . '/settings.mjs', [$site->url, __DIR__ . '/pages.mjs']);
        self::assertSame([], $seen['errors']);
        self::assertSame('The page cache is on, and keeps pages in shared memory.', $seen['state']);
        self::assertSame([], $seen['withoutLabel']);
        self::assertSame(['Page cached for visitors', 'Page not cached'], [$seen['cached'], $seen['cleared']]);
        $menu = ['Clear this page', 'Clear the pages of this site', 'Settings'];
        self::assertSame(['Page cached for visitors', $menu], [$seen['name'], $seen['menu']]);
        foreach ([360, 320] as $width) {
            self::assertSame(['inside' => true, 'rows' => 1, 'overlaps' => [], 'icon' => "\"\u{f17e}\"", 'isAsOthers' => true], $seen["bar{$width}"], "{$width} pixels");
            self::assertSame(['Page cached for visitors', ...$menu], $seen["menu{$width}"], "{$width} pixels");
        }
        self::assertStringContainsString('Paths that are not cached: these lines match nothing, and were left out: *. A path has', \is_string($seen['saved']) ? $seen['saved'] : '');
        self::assertSame('/sample*', $seen['paths']);
        self::assertSame(0, $seen['overflow']);
        self::assertSame('Larder; fwd=bypass; detail=path', $site->visit('/sample-page/')->header('cache-status'));
        // Without the nonce, or without the right, nothing happens.
        $site->visit('/hello-world/');
        self::assertSame(200, $site->visit('/hello-world/')->status);
        foreach (['flush', 'disable', 'page'] as $action) {
            self::assertNotSame(200, $site->visit("/wp-admin/admin-post.php?action=larder_pages&larder={$action}")->status);
        }
        self::assertTrue($site->visit('/hello-world/')->isHit());
        self::assertSame('The page cache is off: WordPress makes each page anew.', $seen['off']);
        self::assertSame('The page cache is on, and keeps pages in shared memory.', $seen['on']);
        $site->run('delete_option("larder_pages"); (new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->keepUp();');
    }

    public function testACdnGetsTagsAndIsToldWhichToPurge(): void
    {
        $site = $this->site(true);
        $seen = "{$site->site->root}/purged";
        file_put_contents("{$site->site->root}/purge.php", '<?php file_put_contents(__DIR__ . "/purged", json_encode([$_SERVER["REQUEST_METHOD"], $_SERVER["HTTP_CACHE_TAG"] ?? "", $_SERVER["HTTP_SURROGATE_KEY"] ?? ""]) . "\n", FILE_APPEND);');
        $site->run('(new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->configure(["cdn_seconds" => 600, "cdn_stale" => 30, "cdn_url" => $argv[1]]);', ["{$site->url}/purge.php"]);
        // The CDN keeps what is served from the cache. Of one that is just made, a change may have come already.
        $first = $site->visit('/hello-world/');
        self::assertTrue($first->isStored(), $first->header('cache-status'));
        self::assertSame(['private, max-age=0, must-revalidate', '', ''], [$first->header('cache-control'), $first->header('cache-tag'), $first->header('surrogate-key')]);
        $page = $site->visit('/hello-world/');
        self::assertSame('public, max-age=0, s-maxage=600, stale-while-revalidate=30', $page->header('cache-control'));
        $keys = explode(' ', $page->header('surrogate-key'));
        self::assertSame(implode(',', $keys), $page->header('cache-tag'));
        self::assertSame($page->header('cache-tag'), $site->visit('/hello-world/')->header('cache-tag'));
        self::assertContains(HttpPurger::name('1/post/1'), $keys);
        file_put_contents($seen, '');
        $site->run('update_post_meta(1, "key", wp_rand()); update_post_meta(1, "other", wp_rand());');
        $lines = file($seen, \FILE_IGNORE_NEW_LINES) ?: [];
        self::assertCount(1, $lines);
        $told = (array) json_decode($lines[0], true);
        self::assertSame('PURGE', $told[0]);
        self::assertIsString($told[2]);
        self::assertContains(HttpPurger::name('1/post/1'), explode(' ', $told[2]));
        self::assertNotContains(HttpPurger::name('1/post/2'), explode(' ', $told[2]));
        $site->run('delete_option("larder_pages"); (new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->keepUp();');
    }

    /** nginx refuses an answer whose headers are longer than 4 KiB, unless it is told otherwise. */
    public function testAPageOfManyTagsIsKeptByNoCdnRatherThanRefusedByNginx(): void
    {
        $site = $this->site(true);
        // The theme lists what other tests have made.
        file_put_contents("{$site->site->root}/wp-content/plain.php", '<html><body><?php the_title(); ?></body></html>');
        $this->plugin($site, 'add_filter("template_include", static fn() => WP_CONTENT_DIR . "/plain.php"); add_action("wp", static function (): void { for ($i = 0; $i < (int) ($_GET["many"] ?? 0); $i++) { get_option("many-{$i}"); } });');
        $site->run('(new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->configure(["cdn_seconds" => 600, "arguments" => ["many"]]);');
        $shared = [];
        foreach ([1, 20, 40, 60, 80, 100, 150, 200, 400] as $options) {
            for ($i = 0; $i < 2; $i++) {
                $page = $site->visit("/sample-page/?many={$options}");
                self::assertSame(200, $page->status, "{$options} options");
                self::assertSame($i === 1, $page->isHit());
                // One without all of its tags could not be purged.
                $isShared = str_contains($page->header('cache-control'), 's-maxage');
                self::assertFalse($isShared && $i === 0);
                self::assertSame([$isShared, $isShared], [$page->header('cache-tag') !== '', $page->header('surrogate-key') !== '']);
                $shared[$options] = $isShared;
            }
        }
        self::assertTrue($shared[60]);
        self::assertFalse($shared[400]);
        // A server may take less than nginx does, or more.
        file_put_contents("{$site->site->root}/wp-content/mu-plugins/test.php", ' add_filter("larder_cdn_header_bytes", static fn(int $usual): int => $usual - 1_000);', \FILE_APPEND);
        $site->run('(new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->flush();');
        foreach ([1 => true, 60 => false] as $options => $isShared) {
            $site->visit("/sample-page/?many={$options}");
            self::assertSame($isShared, str_contains($site->visit("/sample-page/?many={$options}")->header('cache-control'), 's-maxage'), "{$options} options");
        }
        $site->run('delete_option("larder_pages"); (new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->keepUp();');
    }

    /** Its directives are read from there: what a reader copies is what runs. */
    public function testNginxWithTheDirectivesOfTheDocumentationKeepsPagesAndNothingElse(): void
    {
        $site = $this->site(true);
        self::assertSame(1, preg_match('~```nginx\n(fastcgi_cache_path [^;]+;).*?\nlocation [^\n]*\{\n[^\n]*\n(.*?)\}\n```~s', (string) file_get_contents(\dirname(__DIR__, 3) . '/docs/wordpress-page-cache.md'), $directives));
        [, $keeps, $scripts] = $directives + ['', '', ''];
        $nginx = NginxServer::start($site->site->root, $site->fpm->socket, 1, isSite: true, more: strtr($keeps, ['/var/cache/nginx/larder' => "{$site->site->root}/kept-by-nginx"]), ofScripts: "{$scripts} add_header X-Kept \$upstream_cache_status always;");
        $visit = static function (string $uri, array $headers = [], string $method = 'GET') use ($site, $nginx): Answer {
            $request = $site->request($uri, array_values(array_filter($headers, is_string(...))), $method);
            curl_setopt($request, \CURLOPT_URL, "http://127.0.0.1:{$nginx->port}/");

            return Answer::of($request);
        };
        try {
            $site->run('(new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->configure(["cdn_seconds" => 600]);');
            // What watches a site asks by HEAD, and may be the first.
            foreach (['/hello-world/', '/sample-page/'] as $uri) {
                $page = $site->visit($uri);
                self::assertSame(200, $page->status);
                self::assertSame([200, ''], [$visit($uri, [], 'HEAD')->status, $visit($uri, [], 'HEAD')->body]);
                foreach (['MISS', 'HIT'] as $kept) {
                    $answer = $visit($uri);
                    self::assertSame([200, $page->body, $kept], [$answer->status, $answer->body, $answer->header('x-kept')]);
                    $zipped = $visit($uri, ['Accept-Encoding: gzip']);
                    self::assertSame([200, $page->body, $kept], [$zipped->status, gzdecode($zipped->body), $zipped->header('x-kept')]);
                }
                self::assertSame(304, $visit($uri, ['If-None-Match: ' . $page->header('etag')])->status);
                self::assertSame($page->body, $visit($uri)->body);
            }
            // A visitor of their own neither gets nor leaves a page, and what is not stored is not kept.
            foreach ([['/hello-world/', ['Cookie: wordpress_logged_in_0=x']], ['/hello-world/', ['Authorization: Basic eDp5']], ['/feed/', ['X-Forwarded-Host: evil.poison']], ['/feed/', ['Host: evil.poison']], ['/?s=word', []], ['/wp-login.php', []], ['/wp-json/', []]] as [$uri, $headers]) {
                for ($i = 0; $i < 2; $i++) {
                    self::assertContains($visit($uri, $headers)->header('x-kept'), ['MISS', 'BYPASS'], "{$uri} " . implode('', $headers));
                }
            }
            self::assertStringNotContainsString('poison', $visit('/feed/')->body);
        } finally {
            $nginx->stop();
            $site->run('delete_option("larder_pages"); (new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->keepUp();');
        }
    }

    public function testTheDropInOfAnotherPluginIsReplacedOnlyWhenItIsAskedFor(): void
    {
        $site = $this->site(true);
        $path = "{$site->site->root}/wp-content/advanced-cache.php";
        $site->run('$p = new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"); $p->pages->disable();');
        self::assertFileDoesNotExist($path);
        file_put_contents($path, "<?php // Plugin Name: Other\n");
        try {
            self::assertStringContainsString('There is a page cache already (Other)', $site->run('$p = new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"); $p->pages->keepUp(); echo $p->pages->enable(), $p->pages->disable();'));
            self::assertStringContainsString('Other', (string) file_get_contents($path));
            self::assertSame(200, $site->visit('/hello-world/')->status);
        } finally {
            self::assertSame('', $site->run('echo (new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->enable(true);'));
        }
        $site->visit('/hello-world/');
        self::assertTrue($site->visit('/hello-world/')->isHit());
    }

    public function testWithoutThePluginTheDropInDoesNothing(): void
    {
        $site = $this->site(true);
        rename($site->site->plugin(), $site->site->plugin() . '-gone');
        try {
            $page = $site->visit('/hello-world/');
            self::assertSame([200, ''], [$page->status, $page->header('cache-status')]);
        } finally {
            rename($site->site->plugin() . '-gone', $site->site->plugin());
        }
    }

    /** @return array{Answer, Answer} what the first visitor of a page got, who had it stored, and the second, who was served that */
    private function storedAndServed(PageSite $site): array
    {
        $first = $site->visit('/hello-world/');
        self::assertSame(200, $first->status);
        self::assertTrue($first->isStored(), $first->header('cache-status'));
        $second = $site->visit('/hello-world/');
        self::assertTrue($second->isHit(), $second->header('cache-status'));
        self::assertSame($first->body, $second->body);

        return [$first, $second];
    }

    public function testASiteThatNamesAServerKeepsItsPagesThere(): void
    {
        $redis = RedisServer::start(RedisFlavour::installed() ?? self::fail('There is neither Redis nor Valkey: install one of them.'), 64);
        $site = PageSite::start(PageSite::ORDINARY . ' define("WP_LARDER_DSN", ' . var_export("redis+unix:{$redis->endpoint()['socket']}", true) . ');', false);
        try {
            $this->storedAndServed($site);
            $site->run('update_post_meta(1, "key", "value");');
            $this->changesMeanwhile($site);
            // What is no page goes on, too.
            self::assertSame(200, $site->visit('/wp-login.php')->status);
            self::assertSame(200, $site->visit('/?s=word')->status);
            $site->run('wp_update_post(["ID" => 1, "post_content" => "Changed on the server."]);');
            $file = "{$site->site->root}/made";
            $this->plugin($site, 'add_action("wp_footer", static function (): void { file_put_contents(ABSPATH . "made", ".", FILE_APPEND); });');
            $answers = $site->visitAtOnce(array_fill(0, 20, ['/hello-world/', []]));
            self::assertSame([200], array_values(array_unique(array_map(static fn(Answer $answer): int => $answer->status, $answers))));
            self::assertStringContainsString('Changed on the server.', $answers[0]->body);
            self::assertSame('.', file_get_contents($file));
        } finally {
            $site->stop();
            $redis->stop();
        }
    }

    /** The visitor's page has read the post when another process changes it. */
    private function changesMeanwhile(PageSite $site): void
    {
        $this->plugin($site, <<<'PHP'
            add_action('wp_footer', static function (): void {
                if (is_file(ABSPATH . 'hold')) {
                    touch(ABSPATH . 'held');
                    for ($i = 0; $i < 6000 && is_file(ABSPATH . 'hold'); $i++) { usleep(10_000); clearstatcache(); }
                }
            });
            PHP);
        touch("{$site->site->root}/hold");
        $visit = $site->request('/hello-world/');
        $all = curl_multi_init();
        curl_multi_add_handle($all, $visit);
        for ($i = 0; $i < 30_000 && !is_file("{$site->site->root}/held"); $i++) {
            curl_multi_exec($all, $running);
            usleep(10_000);
            clearstatcache();
        }
        $site->run('wp_update_post(["ID" => 1, "post_content" => "Changed meanwhile."]);');
        unlink("{$site->site->root}/hold");
        do {
            curl_multi_exec($all, $running);
            curl_multi_select($all, 1.0);
        } while ($running > 0);
        $held = Answer::ofText((string) curl_multi_getcontent($visit), curl_getinfo($visit, \CURLINFO_HEADER_SIZE));
        self::assertStringNotContainsString('Changed meanwhile', $held->body);
        self::assertSame('Larder; fwd=uri-miss', $held->header('cache-status'));
        self::assertStringContainsString('Changed meanwhile', $site->visit('/hello-world/')->body);
        self::assertStringContainsString('Changed meanwhile', $site->visit('/hello-world/')->body);
    }

    /** A site of which visitors have waited twice for one page, and once for two others. */
    private function warmed(bool $hasExtension, int $pages, string $load, string $more = ''): PageSite
    {
        $site = $this->site($hasExtension);
        $site->run('$pages = (new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages; $pages->configure(["warm" => (int) $argv[1]]); $pages->store()->keep("waits-1", []); _set_cron_array([]);', [(string) $pages]);
        $this->plugin($site, <<<PHP
            add_filter('larder_warming_load', static fn() => {$load});
            add_action('template_redirect', static function (): void {
                if ((\$_SERVER['HTTP_USER_AGENT'] ?? '') === 'Larder (warming)') { file_put_contents(ABSPATH . 'anew', \$_SERVER['REQUEST_URI'] . "\n", FILE_APPEND); }
                {$more}
            });
            PHP);
        foreach (['/hello-world/', '/', '/sample-page/'] as $uri) {
            self::assertTrue($site->visit($uri)->isStored(), $uri);
        }
        $site->run('update_post_meta(1, "key", wp_rand());');
        self::assertTrue($site->visit('/hello-world/')->isStored());
        file_put_contents("{$site->site->root}/anew", '');

        return $site;
    }

    /** A site whose visitors may get old pages while one is made. */
    private function allowStale(bool $expires = false): PageSite
    {
        $site = $this->site(true);
        $site->run('(new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->configure(["stale" => 600, "warm" => 0, "ttl" => (int) $argv[1]]);', [$expires ? '1' : '3600']);

        return $site;
    }

    /** @return list<string> what cron has asked for */
    private function madeAnew(PageSite $site): array
    {
        return file("{$site->site->root}/anew", \FILE_IGNORE_NEW_LINES) ?: [];
    }

    /** @param non-empty-string $word */
    private function waitFor(Process $process, string $word): void
    {
        $said = '';
        $process->waitUntil(static function (string $type, string $part) use (&$said, $word): bool {
            $said .= $part;

            return str_contains($said, $word);
        });
        self::assertStringContainsString($word, $said);
    }

    /** A site without pages, and without what earlier tests have put into it. */
    private function site(bool $hasExtension, string $line = PageSite::ORDINARY): PageSite
    {
        $site = self::$sites[(int) $hasExtension] ??= PageSite::start($line, $hasExtension);
        $site->configure($line);
        @unlink("{$site->site->root}/wp-content/mu-plugins/test.php");
        $site->run('$pages = (new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages; delete_option("larder_pages") && $pages->keepUp(); $pages->flush();');

        return $site;
    }

    /** @return array<string, string> */
    private static function listed(string $json): array
    {
        $listed = [];
        foreach ((array) json_decode($json, true) as $name => $text) {
            $listed[(string) $name] = \is_string($text) ? $text : '';
        }

        return $listed;
    }

    private function plugin(PageSite $site, string $code): void
    {
        $path = "{$site->site->root}/wp-content/mu-plugins/test.php";
        file_put_contents("{$path}.new", "<?php {$code}");
        rename("{$path}.new", $path);
    }
}
