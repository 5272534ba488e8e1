<?php

declare(strict_types=1);

namespace Larder\WordPress;

/**
 * Measures transients of this site as a visitor's requests use them: through the object cache, and in the database without one.
 *
 * A browser asks for one step after the other. Each ends within a second, so that no time limit of PHP is met, and gives its times
 * back. A run whose browser goes away leaves rows in the database; an event of wp-cron deletes them.
 */
final class Measurement
{
    /** Transients of a run. */
    public const NUMBER = 1_000;

    /** The event that deletes what runs have left. */
    public const EVENT = 'larder_measured';

    private const NAME = 'larder_measure_';

    /** Seconds of a step. */
    private const STEP = 1.0;

    /** Seconds after which the event comes. */
    private const CLEANING = 3_600;

    private function __construct() {}

    /**
     * @param string $run        8 letters and digits of the run
     * @param bool   $isDatabase whether to leave the object cache out
     * @param string $operation  one of Transients::OPERATIONS
     * @param int    $from       the number of the transient to begin with
     *
     * @return array{times: list<float>, next: int, wrong: int} µs of each; the number to go on with; how many were not what they should be
     */
    public static function step(string $run, bool $isDatabase, string $operation, int $from): array
    {
        $limit = (int) \ini_get('max_execution_time');
        $transients = new Transients(self::NUMBER, self::NAME . "{$run}_");
        $seconds = $limit > 0 ? min(self::STEP, $limit / 4) : self::STEP;
        if ($isDatabase && wp_next_scheduled(self::EVENT) === false) {
            wp_schedule_single_event(time() + self::CLEANING, self::EVENT);
        }

        return $isDatabase
            ? self::withoutCache(static fn(): array => $transients->time($operation, $from, $seconds))
            : $transients->time($operation, $from, $seconds);
    }

    /** Deletes what runs have left in the database. */
    public static function clean(): void
    {
        $wpdb = $GLOBALS['wpdb'] ?? null;
        if ($wpdb instanceof \wpdb) {
            foreach (['_transient_', '_transient_timeout_'] as $prefix) {
                $wpdb->query("DELETE FROM {$wpdb->options} WHERE option_name LIKE '{$wpdb->esc_like($prefix . self::NAME)}%'");
            }
        }
    }

    /**
     * The rows are those of this measurement alone, so no other process has them in the object cache.
     *
     * @template T
     *
     * @param callable(): T $do
     *
     * @return T
     */
    private static function withoutCache(callable $do): mixed
    {
        $cache = $GLOBALS['wp_object_cache'] ?? null;
        $hooks = $GLOBALS['wp_filter'] ?? null;
        $alone = new ObjectCache(new NoBackend('It is left out to measure the database.'));
        if ($cache instanceof ObjectCache) {
            $alone->add_global_groups(array_map(strval(...), array_keys($cache->global_groups)));
            $alone->switch_to_blog(get_current_blog_id());
        }
        if (\is_array($hooks)) {
            // What hears of options would tell the object cache of each.
            $GLOBALS['wp_filter'] = array_diff_key($hooks, ['added_option' => true, 'updated_option' => true, 'deleted_option' => true]);
        }
        $isExternal = wp_using_ext_object_cache(false);
        $GLOBALS['wp_object_cache'] = $alone;
        try {
            return $do();
        } finally {
            $GLOBALS['wp_object_cache'] = $cache;
            $GLOBALS['wp_filter'] = $hooks;
            wp_using_ext_object_cache($isExternal);
        }
    }
}
