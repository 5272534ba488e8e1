<?php

declare(strict_types=1);

namespace Larder\WordPress;

use Larder\Exception\NotACounter;
use Larder\Exception\PoolUnusable;
use Larder\SharedMemory;

/**
 * A stored page answers a visitor's request: all that most hits load, and so all that they cost. PageRequest does the rest.
 *
 * A page is looked for under the address as the visitor wrote it, and that is not taken apart. Only an address that PageRequest has found
 * good has ever got a page, and it has no other name.
 *
 * The way of a hit calls few methods: the first call of each in a request costs as much as a dozen lines.
 *
 * @phpstan-import-type Rules from PageRequest
 */
final class PageHit
{
    /** The version of what is stored, and of the drop-in's settings. */
    public const FORMAT = 2;

    public const LONGEST_URI = 2_000;

    public const LONGEST_HOST = 255;

    private const NAMED = ':page:';

    /** Headers by which a client or a proxy may change what a site takes the request for. */
    private const HEADERS = [
        'HTTP_AUTHORIZATION' => 0, 'REDIRECT_HTTP_AUTHORIZATION' => 0, 'PHP_AUTH_USER' => 0, 'PHP_AUTH_DIGEST' => 0, 'REMOTE_USER' => 0, 'REDIRECT_REMOTE_USER' => 0, 'HTTP_FORWARDED' => 0, 'HTTP_X_FORWARDED_SCHEME' => 0,
        'HTTP_X_FORWARDED_PREFIX' => 0, 'HTTP_X_FORWARDED_PATH' => 0, 'HTTP_X_FORWARDED_URI' => 0, 'HTTP_X_HOST' => 0, 'HTTP_X_ORIGINAL_HOST' => 0, 'HTTP_X_HTTP_HOST_OVERRIDE' => 0, 'HTTP_X_ORIGINAL_URL' => 0,
        'HTTP_X_REWRITE_URL' => 0, 'HTTP_X_HTTP_METHOD' => 0, 'HTTP_X_HTTP_METHOD_OVERRIDE' => 0, 'HTTP_X_METHOD_OVERRIDE' => 0, 'HTTP_ORIGIN' => 0, 'HTTP_X_REQUESTED_WITH' => 0, 'HTTP_X_WP_NONCE' => 0, 'HTTP_X_PJAX' => 0,
        'HTTP_HX_REQUEST' => 0, 'HTTP_TURBO_FRAME' => 0, 'HTTP_X_UP_TARGET' => 0, 'HTTP_X_INERTIA' => 0,
    ];

    /** Cookies that only scripts in a browser and servers in front of PHP read; any other cookie passes the cache by. WooCommerce's scripts give each visitor those of sbjs. */
    private const HARMLESS = '~^(?:_ga(?:_|$)|_gid$|_gat(?:_|$)|_gcl_|_gac_|_fbp$|_fbc$|__utm[a-z]$|_hj(?:id$|[A-Z])|_pk_|_clck$|_clsk$|_uet(?:[sv]id|msclkid)|_tt_|_ttp$|_pin_unauth$|_scid|ajs_|optimizely|__cf|cf_clearance$|_cfuvid$|AWSALB|wordpress_test_cookie$'
        . '|sbjs_(?:(?:current|first)(?:_add)?|migrations|promo|session|udata)$|tk_(?:ai|lr|or|qs|r3d|tc)$|__stripe_[ms]id$|__hs(?:tc|sc|src)$|hubspotutk$|_ym_(?:d|isad|uid|visorc)$)~';

    /** Cookies of one visitor, whatever the settings call harmless. */
    private const PRIVATE = '~^(?:wordpress_(?!test_cookie$)|wp-postpass_|comment_author_|woocommerce_|wp_woocommerce_|edd_|PHPSESSID$)~';

    /** Of how many hits one is counted for the dashboard, if WP_LARDER_SAMPLE says nothing else. Sample has the same number, but a hit need not load it. */
    private const SAMPLE = 32;

    /** Bytes of hits that wait in a file for being counted. */
    private const MOST_HITS = 1 << 20;

    private function __construct() {}

    /**
     * Answers if there is a page and it may be served; else returns, and PageRequest has the request.
     *
     * @param array<array-key, mixed> $installed what advanced-cache.php was written with
     */
    public static function run(array $installed): void
    {
        if (PHP_SAPI === 'cli' || ($installed['format'] ?? 0) !== self::FORMAT) {
            return;
        }
        $rules = $installed['rules'] ?? [];
        /** @phpstan-var Rules $rules the plugin has written them */
        $key = self::asked($_SERVER, $_COOKIE, $rules);
        $journal = $installed['journal'] ?? null;
        // Mostly nothing was said, and there is no journal.
        if ($key === '' || headers_sent() || (ob_get_level() > 0 && (int) ob_get_length() > 0) || (\is_string($journal) && is_file($journal) && self::hasJournal($installed))) {
            return;
        }
        $pool = null;
        $store = $installed['store'] ?? '';
        if ($store === 'pool') {
            $name = $installed['pool'] ?? null;
            if (!\is_string($name) || !\class_exists(SharedMemory::class, false)) {
                return;
            }
            try {
                $pool = SharedMemory::open($name);
            } catch (PoolUnusable|\ValueError) {
                return;
            }
            $prefix = $installed['prefix'] ?? '';
            // As name() has it.
            $page = $pool->get((\is_string($prefix) ? $prefix : '') . self::NAMED . $key);
        } elseif ($store === 'files') {
            $directory = self::directory($installed);
            $page = self::inFile($directory, $key);
            if ($page === null || !self::isTrue($directory, $page)) {
                return;
            }
        } else {
            return;
        }
        if (\is_array($page) && \is_int($page['until'] ?? null) && $page['until'] > time() && !isset($page['pass'])) {
            self::send($page, $installed, $pool);
        }
    }

    /**
     * The name of the page that a request asks for, taken from its address as it is.
     *
     * @param array<array-key, mixed> $server  as $_SERVER
     * @param array<array-key, mixed> $cookies as $_COOKIE
     * @param array<string, mixed>    $rules
     *
     * @phpstan-param Rules $rules
     *
     * @return string empty: no page may answer. Of an address that is not good, a name that no page has
     */
    public static function asked(array $server, array $cookies, array $rules): string
    {
        $host = $server['HTTP_HOST'] ?? '';
        $uri = $server['REQUEST_URI'] ?? '';
        // The first slash in the name of a page ends the host.
        if (!\is_string($host) || !\is_string($uri) || ($uri[0] ?? '') !== '/' || isset($uri[self::LONGEST_URI]) || isset($host[self::LONGEST_HOST]) || str_contains($host, '/')) {
            return '';
        }

        return self::refusal($server, $cookies, $rules) === '' ? self::key($server, $host . $uri) : '';
    }

    /**
     * What in a request, beside its address, forbids that a page answers it.
     *
     * @param array<array-key, mixed> $server  as $_SERVER
     * @param array<array-key, mixed> $cookies as $_COOKIE
     * @param array<string, mixed>    $rules
     *
     * @phpstan-param Rules $rules
     *
     * @return string a word, and after a colon the thing; empty: nothing
     */
    public static function refusal(array $server, array $cookies, array $rules): string
    {
        $method = $server['REQUEST_METHOD'] ?? '';
        if ($method !== 'GET' && $method !== 'HEAD') {
            return 'method:' . (\is_string($method) ? $method : '');
        }
        foreach (array_intersect_key($server, self::HEADERS) as $header => $value) {
            if ($value !== '') {
                return "header:{$header}";
            }
        }
        if (isset($server['HTTP_X_FORWARDED_HOST']) && $server['HTTP_X_FORWARDED_HOST'] !== ($server['HTTP_HOST'] ?? '')) {
            return 'header:HTTP_X_FORWARDED_HOST';
        }
        if ((isset($server['HTTP_X_FORWARDED_PROTO']) || isset($server['HTTP_X_FORWARDED_SSL']) || isset($server['HTTP_X_FORWARDED_PORT'])) && preg_match('~^(?:|https?)\|(?:|on|off)\|\d{0,5}$~D', self::proxy($server)) !== 1) {
            return 'header:HTTP_X_FORWARDED_PROTO';
        }
        $accept = $server['HTTP_ACCEPT'] ?? '';
        if (\is_string($accept) && $accept !== '' && $accept !== '*/*' && (preg_match('~^\s*(?:text/html|text/\*|\*/\*|application/(?:xhtml|rss|atom|rdf)\+xml|(?:text|application)/xml)(?![\w+.-])~i', $accept) !== 1 || preg_match('~json|markdown~i', $accept) === 1)) {
            return 'header:HTTP_ACCEPT';
        }
        foreach ($cookies as $name => $_) {
            $name = (string) $name;
            if (!self::isHarmless($name, $rules)) {
                return "cookie:{$name}";
            }
        }
        foreach ($rules['agents'] ?? [] as $part) {
            if ($part !== '' && stripos(self::text($server, 'HTTP_USER_AGENT'), $part) !== false) {
                return "agent:{$part}";
            }
        }

        return '';
    }

    /**
     * The name of a page.
     *
     * @param array<array-key, mixed> $server  as $_SERVER
     * @param string                  $address the host, the path and the arguments that name it
     */
    public static function key(array $server, string $address): string
    {
        $https = $server['HTTPS'] ?? '';
        $isSecure = ($https !== '' && \is_string($https) && strtolower($https) !== 'off') || ($server['SERVER_PORT'] ?? '') === '443';

        // What a proxy says counts only where wp-config.php believes it. So it makes pages of its own.
        $proxy = isset($server['HTTP_X_FORWARDED_PROTO']) || isset($server['HTTP_X_FORWARDED_SSL']) || isset($server['HTTP_X_FORWARDED_PORT']) ? self::proxy($server) : '||';

        return ($isSecure ? 'https|' : 'http|') . "{$proxy}|{$address}";
    }

    /** @param array<array-key, mixed> $installed */
    public static function name(array $installed, string $key): string
    {
        $prefix = $installed['prefix'] ?? '';

        return (\is_string($prefix) ? $prefix : '') . self::NAMED . $key;
    }

    /** @param array<array-key, mixed> $installed */
    public static function directory(array $installed): string
    {
        $directory = $installed['pages'] ?? null;

        return \is_string($directory) ? $directory : '';
    }

    /**
     * Whether others have changed what they could not say; WordPress delivers it.
     *
     * @param array<array-key, mixed> $installed
     */
    public static function hasJournal(array $installed): bool
    {
        $journal = $installed['journal'] ?? null;

        // Mostly there is none, and a warning costs more than the look, even if it is not read.
        return \is_string($journal) && is_file($journal) && (int) @filesize($journal) > 0;
    }

    /** Whether something was said already. */
    public static function isLate(): bool
    {
        return headers_sent() || (ob_get_level() > 0 && (int) ob_get_length() > 0);
    }

    /**
     * The page in a file, as PageFiles has packed it, whether it may be served or not. Its tags are still packed.
     *
     * @return array<array-key, mixed>|null null: no whole page
     */
    public static function inFile(string $directory, string $key): ?array
    {
        $text = @file_get_contents($directory . '/' . self::file($key));
        if ($text === false) {
            return null;
        }
        $length = (int) substr($text, 16, 8);
        $head = substr($text, 24, $length);
        if (hash('xxh3', $head) !== substr($text, 0, 16)) {
            return null;
        }
        $page = unserialize($head, ['allowed_classes' => false]);
        if (!\is_array($page) || ($page['key'] ?? null) !== $key || !\is_array($page['parts'] ?? null)) {
            return null;
        }
        $sums = \is_array($page['sums'] ?? null) ? $page['sums'] : [];
        $begin = 24 + $length;
        foreach ($page['parts'] as $name => $length) {
            $length = \is_int($length) ? $length : 0;
            $part = substr($text, $begin, $length);
            $begin += $length;
            // Tags have a sum of their own, and no hit reads them.
            if ($part !== '' && $name !== 'tags' && hash('xxh3', $part) !== ($sums[$name] ?? null)) {
                return null;
            }
            $page[$name] = $part;
        }
        unset($page['parts'], $page['sums']);

        return $page;
    }

    /**
     * No address that a visitor makes up gets the name of another page. By a faster hash it could, and take that page's place.
     *
     * @return string the file of a page, under the directory of all
     */
    public static function file(string $key): string
    {
        $name = md5($key);

        return substr($name, 0, 2) . '/' . $name;
    }

    /**
     * Whether nothing that a page of files shows has changed since.
     *
     * @param array<array-key, mixed> $page
     */
    public static function isTrue(string $directory, array $page): bool
    {
        $epoch = $page['epoch'] ?? null;
        $position = $page['position'] ?? null;
        $marks = $page['marks'] ?? null;
        if (!\is_string($epoch) || !\is_int($position) || !\is_string($marks)) {
            return false;
        }
        $log = "{$directory}/log-{$epoch}";
        clearstatcache();
        $length = @filesize($log);
        if ($length === false || $length < $position) {
            return false;
        }
        if ($length === $position) {
            return true;
        }
        $changed = @file_get_contents($log, false, null, $position);
        $mine = array_flip(str_split($marks, 8));
        foreach ($changed === false ? [] : str_split($changed, 8) as $mark) {
            if (isset($mine[$mark])) {
                return false;
            }
        }

        return $changed !== false;
    }

    /**
     * Answers, and ends the request.
     *
     * @param array<array-key, mixed> $page
     * @param array<array-key, mixed> $installed
     * @param ?PageRequest            $request   null: the address is that of the page, and nothing was left out of it
     */
    public static function send(array $page, array $installed, ?SharedMemory $pool, ?Backend $backend = null, ?PageRequest $request = null, bool $isStale = false): never
    {
        $made = \is_int($page['made'] ?? null) ? $page['made'] : 0;
        $until = \is_int($page['until'] ?? null) ? $page['until'] : 0;
        $now = time();
        if (\defined('WP_LARDER_SAMPLE') || (hrtime(true) >> 4) % self::SAMPLE === 0) {
            self::count($page, $installed, $pool, $backend);
        }
        if (\ini_get('zlib.output_compression')) {
            ini_set('zlib.output_compression', '0');
        }
        $status = \is_int($page['status'] ?? null) ? $page['status'] : 200;
        http_response_code($status);
        foreach (\is_array($page['headers'] ?? null) ? $page['headers'] : [] as $line) {
            if (\is_string($line)) {
                header($status === 301 && $request !== null && strncasecmp($line, 'Location:', 9) === 0 ? 'Location: ' . $request->withDropped(trim(substr($line, 9))) : $line);
            }
        }
        foreach (\is_array($page['more'] ?? null) ? $page['more'] : [] as $line) {
            if (\is_string($line)) {
                header($line, false);
            }
        }
        if ($isStale) {
            // No cache behind keeps it, also if the page lets it.
            header('Cache-Control: no-store');
        }
        header('Age: ' . ($now > $made ? $now - $made : 0), false);
        header('Cache-Status: Larder; hit; ' . ($isStale ? 'detail=stale; ' : '') . 'ttl=' . ($until - $now), false);
        $known = $_SERVER['HTTP_IF_NONE_MATCH'] ?? '';
        $etag = $page['etag'] ?? '';
        // A server that compresses what the site has not adds the coding to the tag, as Apache does.
        if ($known !== '' && $status === 200 && \is_string($known) && \is_string($etag) && $etag !== '' && (trim($known) === '*' || str_contains($known, substr($etag, 2, -1)))) {
            http_response_code(304);
            header_remove('Content-Type');
            exit;
        }
        $accepts = \is_string($_SERVER['HTTP_ACCEPT_ENCODING'] ?? null) ? $_SERVER['HTTP_ACCEPT_ENCODING'] : '';
        $body = \is_string($page['br'] ?? null) ? $page['br'] : '';
        if ($body !== '' && self::accepts('br', $accepts)) {
            header('Content-Encoding: br', false);
        } else {
            $body = \is_string($page['gzip'] ?? null) ? $page['gzip'] : '';
            // Browsers name it first.
            if ($accepts === 'gzip' || str_starts_with($accepts, 'gzip,') || self::accepts('gzip', $accepts)) {
                header('Content-Encoding: gzip', false);
            } else {
                $body = (string) gzdecode($body);
            }
        }
        header('Content-Length: ' . \strlen($body), false);
        if ($_SERVER['REQUEST_METHOD'] === 'HEAD') {
            exit;
        }
        if (ob_get_level() === 1) {
            // What PHP's own setting output_buffering began is empty, and would copy the page.
            ob_end_clean();
        }
        exit($body);
    }

    /**
     * Counts what a hit has saved, for the dashboard.
     *
     * @param array<array-key, mixed> $page
     * @param array<array-key, mixed> $installed
     */
    private static function count(array $page, array $installed, ?SharedMemory $pool, ?Backend $backend): void
    {
        $of = self::SAMPLE;
        if (\defined('WP_LARDER_SAMPLE')) {
            require_once __DIR__ . '/Sample.php';
            $of = Sample::takes() ? Sample::size() : 0;
        }
        if ($of === 0) {
            return;
        }
        $figures = ['page-hits' => $of, 'page-ms' => $of * (\is_int($page['took'] ?? null) ? $page['took'] : 0), 'page-queries' => $of * (\is_int($page['queries'] ?? null) ? $page['queries'] : 0)];
        if ($pool === null && $backend === null) {
            $file = self::directory($installed) . '/hits';
            if (!is_file($file) || (int) @filesize($file) < self::MOST_HITS) {
                @file_put_contents($file, pack('P3', ...array_values($figures)), \FILE_APPEND);
            }

            return;
        }
        foreach ($figures as $name => $by) {
            $key = self::text($installed, 'prefix') . "larder-figures:{$name}";
            try {
                $pool?->increment($key, $by);
            } catch (PoolUnusable|NotACounter) {
                return;
            }
            if ($backend !== null && $backend->count($key, $by, []) === false) {
                $backend->add($key, $by, null, []);
            }
        }
    }

    private static function accepts(string $coding, string $accepts): bool
    {
        return str_contains($accepts, $coding) && preg_match('~(?:^|[,\s])' . $coding . '(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))\s*(?:[,;]|$)~i', $accepts) === 1;
    }

    /**
     * Whether a cookie changes nothing of what its visitor sees.
     *
     * @param array<string, mixed> $rules
     *
     * @phpstan-param Rules $rules
     */
    private static function isHarmless(string $cookie, array $rules): bool
    {
        foreach ($rules['cookies'] ?? [] as $pattern) {
            if (self::matches($pattern, $cookie)) {
                return false;
            }
        }
        if (preg_match(self::HARMLESS, $cookie) === 1) {
            return true;
        }
        if (preg_match(self::PRIVATE, $cookie) === 1) {
            return false;
        }
        foreach ($rules['harmless'] ?? [] as $pattern) {
            if (self::matches($pattern, $cookie)) {
                return true;
            }
        }

        return false;
    }

    /** Whether it is, or with a star at the end begins with, what the pattern says. */
    public static function matches(string $pattern, string $text): bool
    {
        return $pattern !== '' && ($pattern[-1] === '*' ? str_starts_with($text, substr($pattern, 0, -1)) : $pattern === $text);
    }

    /**
     * What a proxy says of the scheme and the port.
     *
     * @param array<array-key, mixed> $server
     */
    private static function proxy(array $server): string
    {
        return self::text($server, 'HTTP_X_FORWARDED_PROTO') . '|' . self::text($server, 'HTTP_X_FORWARDED_SSL') . '|' . self::text($server, 'HTTP_X_FORWARDED_PORT');
    }

    /** @param array<array-key, mixed> $from */
    private static function text(array $from, string $name): string
    {
        return \is_string($from[$name] ?? null) ? $from[$name] : '';
    }
}
