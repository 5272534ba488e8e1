<?php

declare(strict_types=1);

namespace Larder\WordPress;

/**
 * What the dashboard shows of the past. It lies in the object cache itself, in one group, in a fixed number of entries:
 *
 *     request-0 … 63    a measured request each: its times and its slowest calls
 *     row-0 … 287       the counters and the store's figures of every five minutes, of a day
 *     purge-0 … 49      what was flushed, when, why and by which user
 *     and counters      of which each measured request stands for as many as it is one of
 *
 * Counters only grow, and a chart draws their differences. The store may evict any of it, and a flush of the whole cache does.
 */
final class Figures
{
    public const GROUP = 'larder-figures';

    /** The names of what a row has, in this order. */
    public const COLUMNS = ['at', 'hits', 'misses', 'sets', 'deletes', 'items', 'used', 'size', 'requests', 'request-ms', 'queries', 'saved', 'page-hits', 'page-ms', 'page-queries'];

    /** Those that each measured request adds to, and each measured hit of the page cache. */
    private const COUNTERS = ['requests', 'request-ms', 'queries', 'saved', 'page-hits', 'page-ms', 'page-queries'];

    /** Those that a measured request counts for stores that do not count them. */
    private const ENTRIES = ['hits', 'misses', 'sets', 'deletes'];

    /** What the dashboard itself has read, which a store that counts takes for hits and misses of the site. */
    private const OWN = ['own-hits', 'own-misses'];

    /** How many there are of each kind of entry. */
    private const KINDS = ['request' => self::REQUESTS, 'row' => self::ROWS, 'purge' => self::PURGES];

    private const REQUESTS = 64;

    private const ROWS = 288;

    private const PURGES = 50;

    /** Seconds of a row. */
    private const PERIOD = 300;

    private const DAY = 86_400;

    /** Reasons of one purge that are kept, and reasons for making pages that are shown. */
    private const MOST_REASONS = 10;

    /** Bytes of a reason that are kept: a visitor names a cookie or an argument. */
    private const LONGEST_REASON = 80;

    private function __construct() {}

    /** Keeps what a measured request has taken. It is never the reason that a page breaks. */
    public static function keepRequest(Measured $measured, ObjectCache $cache): void
    {
        // Before any of this is counted as the request's own.
        $request = [
            'at' => time(),
            'seconds' => $measured->age() / 1e9,
            'hits' => $cache->cache_hits,
            'misses' => $cache->cache_misses,
            'queries' => get_num_queries(),
            'saved' => $measured->saved(),
            'times' => $measured->times(),
            'slowest' => $measured->slowest(),
            'page' => self::page(),
        ];
        $entries = $measured->entries();
        if (!$measured->isKept() || $cache->trouble() !== null) {
            return;
        }
        try {
            $request['query'] = self::shortestQuery();
            self::join();
            $place = self::count('measured', 1) % self::REQUESTS;
            wp_cache_set("request-{$place}", $request, self::GROUP, self::DAY);
            $of = Sample::size();
            self::count('requests', $of);
            self::count('request-ms', $of * (int) ($request['seconds'] * 1_000));
            self::count('queries', $of * $request['queries']);
            self::count('saved', $of * $request['saved']);
            foreach (self::ENTRIES as $name) {
                self::count($name, $of * $entries[$name]);
            }
            self::keepRow($cache);
        } catch (\Throwable $failure) {
            error_log("Larder: what the dashboard shows could not be kept: {$failure->getMessage()}");
        }
    }

    /**
     * Keeps what was flushed.
     *
     * @param list<string> $reasons
     */
    public static function keepPurge(array $reasons): void
    {
        $cache = ObjectCache::current();
        if ($reasons === [] || $cache === null || $cache->trouble() !== null || Sample::size() === 0) {
            return;
        }
        self::join();
        $reasons = array_values(array_unique($reasons));
        wp_cache_set('purge-' . self::count('purges', 1) % self::PURGES, [
            'at' => microtime(true),
            'reasons' => \array_slice($reasons, 0, self::MOST_REASONS),
            'more' => max(0, \count($reasons) - self::MOST_REASONS),
            'user' => get_current_user_id(),
            'where' => match (true) {
                \defined('WP_CLI') && WP_CLI || PHP_SAPI === 'cli' => 'command line',
                wp_doing_cron() => 'cron',
                \defined('REST_REQUEST') => 'REST',
                is_admin() => 'admin',
                default => 'site',
            },
        ], self::GROUP, 7 * self::DAY);
    }

    /**
     * The counters and the store's figures as they are now.
     *
     * @param ?array<string, int|float|string> $statistics of the store; null: it is asked
     *
     * @return ?list<int|float> in the order of COLUMNS; null: the store does not say them, which is not that all are 0
     */
    public static function now(ObjectCache $cache, ?array $statistics = null): ?array
    {
        self::join();
        $counters = wp_cache_get_multiple([...self::COUNTERS, ...self::ENTRIES, ...self::OWN], self::GROUP, true);
        $statistics ??= $cache->backend()->statistics();
        if ($cache->trouble() !== null) {
            return null;
        }
        $row = [];
        foreach (self::COLUMNS as $name) {
            $figure = match (true) {
                $name === 'at' => time(),
                \in_array($name, self::COUNTERS, true) => $counters[$name] ?? 0,
                // A pool names these otherwise than a store of the library.
                $name === 'used' => $statistics['used'] ?? $statistics['bytes'] ?? 0,
                $name === 'size' => $statistics['size'] ?? $statistics['capacity'] ?? 0,
                \is_int($statistics[$name] ?? null) && \is_int($counters["own-{$name}"] ?? null) => $statistics[$name] - $counters["own-{$name}"],
                \in_array($name, self::ENTRIES, true) => $statistics[$name] ?? $counters[$name] ?? 0,
                default => $statistics[$name] ?? 0,
            };
            $row[] = \is_int($figure) || \is_float($figure) ? $figure : 0;
        }

        return $row;
    }

    /**
     * All that is kept, which the dashboard reads in one go.
     *
     * @param bool $isCounted whether the store counts these reads
     *
     * @return array<string, list<array<array-key, mixed>>> kind => entries
     */
    public static function kept(bool $isCounted): array
    {
        self::join();
        $names = [];
        foreach (self::KINDS as $kind => $number) {
            $names[$kind] = array_map(static fn(int $place): string => "{$kind}-{$place}", range(0, $number - 1));
        }
        $asked = array_merge(...array_values($names));
        $found = array_filter(wp_cache_get_multiple($asked, self::GROUP, true), is_array(...));
        if ($isCounted) {
            // The counters of now() are read as well.
            self::count('own-hits', \count($found) + \count(self::COUNTERS) + \count(self::OWN));
            self::count('own-misses', \count($asked) - \count($found) + \count(self::ENTRIES));
        }

        return array_map(static fn(array $of): array => array_values(array_intersect_key($found, array_fill_keys($of, true))), $names);
    }

    /**
     * @param list<array<array-key, mixed>> $kept
     *
     * @return list<list<int|float>> the rows of the last day, in the order of time, each in the order of COLUMNS
     */
    public static function rows(array $kept): array
    {
        $rows = [];
        foreach ($kept as $row) {
            if (\count($row) === \count(self::COLUMNS) && \is_int($row[0] ?? null) && $row[0] > time() - self::DAY) {
                $rows[] = array_values(array_map(static fn(mixed $figure): int|float => \is_int($figure) || \is_float($figure) ? $figure : 0, $row));
            }
        }
        usort($rows, static fn(array $one, array $other): int => $one[0] <=> $other[0]);

        return $rows;
    }

    /**
     * @param list<array<array-key, mixed>> $requests
     *
     * @return array{
     *     measured: int,
     *     operations: array<string, array<string, int|float>>,
     *     slowest: list<array{us: float, operation: string, key: string, at: int}>,
     *     query: float
     * } how many requests it is of; the Distribution of each operation, in µs; the slowest calls; µs of the shortest query of the database, 0: not known
     */
    public static function requests(array $requests): array
    {
        $times = $slowest = $queries = [];
        foreach ($requests as $request) {
            foreach (\is_array($request['times'] ?? null) ? $request['times'] : [] as $operation => $taken) {
                foreach (\is_array($taken) ? $taken : [] as $time) {
                    if (\is_int($time)) {
                        $times[(string) $operation][] = $time / 1_000;
                    }
                }
            }
            foreach (\is_array($request['slowest'] ?? null) ? $request['slowest'] : [] as $call) {
                if (\is_array($call) && \is_int($call[0] ?? null) && \is_string($call[1] ?? null) && \is_string($call[2] ?? null)) {
                    $slowest[] = ['us' => $call[0] / 1_000, 'operation' => $call[1], 'key' => $call[2], 'at' => \is_int($request['at'] ?? null) ? $request['at'] : 0];
                }
            }
            if (\is_int($request['query'] ?? null) && $request['query'] > 0) {
                $queries[] = $request['query'] / 1_000;
            }
        }
        ksort($times);
        usort($slowest, static fn(array $one, array $other): int => $other['us'] <=> $one['us']);
        sort($queries);

        return [
            'measured' => \count($requests),
            'operations' => array_map(Distribution::of(...), $times),
            'slowest' => \array_slice($slowest, 0, 15),
            'query' => $queries === [] ? 0.0 : Distribution::at($queries, 0.5),
        ];
    }

    /**
     * Why WordPress had to make pages.
     *
     * @param list<array<array-key, mixed>> $requests
     *
     * @return array{made: int, reasons: list<array{times: int, why: string}>} how many pages were made by measured requests; the reasons in the words
     *                                                                          of PageRequest, the most frequent first. An empty one: the page was not there
     */
    public static function pages(array $requests): array
    {
        $times = [];
        foreach ($requests as $request) {
            if (\is_string($request['page'] ?? null)) {
                $times[] = $request['page'];
            }
        }
        $counted = array_count_values($times);
        arsort($counted);
        $reasons = [];
        foreach (\array_slice($counted, 0, self::MOST_REASONS, true) as $why => $number) {
            $reasons[] = ['times' => $number, 'why' => (string) $why];
        }

        return ['made' => \count($times), 'reasons' => $reasons];
    }

    /**
     * @param list<array<array-key, mixed>> $kept
     *
     * @return list<array{at: float, reasons: list<string>, more: int, user: string, where: string}> the last purges, the newest first
     */
    public static function purges(array $kept): array
    {
        $purges = [];
        foreach ($kept as $purge) {
            $user = \is_int($purge['user'] ?? null) && $purge['user'] > 0 ? get_userdata($purge['user']) : false;
            $purges[] = [
                'at' => \is_float($purge['at'] ?? null) ? $purge['at'] : 0.0,
                'reasons' => array_map(PageReport::reason(...), array_values(array_filter(\is_array($purge['reasons'] ?? null) ? $purge['reasons'] : [], is_string(...)))),
                'more' => \is_int($purge['more'] ?? null) ? $purge['more'] : 0,
                'user' => $user === false ? '' : $user->user_login,
                'where' => \is_string($purge['where'] ?? null) ? PageReport::where($purge['where']) : '',
            ];
        }
        usort($purges, static fn(array $one, array $other): int => $other['at'] <=> $one['at']);

        return $purges;
    }

    /**
     * Brings what hits of pages in files have noted to the counters.
     *
     * @param array<array-key, mixed> $installed what the page cache uses
     */
    public static function takeHits(array $installed): void
    {
        $directory = $installed['pages'] ?? null;
        if (($installed['store'] ?? null) !== 'files' || !\is_string($directory)) {
            return;
        }
        $file = "{$directory}/hits";
        $mine = "{$directory}/." . bin2hex(random_bytes(8));
        // A hit that writes meanwhile has opened it under its old name.
        if (!is_file($file) || !@rename($file, $mine)) {
            return;
        }
        $sums = [0, 0, 0];
        foreach (str_split((string) @file_get_contents($mine), 24) as $record) {
            $figures = \strlen($record) === 24 ? unpack('P3', $record) : false;
            foreach ($figures === false ? [] : array_values($figures) as $i => $figure) {
                $sums[$i] += \is_int($figure) ? $figure : 0;
            }
        }
        @unlink($mine);
        self::join();
        foreach (['page-hits', 'page-ms', 'page-queries'] as $i => $name) {
            self::count($name, $sums[$i]);
        }
    }

    /** @return ?string why this request's page was not served from the cache, as PageRequest says it; empty: it was not there. Null: it asked for no page */
    private static function page(): ?string
    {
        $request = $GLOBALS['larder_page'] ?? null;
        if (!$request instanceof PageRequest || is_admin() || wp_doing_cron() || \defined('REST_REQUEST') || \defined('XMLRPC_REQUEST') || !\in_array($_SERVER['REQUEST_METHOD'] ?? '', ['GET', 'HEAD'], true)) {
            return null;
        }
        // Names of WordPress's own cookies end with a hash of the site.
        return substr((string) preg_replace(['/[0-9a-f]{32}/', '/[^\x20-\x7e]/'], ['*', '?'], $request->why), 0, self::LONGEST_REASON);
    }

    /** They are those of all sites of a network. */
    private static function join(): void
    {
        wp_cache_add_global_groups([self::GROUP]);
    }

    private static function count(string $name, int $by): int
    {
        $sum = wp_cache_incr($name, $by, self::GROUP);
        if ($sum === false) {
            $sum = wp_cache_add($name, $by, self::GROUP) ? $by : wp_cache_incr($name, $by, self::GROUP);
        }

        return (int) $sum;
    }

    private static function keepRow(ObjectCache $cache): void
    {
        $place = 'row-' . intdiv(time(), self::PERIOD) % self::ROWS;
        $row = wp_cache_get($place, self::GROUP, true);
        if (\is_array($row) && \is_int($row[0] ?? null) && intdiv($row[0], self::PERIOD) === intdiv(time(), self::PERIOD)) {
            return;
        }
        self::takeHits(\defined('LARDER_PAGE_CACHE') && \is_array(LARDER_PAGE_CACHE) ? LARDER_PAGE_CACHE : []);
        $now = self::now($cache);
        if ($now !== null) {
            wp_cache_set($place, $now, self::GROUP, self::DAY);
        }
    }

    /** @return int nanoseconds of a query that reads one row by its index; 0: it failed */
    private static function shortestQuery(): int
    {
        $wpdb = $GLOBALS['wpdb'] ?? null;
        if (!$wpdb instanceof \wpdb) {
            return 0;
        }
        $begun = hrtime(true);
        $found = $wpdb->get_var("SELECT option_value FROM {$wpdb->options} WHERE option_name = 'siteurl' LIMIT 1");

        return $found === null ? 0 : hrtime(true) - $begun;
    }
}
