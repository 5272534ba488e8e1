<?php

declare(strict_types=1);

namespace Larder\WordPress;

/** Looks after the object cache and the page cache. */
final class CommandLine
{
    public function __construct(
        private readonly Plugin $plugin,
    ) {}

    /** Says what is in use, and why. */
    public function status(): void
    {
        $report = new Report($this->plugin);
        \WP_CLI::line($report->state());
        \WP_CLI::line($report->why());
        $heard = $report->commandLineHeard();
        \WP_CLI::line($heard === null ? 'No command line has used this cache yet.' : 'A command line last used this cache at ' . gmdate('Y-m-d H:i:s', $heard) . ' UTC.');
        \WP_CLI::line((new PageReport($this->plugin->pages))->state());
    }

    /** Says what is wrong and what to change; fails if anything is. */
    public function doctor(): void
    {
        $served = Directory::served();
        $problems = [...(new Report($this->plugin))->problems(), ...$served === null ? [] : [$served]];
        foreach ($problems as $problem) {
            \WP_CLI::warning($problem);
        }
        if ($problems !== []) {
            \WP_CLI::halt(1);
        }
        \WP_CLI::success('Nothing is wrong.');
    }

    /**
     * Flushes the object cache: all of it, a group, or a site of a network. Or the page cache, or one page.
     *
     * ## OPTIONS
     *
     * [--pages]
     * : The page cache, with --site of this site only.
     *
     * [--page=<url>]
     * : Only the page of this URL.
     *
     * [--group=<group>]
     * : Only this group, of all sites.
     *
     * [--site=<id>]
     * : Only this site.
     *
     * @param list<string>          $arguments
     * @param array<string, string> $options
     */
    public function flush(array $arguments, array $options): void
    {
        $site = isset($options['site']) ? Plugin::site($options['site']) : null;
        if ($site === null && isset($options['site'])) {
            \WP_CLI::error("There is no site with the number {$options['site']}; nothing was flushed.");
        }
        if (isset($options['pages']) || isset($options['page'])) {
            $pages = $this->plugin->pages;
            $mistake = match (true) {
                isset($options['page']) => $pages->forget($options['page']),
                $pages->flush($site) => null,
                default => 'The store of pages could not be reached; nothing was flushed.',
            };
            $mistake === null ? \WP_CLI::success('Flushed.') : \WP_CLI::error($mistake);

            return;
        }
        $cache = $this->cache();
        $isThere = isset($options['group']) ? $cache->hasGroup($options['group']) : true;
        $isFlushed = match (true) {
            isset($options['group']) => $cache->flush_group($options['group']),
            $site !== null => $cache->flush_site($site),
            default => $cache->flush(),
        };
        if ($isFlushed && $isThere === false) {
            \WP_CLI::warning("The cache has nothing of the group {$options['group']}; `wp larder groups` lists the groups.");
        } elseif ($isFlushed) {
            \WP_CLI::success('Flushed.');
        } elseif ($cache->backend() instanceof CacheBackend && Settings::ofThisSite()->journal() !== null) {
            \WP_CLI::warning('This process cannot reach the store; the flush is in the journal, and the next request of the web server does it.');
        } else {
            \WP_CLI::error('The store could not be reached; nothing was flushed.');
        }
    }

    /**
     * Says whether the page cache has a URL for a visitor without cookies, and why not.
     *
     * ## OPTIONS
     *
     * <url>
     * : The URL.
     *
     * [--cookie=<name>]
     * : A cookie that the visitor has.
     *
     * [--method=<method>]
     * : Another method than GET.
     *
     * [--tags]
     * : Lists what the page shows.
     *
     * @param list<string>         $arguments
     * @param array<string, mixed> $options
     */
    public function explain(array $arguments, array $options): void
    {
        $text = static fn(string $name, string $other): string => \is_string($options[$name] ?? null) ? $options[$name] : $other;
        $pages = $this->plugin->pages;
        if ($pages->installed() === []) {
            \WP_CLI::error('The page cache is off; say `wp larder enable --pages`.', false);
            exit(1);
        }
        $cookie = $text('cookie', '');
        $explained = $pages->explain($arguments[0], $cookie === '' ? [] : [$cookie => ''], $text('method', 'GET'));
        foreach ((new PageReport($pages))->explanation($explained) as $sentence) {
            \WP_CLI::line($sentence);
        }
        $tags = $explained['page']['tags'] ?? null;
        foreach (isset($options['tags']) && \is_array($tags) ? $tags : [] as $tag) {
            \WP_CLI::line('  ' . (\is_string($tag) ? $tag : ''));
        }
    }

    /**
     * Shows what is cached under a key.
     *
     * ## OPTIONS
     *
     * <key>
     * : The key.
     *
     * [<group>]
     * : Its group.
     *
     * @param list<string> $arguments
     */
    public function get(array $arguments): void
    {
        $value = $this->cache()->get($arguments[0], $arguments[1] ?? 'default', true, $found);
        if (!$found) {
            \WP_CLI::error('There is nothing under this key.');
        }
        \WP_CLI::line(is_scalar($value) ? (string) $value : (string) wp_json_encode($value, JSON_PRETTY_PRINT));
    }

    /** Lists the groups, and how many items each has. */
    public function groups(): void
    {
        foreach ($this->cache()->groups() as $group => $items) {
            \WP_CLI::line(sprintf('%8d  %s', $items, $group));
        }
    }

    /** Shows the figures of the store. */
    public function stats(): void
    {
        foreach ($this->cache()->backend()->statistics() as $name => $figure) {
            \WP_CLI::line(sprintf('%-12s %s', $name, $figure));
        }
    }

    /**
     * Writes the drop-in, and begins with an empty cache.
     *
     * ## OPTIONS
     *
     * [--force]
     * : Replaces the drop-in of another plugin.
     *
     * [--pages]
     * : That of the page cache.
     *
     * @param list<string>          $arguments
     * @param array<string, mixed> $options
     */
    public function enable(array $arguments, array $options): void
    {
        if (isset($options['pages'])) {
            $mistake = $this->plugin->pages->enable(isset($options['force']));
            $mistake === null ? \WP_CLI::success((new PageReport($this->plugin->pages))->state()) : \WP_CLI::error($mistake);

            return;
        }
        $mistake = $this->plugin->enable(isset($options['force']));
        $mistake === null ? \WP_CLI::success('The object cache is on.') : \WP_CLI::error($mistake);
    }

    /**
     * Removes the drop-in.
     *
     * ## OPTIONS
     *
     * [--pages]
     * : That of the page cache.
     *
     * @param list<string>         $arguments
     * @param array<string, mixed> $options
     */
    public function disable(array $arguments = [], array $options = []): void
    {
        if (isset($options['pages'])) {
            $mistake = $this->plugin->pages->disable();
            $mistake === null ? \WP_CLI::success('The page cache is off.') : \WP_CLI::error($mistake);

            return;
        }
        $mistake = $this->plugin->disable();
        $mistake === null ? \WP_CLI::success('The object cache is off.') : \WP_CLI::error($mistake);
    }

    /**
     * Measures transients: microseconds for each of set, get and delete.
     *
     * ## OPTIONS
     *
     * [--items=<number>]
     * : How many.
     *
     * @param list<string>          $arguments
     * @param array<string, string> $options
     */
    public function bench(array $arguments, array $options): void
    {
        $items = max(1, (int) ($options['items'] ?? 1_000));
        foreach ((new Transients($items))->measure() as $operation => $times) {
            \WP_CLI::line(sprintf('%-7s median %8.2f µs, p95 %8.2f, p99 %8.2f, max %8.2f', $operation, $times['median'], $times['p95'], $times['p99'], $times['max']));
        }
    }

    private function cache(): ObjectCache
    {
        $cache = ObjectCache::current();
        if ($cache === null) {
            \WP_CLI::error('The object cache is off; see wp larder doctor.', false);
            exit(1);
        }

        return $cache;
    }
}
