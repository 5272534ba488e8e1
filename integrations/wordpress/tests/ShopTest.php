<?php

declare(strict_types=1);

namespace Larder\WordPress\Tests;

use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/** A shop beside cached pages (shop.inc), with what WooCommerce documents of itself. */
#[CoversNothing]
final class ShopTest extends TestCase
{
    private const VISITORS = 20;

    /** @var array<int, PageSite> */
    private static array $sites = [];

    /** @var array<int, array<string, int>> the ids of its products, by name */
    private static array $products = [];

    public static function tearDownAfterClass(): void
    {
        foreach (self::$sites as $site) {
            $site->stop();
        }
        self::$sites = self::$products = [];
    }

    /** @return iterable<string, array{bool}> */
    public static function stores(): iterable
    {
        yield 'shared memory' => [true];
        yield 'files' => [false];
    }

    /** LARDER_VISITS says how many requests in each store. */
    #[DataProvider('stores')]
    public function testNoCartOrNameOfOneVisitorIsInThePageOfAnotherAndNoStockIsOld(bool $hasExtension): void
    {
        [$site, $products] = $this->shop($hasExtension);
        $pages = ['/', '/shop/', '/feed/', '/sample-page/', '/product-category/cheese/', '/product-category/bread/', '/product/brie/', '/product/gouda/', '/product/rye/'];
        $private = ['/cart/', '/checkout/', '/my-account/', '/my-account/x.css', '/checkout/order-received/1/?key=x'];
        mt_srand(16);
        $jars = array_fill(0, self::VISITORS, []);
        $lives = array_fill(0, self::VISITORS, 0);
        $hits = $orders = $own = 0;
        $before = $this->stock($site, $products);
        for ($visits = 0; $visits < (int) (getenv('LARDER_VISITS') ?: 300); $visits += self::VISITORS) {
            $requests = $markers = [];
            foreach (array_keys($jars) as $visitor) {
                if (mt_rand(0, 3) === 0) {
                    // Another visitor, or the same one without cookies: nothing of before may be seen.
                    $jars[$visitor] = [];
                    $lives[$visitor]++;
                }
                $marker = "m{$visitor}of{$lives[$visitor]}m";
                $page = $pages[mt_rand(0, \count($pages) - 1)];
                $product = $products[['brie', 'gouda', 'rye'][mt_rand(0, 2)]];
                $request = match (mt_rand(0, 9)) {
                    0 => ["{$page}?add-to-cart={$product}&note={$marker}", [], 'GET', []],
                    1 => ['/?wc-ajax=add_to_cart', [], 'POST', ['product_id' => (string) $product, 'note' => $marker]],
                    2 => ['/checkout/', [], 'POST', ['woocommerce_checkout_place_order' => '1', 'billing_first_name' => $marker]],
                    3 => [$private[mt_rand(0, \count($private) - 1)], [], 'GET', []],
                    4 => [$page, ['shop_seen'], 'GET', []],
                    default => [$page, [], 'GET', []],
                };
                $cookies = [...$request[1] === [] ? [] : ['shop_seen' => $marker], ...$jars[$visitor]];
                $markers[$visitor] = $cookies === [] && $request[2] === 'GET' && !str_contains($request[0], 'add-to-cart') ? '' : $marker;
                $cookies += mt_rand(0, 1) === 0 ? [] : ['_ga' => $marker];
                $request[1] = ['Cookie: ' . implode('; ', array_map(static fn(string $name, string $value): string => "{$name}={$value}", array_keys($cookies), $cookies))];
                $requests[$visitor] = $request;
            }
            $answers = array_combine(array_keys($requests), $site->visitAtOnce(array_values($requests)));
            $after = $this->stock($site, $products);
            foreach ($answers as $visitor => $answer) {
                $what = "{$requests[$visitor][2]} {$requests[$visitor][0]} of visitor {$visitor}: {$answer->header('cache-status')}";
                self::assertContains($answer->status, [200, 302, 404], $what);
                preg_match_all('/m\d+of\d+m/', $answer->body, $shown);
                self::assertSame([], array_values(array_diff($shown[0], [$markers[$visitor]])), $what);
                $own += $shown[0] === [] ? 0 : 1;
                preg_match_all('/stock (\d+)=(\d+);/', $answer->body, $stocks, \PREG_SET_ORDER);
                foreach ($stocks as [, $product, $stock]) {
                    self::assertContains((int) $stock, range($after[$product], $before[$product]), $what);
                }
                if ($markers[$visitor] === '') {
                    self::assertSame('', $answer->header('set-cookie'), $what);
                    $hits += $answer->isHit() ? 1 : 0;
                } else {
                    self::assertFalse($answer->isHit() || $answer->isStored(), $what);
                }
                $orders += str_contains($answer->header('location'), '/order-received/') ? 1 : 0;
                foreach ($answer->headers['set-cookie'] ?? [] as $cookie) {
                    [$name, $value] = explode('=', explode(';', $cookie, 2)[0], 2) + [1 => ''];
                    if (preg_match('/Max-Age=0/i', $cookie) === 1) {
                        unset($jars[$visitor][$name]);
                    } else {
                        $jars[$visitor][$name] = $value;
                    }
                }
            }
            // What has changed is seen by all from now on.
            $before = $after;
        }
        self::assertGreaterThan($visits / 20, $hits);
        self::assertGreaterThan($visits / 40, $orders);
        // Visitors do see what is theirs.
        self::assertGreaterThan($visits / 10, $own);
        self::assertLessThan(4_000, array_sum($before));
    }

    public function testAStockChangeKillsTheProductAndItsListsAndNoOtherPage(): void
    {
        [$site, $products] = $this->shop(true);
        $pages = ['/', '/shop/', '/product-category/cheese/', '/product/brie/', '/product/gouda/', '/product-category/bread/', '/product/rye/', '/sample-page/'];
        $killed = static function (string $code) use ($site, $pages): array {
            foreach ($pages as $page) {
                $site->visit($page);
                self::assertTrue($site->visit($page)->isHit(), $page);
            }
            $site->run($code);
            $killed = [];
            foreach ($pages as $page) {
                if (!$site->visit($page)->isHit()) {
                    $killed[] = $page;
                }
            }

            return $killed;
        };
        $stock = $this->stock($site, $products);
        self::assertSame(['/', '/shop/', '/product-category/cheese/', '/product/brie/'], $killed("shop_take({$products['brie']});"));
        $left = $stock[$products['brie']] - 1;
        foreach (['/', '/shop/', '/product-category/cheese/', '/product/brie/'] as $page) {
            self::assertStringContainsString("stock {$products['brie']}={$left};", $site->visit($page)->body);
        }
        // The stock of a loaf's size is on the page of the loaf.
        self::assertSame(['/', '/shop/', '/product-category/bread/', '/product/rye/'], $killed("shop_take({$products['large']});"));
        self::assertSame(['/', '/shop/', '/product-category/bread/', '/product/rye/'], $killed("update_post_meta({$products['rye']}, '_stock_status', 'outofstock'); do_action('woocommerce_product_set_stock_status', {$products['rye']}, 'outofstock', null);"));
        self::assertSame([], $killed("wp_insert_post(['post_type' => 'shop_order', 'post_status' => 'wc-processing', 'post_title' => 'Order']);"));
        self::assertSame([], $killed('wp_cache_set("t_1", "of another", "wc_session_id"); global $wpdb; $wpdb->replace("{$wpdb->prefix}woocommerce_sessions", ["session_key" => "t_1", "session_value" => serialize(["", []]), "session_expiry" => time() + 100]);'));
    }

    #[DataProvider('stores')]
    public function testAnAccountIsNotStoredUnderAnAddressThatAnotherVisitorMayAskFor(bool $hasExtension): void
    {
        [$site] = $this->shop($hasExtension);
        $checkOut = ['woocommerce_checkout_place_order' => '1', 'billing_first_name' => 'Accountmarker'];
        $cookies = ['Cookie: ' . implode('; ', $site->visit('/checkout/', [], 'POST', $checkOut)->cookies())];
        self::assertStringContainsString('Hello Accountmarker', $site->visit('/my-account/', $cookies)->body);
        foreach ([
            '/my-account/', '/my-account', '/my-account/x.css', '/my-account/x.js', '/my-account/x.png?y', '/my-account/x.avif', '/my-account.css', '/my-account/;x.css', '/my-account;.css', '/my-account%2fx.css', '/my-account/%2e%2e/x.css', '/my-account/..;/my-account/',
            '/x/../my-account/', '/./my-account/', '//my-account/', '/my-account//', '/my-account/%00.css', '/my-account%0a.css', '/my-account/%23.css', '/my-account/%3fx.css', '/MY-ACCOUNT/', '/my%2daccount/', '/index.php/my-account/x.css', '/my-account/?x.css', '/my-account/?utm_source=x.css',
            '/my-account/feed/', '/my-account/page/2/', '/my-account/robots.txt', '/my-account/sitemap.xml', '/?pagename=my-account', '/?page_id=' . $site->run('echo get_page_by_path("my-account")->ID;'),
        ] as $uri) {
            foreach ([[], ['X-Original-URL: /sample-page/'], ['X-Rewrite-URL: /sample-page/'], ['X-Forwarded-Host: cdn.example'], ['Accept: text/css,*/*']] as $trick) {
                $mine = $site->visit($uri, [...$cookies, ...$trick]);
                self::assertFalse($mine->isHit() || $mine->isStored(), "{$uri} " . implode($trick));
                self::assertStringNotContainsString('Accountmarker', $site->visit($uri, $trick)->body, "{$uri} " . implode($trick));
            }
            self::assertStringNotContainsString('Accountmarker', $site->visit($uri)->body, $uri);
        }
    }

    /** By the keyboard, in a window as narrow as a telephone. */
    public function testACheckoutInABrowserIsSeenByNoOtherBrowser(): void
    {
        [$site] = $this->shop(true);
        foreach (['/', '/product/gouda/'] as $page) {
            $site->visit($page);
        }
        $seen = Browser::run(__DIR__ . '/settings.mjs', [$site->url, __DIR__ . '/shop.mjs']);
        self::assertSame([], $seen['errors']);
        self::assertSame('In the cart: Gouda (mine).', $seen['cart']);
        self::assertSame('Thank you, Browsermarker', $seen['thanks']);
        self::assertSame('Welcome back, Browsermarker', $seen['welcome']);
        self::assertIsInt($seen['stock']);
        // The other one, before the purchase, while there is a cart, and after it.
        self::assertIsArray($seen['other']);
        self::assertCount(9, $seen['other']);
        $hits = 0;
        foreach ($seen['other'] as $page) {
            self::assertIsArray($page);
            self::assertIsString($page['text']);
            self::assertIsString($page['status']);
            self::assertStringNotContainsString('marker', $page['text']);
            self::assertStringNotContainsString('In the cart', $page['text']);
            $hits += str_starts_with($page['status'], 'Larder; hit') ? 1 : 0;
        }
        self::assertGreaterThan(3, $hits);
        self::assertSame([$seen['stock'] - 1, 0], [$seen['left'], $seen['overflow']]);
    }

    /** @return array{PageSite, array<string, int>} a shop without cached pages, and the ids of its products */
    private function shop(bool $hasExtension): array
    {
        $site = self::$sites[(int) $hasExtension] ??= PageSite::start(hasExtension: $hasExtension);
        if (!isset(self::$products[(int) $hasExtension])) {
            copy(__DIR__ . '/shop.inc', "{$site->site->root}/wp-content/mu-plugins/shop.php");
            $said = json_decode($site->run(<<<'PHP'
                global $wpdb;
                $wpdb->query("CREATE TABLE {$wpdb->prefix}woocommerce_sessions (session_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT, session_key CHAR(32) NOT NULL, session_value LONGTEXT NOT NULL, session_expiry BIGINT UNSIGNED NOT NULL, PRIMARY KEY (session_id), UNIQUE KEY (session_key))");
                $products = [];
                foreach (['cheese' => ['brie', 'gouda'], 'bread' => ['rye']] as $category => $names) {
                    $term = wp_insert_term($category, 'product_cat')['term_id'];
                    foreach ($names as $name) {
                        $products[$name] = wp_insert_post(['post_type' => 'product', 'post_status' => 'publish', 'post_title' => ucfirst($name), 'post_name' => $name, 'meta_input' => ['_stock' => 1000, '_stock_status' => 'instock']]);
                        wp_set_object_terms($products[$name], $term, 'product_cat');
                    }
                }
                $products['large'] = wp_insert_post(['post_type' => 'product_variation', 'post_status' => 'publish', 'post_title' => 'Large', 'post_parent' => $products['rye'], 'meta_input' => ['_stock' => 1000]]);
                foreach (['cart', 'checkout', 'my-account'] as $name) {
                    wp_insert_post(['post_type' => 'page', 'post_status' => 'publish', 'post_title' => ucfirst($name), 'post_name' => $name, 'post_content' => 'A page of the shop.']);
                }
                flush_rewrite_rules();
                echo json_encode($products);
                PHP), true);
            self::assertIsArray($said);
            foreach ($said as $name => $id) {
                self::assertIsInt($id);
                self::$products[(int) $hasExtension][(string) $name] = $id;
            }
        }
        $site->run('(new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder"))->pages->flush();');

        return [$site, self::$products[(int) $hasExtension]];
    }

    /**
     * What the database has, whatever is cached.
     *
     * @param array<string, int> $products
     *
     * @return array<int, int> by product
     */
    private function stock(PageSite $site, array $products): array
    {
        $stock = [];
        foreach (Database::shared()->rows($site->site->database, "SELECT post_id, meta_value FROM wp_postmeta WHERE meta_key = '_stock' AND post_id IN (" . implode(', ', $products) . ')') as $row) {
            $stock[(int) $row['post_id']] = (int) $row['meta_value'];
        }

        return $stock;
    }
}
