<?php

declare(strict_types=1);

namespace Larder\WordPress\Tests;

use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\TestCase;

/** The dashboard of a real site: what is collected for it, and what it may do. */
#[CoversNothing]
final class FaceTest extends TestCase
{
    /** Each request is measured. */
    private const MEASURED = "define('WP_LARDER_SAMPLE', 1); " . PageSite::ORDINARY;

    private static PageSite $site;

    /** @var array<string, list<string>> headers of a user's browser that has the dashboard open */
    private static array $browsers = [];

    public static function setUpBeforeClass(): void
    {
        self::$site = PageSite::start(self::MEASURED);
    }

    public static function tearDownAfterClass(): void
    {
        self::$site->stop();
        self::$browsers = [];
    }

    public function testNothingIsSaidOrDoneWithoutTheCapabilityAndTheNonce(): void
    {
        self::$site->run('wp_insert_user(["user_login" => "editor", "user_pass" => "password", "role" => "editor"]); wp_cache_set("stays", 1, "shop");');
        $admin = $this->browser('admin');
        foreach (['GET' => ['figures', 'groups'], 'POST' => ['flush?what=cache', 'summary?times=1', 'measure?run=00000000&place=cache&operation=set&from=0']] as $method => $routes) {
            foreach ($routes as $route) {
                self::assertSame(401, $this->ask($route, [], $method)->status, $route);
                self::assertSame(403, $this->ask($route, $this->browser('editor'), $method)->status, $route);
                self::assertSame(401, $this->ask($route, [$admin[0]], $method)->status, "{$route} without a nonce");
                self::assertSame(403, $this->ask($route, [$admin[0], 'X-WP-Nonce: 0123456789'], $method)->status, "{$route} with a wrong nonce");
            }
        }
        self::assertSame('1', self::$site->run('echo wp_cache_get("stays", "shop");'));
        $answer = $this->ask('figures', $admin);
        self::assertSame(200, $answer->status);
        self::assertStringContainsString('no-cache', $answer->header('cache-control'));
    }

    public function testTheFiguresSayWhatRequestsAskedOfTheStoreAndWhatThatSaved(): void
    {
        $before = $this->figures();
        for ($i = 0; $i < 3; $i++) {
            // A cookie that is not known passes the page cache by.
            self::assertSame(200, self::$site->visit('/hello-world/', ["Cookie: visit={$i}"])->status);
        }
        // They are counted when the visitor has the page.
        $after = $this->figuresWhen(static fn(array $now): bool => $now['requests'] >= $before['now']['requests'] + 3);
        self::assertGreaterThan($before['now']['hits'], $after['now']['hits']);
        self::assertGreaterThan($before['now']['saved'], $after['now']['saved']);
        self::assertGreaterThan(0, $after['now']['size']);
        self::assertNotSame([], $after['rows']);
        self::assertArrayHasKey('get', $after['operations']);
        foreach ($after['operations'] as $operation => $of) {
            self::assertSame(['n', 'min', 'p1', 'p5', 'median', 'mean', 'p95', 'p99', 'max', 'range', 'mad', 'stdev'], array_keys($of), $operation);
            self::assertGreaterThan(0, $of['n']);
            self::assertTrue($of['min'] <= $of['p1'] && $of['p1'] <= $of['p5'] && $of['p5'] <= $of['median'] && $of['median'] <= $of['p95'] && $of['p95'] <= $of['p99'] && $of['p99'] <= $of['max'], $operation);
        }
        self::assertNotSame([], $after['slowest']);
    }

    public function testADashboardThatIsOpenDoesNotFillTheStoreEachTimeItAsks(): void
    {
        $stores = fn(string $repeated): string => self::$site->run("\$plugin = new Larder\\WordPress\\Plugin(WP_PLUGIN_DIR . '/larder'); \$backend = Larder\\WordPress\\ObjectCache::current()->backend(); \$sets = fn(): int => \$backend->statistics()['sets'];"
            . " (new Larder\\WordPress\\Report(\$plugin, {$repeated}))->problems(); \$before = \$sets(); (new Larder\\WordPress\\Report(\$plugin, {$repeated}))->problems(); echo \$sets() - \$before;");
        self::assertSame(['0', '1'], [$stores('true'), $stores('false')]);
        self::assertSame('0', self::$site->run('$_SERVER["REQUEST_METHOD"] = "GET"; wp_set_current_user(1); $ask = fn() => rest_do_request(new WP_REST_Request("GET", "/larder/v1/figures"))->get_status(); $ask(); $cache = Larder\WordPress\ObjectCache::current(); $sets = $cache->backend()->statistics()["sets"]; $ask(); echo $cache->backend()->statistics()["sets"] - $sets;'));
    }

    public function testADashboardThatIsOpenDoesNotChangeWhatItShows(): void
    {
        $ask = fn(): array => $this->figures()['now'];
        $ask();
        $before = $ask();
        $after = $ask();
        // The request itself reads some options and a user. What is kept for the charts are 402 entries, of which most are not there.
        self::assertLessThan(100, $after['hits'] - $before['hits']);
        self::assertLessThan(100, $after['misses'] - $before['misses']);
    }

    public function testAStoreThatDoesNotAnswerHasNoFiguresInsteadOfZeros(): void
    {
        self::assertSame('null', self::$site->run('echo json_encode(Larder\WordPress\Figures::now(new Larder\WordPress\ObjectCache(new Larder\WordPress\NoBackend("It is gone."))));'));
    }

    public function testAPurgeIsListedWithItsReasonAndItsUser(): void
    {
        self::$site->run('wp_set_current_user(1); wp_update_post(["ID" => 1, "post_content" => "Purged."]);');
        // What wp-cron does in between may be listed above it.
        $purge = array_values(array_filter($this->figures()['purges'], static fn(array $purge): bool => $purge['where'] === 'command line' && \in_array('post 1', $purge['reasons'], true)))[0] ?? null;
        self::assertSame('admin', $purge['user'] ?? null);
        // Each word that a change is named by has a translation.
        $source = implode('', array_map(static fn(string $name): string => (string) file_get_contents(\dirname(__DIR__) . "/src/{$name}.php"), ['PageCache', 'PageChanges', 'ObjectCache']));
        preg_match_all('~(?:kill\(.*(?:\]|\)|\$tags|\$counts), |flushes\[\] = )["\'](flush of (?:group|site)|network option|[a-z]+)(?:["\']| \{\$)~', $source, $named);
        $kinds = array_values(array_unique($named[1]));
        self::assertGreaterThan(12, \count($kinds));
        self::$site->run('file_put_contents(WP_CONTENT_DIR . "/mu-plugins/words.php", \'<?php add_filter("gettext_larder", static fn(string $text): string => "translated $text");\');');
        try {
            $untranslated = 'echo implode(", ", array_filter(explode(",", $argv[1]), static fn(string $kind): bool => !str_starts_with(Larder\WordPress\PageReport::reason("$kind 7"), "translated $kind")));';
            self::assertSame('', self::$site->run($untranslated, [implode(',', $kinds)]));
        } finally {
            self::$site->run('unlink(WP_CONTENT_DIR . "/mu-plugins/words.php");');
        }
    }

    public function testThePagesThatWordPressMadeAreListedWithTheReason(): void
    {
        $admin = $this->browser('admin');
        $made = fn(): array => array_column($this->figures()['made']['reasons'], 'times', 'why');
        $before = $made();
        $new = '/?p=1&larder=' . bin2hex(random_bytes(4));
        for ($i = 0; $i < 3; $i++) {
            self::$site->visit('/hello-world/', ['Cookie: consent-of-a-plugin=yes']);
        }
        self::$site->visit('/hello-world/', [$admin[0]]);
        self::$site->visit("{$new}");
        self::$site->visit('/?preview=true');
        self::$site->visit('/wp-admin/', [$admin[0]]);
        self::$site->visit('/wp-json/wp/v2/posts');
        self::$site->visit('/hello-world/', ["Cookie: \xff\xfe" . str_repeat('long', 100) . '=1']);
        $grown = [];
        for ($tries = 0; $tries < 250 && array_sum($grown) < 7; $tries++) {
            usleep(20_000);
            $grown = array_filter(array_map(static fn(string $why, int $times): array => [$why, $times - ($before[$why] ?? 0)], array_keys($made()), $made()), static fn(array $one): bool => $one[1] > 0);
            $grown = array_column($grown, 1, 0);
        }
        self::assertSame(3, $grown['The cookie consent-of-a-plugin may belong to a page of one visitor only. If it changes no page, say so in the settings.'] ?? 0);
        self::assertSame(1, $grown['The visitor is logged in.'] ?? 0);
        self::assertSame(1, $grown['The argument larder may make another page. If it does not, or names a page like others, say so in the settings.'] ?? 0);
        self::assertSame(7, array_sum($grown), json_encode($grown, \JSON_THROW_ON_ERROR));
    }

    public function testEachFlushTakesWhatItSaysAndNothingElse(): void
    {
        $admin = $this->browser('admin');
        $flush = fn(string $what, string $name = ''): int => $this->ask('flush?' . http_build_query(['what' => $what, 'name' => $name]), $admin, 'POST')->status;
        $fill = static function (): void {
            self::$site->run('wp_cache_set("a", 1, "shop"); wp_cache_set("b", 2, "other");');
            foreach (['/hello-world/', '/feed/'] as $uri) {
                self::$site->visit($uri);
            }
        };
        $left = static fn(): string => self::$site->run('echo (int) wp_cache_get("a", "shop"), (int) wp_cache_get("b", "other");')
            . implode('', array_map(static fn(string $uri): int => (int) self::$site->visit($uri)->isHit(), ['/hello-world/', '/feed/']));
        $fill();
        self::assertSame('1211', $left());
        self::assertSame([200, '0211'], [$flush('group', 'shop'), $left()]);
        $fill();
        self::assertSame([200, '1201'], [$flush('page', self::$site->url . '/hello-world/'), $left()]);
        $fill();
        self::assertSame([200, '1200'], [$flush('pages'), $left()]);
        $fill();
        self::assertSame([200, '0000'], [$flush('everything'), $left()]);
        $fill();
        self::assertSame([200, '0000'], [$flush('site'), $left()]);
        self::assertSame(404, $flush('group', 'nosuch'));
        self::assertSame([400, 400, 400], [$flush('group'), $flush('page'), $flush('nothing')]);
        $fill();
        foreach (['page' => ['hello-world', 'https://other.example/hello-world/', 'http://'], 'site' => ['2', 'two']] as $what => $names) {
            foreach ($names as $name) {
                self::assertSame(400, $flush($what, $name), "{$what} {$name}");
            }
        }
        self::assertSame('1211', $left(), 'nothing that is not there takes something else');
        foreach (['/hello-world/', self::$site->host . '/hello-world/', strtoupper(self::$site->url) . '/hello-world/', self::$site->url . '/hello-world/?utm_source=letter#more'] as $address) {
            $fill();
            self::assertSame([200, '1201'], [$flush('page', $address), $left()], $address);
        }
        // A page has as many addresses as its letters beyond ASCII have spellings.
        self::$site->run('wp_insert_post(["post_title" => "п", "post_name" => "п", "post_type" => "page", "post_status" => "publish"]);');
        $spelt = static fn(): array => array_map(static fn(string $uri): bool => self::$site->visit($uri)->isHit(), ['/%d0%bf/', '/%D0%BF/']);
        foreach (['/%d0%bf/', '/%D0%BF/', '/п/'] as $address) {
            $spelt();
            self::assertSame([[true, true], 200, [false, false]], [$spelt(), $flush('page', $address), $spelt()], $address);
        }
        $reasons = array_merge(...array_column($this->figures()['purges'], 'reasons'));
        self::assertContains('flush', $reasons);
    }

    public function testTheBiggestGroupsAreListedWithTheirSizes(): void
    {
        self::$site->run('foreach (range(1, 300) as $i) { wp_cache_set($i, str_repeat("x", 1_000), "big"); }');
        $groups = $this->decoded($this->ask('groups', $this->browser('admin')))['groups'];
        self::assertIsArray($groups);
        $group = array_values(array_filter($groups, static fn(mixed $group): bool => \is_array($group) && $group['group'] === 'big'))[0] ?? [];
        self::assertSame(300, $group['items'] ?? 0);
        self::assertEqualsWithDelta(300_000, $group['bytes'] ?? 0, 10_000);
    }

    public function testAnExclusionHoldsHoweverItIsWrittenAndOneThatMatchesNothingIsNamed(): void
    {
        [$cookies] = $this->browser('admin');
        $settings = '/wp-admin/options-general.php?page=larder';
        $save = static function (string ...$lists) use ($cookies, $settings): string {
            $fields = [];
            foreach ($lists as $name => $lines) {
                $fields["larder-{$name}"] = $lines;
            }
            preg_match('~id="larder-pages-form".*?name="_wpnonce" value="(\w+)"~s', self::$site->visit($settings, [$cookies])->body, $nonce);
            $answer = self::$site->visit('/wp-admin/admin-post.php', [$cookies], 'POST', ['action' => 'larder_pages', 'larder' => 'save', '_wpnonce' => $nonce[1] ?? '', ...$fields]);
            self::assertSame(302, $answer->status);
            $page = self::$site->visit(substr($answer->header('location'), \strlen(self::$site->url)), [$cookies])->body;

            return preg_match('~<div class="notice notice-(?:error|success)"><p>(.*?)</p></div>~s', $page, $said) === 1 ? html_entity_decode(strip_tags($said[1])) : '';
        };
        $isHit = static function (string $uri, string $cookie = ''): bool {
            self::$site->visit($uri);

            return self::$site->visit($uri, $cookie === '' ? [] : ["Cookie: {$cookie}"])->isHit();
        };
        try {
            self::$site->run('wp_insert_post(["post_title" => "Kaese", "post_name" => "käse", "post_type" => "page", "post_status" => "publish"]);');
            self::assertTrue($isHit('/sample-page/'));
            foreach (['sample-page', '/sample-page', '/sample-page/', '/sample-page/*', '/sam*', self::$site->url . '/sample-page/'] as $line) {
                self::assertSame('Done.', $save(paths: $line), $line);
                self::assertSame([false, true], [$isHit('/sample-page/'), $isHit('/hello-world/')], $line);
            }
            foreach (['/käse/', '/k%C3%A4se', '/k%c3%a4se'] as $line) {
                self::assertSame('Done.', $save(paths: $line), $line);
                self::assertSame([false, true], [$isHit('/k%c3%a4se/'), $isHit('/hello-world/')], $line);
            }
            self::assertSame('Done.', $save(harmless: "consent.given\nseen*", agents: 'Reader*'));
            self::assertSame([true, true, false], [$isHit('/hello-world/', 'consent.given=1'), $isHit('/hello-world/', 'seen-it=1'), $isHit('/hello-world/', 'other=1')]);
            self::assertFalse(self::$site->visit('/hello-world/', ['User-Agent: A Reader/2'])->isHit());

            $said = $save(paths: "*\n^/foo/(a|b)$\n/a*b\n/shop/?a=1\nhttps://other.example/x/\n/live/*\n/" . str_repeat('x', 250), cookies: "*\na=b", arguments: "?a\nutm_*\norderby");
            foreach (['The settings are saved, without some lines.', 'Paths that are not cached: these lines match nothing, and were left out: *, ^/foo/(a|b)$, /a*b, /shop/?a=1, https://other.example/x/, and 1 more.', '*, a=b.', '?a, utm_*.'] as $sentence) {
                self::assertStringContainsString($sentence, $said);
            }
            self::assertSame('["/live/*"] [] ["orderby"]', self::$site->run('$of = get_option("larder_pages"); echo json_encode($of["paths"], JSON_UNESCAPED_SLASHES), " ", json_encode($of["cookies"]), " ", json_encode($of["arguments"]);'));
            self::assertStringContainsString('Paths that are not cached: only the first 500 lines were kept.', $save(paths: implode("\n", array_map(static fn(int $i): string => "/p{$i}/", range(1, 10_000)))));
            self::assertSame('500', self::$site->run('echo count(get_option("larder_pages")["paths"]);'));
            // A link of another site's says nothing in the name of this one.
            self::assertStringNotContainsString('Call us', self::$site->visit("{$settings}&larder-done=save&larder-mistake=Call+us&larder-signature=0", [$cookies])->body);
        } finally {
            self::$site->run('delete_option("larder_pages"); (new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->keepUp();');
        }
    }

    public function testASummaryIsThatOfTheTimes(): void
    {
        $of = $this->decoded($this->ask('summary?' . http_build_query(['times' => [1, 2, 3, 4, 10]]), $this->browser('admin'), 'POST'));
        self::assertEqualsWithDelta(['n' => 5, 'min' => 1, 'p1' => 1.04, 'p5' => 1.2, 'median' => 3, 'mean' => 4, 'p95' => 8.8, 'p99' => 9.76, 'max' => 10, 'range' => 9, 'mad' => 2.4, 'stdev' => sqrt(12.5)], $of, 1e-9);
    }

    public function testTheDashboardInABrowser(): void
    {
        // WordPress itself asks a third party for avatars.
        self::$site->run('update_option("show_avatars", 0); wp_cache_set("a", 1, "shop"); wp_cache_set("b", 1, "other");');
        self::$site->visit('/hello-world/');
        $seen = Browser::run(__DIR__ . '/settings.mjs', [self::$site->url, __DIR__ . '/dashboard.mjs']);
        self::assertSame([], $seen['errors']);
        self::assertSame([], $seen['foreign'], 'no request to a third party');
        self::assertSame('The object cache is on and uses shared memory.', $seen['state']);
        self::assertSame(['Hit ratio', 'Operations a second', 'Memory', 'Time saved (a minute)', 'Queries of the database (a minute)'], $seen['charts']);
        self::assertIsArray($seen['clocks']);
        self::assertNotSame([], $seen['clocks']);
        self::assertSame([], array_values(preg_grep('/^\d+:\d+:\d+/', array_filter($seen['clocks'], is_string(...)), \PREG_GREP_INVERT) ?: []), 'the first point is seconds from its neighbours on the axis');
        self::assertSame([3, 4, 3, 3, 4], $seen['tables'], 'columns of the table beside each chart');
        self::assertSame([], $seen['unnamed']);
        self::assertMatchesRegularExpression('/^rgb\(\d+, \d+, \d+\)$/', \is_string($seen['color']) ? $seen['color'] : '');
        self::assertIsArray($seen['operations']);
        self::assertSame([13], array_values(array_unique($seen['operations'], \SORT_REGULAR)));
        self::assertGreaterThan(0, $seen['slowest']);
        self::assertNotSame([], $seen['purges']);
        self::assertIsArray($seen['made']);
        self::assertContains(2, array_map(static fn(mixed $row): int => \is_array($row) ? \count($row) : 0, $seen['made']), 'a reason and a number of pages');
        self::assertFalse($seen['isLive']);
        self::assertSame('12', self::$site->run('echo wp_cache_get("a", "shop") === false ? 1 : 0, wp_cache_get("b", "other") === 1 ? 2 : 0;'));
        self::assertFalse(self::$site->visit('/hello-world/')->isHit());
        self::assertSame([['Set: Object cache', '1,000'], ['Set: Database', '1,000'], ['Get: Object cache', '1,000'], ['Get: Database', '1,000'], ['Delete: Object cache', '1,000'], ['Delete: Database', '1,000']], $seen['measured']);
        self::assertSame(3, $seen['drawn']);
        self::assertSame('0', self::$site->run('echo $GLOBALS["wpdb"]->get_var("SELECT COUNT(*) FROM {$GLOBALS["wpdb"]->options} WHERE option_name LIKE \'%larder_measure%\'");'));
        self::assertSame(['pt-PT-ao90', 0], [$seen['language'], $seen['overflow']], 'nothing scrolls sideways at 320 pixels');
        self::assertGreaterThan(100, $seen['narrow'], 'a key has room for more than a letter a line');
    }

    public function testTheDashboardIsReadInEachColourSchemeAndUsedByTabInABrowser(): void
    {
        $seen = Browser::run(__DIR__ . '/settings.mjs', [self::$site->url, __DIR__ . '/schemes.mjs']);
        self::$site->run('delete_user_option(1, "admin_color", true);');
        self::assertSame([], $seen['errors']);
        self::assertIsArray($seen['schemes']);
        self::assertSame([], array_diff(['fresh', 'light', 'modern', 'blue', 'coffee', 'ectoplasm', 'midnight', 'ocean', 'sunrise'], array_keys($seen['schemes'])));
        $colours = [];
        foreach ($seen['schemes'] as $name => $of) {
            self::assertIsArray($of);
            self::assertGreaterThan(30, $of['texts'], $name);
            self::assertSame([], $of['pale'], "{$name}: text with a contrast below 4.5");
            self::assertGreaterThan(5, $of['lines'], $name);
            self::assertSame([], $of['paleLines'], "{$name}: lines with a contrast below 3");
            // WordPress's components and the charts have the colour of the scheme.
            self::assertSame([$of['colour']], $of['buttons'], $name);
            self::assertIsString($of['colour']);
            $colours[] = $of['colour'];
        }
        self::assertGreaterThan(6, \count(array_unique($colours)));
        self::assertIsArray($seen['keyboard']);
        self::assertGreaterThan(15, $seen['keyboard']['reached']);
        self::assertSame([[], []], [$seen['keyboard']['missed'], $seen['keyboard']['unseen']]);
    }

    public function testTheDashboardOfANetworkInABrowser(): void
    {
        $network = PageSite::start(self::MEASURED, isNetwork: true);
        try {
            $network->run('wp_insert_site(["domain" => "second.example.com", "path" => "/", "network_id" => 1, "user_id" => 1, "title" => "Second"]); wp_insert_user(["user_login" => "owner", "user_pass" => "password"]); add_user_to_blog(1, get_user_by("login", "owner")->ID, "administrator");');
            $hosts = [['Host: example.com'], ['Host: second.example.com']];
            $network->visit('/?first', $hosts[1]);
            array_map(static fn(array $host): Answer => $network->visit('/', $host), $hosts);
            self::assertSame([true, true], array_map(static fn(array $host): bool => $network->visit('/', $host)->isHit(), $hosts));
            $seen = Browser::run(__DIR__ . '/settings.mjs', [$network->url, __DIR__ . '/network.mjs', "127.0.0.1:{$network->nginx->port}"]);
            self::assertSame([], $seen['errors']);
            self::assertSame(['The object cache is on and uses shared memory.', 'Larder', 'Number of a site'], [$seen['state'], $seen['menu'], $seen['label']]);
            self::assertSame("{$network->url}/wp-admin/network/settings.php?page=larder#larder-pages-form", $seen['settings']);
            self::assertSame([true, false], array_map(static fn(array $host): bool => $network->visit('/', $host)->isHit(), $hosts), 'the second site alone is flushed');

            $network->visit('/', $hosts[1]);
            $admin = $this->logIn($network, 'admin');
            $flush = static fn(string $what, string $name): int => $network->visit('/wp-json/larder/v1/flush?' . http_build_query(['what' => $what, 'name' => $name]), $admin, 'POST')->status;
            $areHits = static fn(): array => array_map(static fn(array $host): bool => $network->visit('/', $host)->isHit(), $hosts);
            self::assertSame([[400, 400], [true, true]], [[$flush('site', '3'), $flush('page', 'http://third.example.com/')], $areHits()]);
            self::assertSame([200, [true, false]], [$flush('page', 'http://second.example.com/'), $areHits()], 'the page of the other site');

            // The owner of one site sees no figures of all.
            [$cookies, $nonce] = $this->logIn($network, 'owner');
            self::assertSame(403, $network->visit('/wp-json/larder/v1/figures', [$cookies, $nonce])->status);
            self::assertSame(403, $network->visit('/wp-admin/index.php?page=larder-dashboard', [$cookies])->status);
        } finally {
            $network->stop();
        }
    }

    /** @return list<string> headers */
    private function browser(string $user): array
    {
        return self::$browsers[$user] ??= $this->logIn(self::$site, $user);
    }

    /** @return list<string> headers: of cookies, and of a nonce */
    private function logIn(PageSite $site, string $user): array
    {
        $login = $site->visit('/wp-login.php', ['Cookie: wordpress_test_cookie=WP%20Cookie%20check'], 'POST', ['log' => $user, 'pwd' => 'password', 'wp-submit' => 'Log In', 'testcookie' => '1']);
        $cookies = 'Cookie: ' . implode('; ', $login->cookies());
        $nonce = $site->visit('/wp-admin/admin-ajax.php?action=rest-nonce', [$cookies])->body;

        return [$cookies, "X-WP-Nonce: {$nonce}"];
    }

    /** @param list<string> $headers */
    private function ask(string $route, array $headers, string $method = 'GET'): Answer
    {
        return self::$site->visit("/wp-json/larder/v1/{$route}", $headers, $method);
    }

    /** @return array<array-key, mixed> */
    private function decoded(Answer $answer): array
    {
        $said = json_decode($answer->body, true);
        self::assertIsArray($said, $answer->body);

        return $said;
    }

    /** @return array{now: array<string, int|float>, rows: list<mixed>, operations: array<string, array<string, int|float>>, slowest: list<mixed>, made: array{made: int, reasons: list<array{times: int, why: string}>}, purges: list<array{reasons: list<string>, user: string, where: string}>} */
    private function figures(): array
    {
        $said = $this->decoded($this->ask('figures', $this->browser('admin')));
        /** @phpstan-var array{columns: list<string>, now: list<int|float>, rows: list<mixed>, requests: array{operations: array<string, array<string, int|float>>, slowest: list<mixed>}, made: array{made: int, reasons: list<array{times: int, why: string}>}, purges: list<array{reasons: list<string>, user: string, where: string}>} $said as Endpoint says */
        return ['now' => array_combine($said['columns'], $said['now']), 'rows' => $said['rows'], ...$said['requests'], 'made' => $said['made'], 'purges' => $said['purges']];
    }

    /**
     * @param \Closure(array<string, int|float>): bool $is
     *
     * @return array{now: array<string, int|float>, rows: list<mixed>, operations: array<string, array<string, int|float>>, slowest: list<mixed>, made: array{made: int, reasons: list<array{times: int, why: string}>}, purges: list<array{reasons: list<string>, user: string, where: string}>}
     */
    private function figuresWhen(\Closure $is): array
    {
        for ($tries = 0; $tries < 1_000; $tries++) {
            $figures = $this->figures();
            if ($is($figures['now'])) {
                return $figures;
            }
            usleep(20_000);
        }
        self::fail('It has not been counted.');
    }
}
