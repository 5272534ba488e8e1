<?php

declare(strict_types=1);

namespace Larder\WordPress;

use Larder\Exception\PoolUnusable;
use Larder\SharedMemory;

/**
 * A visitor's request, before WordPress, that PageHit did not answer: a stored page answers it after all, or it becomes a miss that WordPress answers.
 *
 * It comes from advanced-cache.php, or before that from a line in wp-config.php. A request that the first
 * place leaves alone gets its second chance in the other, where wp-config.php has corrected the host and the scheme.
 *
 * A stored page is an array. It has *status*; *headers*, whole lines, and *more*, those of a name that is in it; *gzip*, and *br* where PHP has brotli; and *etag*. Further it
 * has *length* of the plain body, *made* and *until* in Unix time, and *tags*. Where a page must not be stored, the array has *pass*,
 * the reason, and *until*. Until then no request waits for another to make the page.
 *
 * @phpstan-type Rules array{arguments?: list<string>, dropped?: list<string>, harmless?: list<string>, paths?: list<string>, cookies?: list<string>, agents?: list<string>}
 * @phpstan-type Response array{status: int, headers: list<string>, body: string, home: string, facts: list<string>}
 */
final class PageRequest
{
    /** Arguments of WordPress itself that name another page; any other argument passes the cache by. */
    public const ARGUMENTS = ['p', 'page_id', 'paged', 'page', 'cat', 'tag', 'm', 'author', 'feed', 'post_type', 'attachment_id'];

    /** Arguments that only tell where a visitor comes from. WordPress does not see them, so that no page shows them to others. */
    public const DROPPED = [
        'utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content', 'utm_id', 'gclid', 'gbraid', 'wbraid', 'dclid', 'fbclid', 'msclkid', 'ttclid', 'twclid', 'yclid',
        'igshid', 'li_fat_id', 'mc_cid', 'mc_eid', '_ga', '_gl',
    ];

    /** The browser that wp-cron is when it makes pages anew. */
    public const WARMING = 'Larder (warming)';

    /** Seconds that a request waits for a page that another one makes; then it makes the page itself, for itself. */
    private const WAIT = 10.0;

    /** Seconds that the right to make a page lasts. */
    private const LEASE = 30;

    /** What WordPress is not told of: its answer would be none for others, such as a 304. */
    private const CONDITIONS = ['HTTP_IF_MODIFIED_SINCE' => 0, 'HTTP_IF_NONE_MATCH' => 0, 'HTTP_IF_RANGE' => 0, 'HTTP_RANGE' => 0];

    /** Files for locks. Two pages that share one are made one after the other. */
    private const LOCKS = 256;

    /** The name of the page; empty: it passes the cache by. */
    public string $key = '';

    /** Why it passes the cache by, or why its page is not stored; empty: neither. */
    public string $why = '';

    /** The address as the visitor wrote it. */
    private string $asked = '';

    /** What the page is judged by: Larder\Token, or [epoch, position] of the log of files. Taken before anything is read. */
    public mixed $token = null;

    /** Whether this request has the right to make the page. */
    public bool $makes = false;

    /** @var array<int, array<string, true>> options that WordPress has read since, by the site; 0: the one asked for */
    public array $options = [];

    /** Where pages lie if not in a pool or files. */
    public ?Backend $backend = null;

    private ?SharedMemory $pool = null;

    /** @var ?resource */
    private $lock;

    /** @param array<array-key, mixed> $installed what advanced-cache.php was written with */
    private function __construct(
        public readonly array $installed,
    ) {}

    /** @param array<array-key, mixed> $installed what advanced-cache.php was written with */
    public static function run(array $installed): void
    {
        $earlier = $GLOBALS['larder_page'] ?? null;
        if (PHP_SAPI === 'cli' || ($installed['format'] ?? 0) !== PageHit::FORMAT || ($earlier instanceof self && ($earlier->key !== '' || $earlier->why === 'busy'))) {
            return;
        }
        $GLOBALS['larder_page'] = $request = new self($installed);
        $request->answer();
        // It has come to here: WordPress makes the page.
        $collect = static function (mixed $value, mixed $option) use ($request): mixed {
            if (\is_string($option)) {
                $site = $GLOBALS['blog_id'] ?? 0;
                $request->options[\is_int($site) ? $site : 0][$option] = true;
            }

            return $value;
        };
        if (\function_exists('add_filter')) {
            add_filter('pre_option', $collect, \PHP_INT_MIN, 2);
        } else {
            // As WordPress takes over hooks from before its own functions are there.
            $hooks = \is_array($GLOBALS['wp_filter'] ?? null) ? $GLOBALS['wp_filter'] : [];
            $GLOBALS['wp_filter'] = $hooks + ['pre_option' => [0 => ['larder' => ['function' => $collect, 'accepted_args' => 2]]]];
        }
    }

    /**
     * Decides whether a page may answer a request, and with a response, whether that may be stored. It knows nothing but its arguments.
     *
     * @param array<array-key, mixed> $server   as $_SERVER
     * @param array<array-key, mixed> $cookies  as $_COOKIE
     * @param array<string, mixed>    $rules
     * @param ?array<string, mixed>   $response status, headers, body, home (the URL of the front page), facts (reasons that only WordPress knows)
     *
     * @phpstan-param Rules     $rules
     * @phpstan-param ?Response $response
     *
     * @return array{key: string, uri: string, why: string} the name of the page and the URI without dropped arguments; or why not: a word, and after
     *                                                      a colon the thing
     */
    public static function decide(array $server, array $cookies, array $rules, ?array $response = null): array
    {
        $method = \is_string($server['REQUEST_METHOD'] ?? null) ? $server['REQUEST_METHOD'] : '';
        $host = \is_string($server['HTTP_HOST'] ?? null) ? $server['HTTP_HOST'] : '';
        $path = $query = '';
        $why = PageHit::refusal($server, $cookies, $rules);
        if ($why === '' && (\strlen($host) > PageHit::LONGEST_HOST || preg_match('~^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[1-9]\d{0,4})?$~D', $host) !== 1)) {
            $why = 'host';
        }
        if ($why === '') {
            [$path, $query, $why] = self::address(\is_string($server['REQUEST_URI'] ?? null) ? $server['REQUEST_URI'] : '', $rules);
        }
        if ($why === '' && $response !== null) {
            $why = self::response($method, $host, $query === '' ? $path : "{$path}?{$query}", $response);
        }
        if ($why !== '') {
            return ['key' => '', 'uri' => '', 'why' => $why];
        }
        $uri = $query === '' ? $path : "{$path}?{$query}";

        return ['key' => PageHit::key($server, $host . $uri), 'uri' => $uri, 'why' => ''];
    }

    /**
     * The log of a directory of files: to it is appended what was invalidated, 8 bytes each.
     *
     * @return ?array{string, int} its epoch and length; null: there is none
     */
    public static function log(string $directory): ?array
    {
        $epoch = (string) @file_get_contents("{$directory}/current");
        clearstatcache(true, "{$directory}/log-{$epoch}");
        $length = preg_match('/^[0-9a-f]{32}$/D', $epoch) === 1 ? @filesize("{$directory}/log-{$epoch}") : false;

        return $length === false ? null : [$epoch, $length - $length % 8];
    }

    /** What it is called in a pool, or a store of the library. No group of the object cache begins with a colon. */
    public function name(): string
    {
        return PageHit::name($this->installed, $this->key);
    }

    /** Others may make the page now. */
    public function release(): void
    {
        if (!$this->makes) {
            return;
        }
        $this->makes = false;
        if ($this->pool !== null) {
            $this->pool->release($this->name());
        } elseif ($this->backend !== null) {
            $this->backend->delete([$this->name() . '|lease']);
        } elseif ($this->lock !== null) {
            fclose($this->lock);
            $this->lock = null;
        }
    }

    /**
     * A redirect within the site goes on with what tells where the visitor comes from, which no stored redirect has and WordPress has not seen.
     *
     * @return string the value of a header Location
     */
    public function withDropped(string $location): string
    {
        $query = strstr($this->asked, '?');
        $host = \is_string($_SERVER['HTTP_HOST'] ?? null) ? $_SERVER['HTTP_HOST'] : '';
        if ($query === false || preg_match('~^(?:https?://' . preg_quote($host, '~') . ')?/(?!/)~', $location) !== 1) {
            return $location;
        }
        $named = self::dropped($this->installed['rules'] ?? []);
        $dropped = array_filter(explode('&', substr($query, 1)), static fn(string $argument): bool => \in_array(explode('=', $argument, 2)[0], $named, true));
        if ($dropped === []) {
            return $location;
        }
        $dropped = preg_replace_callback('~[^\w.\~%+*=&:/?@!$,;-]~', static fn(array $odd): string => rawurlencode($odd[0]), implode('&', $dropped));
        $parts = explode('#', $location, 2);

        return $parts[0] . (str_contains($parts[0], '?') ? '&' : '?') . $dropped . (isset($parts[1]) ? "#{$parts[1]}" : '');
    }

    private function answer(): void
    {
        $rules = $this->installed['rules'] ?? [];
        /** @phpstan-var Rules $rules the plugin has written them */
        $decision = self::decide($_SERVER, $_COOKIE, $rules);
        $this->why = $decision['why'];
        if ($this->why === '' && PageHit::isLate()) {
            $this->why = 'late';
        }
        if ($this->why !== '') {
            return;
        }
        $this->key = $decision['key'];
        $this->asked = \is_string($_SERVER['REQUEST_URI'] ?? null) ? $_SERVER['REQUEST_URI'] : '';
        if (!$this->open()) {
            $this->key = '';
            $this->why = PageHit::hasJournal($this->installed) ? 'journal' : 'store';

            return;
        }
        $page = $this->found();
        if ($page !== null) {
            isset($page['pass']) ? $this->pass($page) : $this->send($page);
        } elseif ($this->pool === null && $this->backend === null && !is_dir(PageHit::directory($this->installed))) {
            // Asked only now: a page that was found has a directory.
            $this->pass(['pass' => 'store']);
        } else {
            $this->take();
        }
        if ($this->key !== '') {
            $_SERVER = array_diff_key($_SERVER, self::CONDITIONS);
            $this->forget($decision['uri']);
            // These cookies are harmless as long as no page shows what is in them.
            $_REQUEST = array_diff_key($_REQUEST, array_diff_key($_COOKIE, $_GET));
            $_COOKIE = [];
            unset($_SERVER['HTTP_COOKIE']);
        }
    }

    /**
     * The stored page, whether it may be served or not.
     *
     * @return array<array-key, mixed>|null
     */
    private function stored(): ?array
    {
        $page = match (true) {
            $this->pool !== null => $this->pool->get($this->name()),
            $this->backend !== null => $this->backend->get($this->name(), null),
            default => PageHit::inFile(PageHit::directory($this->installed), $this->key),
        };

        return \is_array($page) && \is_int($page['until'] ?? null) ? $page : null;
    }

    /**
     * A page that may be served now.
     *
     * @return array<array-key, mixed>|null
     */
    private function found(): ?array
    {
        $page = $this->stored();

        return $page !== null && $page['until'] > time() && ($this->pool !== null || $this->backend !== null || PageHit::isTrue(PageHit::directory($this->installed), $page)) ? $page : null;
    }

    /** Gets the right to make the page, or waits for the one that has it. */
    private function take(): void
    {
        if ($_SERVER['REQUEST_METHOD'] !== 'GET') {
            // What WordPress makes of HEAD has no body.
            $this->key = '';
            $this->why = 'method:HEAD';

            return;
        }
        $until = microtime(true) + self::WAIT;
        do {
            if ($this->lease()) {
                // It may have been made since the look.
                $page = $this->found();
                if ($page === null) {
                    return;
                }
                $this->release();
                isset($page['pass']) ? $this->pass($page) : $this->send($page);

                return;
            }
            $this->sendStale();
            $this->await();
            $page = $this->found();
            if ($page !== null) {
                isset($page['pass']) ? $this->pass($page) : $this->send($page);

                return;
            }
        } while (microtime(true) < $until);
        $this->key = '';
        $this->why = 'busy';
    }

    /** Answers with the old page while another process makes the new one, if the owner allows it and the change did. */
    private function sendStale(): void
    {
        $seconds = $this->installed['stale'] ?? 0;
        // A request that makes pages anew waits for the new one, which it looks for afterwards.
        if ($this->pool === null || !\is_int($seconds) || $seconds <= 0 || ($_SERVER['HTTP_USER_AGENT'] ?? '') === self::WARMING) {
            return;
        }
        [$page, $isStale] = $this->pool->stale($this->name(), $seconds) ?? [null, false];
        if ($isStale && \is_array($page) && \is_int($page['until'] ?? null) && !isset($page['pass'])) {
            $this->send($page, true);
        }
    }

    /** @param array<array-key, mixed> $page */
    private function send(array $page, bool $isStale = false): never
    {
        PageHit::send($page, $this->installed, $this->pool, $this->backend, $this, $isStale);
    }

    private function lease(): bool
    {
        if ($this->pool !== null) {
            try {
                $this->makes = $this->pool->lease($this->name(), self::LEASE);
                $this->token = $this->pool->token($this->name());
            } catch (PoolUnusable) {
                $this->token = null;
            }

            return $this->makes || $this->token === null;
        }
        if ($this->backend !== null) {
            // Where the store cannot tell, no request waits.
            $this->makes = $this->backend->add($this->name() . '|lease', 1, self::LEASE, []) === true;
            $this->token = $this->backend->token($this->name()) ?? $this->backend->requestToken($this->name());

            return $this->makes || $this->backend->trouble() !== null;
        }
        $this->token = self::log(PageHit::directory($this->installed));
        $lock = @fopen(sprintf('%s/locks/%d', PageHit::directory($this->installed), crc32($this->key) % self::LOCKS), 'c');
        if ($lock === false) {
            return true;
        }
        $this->makes = flock($lock, \LOCK_EX | \LOCK_NB);
        $this->lock = $this->makes ? $lock : null;

        return $this->makes;
    }

    private function await(): void
    {
        if ($this->pool !== null) {
            $this->pool->awaitLease($this->name(), 1.0);
        } else {
            usleep(20_000);
        }
    }

    /** @param array<array-key, mixed> $page says that the page must not be stored */
    private function pass(array $page): void
    {
        $this->key = '';
        $this->why = \is_string($page['pass'] ?? null) ? $page['pass'] : 'pass';
    }

    /** What pages are not told apart by, no page may show. */
    private function forget(string $uri): void
    {
        if ($uri === ($_SERVER['REQUEST_URI'] ?? '')) {
            return;
        }
        $_SERVER['REQUEST_URI'] = $uri;
        $_SERVER['QUERY_STRING'] = $query = (string) parse_url("http://larder{$uri}", \PHP_URL_QUERY);
        parse_str($query, $_GET);
        $_REQUEST = array_diff_key($_REQUEST, array_fill_keys(self::dropped($this->installed['rules'] ?? []), true));
    }

    private function open(): bool
    {
        if (PageHit::hasJournal($this->installed)) {
            return false;
        }
        $store = $this->installed['store'] ?? null;
        if ($store === 'files') {
            return true;
        }
        if ($store === 'server') {
            return $this->openServer();
        }
        $name = $this->installed['pool'] ?? null;
        if (!\is_string($name) || !\class_exists(SharedMemory::class, false)) {
            return false;
        }
        $size = $this->installed['size'] ?? null;
        try {
            try {
                $this->pool = SharedMemory::open($name);
            } catch (PoolUnusable $refused) {
                $this->pool = \is_int($size) ? SharedMemory::open($name, $size) : throw $refused;
            }
        } catch (PoolUnusable|\ValueError) {
            return false;
        }

        return true;
    }

    /** The library is loaded for a server, whose address only wp-config.php has. */
    private function openServer(): bool
    {
        if (!\defined('DB_NAME') || !\function_exists('apply_filters')) {
            return false;
        }
        require_once \dirname(__DIR__) . '/autoload.php';
        require_once __DIR__ . '/Settings.php';
        $settings = Settings::of($this->installed);
        if ($settings->dsn === null || ($this->installed['names'] ?? '') !== Settings::names()) {
            return false;
        }
        $this->backend = Library::backend($settings);

        return $this->backend->trouble() === null;
    }

    /**
     * @param array<string, mixed> $rules
     *
     * @phpstan-param Rules $rules
     *
     * @return array{string, string, string} the path, the arguments that name the page, why not
     */
    private static function address(string $uri, array $rules): array
    {
        if ($uri === '' || $uri[0] !== '/' || isset($uri[PageHit::LONGEST_URI])) {
            return ['', '', 'path'];
        }
        $path = explode('?', $uri, 2)[0];
        $query = \strlen($path) === \strlen($uri) ? null : substr($uri, \strlen($path) + 1);
        // Only what can be written in one way: letters of ASCII as they are, others as bytes of UTF-8.
        if (preg_match('~^/(?:[A-Za-z0-9_/-]|\.(?![./]|$)|%[89A-Fa-f][0-9A-Fa-f])*$~D', $path) !== 1 || str_contains($path, '//') || str_contains($path, '/.')) {
            return ['', '', 'path'];
        }
        if (preg_match('~\.php(?:/|$)|/wp-(?:admin|json|login|content|includes)(?:/|$)|\.(?:css|js|png|jpe?g|gif|ico|svg|webp|woff2?|map)$~i', $path) === 1) {
            return ['', '', 'path'];
        }
        // As PageRules writes a path.
        $plain = rtrim(rawurldecode($path), '/') . '/';
        foreach ($rules['paths'] ?? [] as $pattern) {
            if (PageHit::matches($pattern, $plain)) {
                return ['', '', "path:{$pattern}"];
            }
        }
        if ($query === null) {
            return [$path, '', ''];
        }
        $kept = [];
        foreach (explode('&', $query) as $argument) {
            $name = explode('=', $argument, 2)[0];
            $value = substr($argument, \strlen($name) + 1);
            if (\in_array($name, self::DROPPED, true) || \in_array($name, $rules['dropped'] ?? [], true)) {
                continue;
            }
            if (!(\in_array($name, self::ARGUMENTS, true) || \in_array($name, $rules['arguments'] ?? [], true)) || isset($kept[$name]) || preg_match('~^[A-Za-z0-9_-]{1,64}$~D', $value) !== 1) {
                return ['', '', 'argument' . (preg_match('~^[A-Za-z0-9_-]{1,64}$~D', $name) === 1 ? ":{$name}" : '')];
            }
            $kept[$name] = $argument;
        }

        return [$path, implode('&', $kept), ''];
    }

    /**
     * @param array<string, mixed> $response
     *
     * @phpstan-param Response $response
     */
    private static function response(string $method, string $host, string $uri, array $response): string
    {
        if ($method !== 'GET') {
            return 'method:HEAD';
        }
        if ($response['facts'] !== []) {
            return $response['facts'][0];
        }
        $home = parse_url($response['home']);
        if (!\is_array($home) || ($home['host'] ?? '') . (isset($home['port']) ? ":{$home['port']}" : '') !== $host) {
            return 'host';
        }
        $type = $location = '';
        foreach ($response['headers'] as $line) {
            [$name, $value] = explode(':', $line, 2) + [1 => ''];
            $written = trim($value);
            $value = strtolower($written);
            switch (strtolower(trim($name))) {
                case 'set-cookie':
                    return 'set-cookie';
                case 'cache-control':
                case 'surrogate-control':
                case 'cdn-cache-control':
                case 'pragma':
                    // Of a 404, WordPress itself says only that browsers should not keep it.
                    if (preg_match('~no-store|private|no-cache|(?:max-age|s-maxage)=0~', $value) === 1 && !($response['status'] === 404 && !str_contains($value, 'no-store') && !str_contains($value, 'private'))) {
                        return 'cache-control';
                    }
                    break;
                case 'vary':
                    if (preg_match('~^(?:accept-encoding)?$~', $value) !== 1) {
                        return 'vary';
                    }
                    break;
                case 'content-security-policy':
                case 'content-security-policy-report-only':
                    if (str_contains($value, "'nonce-")) {
                        return 'nonce';
                    }
                    break;
                case 'content-encoding':
                case 'www-authenticate':
                case 'refresh':
                case 'content-range':
                case 'content-disposition':
                    return 'header';
                case 'content-type':
                    $type = trim(explode(';', $value)[0]);
                    break;
                case 'location':
                    $location = $written;
                    break;
                default:
            }
        }
        if (!\in_array($response['status'], [200, 301, 404], true)) {
            return "status:{$response['status']}";
        }
        if ($response['status'] === 301) {
            // One that leads to another scheme is for visitors of this one, and what they said of it may be in no page's name.
            return $location !== '' && preg_replace('~^https?:~i', '', $location) !== "//{$host}{$uri}" && $response['body'] === '' ? '' : 'redirect';
        }
        if ($location !== '') {
            return 'header';
        }
        $end = rtrim(substr($response['body'], -4_096));
        $isWhole = match ($type) {
            'text/html', 'application/xhtml+xml' => stripos($end, '</html>') !== false,
            'application/rss+xml', 'application/atom+xml', 'application/rdf+xml', 'text/xml', 'application/xml' => self::isWholeXml($response['body'], $end),
            'text/plain' => $end !== '',
            default => null,
        };

        return match ($isWhole) {
            true => '',
            false => 'incomplete',
            null => "type:{$type}",
        };
    }

    /** Whether the first element is closed at the end, which may have comments behind it. */
    private static function isWholeXml(string $text, string $end): bool
    {
        return preg_match('~^[\s\xEF\xBB\xBF]*(?:(?:<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>]*>)\s*)*<([A-Za-z_][\w:.-]*)~s', $text, $first) === 1
            && preg_match("~(?:</{$first[1]}\s*|<{$first[1]}[^<>]*/)>(?:\s*<!--(?:(?!-->).)*-->)*$~sD", $end) === 1;
    }

    /** @return list<string> */
    private static function dropped(mixed $rules): array
    {
        $named = \is_array($rules) ? $rules['dropped'] ?? [] : [];

        return [...self::DROPPED, ...\is_array($named) ? array_values(array_filter($named, is_string(...))) : []];
    }
}
