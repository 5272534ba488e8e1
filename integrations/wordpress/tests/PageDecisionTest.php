<?php

declare(strict_types=1);

namespace Larder\WordPress\Tests;

use Larder\WordPress\PageHit;
use Larder\WordPress\PageRequest;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/** The table of what is cached and served, and what is not. */
#[CoversClass(PageHit::class)]
#[CoversClass(PageRequest::class)]
final class PageDecisionTest extends TestCase
{
    private const SERVER = ['REQUEST_METHOD' => 'GET', 'HTTP_HOST' => 'example.com', 'REQUEST_URI' => '/a-post/', 'SERVER_PORT' => '80', 'HTTP_ACCEPT' => 'text/html,application/xhtml+xml,*/*;q=0.8'];

    private const RESPONSE = ['status' => 200, 'headers' => ['Content-Type: text/html; charset=UTF-8', 'Link: <https://example.com/wp-json/>; rel="https://api.w.org/"'], 'body' => '<html>page</html>', 'home' => 'http://example.com', 'facts' => []];

    private const RULES = ['arguments' => ['colour'], 'dropped' => ['ref'], 'harmless' => ['consent', 'stat_*', 'wo*', 'wp-p*', 'wp_*', 'c*', 'e*', 'P*'], 'paths' => ['/live/*', '/now/'], 'cookies' => ['_ga_mine'], 'agents' => ['Reader/']];

    /** @return iterable<string, array{array<string, mixed>, array<array-key, string>, string}> what differs, cookies, why not */
    public static function requests(): iterable
    {
        yield 'a page' => [[], [], ''];
        yield 'HEAD' => [['REQUEST_METHOD' => 'HEAD'], [], ''];
        foreach (['POST', 'PUT', 'DELETE', 'OPTIONS', 'get', ''] as $method) {
            yield "the method {$method}" => [['REQUEST_METHOD' => $method], [], "method:{$method}"];
        }
        yield 'another port' => [['HTTP_HOST' => 'example.com:8080'], [], ''];
        foreach (['', 'Example.com', 'example.com.', 'example.com:0', 'example.com:123456', 'example.com:80:80', 'a@b', 'exa mple.com', "example.com\r\nX: y", 'example.com/', 'example.com/a', '-a.com', str_repeat('a', 256), '[::1]', 'a,b'] as $host) {
            yield 'the host ' . json_encode($host) => [['HTTP_HOST' => $host], [], 'host'];
        }
        foreach ([
            'HTTP_AUTHORIZATION', 'REDIRECT_HTTP_AUTHORIZATION', 'PHP_AUTH_USER', 'PHP_AUTH_DIGEST', 'REMOTE_USER', 'REDIRECT_REMOTE_USER', 'HTTP_FORWARDED', 'HTTP_X_FORWARDED_SCHEME', 'HTTP_X_FORWARDED_PREFIX', 'HTTP_X_FORWARDED_PATH',
            'HTTP_X_FORWARDED_URI', 'HTTP_X_HOST', 'HTTP_X_ORIGINAL_HOST', 'HTTP_X_HTTP_HOST_OVERRIDE', 'HTTP_X_ORIGINAL_URL', 'HTTP_X_REWRITE_URL', 'HTTP_X_HTTP_METHOD', 'HTTP_X_HTTP_METHOD_OVERRIDE', 'HTTP_X_METHOD_OVERRIDE',
            'HTTP_ORIGIN', 'HTTP_X_REQUESTED_WITH', 'HTTP_X_WP_NONCE', 'HTTP_X_PJAX', 'HTTP_HX_REQUEST', 'HTTP_TURBO_FRAME', 'HTTP_X_UP_TARGET', 'HTTP_X_INERTIA',
        ] as $header) {
            yield $header => [[$header => '/admin'], [], "header:{$header}"];
        }
        yield 'X-Forwarded-Host as the host' => [['HTTP_X_FORWARDED_HOST' => 'example.com'], [], ''];
        yield 'another X-Forwarded-Host' => [['HTTP_X_FORWARDED_HOST' => 'evil.example'], [], 'header:HTTP_X_FORWARDED_HOST'];
        yield 'X-Forwarded-Proto' => [['HTTP_X_FORWARDED_PROTO' => 'https', 'HTTP_X_FORWARDED_PORT' => '443', 'HTTP_X_FORWARDED_SSL' => 'on'], [], ''];
        yield 'an odd X-Forwarded-Proto' => [['HTTP_X_FORWARDED_PROTO' => 'https, http'], [], 'header:HTTP_X_FORWARDED_PROTO'];
        yield 'an odd X-Forwarded-Port' => [['HTTP_X_FORWARDED_PORT' => '80"><script>'], [], 'header:HTTP_X_FORWARDED_PROTO'];
        yield 'a line in X-Forwarded-Port' => [['HTTP_X_FORWARDED_PORT' => "80\n"], [], 'header:HTTP_X_FORWARDED_PROTO'];
        yield 'an odd X-Forwarded-SSL' => [['HTTP_X_FORWARDED_SSL' => '1'], [], 'header:HTTP_X_FORWARDED_PROTO'];
        foreach (['*/*', '', 'application/rss+xml', 'text/xml, */*'] as $accept) {
            yield "Accept {$accept}" => [['HTTP_ACCEPT' => $accept], [], ''];
        }
        foreach (['application/json', 'application/activity+json', 'text/html, application/json', 'text/markdown, text/html', 'image/webp', 'text/html+x'] as $accept) {
            yield "Accept {$accept}" => [['HTTP_ACCEPT' => $accept], [], 'header:HTTP_ACCEPT'];
        }
        foreach (['/', '/2026/11/25/a/', '/feed/', '/sitemap.xml', '/wp-sitemap.xml', '/%e3%81%82/', '/%E3%81%82/', '/a.b/', '/robots.txt', '/a-b_c/page/2/'] as $uri) {
            yield "the path {$uri}" => [['REQUEST_URI' => $uri], [], ''];
        }
        foreach ([
            '', 'a', 'http://evil.example/', '//evil.example/', '/a//b', '/../wp-admin/', '/a/..;/b', '/a;b/', '/a%2fb/', '/a%2Fb', '/a%5cb', '/%00', '/a%00b', '/a\\b', "/a\nb", '/a b', '/.env', '/a/./b', '/a/%2e%2e/b', '/a.', '/a./b', '/a%zz', '/a%', '/ü', '/a"b', "/a'b", '/a<b',
            '/index.php', '/index.php/a', '/wp-login.php', '/xmlrpc.php', '/wp-admin/', '/WP-ADMIN/', '/wp-json/wp/v2/posts', '/wp-content/a', '/my-account/a.css', '/my-account/a.JS', '/account.php/a.css', '/my-account/x.png', '/' . str_repeat('a', 2_000),
        ] as $uri) {
            yield 'the path ' . json_encode(substr($uri, 0, 30)) => [['REQUEST_URI' => $uri], [], 'path'];
        }
        yield 'an excluded path' => [['REQUEST_URI' => '/now/'], [], 'path:/now/'];
        yield 'below an excluded path' => [['REQUEST_URI' => '/live/a/'], [], 'path:/live/*'];
        foreach (['/?p=1', '/?paged=2&cat=3', '/a/?utm_source=x&fbclid=%22%3Cscript%3E', '/a/?gclid=1&p=2', '/a/?ref=1', '/a/?colour=red', '/?feed=rss2'] as $uri) {
            yield "the query {$uri}" => [['REQUEST_URI' => $uri], [], ''];
        }
        foreach (['/?s=word' => 's', '/?add-to-cart=1' => 'add-to-cart', '/?preview=true' => 'preview', '/?p=1&preview=true' => 'preview', '/?p[]=1' => null, '/?p=1&p=2' => 'p', '/?p=%31' => 'p', '/?p=' => 'p', '/?' => null, '/?&' => null, '/?p=1&' => null, '/?unknown=1' => 'unknown', '/?rest_route=/' => 'rest_route', '/?p=1?q=2' => 'p', '/?P=1' => 'P', '/?p=<' => 'p', '/?p=' . str_repeat('1', 65) => 'p', '/?wc-ajax=get_refreshed_fragments' => 'wc-ajax', '/?doing_wp_cron=1' => 'doing_wp_cron', '/?colour=a%00' => 'colour', '/?utm_source[]=1' => null] as $uri => $argument) {
            yield 'the query ' . substr($uri, 0, 30) => [['REQUEST_URI' => $uri], [], 'argument' . ($argument === null ? '' : ":{$argument}")];
        }
        foreach (['_ga', '_ga_AB12', '_gid', '_gat', '_gat_gtag_UA_1_1', '_fbp', '__utma', '__utmz', '_hjid', '_hjSession_1', '_hjAbsoluteSessionInProgress', 'wordpress_test_cookie', 'consent', 'stat_1', '__cf_bm', 'sbjs_migrations', 'sbjs_current_add', 'sbjs_first_add', 'sbjs_current', 'sbjs_first', 'sbjs_udata', 'sbjs_session', 'sbjs_promo', 'tk_ai', 'tk_r3d', '__stripe_mid', '__stripe_sid', '__hstc', '__hssc', '__hssrc', 'hubspotutk', '_ym_uid', '_ym_visorc'] as $cookie) {
            yield "the cookie {$cookie}" => [[], [$cookie => '1'], ''];
        }
        foreach ([
            'wordpress_logged_in_0123', 'wordpress_sec_0123', 'wp-postpass_0123', 'comment_author_0123', 'woocommerce_items_in_cart', 'woocommerce_cart_hash', 'wp_woocommerce_session_0123', 'edd_items_in_cart', 'PHPSESSID', 'pll_language', 'wp-settings-1',
            'stat', '0', '_fbpx', '_ga_mine', '_gallery', '_gidx', '_gather', '__utmost', '_hjson', 'sbjs_mindest', 'sbjs_', 'sbjs_sessions', 'tk_aim', '__stripe_id', 'hubspotutk2', '_ym_user',
        ] as $cookie) {
            yield "the cookie {$cookie}" => [[], ['_ga' => '1', $cookie => '1'], "cookie:{$cookie}"];
        }
        yield 'an excluded agent' => [['HTTP_USER_AGENT' => 'A reader/1.0'], [], 'agent:Reader/'];
        yield 'something that is no text' => [['REQUEST_URI' => ['/']], [], 'path'];
    }

    /**
     * @param array<string, mixed>     $server
     * @param array<array-key, string> $cookies
     */
    #[DataProvider('requests')]
    public function testARequest(array $server, array $cookies, string $why): void
    {
        $decision = PageRequest::decide([...self::SERVER, ...$server], $cookies, self::RULES);
        self::assertSame($why, $decision['why']);
        self::assertSame($why === '', $decision['key'] !== '');
        // A page is looked for by the address as it is. Where that is not good, no page may have its name.
        $asked = PageHit::asked([...self::SERVER, ...$server], $cookies, self::RULES);
        if ($asked !== $decision['key'] && $asked !== '') {
            [$host, $uri] = explode('/', explode('|', $asked, 5)[4], 2);
            $named = PageRequest::decide(['HTTP_HOST' => $host, 'REQUEST_URI' => "/{$uri}"] + self::SERVER, [], self::RULES);
            self::assertNotSame("/{$uri}", $named['uri']);
        }
        // What may not be served may not be stored.
        self::assertSame($why !== '' ? $why : (($server['REQUEST_METHOD'] ?? '') === 'HEAD' ? 'method:HEAD' : (isset($server['HTTP_HOST']) ? 'host' : '')), PageRequest::decide([...self::SERVER, ...$server], $cookies, self::RULES, self::RESPONSE)['why']);
    }

    public function testNoPageIsLookedForUnderAnAddressThatIsTooLong(): void
    {
        $asked = static fn(string $host, string $uri): string => PageHit::asked(['HTTP_HOST' => $host, 'REQUEST_URI' => $uri] + self::SERVER, [], self::RULES);
        self::assertNotSame('', $asked(str_repeat('a', 255), '/' . str_repeat('a', 1_999)));
        self::assertSame('', $asked(str_repeat('a', 256), '/'));
        self::assertSame('', $asked('example.com', '/' . str_repeat('a', 2_000)));
    }

    /** @return iterable<string, array{array<string, mixed>, string}> what differs, why not */
    public static function responses(): iterable
    {
        yield 'a page' => [[], ''];
        foreach ([200 => '', 404 => '', 301 => 'redirect', 201 => 'status:201', 204 => 'status:204', 206 => 'status:206', 302 => 'status:302', 304 => 'status:304', 307 => 'status:307', 308 => 'status:308', 401 => 'status:401', 403 => 'status:403', 410 => 'status:410', 500 => 'status:500', 503 => 'status:503'] as $status => $why) {
            yield "the status {$status}" => [['status' => $status], $why];
        }
        yield 'a redirect' => [['status' => 301, 'headers' => ['Location: http://example.com/b/'], 'body' => ''], ''];
        yield 'a redirect with a body' => [['status' => 301, 'headers' => ['Location: http://example.com/b/'], 'body' => '<html></html>'], 'redirect'];
        foreach (['https://example.com/a-post/', 'http://example.com/a-post/', 'HTTPS://example.com/a-post/', '//example.com/a-post/', ''] as $location) {
            yield "a redirect to {$location}" => [['status' => 301, 'headers' => ["Location: {$location}"], 'body' => ''], 'redirect'];
        }
        foreach (['https://example.com/A-post/', 'https://www.example.com/a-post/', 'https://example.com/a-post', '/a-post/page/2/'] as $location) {
            yield "a redirect to {$location}" => [['status' => 301, 'headers' => ["Location: {$location}"], 'body' => ''], ''];
        }
        yield 'a page that is elsewhere, too' => [['headers' => ['Content-Type: text/html', 'Location: /b/']], 'header'];
        foreach (['Set-Cookie: a=b' => 'set-cookie', 'set-cookie:a=b' => 'set-cookie', 'Cache-Control: no-store' => 'cache-control', 'cache-control: public, NO-STORE' => 'cache-control', 'Cache-Control: private, max-age=60' => 'cache-control', 'Cache-Control: no-cache, must-revalidate, max-age=0' => 'cache-control', 'Cache-Control: s-maxage=0' => 'cache-control', 'Surrogate-Control: no-store' => 'cache-control', 'Pragma: no-cache' => 'cache-control', 'Cache-Control: max-age=60' => '', 'Cache-Control: public' => '',
            'Vary: Accept-Encoding' => '', 'Vary: Cookie' => 'vary', 'Vary: *' => 'vary', 'Vary: Accept-Encoding, User-Agent' => 'vary', 'Vary: Accept' => 'vary', 'Content-Encoding: gzip' => 'header', 'WWW-Authenticate: Basic' => 'header', 'Refresh: 5' => 'header', 'Content-Disposition: attachment' => 'header', 'X-Robots-Tag: noindex' => '', "Content-Security-Policy: script-src 'nonce-YWJj'" => 'nonce', "Content-Security-Policy: default-src 'self'" => ''] as $line => $why) {
            yield $line => [['headers' => ['Content-Type: text/html', $line]], $why];
        }
        yield 'a 404 as WordPress has it' => [['status' => 404, 'headers' => ['Content-Type: text/html', 'Cache-Control: no-cache, must-revalidate, max-age=0']], ''];
        yield 'a 404 that must not be stored' => [['status' => 404, 'headers' => ['Content-Type: text/html', 'Cache-Control: no-cache, must-revalidate, max-age=0, no-store, private']], 'cache-control'];
        foreach (['half a page' => '<html><body>', 'nothing' => ''] as $name => $body) {
            yield $name => [['body' => $body], 'incomplete'];
        }
        yield 'a page and a comment' => [['body' => '<html></HTML> <!-- 12 queries -->'], ''];
        foreach (['application/rss+xml' => '', 'text/xml' => '', 'application/json' => 'type:application/json', 'image/png' => 'type:image/png', 'text/css' => 'type:text/css'] as $type => $why) {
            yield "the type {$type}" => [['headers' => ["Content-Type: {$type}"], 'body' => '<rss></rss>'], $why];
        }
        foreach (['<rss><item' => false, '<rss><item></item>' => false, '<?xml version="1.0"?><!-- <a> --><rss:feed><item/></rss:feed>' => true, '<?xml version="1.0"?><rss a="b"><item></item></rss > <!-- 12 queries --> <!-- 1 s -->' => true, '<urlset a="b"/>' => true, '<rss></rsss>' => false, '<rss></rss><b>' => false, '>' => false] as $body => $isWhole) {
            yield "the feed {$body}" => [['headers' => ['Content-Type: text/xml'], 'body' => $body], $isWhole ? '' : 'incomplete'];
        }
        yield 'no type' => [['headers' => []], 'type:'];
        foreach (['http://example.com' => '', 'https://example.com/blog' => '', 'http://other.example' => 'host', 'http://example.com:81' => 'host', 'http://www.example.com' => 'host', '' => 'host'] as $home => $why) {
            yield "the site of {$home}" => [['home' => $home], $why];
        }
        foreach (['logged-in', 'DONOTCACHEPAGE', 'preview', 'protected', 'nonce', 'cart', 'session', 'error', 'partial', 'flushed', 'mobile', 'changes:post 1'] as $fact) {
            yield $fact => [['facts' => [$fact]], $fact];
        }
    }

    /** @param array{status?: int, headers?: list<string>, body?: string, home?: string, facts?: list<string>} $response */
    #[DataProvider('responses')]
    public function testAResponse(array $response, string $why): void
    {
        self::assertSame($why, PageRequest::decide(self::SERVER, [], self::RULES, [...self::RESPONSE, ...$response])['why']);
    }

    public function testWhatMakesAnotherPageMakesAnotherKeyAndWhatDoesNotDoesNot(): void
    {
        $key = static fn(array $server): string => PageRequest::decide([...self::SERVER, ...$server], [], self::RULES)['key'];
        $same = [[], ['HTTP_USER_AGENT' => 'other'], ['HTTP_ACCEPT' => '*/*'], ['REQUEST_METHOD' => 'HEAD'], ['REQUEST_URI' => '/a-post/?utm_source=a&utm_medium=b'], ['HTTP_X_FORWARDED_FOR' => '1.2.3.4'], ['HTTP_X_FORWARDED_HOST' => 'example.com'], ['HTTPS' => 'off'], ['HTTPS' => 'OFF'], ['HTTPS' => '']];
        self::assertCount(1, array_unique(array_map($key, $same)));
        $other = [
            [], ['HTTP_HOST' => 'other.example'], ['HTTP_HOST' => 'example.com:81'], ['HTTPS' => 'on'], ['HTTP_X_FORWARDED_PROTO' => 'https'], ['HTTP_X_FORWARDED_SSL' => 'on'], ['HTTP_X_FORWARDED_PORT' => '443'], ['REQUEST_URI' => '/a-post'], ['REQUEST_URI' => '/A-post/'], ['REQUEST_URI' => '/a-post/?p=1'],
            ['REQUEST_URI' => '/a-post/?p=1&page=2'], ['REQUEST_URI' => '/a-post/?colour=red'], ['REQUEST_URI' => '/'],
        ];
        self::assertCount(\count($other), array_unique(array_map($key, $other)));
        self::assertSame($key(['HTTPS' => 'on']), $key(['SERVER_PORT' => '443']));
        self::assertSame($key(['HTTPS' => 'on']), $key(['HTTPS' => '1', 'SERVER_PORT' => '8443']));
    }
}
