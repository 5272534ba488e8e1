<?php

declare(strict_types=1);

namespace Larder\WordPress;

/** Says in sentences how the page cache does, and why a page is not cached. */
final class PageReport
{
    /** What the words of PageRequest::decide() mean. The thing after the colon takes the place of %s. */
    private const WHY = [
        'method' => 'The method %s is none of a page: only GET and HEAD are, and only GET makes one.',
        'host' => 'The host is not that of the site in Settings, General, or is not written as there.',
        'header' => 'The header %s may change the page, or who gets it.',
        'path' => 'The path %s is excluded, is a file or a script, or can be written in more than one way.',
        'argument' => 'The argument %s may make another page. If it does not, or names a page like others, say so in the settings.',
        'cookie' => 'The cookie %s may belong to a page of one visitor only. If it changes no page, say so in the settings.',
        'agent' => 'The browser has %s in its name, which the settings exclude.',
        'status' => 'The status %s is none of 200, 301 and 404.',
        'type' => 'The type %s is no page.',
        'set-cookie' => 'The page sets a cookie.',
        'cache-control' => 'The page says itself that it must not be kept.',
        'vary' => 'The page says that it differs by more than its coding.',
        'incomplete' => 'The page ends before its end.',
        'late' => 'Something was said before the cache came in.',
        'early' => 'The page ended before WordPress knew which it is.',
        'partial' => 'A plugin sends the page in parts.',
        'error' => 'The page ended with an error.',
        'aborted' => 'The visitor had gone when the page was done.',
        'logged-in' => 'The visitor is logged in.',
        'kind' => 'It is no page: it is of the administration, of an interface, or of cron.',
        'DONOTCACHEPAGE' => 'A plugin says so, by the constant DONOTCACHEPAGE.',
        'filter' => 'A plugin says so, by the filter larder_page_is_cached.',
        'preview' => 'It is a preview.',
        'search' => 'It is a search.',
        'session' => 'The page uses a session.',
        'flushed' => 'A plugin has flushed the object cache of the request, which alone knew what the page shows.',
        'switched' => 'The page ended in another site of the network.',
        'protected' => 'The post has a password, or is not for all.',
        'cart' => 'It is a cart, a checkout or an account.',
        'nonce' => 'The page has a nonce in it, which its visitors would share.',
        'mobile' => 'The page asks whether the visitor has a telephone, and may differ by that.',
        'changes' => 'Making the page changes what pages show: %s.',
        'changed' => 'WordPress was told another address meanwhile.',
        'busy' => 'Another request was making the page for too long.',
        'store' => 'The store of pages cannot be reached.',
        'journal' => 'The command line has changed what the store has not heard of yet.',
    ];

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
            return 'The page cache is off: WordPress makes each page anew.';
        }
        if (!$dropIn->isOurs()) {
            return "The page cache is that of another plugin ({$dropIn->name()}).";
        }
        if (!$this->isOn()) {
            return 'The page cache is ready, and waits for a line in wp-config.php.';
        }
        $where = match ($this->pages->installed()['store'] ?? null) {
            'pool' => 'shared memory',
            'files' => 'files',
            default => 'the server that wp-config.php names',
        };

        return $this->isQuick()
            ? "The page cache is on, in the quick way, and keeps pages in {$where}."
            : "The page cache is on, and keeps pages in {$where}.";
    }

    /** @return list<array{string, string}> the ways to switch it on: the line in wp-config.php, and what it does */
    public function ways(): array
    {
        return [
            ["define('WP_CACHE', true);", 'The ordinary way: WordPress loads the page cache before anything else of its own.'],
            ['@include __DIR__ . ' . var_export(str_starts_with($this->pages->dropIn->path, ABSPATH) ? '/' . substr($this->pages->dropIn->path, \strlen(ABSPATH)) : $this->pages->dropIn->path, true) . ';', 'The quick way, as the first line after <?php: a stored page is served before WordPress begins. It needs no WP_CACHE.'],
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
            return [...$sentences, 'This URL passes the page cache by.', $this->why($explained['why'])];
        }
        if ($page === null) {
            return [...$sentences, 'This URL may be cached, but is not now. No visitor has asked for it since its content changed, or it has expired.'];
        }
        if (\is_string($page['pass'] ?? null)) {
            return [...$sentences, 'The page of this URL is not cached.', $this->why($page['pass'])];
        }
        $number = static fn(string $name): int => \is_int($page[$name] ?? null) ? $page[$name] : 0;
        $bytes = \is_string($page['gzip'] ?? null) ? \strlen($page['gzip']) : 0;

        return [...$sentences, sprintf(
            'This URL is cached: status %d, %d bytes, %d compressed. It was made %d seconds ago, and is kept for %d more. It shows %d things; a change of one kills it.',
            $number('status'),
            $number('length'),
            $bytes,
            time() - $number('made'),
            $number('until') - time(),
            \count(\is_array($page['tags'] ?? null) ? $page['tags'] : []),
        )];
    }

    public function why(string $why): string
    {
        [$word, $thing] = explode(':', $why, 2) + [1 => ''];

        return rtrim((string) preg_replace('/ {2,}/', ' ', sprintf(self::WHY[$word] ?? "The reason is: {$why}.", $thing)));
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
