<?php

declare(strict_types=1);

namespace Larder\WordPress;

/**
 * Watches WordPress make a page, and stores it at the end: with a tag for each thing that it shows.
 *
 * The object cache of the request has all posts, terms and users that were read; hooks of queries tell the lists. A plugin's own
 * entries in the object cache, and its transients, hide their sources. A page that reads one is killed when it changes, and by any change if code
 * looks for it by when something has last changed.
 *
 * @phpstan-import-type Rules from PageRequest
 */
final class PageRecording
{
    /** Groups that hold nothing of the site's content, or what the hooks of queries know closer. */
    private const KNOWN = [
        'larder-page' => true, Figures::GROUP => true, 'themes' => true, 'theme_json' => true, 'theme_files' => true, 'translation_files' => true, 'plugins' => true, 'block_patterns' => true, 'blocks' => true, 'fonts' => true,
        'comment-queries' => true, 'user-queries' => true, 'site-queries' => true, 'network-queries' => true, 'userlogins' => true, 'useremail' => true, 'userslugs' => true, 'usernicename' => true,
        'sites' => true, 'site-details' => true, 'networks' => true, 'blog-details' => true, 'blog-lookup' => true, 'blog-id-cache' => true, 'blog_meta' => true, 'site-options' => true, 'rss' => true, 'image_editor' => true,
    ];

    /** Groups of WordPress whose entries have tags of their own. */
    private const OWN = [
        'posts' => true, 'post-queries' => true, 'post_meta' => true, 'terms' => true, 'term-queries' => true, 'term_meta' => true, 'users' => true, 'user_meta' => true,
        'comment' => true, 'comment_meta' => true, 'options' => true, 'bookmark' => true, 'counts' => true, 'calendar' => true, 'timeinfo' => true, 'transient' => true, 'site-transient' => true,
    ];

    /** Entries without a group that are WordPress's own, and say nothing of the site's content. */
    private const NAMELESS = '/^(?:\d+:)?(?:is_blog_installed|icon_files|mime_type_icon_.*)$/sD';

    /** Transients by which a plugin judges others, whose names begin so. It looks at them in each request, and a page without the others shows nothing of them. */
    private const VERSIONS = ['filter_data-transient-version' => 'wc_filter_data_'];

    /** What lists are ordered by without the text of posts moving them. */
    private const FIRM = ['' => true, 'none' => true, 'date' => true, 'post_date' => true, 'id' => true, 'author' => true, 'title' => true, 'post_title' => true, 'name' => true, 'post_name' => true, 'type' => true, 'parent' => true, 'menu_order' => true, 'post__in' => true, 'post_name__in' => true, 'post_parent__in' => true];

    /** Options that are read before hooks are there, in the place of a line in wp-config.php. */
    private const EARLY = ['siteurl', 'home', 'active_plugins', 'template', 'stylesheet', 'blog_charset', 'WPLANG', 'permalink_structure'];

    /** Seconds in which others do not wait for a page that turned out not to be stored. */
    private const PASSES = 10;

    /** Seconds that a page that is not there, or is elsewhere, is kept at most. */
    private const SHORT = 600;

    /** Seconds that a page lives at least, though a transient that it shows ends: that may be a lock. */
    private const SHORTEST = 60;

    /** Meta of WooCommerce's products that says when what they cost changes by itself: it does so so many seconds later. */
    private const SALES = ['_sale_price_dates_from' => 0, '_sale_price_dates_to' => 1];

    /** Bytes of a page. One that is longer goes out in parts of so many, and is not kept: PHP may have no memory for it. */
    private const LONGEST = 4 << 20;

    /** Bytes of all headers of a page with tags. With more than 4 KiB nginx refuses it, unless it is told otherwise, and its own cache needs some of them. */
    private const MOST_HEADERS = 3_300;

    /** @var array<string, true> */
    private array $lists = [];

    /** @var list<array{string, string}> users that were looked for, whether there are such or not: the group and the key that the object cache has them under */
    private array $lookedFor = [];

    /** @var array<string, true> actions of nonces */
    private array $nonces = [];

    /** @var array<string, true> what forbids to store the page */
    private array $facts = [];

    /** @var array<string, true> groups of plugins that the page has read, and tables that its lists of posts depend on */
    private array $watched = [];

    /** Whether a plugin or the theme has asked when WordPress's own things have last changed. No hook tells of what it looks for under that. */
    private bool $isSalted = false;

    private bool $isLooking = false;

    private int $level = 0;

    private bool $ends = false;

    private int $site = 0;

    /**
     * @param array<string, mixed> $options   of the page cache
     * @param \Closure(): bool     $hasFailed whether the database has refused to say something
     */
    public function __construct(
        private readonly PageRequest $request,
        private readonly PageStore $store,
        private readonly array $options,
        private readonly PageWarming $warming,
        private readonly \Closure $hasFailed,
    ) {}

    public function begin(): void
    {
        $this->site = get_current_blog_id();
        if (headers_sent() || (ob_get_level() > 0 && (int) ob_get_length() > 0)) {
            $this->facts['late'] = true;
        }
        if (array_diff(array_filter(ob_list_handlers(), is_string(...)), ['default output handler', 'zlib output compression', 'ob_gzhandler', 'URL-Rewriter']) !== []) {
            // A hit would be without what it makes of the page.
            $this->facts['buffer'] = true;
        }
        wp_cache_add_non_persistent_groups('larder-page');
        wp_cache_set('began', true, 'larder-page');
        add_filter('posts_pre_query', $this->posts(...), \PHP_INT_MAX, 2);
        add_filter('get_pages', $this->pages(...), \PHP_INT_MAX, 2);
        add_filter('terms_pre_query', $this->terms(...), \PHP_INT_MAX, 2);
        add_filter('comments_pre_query', $this->comments(...), \PHP_INT_MAX, 2);
        add_filter('users_pre_query', $this->users(...), \PHP_INT_MAX, 2);
        add_filter('pre_count_users', $this->users(...), \PHP_INT_MAX, 3);
        add_filter('get_usernumposts', $this->postsOf(...), \PHP_INT_MAX, 2);
        add_filter('nonce_user_logged_out', $this->nonce(...), \PHP_INT_MAX, 2);
        add_action('set_current_user', $this->user(...), \PHP_INT_MAX);
        add_filter('wp_is_mobile', $this->mobile(...), \PHP_INT_MAX);
        add_filter('woocommerce_customer_taxable_address', $this->taxed(...), \PHP_INT_MAX);
        add_filter('woocommerce_geolocate_ip', $this->located(...), \PHP_INT_MAX);
        ob_start(function (string $part): string {
            // Before the end, only what others have pushed out comes by here, or what is too long.
            if (!$this->ends) {
                $this->facts['partial'] = true;
            }

            return $part;
        }, self::LONGEST);
        $this->level = ob_get_level();
        add_action('shutdown', $this->end(...), 0);
    }

    /** Notes that the page has read a table in a way that only its own SQL tells of. */
    public function noteTable(string $table): void
    {
        $tag = PageTags::of('table', $table, 0);
        if ($this->ends || isset($this->lists[$tag]) || $this->isLeftOut($table)) {
            return;
        }
        $this->lists[$tag] = true;
        if (!$this->store->watch($tag)) {
            $this->facts['store'] = true;
        }
    }

    /** Notes that WordPress keeps a list of posts that depends on a table of which it knows nothing. */
    private function noteJoin(string $table): void
    {
        $tag = PageTags::of('joined', $table, 0);
        if (!isset($this->watched[$tag]) && !$this->isLeftOut($table)) {
            $this->watched[$tag] = true;
            $this->store->watch($tag);
        }
    }

    /** Whether the owner says that it changes no page. */
    private function isLeftOut(string $table): bool
    {
        return \in_array($table, \is_array($this->options['tables'] ?? null) ? $this->options['tables'] : [], true);
    }

    /** Notes that the page lists posts, or looks for some, in a way that is not known closer. */
    public function noteList(): void
    {
        $this->list('list', 'any');
    }

    /** Notes that the page looks for a user: one that is not there may come. */
    public function noteLook(string $group, string $key): void
    {
        $this->ends || $this->lookedFor[] = [$group, $key];
    }

    /** Notes that a plugin may look for its entries by the last change of a group. */
    public function noteSalt(): void
    {
        $this->isSalted = true;
    }

    /** Something that pages show has changed while this one was made. */
    public function noteChange(string $what): void
    {
        $this->facts["changes:{$what}"] = true;
    }

    private function end(): void
    {
        if ($this->ends) {
            return;
        }
        while (ob_get_level() > $this->level) {
            ob_end_flush();
        }
        $body = ob_get_level() === $this->level ? ob_get_contents() : false;
        $this->lookAtTheEnd(\is_string($body) ? $body : '');
        if ($body === false || headers_sent()) {
            $this->facts['partial'] = true;
        }
        $this->ends = true;
        $status = (int) http_response_code();
        $headers = headers_list();
        $rules = $this->request->installed['rules'] ?? [];
        /** @phpstan-var Rules $rules the plugin has written them */
        $decision = PageRequest::decide($_SERVER, $_COOKIE, $rules, ['status' => $status, 'headers' => $headers, 'body' => (string) $body, 'home' => home_url(), 'facts' => array_keys($this->facts)]);
        $why = $decision['why'];
        if ($why === '' && ($decision['uri'] !== $_SERVER['REQUEST_URI'] || !$this->isStill($decision['key']))) {
            $why = 'changed';
        }
        if ($why !== '') {
            $this->refuse($why);
            $this->redirect($headers);

            return;
        }
        $tags = $this->tags($status);
        $page = $this->page($status, $headers, (string) $body, $tags);
        $seconds = $page['until'] - $page['made'];
        $isStored = $this->store->fill($this->request, $page, $tags, $seconds);
        if ($isStored && $status === 200) {
            $this->warming->count($this->request->key);
        }
        foreach ([...$page['headers'], ...$page['more']] as $line) {
            // A cookie may still come, and a change may have come already. So caches may only share what later visitors get.
            if (!\in_array($line, $headers, true) && preg_match('~^(?:Cache-Control|Cache-Tag|Surrogate-Key):~', $line) !== 1) {
                header($line);
            }
        }
        if (preg_grep('~^cache-control:~i', $headers) === []) {
            header('Cache-Control: private, max-age=0, must-revalidate');
        }
        header('Cache-Status: Larder; fwd=uri-miss' . ($isStored ? "; stored; ttl={$seconds}" : ''));
        $this->redirect($headers);
        $this->request->release();
        if ($isStored) {
            // The last of the functions that are called at the end.
            register_shutdown_function(function (): void {
                if (preg_grep('~^set-cookie:~i', headers_list()) !== []) {
                    $this->refuse('set-cookie');
                }
            });
        }
    }

    /** Whether the name of the page is still what was asked for. A scheme that wp-config.php has found out has to be in the name, said by a proxy. */
    private function isStill(string $key): bool
    {
        $before = explode('|', $this->request->key, 5);
        $after = explode('|', $key, 5);
        [$scheme, $proxied, $ssl, $port] = $after + ['', '', '', ''];

        return \array_slice($before, 1) === \array_slice($after, 1) && ($before[0] === $scheme || \in_array([$scheme, true], [[$proxied, true], [$ssl === 'on' ? 'https' : 'http', $ssl !== ''], [$port === '443' ? 'https' : 'http', $port !== '']], true));
    }

    /** @param list<string> $headers of the answer */
    private function redirect(array $headers): void
    {
        foreach ($headers as $line) {
            if (strncasecmp($line, 'Location:', 9) === 0 && !headers_sent()) {
                header('Location: ' . $this->request->withDropped(trim(substr($line, 9))), true, (int) http_response_code());
            }
        }
    }

    /** The page is not stored, whatever it shows. */
    public function exclude(string $why): void
    {
        $this->facts[$why] = true;
    }

    private function refuse(string $why): void
    {
        $this->request->why = $why;
        $made = time();
        $this->store->fill($this->request, ['pass' => $why, 'made' => $made, 'until' => $made + self::PASSES], [PageTags::of('site', site: $this->site), 'network'], self::PASSES);
        headers_sent() || header('Cache-Status: Larder; fwd=bypass; detail=' . strtok($why, ':'));
        $this->request->release();
    }

    /**
     * @param list<string> $headers
     * @param list<string> $tags
     *
     * @return array{status: int, headers: list<string>, more: list<string>, gzip: string, br: string, etag: string, length: int, made: int, until: int, took: int, queries: int, tags: list<string>}
     */
    private function page(int $status, array $headers, string $body, array $tags): array
    {
        $kept = [];
        $hasControl = false;
        foreach ($headers as $line) {
            $name = strtolower(strstr($line, ':', true) ?: '');
            if (!\in_array($name, ['date', 'server', 'x-powered-by', 'age', 'content-length', 'connection', 'keep-alive', 'transfer-encoding', 'cache-status', 'etag', 'vary', 'expires', 'pragma'], true)) {
                $kept[] = $line;
            }
            $hasControl = $hasControl || $name === 'cache-control';
        }
        $etag = 'W/"' . hash('xxh128', $body) . '"';
        $kept[] = "ETag: {$etag}";
        $kept[] = 'Vary: Accept-Encoding';
        $names = implode(' ', array_map(HttpPurger::name(...), $tags));
        $shared = $this->options['cdn_seconds'] ?? 0;
        $most = apply_filters('larder_cdn_header_bytes', self::MOST_HEADERS);
        // A CDN that does not know all tags could not be told of all changes.
        $isShared = !$hasControl && \is_int($shared) && $shared > 0 && \strlen(implode("\r\n", $kept)) + 2 * \strlen($names) <= (\is_int($most) ? $most : self::MOST_HEADERS);
        if ($isShared) {
            $stale = $this->options['cdn_stale'] ?? 0;
            $kept[] = "Cache-Control: public, max-age=0, s-maxage={$shared}" . (\is_int($stale) && $stale > 0 ? ", stale-while-revalidate={$stale}" : '');
            $kept[] = 'Cache-Tag: ' . strtr($names, ' ', ',');
            $kept[] = "Surrogate-Key: {$names}";
        } elseif (!$hasControl) {
            // A browser is never told that its copy is out of date; it asks each time, and is told 304.
            $kept[] = 'Cache-Control: public, max-age=0, must-revalidate';
        }
        // The first of a name takes the place of what PHP or wp-config.php sends before a hit.
        $first = array_intersect_key($kept, array_unique(array_map(static fn(string $line): string => strtolower(strstr($line, ':', true) ?: ''), $kept)));
        $made = time();
        $ttl = \is_int($this->options['ttl'] ?? null) ? $this->options['ttl'] : PageCache::TTL;

        return [
            'status' => $status,
            'headers' => array_values($first),
            'more' => array_values(array_diff_key($kept, $first)),
            'gzip' => (string) gzencode($body, 6),
            'br' => \function_exists('brotli_compress') ? (string) brotli_compress($body, 6) : '',
            'etag' => $etag,
            'length' => \strlen($body),
            'made' => $made,
            'until' => $made + min($ttl, $status === 200 ? $ttl : self::SHORT, $this->secondsToNextPost($tags, $made), $this->secondsToNextEnd($made)),
            // What each visitor saves who gets it.
            'took' => (int) (timer_float() * 1_000),
            'queries' => get_num_queries(),
            'tags' => $tags,
        ];
    }

    /**
     * WordPress looks only when it makes a page if the time of a post has come. So no list outlives that moment, of this site or another.
     *
     * @param list<string> $tags
     */
    private function secondsToNextPost(array $tags, int $now): int
    {
        $next = \PHP_INT_MAX;
        $sites = [];
        foreach ($tags as $tag) {
            if (preg_match('~^(\d+)/(?:list|all)/(?!users$|comments$)~', $tag, $parts) === 1) {
                $sites[(int) $parts[1]] = true;
            }
        }
        foreach (array_keys($sites) as $site) {
            $cron = $site === $this->site ? _get_cron_array() : get_blog_option($site, 'cron');
            foreach (\is_array($cron) ? $cron : [] as $time => $events) {
                if ($time > $now && \is_array($events) && isset($events['publish_future_post'])) {
                    $next = min($next, (int) $time - $now);
                    break;
                }
            }
        }

        return $next;
    }

    /** Sales and transients end by themselves. No hook tells of it. */
    private function secondsToNextEnd(int $now): int
    {
        $seconds = [\PHP_INT_MAX];
        $read = $this->read() ?? [];
        foreach ($read['post_meta'] ?? [] as $meta) {
            foreach (self::SALES as $key => $later) {
                $values = \is_array($meta) ? $meta[$key] ?? null : null;
                $time = \is_array($values) ? $values[0] ?? null : null;
                if (is_numeric($time) && (int) $time + $later > $now) {
                    $seconds[] = (int) $time + $later - $now;
                }
            }
        }
        $isShown = static fn(int|string $id): bool => !PageTags::isOfNoPage((string) preg_replace('/^\d+:/', '', (string) $id));
        $ends = [];
        foreach (['transient', 'site-transient'] as $group) {
            array_push($ends, ...ObjectCache::current()?->ends($group, array_values(array_filter(array_keys($read[$group] ?? []), $isShown))) ?? []);
        }
        foreach (['options', 'site-options'] as $group) {
            // Where they are options.
            foreach ($read[$group] ?? [] as $id => $value) {
                if (preg_match('/^(?:\d+:)?_(?:site_)?transient_timeout_(.+)$/sD', (string) $id, $transient) === 1 && is_numeric($value) && $isShown($transient[1])) {
                    $ends[] = (int) $value;
                }
            }
        }

        return min([...$seconds, ...array_map(static fn(int $end): int => max(self::SHORTEST, $end - $now), $ends)]);
    }

    private function lookAtTheEnd(string $body): void
    {
        $error = error_get_last();
        foreach ([
            'error' => $error !== null && ($error['type'] & (\E_ERROR | \E_PARSE | \E_CORE_ERROR | \E_COMPILE_ERROR | \E_USER_ERROR | \E_RECOVERABLE_ERROR)) !== 0,
            'database' => ($this->hasFailed)(),
            'aborted' => connection_status() !== \CONNECTION_NORMAL,
            'early' => did_action('template_redirect') === 0,
            'logged-in' => is_user_logged_in(),
            'kind' => is_admin() || wp_doing_ajax() || wp_doing_cron() || \defined('REST_REQUEST') || \defined('XMLRPC_REQUEST'),
            'DONOTCACHEPAGE' => \defined('DONOTCACHEPAGE') && DONOTCACHEPAGE,
            'preview' => is_preview() || is_customize_preview(),
            'search' => is_search(),
            'session' => session_status() === \PHP_SESSION_ACTIVE,
            'flushed' => wp_cache_get('began', 'larder-page') !== true,
            'switched' => get_current_blog_id() !== $this->site,
            'protected' => $this->isProtected(),
            'cart' => $this->isCart(),
            'nonce' => $this->showsNonce($body),
        ] as $fact => $is) {
            if ($is) {
                $this->facts[$fact] = true;
            }
        }
        if (apply_filters('larder_page_is_cached', true) !== true) {
            $this->facts['filter'] = true;
        }
    }

    private function isProtected(): bool
    {
        $post = is_singular() ? get_queried_object() : null;

        return $post instanceof \WP_Post && ($post->post_password !== '' || !is_post_publicly_viewable($post));
    }

    private function isCart(): bool
    {
        foreach (['is_cart', 'is_checkout', 'is_account_page', 'edd_is_checkout'] as $function) {
            if (\function_exists($function) && $function() === true) {
                return true;
            }
        }

        return false;
    }

    private function showsNonce(string $body): bool
    {
        foreach (array_keys($this->nonces) as $action) {
            if (str_contains($body, (string) wp_create_nonce((string) $action))) {
                return true;
            }
        }

        return false;
    }

    private function nonce(mixed $user, mixed $action): mixed
    {
        if (!$this->ends && (\is_string($action) || \is_int($action))) {
            $this->nonces[(string) $action] = true;
        }
        if ($user !== 0 && !$this->ends) {
            // Each visitor gets others, and so a page of their own.
            $this->facts['nonce'] = true;
        }

        return $user;
    }

    /** What a plugin lets a user see belongs to that user, even if the request is a visitor's again at its end. */
    private function user(): void
    {
        if (is_user_logged_in()) {
            $this->facts['logged-in'] = true;
        }
    }

    private function mobile(mixed $is): mixed
    {
        $this->facts['mobile'] = true;

        return $is;
    }

    /** Prices have the taxes of this visitor's country. With "geolocation_ajax" a script in the page goes to an address for that country. */
    private function taxed(mixed $address): mixed
    {
        if (get_option('woocommerce_default_customer_address') === 'geolocation') {
            $this->facts['located'] = true;
        }

        return $address;
    }

    /** WooCommerce itself asks with each page if its customers are located, shown or not. Otherwise a plugin asks, for what it shows. */
    private function located(mixed $country): mixed
    {
        if (!\in_array(get_option('woocommerce_default_customer_address'), ['geolocation', 'geolocation_ajax'], true)) {
            $this->facts['located'] = true;
        }

        return $country;
    }

    private function posts(mixed $posts, \WP_Query $query): mixed
    {
        $of = $query->query_vars;
        $types = $of['post_type'] ?? '';
        $types = array_filter(\is_array($types) ? $types : [$types === '' ? 'post' : $types], is_string(...));
        $isFirm = ($of['cache_results'] ?? true) !== false && ($of['s'] ?? '') === '' && ($of['meta_key'] ?? '') === '' && ($of['meta_query'] ?? []) === [];
        $isFirm = $isFirm && $this->isOfSeen($of['post_status'] ?? '');
        $orders = $of['orderby'] ?? '';
        foreach (\is_array($orders) ? array_keys($orders) : explode(' ', \is_string($orders) ? $orders : 'rand') as $order) {
            $isFirm = $isFirm && isset(self::FIRM[strtolower((string) $order)]);
        }
        if ($this->isByText((string) $query->request) || !$isFirm) {
            foreach ($types as $type) {
                $this->list('all', $type === 'any' ? 'any' : $type);
            }

            return $posts;
        }
        if ($query->is_main_query() && $query->is_singular) {
            return $posts;
        }
        $terms = $this->termsOf($query);
        $author = $of['author'] ?? '';
        if (($of['author_name'] ?? '') !== '' && (!is_numeric($author) || $author <= 0)) {
            // There is no such author yet.
            $this->list('list', 'users');
        }
        $parent = $of['post_parent'] ?? '';
        if ($terms !== []) {
            foreach ($terms as $term) {
                $this->list('list', "term/{$term}");
            }
        } elseif (is_numeric($author) && $author > 0) {
            $this->list('list', "author/{$author}");
        } elseif (is_numeric($parent) && $parent > 0) {
            // A post that comes below another, or goes, is told of with that one.
            $this->list('post', (int) $parent);
        } else {
            foreach ($types as $type) {
                $this->list('list', $type);
            }
        }

        return $posts;
    }

    /**
     * Filters of a query may have it read more than its arguments say. Where its result comes from the object cache, its SQL is not run.
     *
     * @return bool whether meta or text of posts is in it
     */
    private function isByText(string $sql): bool
    {
        $database = $GLOBALS['wpdb'] ?? null;
        if (!$database instanceof \wpdb) {
            return true;
        }
        $isByMeta = false;
        foreach (PageTables::read($sql) as $table) {
            $isByMeta = $isByMeta || $table === $database->postmeta;
            if (!\in_array($table, [$database->posts, $database->postmeta, $database->term_relationships, $database->term_taxonomy, $database->terms], true)) {
                $together = PageTables::together($table, $database);
                $this->noteTable($together);
                $this->noteJoin($together);
            }
        }

        return $isByMeta || preg_match('~\bFROM\b.*\b(?:post_content|post_excerpt|post_modified|post_modified_gmt|comment_count|comment_status|ping_status)\b~s', $sql) === 1;
    }

    /** Whether a list has only posts of which PageChanges tells where they stand. */
    private function isOfSeen(mixed $statuses): bool
    {
        foreach (\is_array($statuses) ? $statuses : explode(',', \is_string($statuses) ? $statuses : 'any') as $status) {
            if ($status !== '' && !PageChanges::isSeen(\is_string($status) ? trim($status) : '')) {
                return false;
            }
        }

        return true;
    }

    private function pages(mixed $pages, mixed $of): mixed
    {
        $type = \is_array($of) ? $of['post_type'] ?? 'page' : 'page';
        $type = \is_string($type) ? $type : 'any';
        $isFirm = \is_array($of) && ($of['meta_key'] ?? '') === '' && $this->isOfSeen($of['post_status'] ?? '');
        foreach (explode(',', \is_array($of) && \is_string($of['sort_column'] ?? null) ? $of['sort_column'] : '') as $order) {
            $isFirm = $isFirm && isset(self::FIRM[strtolower(trim($order))]);
        }
        $this->list($isFirm ? 'list' : 'all', $type);

        return $pages;
    }

    /** @return list<int> the terms that all posts of a query have one of; empty: there are none such */
    private function termsOf(\WP_Query $query): array
    {
        $clauses = $query->tax_query->queries ?? [];
        if (($clauses['relation'] ?? 'AND') !== 'AND') {
            return [];
        }
        foreach ($clauses as $clause) {
            $taxonomy = \is_array($clause) ? $clause['taxonomy'] ?? null : null;
            if (!\is_array($clause) || !\is_string($taxonomy) || ($clause['operator'] ?? 'IN') !== 'IN') {
                continue;
            }
            $field = $clause['field'] ?? 'term_id';
            $terms = [];
            // The page itself has not asked for these.
            $this->isLooking = true;
            foreach ((array) ($clause['terms'] ?? []) as $named) {
                $term = \is_string($field) && (\is_string($named) || \is_int($named)) ? get_term_by($field, $named, $taxonomy) : null;
                $terms[] = $term instanceof \WP_Term ? $term->term_id : 0;
            }
            $this->isLooking = false;
            if ($terms !== [] && !\in_array(0, $terms, true)) {
                return $terms;
            }
        }

        return [];
    }

    private function terms(mixed $terms, \WP_Term_Query $query): mixed
    {
        if ($this->isLooking) {
            return $terms;
        }
        foreach ((array) ($query->query_vars['object_ids'] ?? []) as $post) {
            is_numeric($post) && $this->list('post', (int) $post);
        }
        if (empty($query->query_vars['object_ids'])) {
            foreach ((array) ($query->query_vars['taxonomy'] ?: ['any']) as $taxonomy) {
                $this->list('terms', \is_string($taxonomy) ? $taxonomy : 'any');
            }
        }

        return $terms;
    }

    private function comments(mixed $comments, \WP_Comment_Query $query): mixed
    {
        $post = $query->query_vars['post_id'] ?? 0;
        is_numeric($post) && $post > 0 ? $this->list('comments', (int) $post) : $this->list('list', 'comments');
        if (!\in_array($query->query_vars['status'] ?? '', ['approve', '1', 1], true)) {
            $this->list('all', 'comments');
        }

        return $comments;
    }

    /** @param mixed $query of users; else how WordPress counts them */
    private function users(mixed $users, mixed $query = null, mixed $site = null): mixed
    {
        $of = $query instanceof \WP_User_Query ? $query->query_vars : [];
        $orders = $of['orderby'] ?? 'login';
        // A role or a capability may also be given by meta alone.
        $isByRole = array_filter(array_intersect_key($of, ['role' => 0, 'role__in' => 0, 'role__not_in' => 0, 'capability' => 0, 'capability__in' => 0, 'capability__not_in' => 0])) !== [];
        $isByMeta = $isByRole || ($of['meta_key'] ?? '') !== '' || ($of['meta_query'] ?? []) !== [] || !\is_string($orders) || str_contains($orders, 'meta');
        $site = $of['blog_id'] ?? $site;
        foreach (array_unique([get_current_blog_id(), is_multisite() && is_numeric($site) ? (int) $site : get_current_blog_id()]) as $id) {
            $this->list('list', 'users', $id);
            $isByMeta && $this->list('all', 'users', $id);
        }

        return $users;
    }

    private function postsOf(mixed $count, mixed $author): mixed
    {
        is_numeric($author) && $this->list('list', 'author/' . (int) $author);

        return $count;
    }

    /** @param ?int $site null: the present one */
    private function list(string $kind, int|string $what, ?int $site = null): void
    {
        if (!$this->ends) {
            $this->lists[PageTags::of($kind, $what, $site)] = true;
        }
    }

    /** @return list<string> of all that the page shows */
    private function tags(int $status): array
    {
        $tags = $this->lists;
        foreach ($this->lookedFor as [$group, $key]) {
            if (trim($key) === '' || wp_cache_get($key, $group) === false) {
                $tags[PageTags::of('list', 'users')] = true;
            }
        }
        foreach (['site', ...$status === 404 ? ['list/any', 'list/users', 'any'] : []] as $kind) {
            $tags[PageTags::of($kind, site: $this->site)] = true;
        }
        $tags['network'] = true;
        $tags[PageTags::ofUrl(substr((string) strrchr($this->request->key, '|'), 1), $this->site)] = true;
        foreach ([0 => ($this->request->options[0] ?? []) + array_fill_keys(self::EARLY, true)] + $this->request->options as $site => $options) {
            foreach (array_keys($options) as $option) {
                $tags += $this->ofOption((string) $option, $site === 0 ? $this->site : $site);
            }
        }
        $read = $this->read();
        if ($read === null) {
            // Another plugin's object cache, which does not show what was read.
            $tags[PageTags::of('any', site: $this->site)] = true;
        }
        $paths = $this->paths();
        foreach ($read ?? [] as $group => $entries) {
            foreach ($entries as $id => $value) {
                $tags += $this->ofEntry((string) $group, (string) $id, $value, $paths);
            }
        }
        unset($tags['']);
        foreach ($this->isTold() ? self::VERSIONS : [] as $version => $judged) {
            if (preg_grep('~^' . preg_quote(PageTags::of('transient', $judged, $this->site), '~') . '~', array_keys($tags)) === []) {
                unset($tags[PageTags::of('transient', $version, $this->site)]);
            }
        }
        $tags = array_map(strval(...), array_keys($tags));
        $sites = array_unique(array_map(static fn(string $tag): string => strstr($tag, '/', true) ?: '', $tags));
        foreach (array_diff($sites, ['', '0', (string) $this->site]) as $other) {
            if (ctype_digit($other)) {
                // What of another site it shows may be built of anything there, as a menu is.
                $tags[] = PageTags::of('site', site: $other);
            }
        }

        return $tags;
    }

    /** @return ?array<array-key, array<array-key, mixed>> group => id => value: what the request has read of the object cache, or missed; null: not known */
    private function read(): ?array
    {
        $cache = $GLOBALS['wp_object_cache'] ?? null;
        // WordPress's own class has it behind a method that reads it as well.
        $read = $cache instanceof ObjectCache ? $cache->cache : ($cache instanceof \WP_Object_Cache && !wp_using_ext_object_cache() ? $cache->__get('cache') : null);
        if (!\is_array($read)) {
            return null;
        }
        $read = array_filter($read, is_array(...));
        if ($cache instanceof ObjectCache) {
            // What a plugin keeps for the request alone it has made from what was read in it.
            $read = array_filter($read, static fn(string|int $group): bool => !isset($cache->non_persistent_groups[$group]) || !self::isOfPlugin((string) $group, ''), \ARRAY_FILTER_USE_KEY);
        }
        // What is not there yet may come.
        foreach ($cache instanceof ObjectCache ? $cache->absences : [] as $group => $ids) {
            $read[$group] = ($read[$group] ?? []) + $ids;
        }

        return $read;
    }

    /**
     * @param array<string, true> $paths as paths() has them
     *
     * @return array<string, true> the tags of an entry of the object cache; one of '' is none
     */
    private function ofEntry(string $group, string $id, mixed $value, array $paths): array
    {
        if ($group === 'transient' || $group === 'site-transient') {
            return $group === 'transient' && is_multisite() && preg_match('/^(\d+):(.*)$/sD', $id, $parts) === 1
                ? $this->ofTransient($parts[2], (int) $parts[1])
                : $this->ofTransient($id, $group === 'transient' ? $this->site : 0);
        }
        if ($group === 'site-options' && isset(PageChanges::COUNTS[substr((string) strrchr($id, ':'), 1)])) {
            return [PageTags::of('option', substr((string) strrchr($id, ':'), 1), 0) => true];
        }
        if ($group === 'site-options' && preg_match('/^\d+:(_site_transient_.*|notoptions)$/sD', $id, $parts) === 1) {
            // Of a network without an object cache: what is there, and what is not.
            $options = $parts[1] === 'notoptions' ? array_map(strval(...), array_keys(\is_array($value) ? $value : [])) : [$parts[1]];
            $transients = array_filter($options, static fn(string $option): bool => str_starts_with($option, '_site_transient_'));

            return array_merge(...array_map(fn(string $option): array => $this->ofOption($option, 0), array_values($transients)));
        }
        if (($group === 'site-details' || $group === 'blog-details') && ctype_digit($id)) {
            // They have options of the site in them.
            return array_fill_keys(array_map(static fn(string $option): string => PageTags::of('option', $option, (int) $id), ['blogname', 'siteurl', 'home']), true);
        }
        $isAbsent = \in_array($value, [0, '0'], true) || (\is_array($value) && \in_array($value['data'] ?? null, [0, '0'], true));
        if ($isAbsent && preg_match('/^(?:\d+:)?get_page_by_path:([0-9a-f]{32})/', $id, $parts) === 1) {
            // It looked for a page that is not there yet.
            return [PageTags::of('list', isset($paths[$parts[1]]) ? 'page' : 'any', $this->site) => true];
        }

        if ($group === PageTags::NAMELESS && (!wp_using_ext_object_cache() || !self::isOfPlugin($group, $id))) {
            // Without one nothing is kept there that this request has not made.
            return [];
        }
        $tags = [(string) $this->ofRead($group, $id) => true];
        if (self::isOfPlugin($group, $id)) {
            $tag = PageTags::of('group', $group, 0);
            if (!isset($this->watched[$group])) {
                $this->watched[$group] = true;
                $this->store->watch(PageTags::bucket($tag));
            }
            $tags += [$tag => true, PageTags::of('group', PageTags::ofEntry($group, $id), 0) => true];
        }

        return $tags;
    }

    /** Whether an entry of the object cache is a plugin's own, so that only that knows what it was made from. */
    public static function isOfPlugin(string $group, string $id): bool
    {
        if ($group === PageTags::NAMELESS) {
            return preg_match(self::NAMELESS, $id) !== 1;
        }

        return !isset(self::KNOWN[$group]) && !isset(self::OWN[$group]) && !str_ends_with($group, '_relationships');
    }

    /** @return array<string, true> by what name WordPress keeps whether a page has the path that was asked for, or a part of it */
    private function paths(): array
    {
        $paths = [];
        $wordpress = $GLOBALS['wp'] ?? null;
        $asked = $wordpress instanceof \WP ? $wordpress->request : '';
        foreach (array_unique([$asked, urldecode($asked)]) as $path) {
            $parts = explode('/', $path);
            for ($count = 1; $count <= \count($parts); $count++) {
                $paths[md5(implode('/', \array_slice($parts, 0, $count)) . serialize('page'))] = true;
            }
        }

        return $paths;
    }

    /** @return ?string the tag of what was read; null: it has none */
    private function ofRead(string $group, string $id): ?string
    {
        $site = $this->site;
        if (is_multisite() && preg_match('/^(\d+):(.*)$/sD', $id, $parts) === 1) {
            [$site, $id] = [(int) $parts[1], $parts[2]];
        }
        if (str_starts_with($id, 'last_changed')) {
            return null;
        }
        $isNumber = ctype_digit($id);
        if (str_ends_with($group, '_relationships')) {
            return PageTags::of('post', $id, $site);
        }

        return match ($group) {
            'posts', 'post-queries' => match (true) {
                $isNumber => PageTags::of('post', $id, $site),
                preg_match('/^(?:wp_query|get_page_by_path|get_pages)/', $id) === 1 => null,
                default => PageTags::of('list/any', site: $site),
            },
            'post_meta' => PageTags::of('post', $id, $site),
            'terms', 'term-queries' => match (true) {
                $isNumber => PageTags::of('term', $id, $site),
                // Of drafts as well.
                str_starts_with($id, 'get_objects_in_term') => PageTags::of('all/any', site: $site),
                default => null,
            },
            'term_meta' => PageTags::of('term', $id, $site),
            'users', 'user_meta' => PageTags::of('user', $id, 0),
            'comment', 'comment_meta' => $isNumber ? PageTags::of('comment', $id, $site) : null,
            'options' => $id === 'alloptions' || $id === 'notoptions' || PageChanges::isBookkeeping($id) ? null : PageTags::of('option', $id, $site),
            'bookmark' => PageTags::of('links', site: $site),
            'counts' => PageTags::of(match (true) {
                str_starts_with($id, 'comments') => 'all/comments',
                str_starts_with($id, 'posts-') => 'all/any',
                // As of the post that comes next.
                default => 'list/any',
            }, site: $site),
            'calendar' => PageTags::of('list/any', site: $site),
            'timeinfo' => PageTags::of(match (true) {
                str_starts_with($id, 'lastcomment') => 'list/comments',
                // A feed has it in a header, and dies with a change of what it shows. One without posts shows it.
                str_starts_with($id, 'lastpostmodified') && (!is_feed() || !$this->hasPosts()) => 'all/any',
                default => 'list/any',
            }, site: $site),
            default => isset(self::KNOWN[$group]) || $this->isTold() ? null : PageTags::of('any', site: $site),
        };
    }

    /**
     * Whether the page hears of each change of the entries that plugins keep. An entry may be out of date, but then a page that is made anew shows the
     * same, until the plugin keeps another or looks elsewhere. Where it looks may depend on the last change of a group.
     */
    private function isTold(): bool
    {
        return ObjectCache::current() !== null && wp_using_ext_object_cache() && !$this->isSalted;
    }

    private function hasPosts(): bool
    {
        $query = $GLOBALS['wp_query'] ?? null;

        return $query instanceof \WP_Query && $query->post_count > 0;
    }

    /** @return array<string, true> */
    private function ofOption(string $name, int $site): array
    {
        if (preg_match('~^_(site_)?transient_(?:timeout_)?(.+)$~sD', $name, $transient) === 1) {
            return $this->ofTransient($transient[2], $transient[1] !== '' ? 0 : $site);
        }

        return PageChanges::isBookkeeping($name) ? [] : [PageTags::of('option', $name, $site) => true];
    }

    /** @return array<string, true> */
    private function ofTransient(string $name, int $site): array
    {
        if ($name === 'is_multi_author') {
            // WordPress deletes it with each save of a post, and it only says whether several users have posts.
            return [PageTags::of('list', 'users', $site) => true];
        }
        if (PageTags::isOfNoPage($name)) {
            return [];
        }
        $tag = PageTags::of('transient', $name, $site);
        $this->store->watch(PageTags::bucket($tag));

        return [$tag => true] + ($this->isTold() ? [] : [PageTags::of('any', site: $this->site) => true]);
    }
}
