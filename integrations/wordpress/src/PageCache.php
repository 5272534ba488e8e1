<?php

declare(strict_types=1);

namespace Larder\WordPress;

/** The page cache, from the side of the plugin: its drop-in, its part in a request of WordPress, and administration. */
final class PageCache
{
    /** The option that holds what the owner wants. */
    public const OPTION = 'larder_pages';

    /** Seconds for which an old page may be served at most, whatever the owner says. */
    public const LONGEST_STALE = 600;

    /** Nanoseconds between two kills for entries of plugins in the object cache. */
    private const PAUSE = 50_000_000;

    /** Seconds that a page is kept, if the owner says nothing else. */
    public const TTL = 3_600;

    public readonly DropIn $dropIn;

    private ?PageStore $store = null;

    private ?PageChanges $changes = null;

    /** @var array<string, list<\Closure(): mixed>> by hook, changes that it is saying; they are heard when other code has heard them */
    private array $begun = [];

    private ?PageRecording $recording = null;

    private ?PageQueries $queries = null;

    /** @var array<array-key, string> by the tag's name, groups of the object cache that have changed, of which the store does not know yet */
    private array $regrouped = [];

    private int $nextGroups = 0;

    /** Whether the address of the request is that of a page. */
    private ?bool $isPage = null;

    private bool $hasFailed = false;

    /** @var array<string, true> tags that were killed in a transaction that is open */
    private array $uncommitted = [];

    /** @var array<string, true> why pages were killed in this request */
    private array $reasons = [];

    /** @var array<string, true> tags that the cache in front of the site must be told of */
    private array $toPurge = [];

    public function __construct(
        private readonly Plugin $plugin,
        string $folder,
        private readonly Transactions $transactions,
    ) {
        $this->dropIn = new DropIn($folder, WP_CONTENT_DIR, 'advanced-cache.php', 'a page cache');
    }

    /** Joins a request of WordPress. */
    public function hook(): void
    {
        if (!\defined('LARDER_PAGE_CACHE') && !$this->dropIn->isOurs()) {
            return;
        }
        foreach (PageChanges::HOOKS as $hook => [$method, $arguments]) {
            add_action($hook, function (mixed ...$given) use ($hook, $method, $arguments): void {
                $changes = $this->changes();
                if (!isset($this->begun[$hook])) {
                    $this->begun[$hook] = [];
                    add_action($hook, fn() => $this->hear($hook), \PHP_INT_MAX, 0);
                }
                // A plugin may say a hook with fewer arguments than it has.
                $this->begun[$hook][] = static fn() => $changes->$method(...array_pad(\array_slice($given, 0, $arguments), $arguments, null));
            }, \PHP_INT_MIN, $arguments);
        }
        add_action('shutdown', function (): void {
            if (array_filter($this->begun) !== []) {
                // Code of a plugin has ended the request in the middle of a hook. The database has the change, and WordPress may not have said all of it.
                $this->plugin->forget('a change that was cut off');
            }
            $this->changes?->again();
        }, \PHP_INT_MIN);
        foreach (['wp_ajax_edit-theme-plugin-file', 'load-theme-editor.php', 'load-plugin-editor.php'] as $hook) {
            // The editor of files ends the request, and no hook says what it has written.
            add_action($hook, fn() => ($_SERVER['REQUEST_METHOD'] ?? '') !== 'POST' || add_action('shutdown', fn() => $this->kill(['network'], 'files'), \PHP_INT_MIN), \PHP_INT_MIN);
        }
        foreach (is_multisite() ? ['add_site_option_', 'update_site_option_', 'delete_site_option_'] : ['add_option_', 'update_option_', 'delete_option_'] as $hook) {
            // As by WP-CLI. A hit knows only what the drop-in says.
            add_action($hook . self::OPTION, $this->keepUp(...), 10, 0);
        }
        // A page with the nonce would not be stored. Akismet then says that there is none, and judges a comment by the rest.
        add_filter('akismet_comment_nonce', static fn(mixed $is): mixed => $is === 'true' ? $is : 'inactive', \PHP_INT_MIN);
        add_action(PageWarming::HOOK, function (): void {
            $this->warming()->run();
        });
        $database = $GLOBALS['wpdb'] ?? null;
        if ($database instanceof \wpdb) {
            $this->queries = new PageQueries($database, $this->wrote(...), fn(string $sql) => $this->changes()->moves($sql), $this->isVisit(...), $this->transactions);
            $this->queries->hook();
        }
        $this->transactions->after(function (): void {
            $tags = array_map(strval(...), array_keys($this->uncommitted));
            $this->uncommitted = [];
            $tags === [] || $this->kill($tags, 'transaction');
        });
        // From WordPress 6.8 on "setted" is another name for the same.
        foreach (['deleted_transient', version_compare(get_bloginfo('version'), '6.8-alpha', '>=') ? 'set_transient' : 'setted_transient'] as $hook) {
            add_action($hook, fn(mixed $name): mixed => \is_string($name) ? $this->keptAnew(PageTags::of('transient', $name), $name) : null, \PHP_INT_MAX);
            add_action(str_replace('_transient', '_site_transient', $hook), fn(mixed $name): mixed => \is_string($name) ? $this->keptAnew(PageTags::of('transient', $name, 0), $name) : null, \PHP_INT_MAX);
        }
        $cache = ObjectCache::current();
        if ($cache !== null) {
            $cache->tells = $this->regrouped(...);
            add_action('shutdown', $this->tellGroups(...), \PHP_INT_MAX - 1);
            add_filter('query', function (mixed $sql): mixed {
                if ($this->regrouped !== [] && hrtime(true) >= $this->nextGroups) {
                    $this->tellGroups();
                }

                return $sql;
            }, \PHP_INT_MAX);
        }
        $request = $GLOBALS['larder_page'] ?? null;
        if (!$request instanceof PageRequest || is_admin()) {
            return;
        }
        if ($request->why === 'journal') {
            // Opening the store delivers it.
            $this->store();
        }
        if ($request->key === '' || ($this->installed()['identity'] ?? null) !== Settings::identity() || Settings::isOutdated()) {
            headers_sent() || header('Cache-Status: Larder; fwd=bypass; detail=' . (strtok($request->why, ':') ?: 'store'));

            return;
        }
        $this->recording = new PageRecording($request, $this->store(), $this->options(), $this->warming(), $this->transactions->hasFailed(...));
        $this->recording->begin();
        if ($this->rules() !== ($this->installed()['rules'] ?? null)) {
            // PHP may keep the drop-in of before for a while. A page that its rules allow would be served by the new ones, as those only look for it.
            $this->recording->exclude('rules');
        }
        $queries = $this->queries;
        if ($cache !== null && $queries !== null) {
            $recording = $this->recording;
            $cache->asked = static function () use ($queries, $recording): void {
                $queries->isAskedByPlugin() && $recording->noteSalt();
            };
        }
        $this->queries?->watch($this->recording->noteTable(...), $this->recording->noteList(...), $this->recording->noteLook(...));
    }

    /**
     * Writes advanced-cache.php, and begins without pages.
     *
     * @return ?string why not, in a sentence
     */
    public function enable(bool $overForeign = false): ?string
    {
        $installed = $this->toInstall();
        if ($installed === null) {
            return $this->plugin->choice()->why;
        }
        if ($installed['store'] === 'files') {
            $mistake = (new PageFiles($installed['pages']))->prepare();
            if ($mistake !== null) {
                return $mistake;
            }
        }
        $mistake = $this->dropIn->write($installed, $overForeign);
        if ($mistake === null) {
            self::storeOf($installed)->invalidate(['network', 'everything']);
        }

        return $mistake;
    }

    /** @return ?string why not, in a sentence */
    public function disable(): ?string
    {
        wp_unschedule_hook(PageWarming::HOOK);
        $installed = $this->installed();
        $mistake = $this->dropIn->remove();
        if ($installed !== [] && $mistake === null) {
            self::storeOf($installed)->invalidate(['network', 'everything']);
        }

        return $mistake;
    }

    /** The drop-in is written anew where the plugin, the store or the rules are others now. No page of other rules is served then. */
    public function keepUp(): void
    {
        $installed = $this->toInstall();
        if ($installed === null || !$this->dropIn->isOurs()) {
            return;
        }
        $used = $this->installed();
        if (array_diff_key($used, ['plugin' => 0]) == $installed) {
            $this->dropIn->write($installed);
        } else {
            $this->enable();
        }
    }

    /**
     * Kills pages.
     *
     * @param list<string> $tags
     * @param bool         $isSoft whether the old page may still be served while one process makes the new one, if the owner allows it
     *
     * @return bool whether the store knows
     */
    public function kill(array $tags, string $why, bool $isSoft = false): bool
    {
        $this->recording?->noteChange($why);
        if ($this->reasons === []) {
            // Once a request, and when it has changed all.
            add_action('shutdown', fn() => $this->warming()->schedule(), \PHP_INT_MAX);
        }
        $this->reasons[$why] = true;
        $this->uncommitted += $this->transactions->isOpen() ? array_fill_keys($tags, true) : [];
        $isKnown = $this->store()->invalidate($tags, $isSoft ? $this->stale() : 0);
        $this->purge($tags);
        if (!$isKnown && !$this->hasFailed) {
            $this->hasFailed = true;
            error_log("Larder: pages may be out of date: {$why} has changed, and the store of pages does not know.");
        }

        return $isKnown;
    }

    private function changes(): PageChanges
    {
        return $this->changes ??= new PageChanges($this->kill(...));
    }

    private function hear(string $hook): void
    {
        $this->changes?->again();
        $change = array_pop($this->begun[$hook]);
        $change === null || $change();
    }

    /**
     * Kills the pages that read tables by SQL of their own.
     *
     * @param list<string> $tables
     */
    private function wrote(array $tables): void
    {
        foreach ($tables as $table) {
            if ($this->store()->isWatched(PageTags::of('joined', $table, 0)) === true) {
                // WordPress has kept lists of posts that depend on it, under when posts have last changed.
                wp_cache_set('last_changed', microtime(), 'posts');
            }
            $tag = PageTags::of('table', $table, 0);
            $isWatched = $this->store()->isWatched($tag);
            if ($isWatched === true) {
                $this->kill([$tag], "table {$table}");
            } elseif ($isWatched === null) {
                $this->store()->invalidate([$tag]);
            }
        }
    }

    /** A transient is another now, or gone. */
    private function keptAnew(string $tag, string $name): void
    {
        if (PageTags::isOfNoPage($name) || $this->isVisit()) {
            return;
        }
        // Names may be many, as those with a hash in them. Which of them pages read is known only at the end of a page, so the store is told in any case.
        if ($this->store()->isWatched(PageTags::bucket($tag)) === true) {
            $this->kill([$tag], "transient {$name}");
        } else {
            $this->uncommitted += $this->transactions->isOpen() ? [$tag => true] : [];
            $this->store()->invalidate([$tag]);
        }
    }

    /**
     * A plugin has other entries of its own in the object cache, or says so of WordPress's.
     *
     * @param bool            $isFill whether only what had been missing is there again, as far as this request has not changed what it was made from
     * @param int|string|null $id     null: all of the group
     */
    private function regrouped(string $group, bool $isFill, int|string|null $id): void
    {
        if ($this->queries?->tellsCacheAlone($group) === true) {
            $this->changes()->entry($group, $id);

            return;
        }
        if ($isFill && $this->queries?->hasWritten !== true) {
            return;
        }
        $place = $id === null ? $group : PageTags::ofEntry($group, $id);
        if (isset($this->regrouped[$place]) && hrtime(true) < $this->nextGroups || !PageRecording::isOfPlugin($group, (string) $id) || $this->isVisit()) {
            return;
        }
        $this->regrouped[$place] = $group;
        if (hrtime(true) >= $this->nextGroups) {
            $this->tellGroups();
        }
    }

    private function tellGroups(): void
    {
        if ($this->regrouped === []) {
            return;
        }
        $regrouped = $this->regrouped;
        $this->regrouped = [];
        foreach ($regrouped as $place => $group) {
            $tag = PageTags::of('group', $place, 0);
            // Which groups a page reads is known only at its end, so the store is told in any case.
            if ($this->store()->isWatched(PageTags::bucket(PageTags::of('group', $group, 0))) === true) {
                $this->kill([$tag], "group {$group}");
            } else {
                $this->uncommitted += $this->transactions->isOpen() ? [$tag => true] : [];
                $this->store()->invalidate([$tag]);
            }
        }
        // A save may change thousands of entries.
        $this->nextGroups = hrtime(true) + self::PAUSE;
    }

    /** Whether this request only asks for a page, for any visitor. */
    public function isVisit(): bool
    {
        if (PHP_SAPI === 'cli' || is_admin() || wp_doing_cron() || \defined('REST_REQUEST') || \defined('XMLRPC_REQUEST')) {
            return false;
        }
        $rules = $this->installed()['rules'] ?? [];
        /** @phpstan-var array<string, list<string>> $rules the plugin has written them */

        return $this->isPage ??= PageRequest::decide($_SERVER, [], array_diff_key($rules, ['agents' => 0]))['why'] === '';
    }

    /** @return list<string> why pages were killed in this request */
    public function reasons(): array
    {
        return array_map(strval(...), array_keys($this->reasons));
    }

    /** The pages of one site, or of a whole network. */
    public function flush(?int $site = null): bool
    {
        return $this->kill($site === null ? ['network'] : [PageTags::of('site', site: $site)], 'flush');
    }

    /**
     * Kills one page, in each scheme and behind each proxy that it was made for.
     *
     * @param string $url its address, or the path of one of this site's
     *
     * @return ?string why not, in a sentence
     */
    public function forget(string $url): ?string
    {
        $home = self::home();
        $address = self::address($url);
        $parts = parse_url($address);
        $host = strtolower(($parts['host'] ?? '') . (isset($parts['port']) ? ":{$parts['port']}" : ''));
        $site = match (true) {
            $host === '' => null,
            is_multisite() => get_site_by_path($host, $parts['path'] ?? '/')->blog_id ?? null,
            "//{$host}" === strstr(strtolower($home), '//') => get_current_blog_id(),
            default => null,
        };
        if ($site === null) {
            /* translators: 1: what was given, 2: the address of the front page. */
            return sprintf(__('%1$s is no address of a page here; addresses look like %2$s.', 'larder'), $url, home_url('/'));
        }
        // As a visitor who asks for it so finds it, and has it named.
        $uri = $this->decision($address)['uri'];
        $at = $host . ($uri !== '' ? $uri : (string) preg_replace('~^[a-z]+://[^/?#]*|#.*$~i', '', $address));

        return $this->kill([PageTags::ofUrl($at, (int) $site)], "page {$at}") ? null : __('The store of pages does not answer; the page was not cleared.', 'larder');
    }

    /** @return ?bool whether there is a page of a URL for a visitor without cookies; null: the store cannot tell */
    public function has(string $url): ?bool
    {
        $page = $this->installed() === [] ? null : $this->explain(self::address($url))['page'];

        return $page === null && $this->installed() !== [] && $this->trouble() !== null ? null : $page !== null && !isset($page['pass']);
    }

    /**
     * What a visitor who has no cookies gets for a URL: whether it is cached, and why.
     *
     * @param array<string, string> $cookies
     *
     * @return array{key: string, why: string, page: array<array-key, mixed>|null} why not, if the key is empty; else the page, if it is there
     */
    public function explain(string $url, array $cookies = [], string $method = 'GET'): array
    {
        // A visitor behind a proxy is told of the pages that come through it.
        $proxy = array_intersect_key($_SERVER, ['HTTP_X_FORWARDED_PROTO' => 0, 'HTTP_X_FORWARDED_SSL' => 0, 'HTTP_X_FORWARDED_PORT' => 0]);
        $decision = $this->decision($url, $proxy, $cookies, $method);
        $page = $decision['key'] === '' ? null : $this->store()->find($decision['key']);
        if ($page === null && $decision['key'] !== '' && $proxy !== []) {
            // The quick way comes before wp-config.php has believed the proxy.
            $decision = $this->decision($url, ['HTTPS' => str_starts_with($url, 'https:') ? '' : 'on'] + $proxy, $cookies, $method);
            $page = $this->store()->find($decision['key']);
        }

        return ['key' => $decision['key'], 'why' => $decision['why'], 'page' => $page];
    }

    /** Whether pages of a URL may be kept, for a visitor without cookies. No store is asked. */
    public function mayKeep(string $url): bool
    {
        return $this->decision($url)['why'] === '';
    }

    /** The beginning of all addresses of this site's host. */
    private static function home(): string
    {
        return (string) preg_replace('~^([a-z]+://[^/]+).*$~i', '$1', home_url());
    }

    /** An address of which a person may have left out the beginning. */
    private static function address(string $url): string
    {
        return match (true) {
            str_starts_with($url, '/') => self::home() . $url,
            preg_match('~^https?://~i', $url) !== 1 => "http://{$url}",
            default => $url,
        };
    }

    /**
     * @param array<array-key, mixed> $server  what of $_SERVER the URL does not say
     * @param array<string, string>   $cookies
     *
     * @return array{key: string, uri: string, why: string} as PageRequest has it
     */
    private function decision(string $url, array $server = [], array $cookies = [], string $method = 'GET'): array
    {
        $parts = parse_url($url);
        $host = \is_array($parts) ? ($parts['host'] ?? '') . (isset($parts['port']) ? ":{$parts['port']}" : '') : '';
        $uri = (string) preg_replace('~^[a-z]+://[^/?#]*|#.*$~i', '', $url);
        $rules = $this->installed()['rules'] ?? [];
        /** @phpstan-var array<string, list<string>> $rules the plugin has written them */

        return PageRequest::decide($server + ['REQUEST_METHOD' => $method, 'HTTP_HOST' => $host, 'REQUEST_URI' => $uri === '' ? '/' : $uri, 'HTTPS' => str_starts_with($url, 'https:') ? 'on' : ''], $cookies, $rules);
    }

    /**
     * @param array<string, mixed> $options what the owner wants from now on
     *
     * @return ?string why the drop-in could not be written, in a sentence
     */
    public function configure(array $options): ?string
    {
        is_multisite() ? update_site_option(self::OPTION, $options) : update_option(self::OPTION, $options, false);
        $mistake = $this->dropIn->isOurs() ? $this->enable() : null;
        $this->flush();

        return $mistake;
    }

    public function trouble(): ?string
    {
        return $this->store()->trouble();
    }

    /** @return array<array-key, mixed> what the drop-in was written with; empty: there is none of ours */
    public function installed(): array
    {
        if (!\defined('LARDER_PAGE_CACHE') && $this->dropIn->isOurs()) {
            // It only says its settings: the request has begun long ago.
            \defined('LARDER_PAGE_CACHE_LATE') || \define('LARDER_PAGE_CACHE_LATE', true);
            include $this->dropIn->path;
        }

        return \defined('LARDER_PAGE_CACHE') && \is_array(LARDER_PAGE_CACHE) ? LARDER_PAGE_CACHE : [];
    }

    /** @return array<string, mixed> what the owner wants */
    public function options(): array
    {
        $options = is_multisite() ? get_site_option(self::OPTION, []) : get_option(self::OPTION, []);
        $named = [];
        foreach (\is_array($options) ? $options : [] as $name => $option) {
            $named[(string) $name] = $option;
        }

        return $named;
    }

    /** @return int seconds for which others get the old page while one process makes the new one; 0: never */
    public function stale(): int
    {
        $stale = $this->options()['stale'] ?? 0;

        return \is_int($stale) ? max(0, min(self::LONGEST_STALE, $stale)) : 0;
    }

    public function warming(): PageWarming
    {
        return new PageWarming($this, $this->options());
    }

    public function store(): PageStore
    {
        return $this->store ??= self::storeOf($this->installed() ?: ($this->toInstall() ?? []));
    }

    /**
     * Tells the cache in front of the site at the end of the request, in one go.
     *
     * @param list<string> $tags
     */
    private function purge(array $tags): void
    {
        $url = $this->options()['cdn_url'] ?? '';
        $purger = apply_filters('larder_purger', \is_string($url) && $url !== '' ? new HttpPurger($url) : null);
        if (!$purger instanceof Purger) {
            return;
        }
        if ($this->toPurge === []) {
            add_action('shutdown', function () use ($purger): void {
                $mistake = $purger->purge(array_map(HttpPurger::name(...), array_map(strval(...), array_keys($this->toPurge))));
                $this->toPurge = [];
                if ($mistake !== null) {
                    error_log("Larder: {$mistake}");
                }
            }, \PHP_INT_MAX);
        }
        $this->toPurge += array_fill_keys($tags, true);
    }

    /** @param array<array-key, mixed> $installed */
    private static function storeOf(array $installed): PageStore
    {
        $pages = $installed['pages'] ?? '';
        if (($installed['store'] ?? null) === 'files') {
            return new PageFiles(\is_string($pages) ? $pages : '');
        }
        $settings = Settings::of($installed);
        $cache = ObjectCache::current();
        $here = Settings::ofThisSite();
        $isSame = $cache !== null && $here->pool === $settings->pool && $here->dsn === $settings->dsn;

        return new PagesInStore($isSame ? $cache->backend() : Opening::with($settings)->backend(), $settings, $installed);
    }

    /** @return array{format: int, store: string, names: string, pool: ?string, size: ?int, prefix: string, directory: ?string, pages: string, journal: ?string, owner: ?int, identity: string, content: string, stale: int, rules: array<string, list<string>>}|null null: there is no store */
    private function toInstall(): ?array
    {
        $installed = $this->plugin->toInstall();
        if ($installed === null) {
            return null;
        }
        $settings = Settings::of($installed);
        $store = $settings->pool !== null ? 'pool' : ($installed['store'] === 'server' ? 'server' : 'files');

        return [
            'format' => PageHit::FORMAT,
            'store' => $store,
            'names' => Settings::names(),
            'pool' => $settings->pool,
            'size' => $settings->size,
            'prefix' => $settings->prefix(),
            'directory' => $settings->directory,
            'pages' => "{$settings->directory}/pages",
            'journal' => $settings->pool === null ? null : $settings->journal(),
            'owner' => $settings->owner,
            'identity' => $settings->identity,
            // As PHP names the folder of a file in it.
            'content' => realpath(WP_CONTENT_DIR) ?: WP_CONTENT_DIR,
            'stale' => $this->stale(),
            'rules' => $this->rules(),
        ];
    }

    /** @return array<string, list<string>> for PageRequest */
    private function rules(): array
    {
        $rules = [];
        foreach (PageRules::LISTS as $name) {
            $listed = $this->options()[$name] ?? [];
            $lines = array_map(static fn(string $line): string => PageRules::of($name, $line), \is_array($listed) ? array_filter($listed, is_string(...)) : []);
            $rules[$name] = array_values(array_unique(array_filter($lines, static fn(string $line): bool => $line !== '')));
        }

        return $rules;
    }
}
