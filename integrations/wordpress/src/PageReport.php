<?php

declare(strict_types=1);

namespace Larder\WordPress;

/** Says in sentences how the page cache does, and why a page is not cached. */
final class PageReport
{
    public function __construct(
        private readonly PageCache $pages,
    ) {}

    public function isOn(): bool
    {
        return $this->pages->dropIn->isOurs() && ((\defined('WP_CACHE') && WP_CACHE) || $this->isQuick());
    }

    /** Whether a line in wp-config.php loads it. */
    public function isQuick(): bool
    {
        return preg_match('~^\s*@?(?:include|require)(?:_once)?\b.*advanced-cache\.php~m', $this->configuration()) === 1;
    }

    public function state(): string
    {
        $dropIn = $this->pages->dropIn;
        if (!$dropIn->exists()) {
            return __('The page cache is off: WordPress makes each page anew.', 'larder');
        }
        if (!$dropIn->isOurs()) {
            /* translators: %s: the name of another plugin. */
            return sprintf(__('The page cache is that of another plugin (%s).', 'larder'), $dropIn->name());
        }
        if (!$this->isOn()) {
            return __('The page cache is ready, and waits for a line in wp-config.php.', 'larder');
        }
        $where = match ($this->pages->installed()['store'] ?? null) {
            'pool' => __('shared memory', 'larder'),
            'files' => __('files', 'larder'),
            default => __('the server that wp-config.php names', 'larder'),
        };

        return sprintf($this->isQuick()
            /* translators: %s: where pages lie. */
            ? __('The page cache is on, in the quick way, and keeps pages in %s.', 'larder')
            /* translators: %s: where pages lie. */
            : __('The page cache is on, and keeps pages in %s.', 'larder'), $where);
    }

    /** @return list<array{string, string}> the ways to switch it on: the line in wp-config.php, and what it does */
    public function ways(): array
    {
        return [
            ["define('WP_CACHE', true);", __('The ordinary way: WordPress loads the page cache before anything else of its own.', 'larder')],
            ['@include __DIR__ . ' . var_export(str_starts_with($this->pages->dropIn->path, ABSPATH) ? '/' . substr($this->pages->dropIn->path, \strlen(ABSPATH)) : $this->pages->dropIn->path, true) . ';', __('The quick way, as the first line after <?php: a stored page is served before WordPress begins. It needs no WP_CACHE.', 'larder')],
        ];
    }

    /**
     * @param array{key: string, why: string, page: array<array-key, mixed>|null} $explained
     *
     * @return list<string>
     */
    public function explanation(array $explained): array
    {
        $page = $explained['page'];
        $sentences = [$this->state()];
        if ($explained['key'] === '') {
            return [...$sentences, __('This URL passes the page cache by.', 'larder'), $this->why($explained['why'])];
        }
        if ($page === null) {
            return [...$sentences, __('This URL may be cached, but is not now. No visitor has asked for it since its content changed, or it has expired.', 'larder')];
        }
        if (\is_string($page['pass'] ?? null)) {
            return [...$sentences, __('The page of this URL is not cached.', 'larder'), $this->why($page['pass'])];
        }
        $number = static fn(string $name): int => \is_int($page[$name] ?? null) ? $page[$name] : 0;
        $bytes = \is_string($page['gzip'] ?? null) ? \strlen($page['gzip']) : 0;
        $tags = \is_array($page['tags'] ?? null) ? $page['tags'] : [];
        $tables = preg_replace('~^0/table/~', '', array_filter($tags, static fn(mixed $tag): bool => \is_string($tag) && str_starts_with($tag, '0/table/')));

        return [...$sentences, sprintf(
            /* translators: 1: status of HTTP, 2 and 3: bytes, 4 and 5: seconds, 6: a number. */
            __('This URL is cached: status %1$d, %2$d bytes, %3$d compressed. It was made %4$d seconds ago, and is kept for %5$d more. It shows %6$d things; a change of one kills it.', 'larder'),
            $number('status'),
            $number('length'),
            $bytes,
            time() - $number('made'),
            $number('until') - time(),
            \count($tags),
            /* translators: %s: names of tables of the database. */
        ), ...$tables === [] ? [] : [sprintf(__('A plugin or the theme reads these tables for it by SQL of its own: %s. Each save in one of them kills it.', 'larder'), implode(', ', $tables))]];
    }

    /** What PageCache and ObjectCache say of a change, in the reader's language. */
    public static function reason(string $reason): string
    {
        [, $kind, $thing] = preg_match('/^(flush of (?:group|site)|network option|\w+)(?: (.+))?$/sD', $reason, $parts) === 1 ? $parts + [2 => ''] : ['', '', ''];
        $sentence = [
            /* translators: %s: which one, or nothing. */
            'post' => __('post %s', 'larder'),
            /* translators: %s: which one, or nothing. */
            'comment' => __('comment %s', 'larder'),
            /* translators: %s: which one, or nothing. */
            'term' => __('term %s', 'larder'),
            'terms' => __('terms', 'larder'),
            /* translators: %s: which one, or nothing. */
            'user' => __('user %s', 'larder'),
            'links' => __('links', 'larder'),
            'files' => __('files', 'larder'),
            /* translators: %s: which one, or nothing. */
            'option' => __('option %s', 'larder'),
            /* translators: %s: which one, or nothing. */
            'network option' => __('network option %s', 'larder'),
            /* translators: %s: which one, or nothing. */
            'transient' => __('transient %s', 'larder'),
            /* translators: %s: which one, or nothing. */
            'table' => __('table %s', 'larder'),
            /* translators: %s: which one, or nothing. */
            'group' => __('group %s', 'larder'),
            'transaction' => __('transaction', 'larder'),
            /* translators: %s: which one, or nothing. */
            'page' => __('page %s', 'larder'),
            'site' => __('site', 'larder'),
            'network' => __('network', 'larder'),
            'flush' => __('flush', 'larder'),
            /* translators: %s: which one, or nothing. */
            'flush of group' => __('flush of group %s', 'larder'),
            /* translators: %s: which one, or nothing. */
            'flush of site' => __('flush of site %s', 'larder'),
        ][$kind] ?? null;

        return $sentence === null ? $reason : rtrim(sprintf($sentence, $thing));
    }

    /** What Figures says of the place of a change, in the reader's language. */
    public static function where(string $where): string
    {
        return [
            'command line' => __('command line', 'larder'),
            'cron' => __('WP-Cron', 'larder'),
            'REST' => __('REST', 'larder'),
            'admin' => __('wp-admin', 'larder'),
            'site' => __('the site', 'larder'),
        ][$where] ?? $where;
    }

    public function why(string $why): string
    {
        [$word, $thing] = explode(':', $why, 2) + [1 => ''];
        if ($word === 'cookie' && preg_match('/^wordpress_(?:(?:logged_in|sec)_|\*|[0-9a-f]{32})/', $thing) === 1) {
            $word = 'logged-in';
        }
        $sentence = self::words()[$word] ?? null;
        if ($sentence === null) {
            /* translators: %s: a word. */
            return sprintf(__('The reason is: %s.', 'larder'), $why);
        }

        return rtrim((string) preg_replace('/ {2,}/', ' ', sprintf($sentence, $thing)));
    }

    /**
     * What the words of PageRequest::decide() mean. The thing after the colon takes the place of %s.
     *
     * @return array<string, string>
     */
    private static function words(): array
    {
        return [
            /* translators: %s: the thing that is meant, such as a name. */
            'method' => __('The method %s is none of a page: only GET and HEAD are, and only GET makes one.', 'larder'),
            'host' => __('The host is not that of the site in Settings, General, or is not written as there.', 'larder'),
            /* translators: %s: the thing that is meant, such as a name. */
            'header' => __('The header %s may change the page, or who gets it.', 'larder'),
            /* translators: %s: the thing that is meant, such as a name. */
            'path' => __('The path %s is excluded, is a file or a script, or can be written in more than one way.', 'larder'),
            /* translators: %s: the thing that is meant, such as a name. */
            'argument' => __('The argument %s may make another page. If it does not, or names a page like others, say so in the settings.', 'larder'),
            /* translators: %s: the thing that is meant, such as a name. */
            'cookie' => __('The cookie %s may belong to a page of one visitor only. If it changes no page, say so in the settings.', 'larder'),
            /* translators: %s: the thing that is meant, such as a name. */
            'agent' => __('The browser has %s in its name, which the settings exclude.', 'larder'),
            /* translators: %s: the thing that is meant, such as a name. */
            'status' => __('The status %s is none of 200, 301 and 404.', 'larder'),
            /* translators: %s: the thing that is meant, such as a name. */
            'type' => __('The type %s is no page.', 'larder'),
            'redirect' => __('It is a redirect with a body, without an address, or to the same address in another scheme.', 'larder'),
            'set-cookie' => __('The page sets a cookie.', 'larder'),
            'cache-control' => __('The page says itself that it must not be kept.', 'larder'),
            'vary' => __('The page says that it differs by more than its coding.', 'larder'),
            'incomplete' => __('The page ends before its end.', 'larder'),
            'late' => __('Something was said before the cache came in.', 'larder'),
            'buffer' => __('Code that begins before the cache changes the page at its end.', 'larder'),
            'early' => __('The page ended before WordPress knew which it is.', 'larder'),
            'partial' => __('A plugin sends the page in parts.', 'larder'),
            'error' => __('The page ended with an error.', 'larder'),
            'aborted' => __('The visitor had gone when the page was done.', 'larder'),
            'logged-in' => __('The visitor is logged in.', 'larder'),
            'kind' => __('It is no page: it is of the administration, of an interface, or of cron.', 'larder'),
            'DONOTCACHEPAGE' => __('A plugin says so, by the constant DONOTCACHEPAGE.', 'larder'),
            'filter' => __('A plugin says so, by the filter larder_page_is_cached.', 'larder'),
            'preview' => __('It is a preview.', 'larder'),
            'search' => __('It is a search.', 'larder'),
            'session' => __('The page uses a session.', 'larder'),
            'flushed' => __('A plugin has flushed the object cache of the request, which alone knew what the page shows.', 'larder'),
            'switched' => __('The page ended in another site of the network.', 'larder'),
            'protected' => __('The post has a password, or is not for all.', 'larder'),
            'cart' => __('It is a cart, a checkout or an account.', 'larder'),
            'nonce' => __('The page has a nonce in it, which its visitors would share.', 'larder'),
            'mobile' => __('The page asks whether the visitor has a telephone, and may differ by that.', 'larder'),
            'located' => __('The page asks in which country the visitor is, and may differ by that.', 'larder'),
            /* translators: %s: the thing that is meant, such as a name. */
            'changes' => __('Making the page changes what pages show: %s.', 'larder'),
            'rules' => __('The settings of the page cache were changed, and this PHP still has those of before.', 'larder'),
            'changed' => __('WordPress was told another address meanwhile.', 'larder'),
            'busy' => __('Another request was making the page for too long.', 'larder'),
            'store' => __('The store of pages cannot be reached.', 'larder'),
            'journal' => __('The command line has changed what the store has not heard of yet.', 'larder'),
        ];
    }

    private function configuration(): string
    {
        foreach ([ABSPATH . 'wp-config.php', \dirname(ABSPATH) . '/wp-config.php'] as $file) {
            if (is_file($file)) {
                return (string) @file_get_contents($file);
            }
        }

        return '';
    }
}
