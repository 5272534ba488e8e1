<?php

declare(strict_types=1);

namespace Larder\WordPress;

/** Looks after the object cache and the page cache. */
final class CommandLine
{
    /** Options without a value. */
    private const FLAGS = ['pages', 'force', 'tags'];

    public function __construct(
        private readonly Plugin $plugin,
    ) {}

    /**
     * Says what is in use, and why.
     *
     * @param list<string>         $arguments
     * @param array<string, mixed> $options
     */
    public function status(array $arguments = [], array $options = []): void
    {
        $this->refuse($arguments, $options);
        $report = new Report($this->plugin);
        \WP_CLI::line($report->state());
        \WP_CLI::line($report->why());
        $heard = $report->commandLineHeard();
        \WP_CLI::line($heard === null ? 'No command line has used this cache yet.' : 'A command line last used this cache at ' . gmdate('Y-m-d H:i:s', $heard) . ' UTC.');
        \WP_CLI::line((new PageReport($this->plugin->pages))->state());
    }

    /**
     * Says what is wrong and what to change; fails if anything is.
     *
     * @param list<string>         $arguments
     * @param array<string, mixed> $options
     */
    public function doctor(array $arguments = [], array $options = []): void
    {
        $this->refuse($arguments, $options);
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
     * [--page[=<url>]]
     * : Only the page of this URL.
     *
     * [--group[=<group>]]
     * : Only this group, of all sites.
     *
     * [--site[=<id>]]
     * : Only this site.
     *
     * @param list<string>         $arguments
     * @param array<string, mixed> $options
     */
    public function flush(array $arguments, array $options): void
    {
        $options = $this->understood($options);
        foreach ([['group', 'site'], ['group', 'page'], ['group', 'pages'], ['site', 'page'], ['pages', 'page']] as [$one, $other]) {
            if (isset($options[$one], $options[$other])) {
                \WP_CLI::error("--{$one} and --{$other} do not go together; nothing was flushed.");
            }
        }
        $site = isset($options['site']) ? Plugin::site($options['site']) : null;
        if ($site === null && isset($options['site'])) {
            \WP_CLI::error("There is no site with the number {$options['site']}; nothing was flushed.");
        }
        if (isset($options['pages']) || isset($options['page'])) {
            $pages = $this->plugin->pages;
            $isThere = isset($options['page']) ? $pages->has($options['page']) : true;
            $mistake = match (true) {
                isset($options['page']) => $pages->forget($options['page']),
                $pages->flush($site) => null,
                default => 'The store of pages could not be reached; nothing was flushed.',
            };
            if ($mistake === null && $isThere === false) {
                $mistake = "The cache had no page of {$options['page']} for visitors without cookies; `wp larder explain URL` says why.";
            }
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
            \WP_CLI::error("The cache has nothing of the group {$options['group']}; `wp larder groups` lists the groups.");
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
     * [--cookie[=<name>]]
     * : A cookie that the visitor has.
     *
     * [--method[=<method>]]
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
        $options = $this->understood($options);
        $pages = $this->plugin->pages;
        if ($pages->installed() === []) {
            \WP_CLI::error('The page cache is off; say `wp larder enable --pages`.', false);
            exit(1);
        }
        if (preg_match('~^https?://[^/?#]~i', $arguments[0]) !== 1) {
            \WP_CLI::error("{$arguments[0]} is no URL; URLs look like " . home_url('/') . '.');
        }
        $explained = $pages->explain($arguments[0], isset($options['cookie']) ? [$options['cookie'] => ''] : [], $options['method'] ?? 'GET');
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

    /**
     * Lists the groups, and how many items each has.
     *
     * @param list<string>         $arguments
     * @param array<string, mixed> $options
     */
    public function groups(array $arguments = [], array $options = []): void
    {
        $this->refuse($arguments, $options);
        foreach ($this->cache()->groups() as $group => $items) {
            \WP_CLI::line(sprintf('%8d  %s', $items, $group));
        }
    }

    /**
     * Shows the figures of the store.
     *
     * @param list<string>         $arguments
     * @param array<string, mixed> $options
     */
    public function stats(array $arguments = [], array $options = []): void
    {
        $this->refuse($arguments, $options);
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
     * @param list<string>         $arguments
     * @param array<string, mixed> $options
     */
    public function enable(array $arguments, array $options): void
    {
        $options = $this->understood($options);
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
        $options = $this->understood($options);
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
     * [--items[=<number>]]
     * : How many.
     *
     * @param list<string>         $arguments
     * @param array<string, mixed> $options
     */
    public function bench(array $arguments, array $options): void
    {
        $items = $this->understood($options)['items'] ?? '1000';
        if (preg_match('/^[1-9]\d{0,6}$/D', $items) !== 1) {
            \WP_CLI::error("--items takes a number from 1 to 9999999, and not {$items}.");
        }
        foreach ((new Transients((int) $items))->measure() as $operation => $times) {
            \WP_CLI::line(sprintf('%-7s median %8.2f µs, p95 %8.2f, p99 %8.2f, max %8.2f', $operation, $times['median'], $times['p95'], $times['p99'], $times['max']));
        }
    }

    /**
     * Refuses an option without its value, and a flag that is given one or is taken back.
     *
     * WP-CLI would drop an option without its value, and go on without it, unless its synopsis said that the value may be missing.
     *
     * @param array<string, mixed> $options true: without a value; false: as --no-NAME
     *
     * @return array<string, string>
     */
    private function understood(array $options): array
    {
        $understood = [];
        foreach ($options as $name => $value) {
            $text = \is_scalar($value) ? (string) $value : '';
            $isFlag = \in_array($name, self::FLAGS, true);
            if ($value === false) {
                \WP_CLI::error("This command knows no --no-{$name}; nothing was done.");
            } elseif ($isFlag && $value !== true) {
                \WP_CLI::error("--{$name} takes no value, and was given {$text}; nothing was done.");
            } elseif (!$isFlag && ($value === true || trim($text) === '')) {
                \WP_CLI::error("--{$name} needs a value; nothing was done.");
            }
            $understood[$name] = $text;
        }

        return $understood;
    }

    /**
     * WP-CLI leaves to commands that have no arguments what they are given.
     *
     * @param list<string>         $arguments
     * @param array<string, mixed> $options
     */
    private function refuse(array $arguments, array $options): void
    {
        $given = [...$arguments, ...array_map(static fn(string $name): string => "--{$name}", array_keys($options))];
        if ($given !== []) {
            \WP_CLI::error("This command takes no arguments, and was given {$given[0]}.");
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
