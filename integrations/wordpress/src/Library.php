<?php

declare(strict_types=1);

namespace Larder\WordPress;

use Larder\Cache;
use Larder\Exception as Failure;
use Larder\SharedMemory;
use Larder\Store\AbsentStore;
use Larder\Store\SharedMemoryStore;

/** Where the library is needed: for every store but a pool that this process shares with all others. */
final class Library
{
    private function __construct() {}

    public static function backend(Settings $settings): Backend
    {
        try {
            if ($settings->pool !== null) {
                return self::unreachable($settings, 'This process does not share the pool ' . $settings->pool . ' with the web server.');
            }
            if ($settings->dsn === null) {
                return new NoBackend('There is no store; see wp larder doctor.');
            }

            return new CacheBackend(Cache::open($settings->dsn, journal: $settings->journal()));
        } catch (Failure|\Error $refused) {
            return new NoBackend($refused->getMessage());
        }
    }

    /**
     * Delivers to a pool what processes have deleted that could not reach it.
     *
     * @return ?Backend one that reads nothing, while that is not delivered yet; null: all is
     */
    public static function deliver(Settings $settings, SharedMemory $pool): ?Backend
    {
        try {
            $cache = new Cache(new SharedMemoryStore($pool), journal: $settings->journal());
            // Opening it reads the journal, and reading anything delivers what is in it.
            $cache->has('larder');

            return $cache->health()->isFlagged() ? new CacheBackend($cache) : null;
        } catch (Failure $refused) {
            return new NoBackend($refused->getMessage());
        }
    }

    private static function unreachable(Settings $settings, string $why): Backend
    {
        $journal = $settings->journal();

        return $journal === null ? new NoBackend($why) : new CacheBackend(new Cache(new AbsentStore(), journal: $journal), false);
    }
}
