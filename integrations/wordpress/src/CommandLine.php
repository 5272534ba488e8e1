<?php

declare(strict_types=1);

namespace Larder\WordPress;

/** Looks after the object cache. */
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
    }

    /** Says what is wrong and what to change; fails if anything is. */
    public function doctor(): void
    {
        $problems = (new Report($this->plugin))->problems();
        foreach ($problems as $problem) {
            \WP_CLI::warning($problem);
        }
        if ($problems !== []) {
            \WP_CLI::halt(1);
        }
        \WP_CLI::success('Nothing is wrong.');
    }

    /**
     * Flushes the object cache: all of it, a group, or a site of a network.
     *
     * ## OPTIONS
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
        $cache = $this->cache();
        $isFlushed = match (true) {
            isset($options['group']) => $cache->flush_group($options['group']),
            isset($options['site']) => $cache->flush_site((int) $options['site']),
            default => $cache->flush(),
        };
        if ($isFlushed) {
            \WP_CLI::success('Flushed.');
        } elseif ($cache->backend() instanceof CacheBackend && Settings::ofThisSite()->journal() !== null) {
            \WP_CLI::warning('This process cannot reach the store; the flush is in the journal, and the next request of the web server does it.');
        } else {
            \WP_CLI::error('The store could not be reached; nothing was flushed.');
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
     * @param list<string>          $arguments
     * @param array<string, mixed> $options
     */
    public function enable(array $arguments, array $options): void
    {
        $mistake = $this->plugin->enable(isset($options['force']));
        $mistake === null ? \WP_CLI::success('The object cache is on.') : \WP_CLI::error($mistake);
    }

    /** Removes the drop-in. */
    public function disable(): void
    {
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
        $cache = $GLOBALS['wp_object_cache'] ?? null;

        if (!$cache instanceof ObjectCache) {
            \WP_CLI::error('The object cache is off; see wp larder doctor.', false);
            exit(1);
        }

        return $cache;
    }
}
