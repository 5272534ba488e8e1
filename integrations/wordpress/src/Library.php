<?php

declare(strict_types=1);

namespace Larder\WordPress;

use Larder\Cache;
use Larder\Exception as Failure;
use Larder\SharedMemory;
use Larder\Store\AbsentStore;
use Larder\Store\SharedMemoryStore;
use Psr\Log\NullLogger;

/** Where the library is needed: for every store but a pool that this process shares with all others. */
final class Library
{
    private function __construct() {}

    public static function backend(Settings $settings): Backend
    {
        try {
            if ($settings->pool !== null) {
                return self::unreachable($settings);
            }
            if ($settings->dsn === null) {
                return new NoBackend('There is no store; see wp larder doctor.');
            }

            $failure = new LastFailure();

            return new CacheBackend(Cache::open($settings->dsn, logger: $failure, journal: $settings->journal()), failure: $failure);
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

    private static function unreachable(Settings $settings): Backend
    {
        $mend = match (true) {
            !\class_exists(SharedMemory::class, false) => 'it has no extension larder; load it here, too',
            PHP_SAPI === 'cli' => "it runs as another user than the web server (user id {$settings->owner}); run it as that user, or set larder.group",
            default => "the drop-in was written for another user (user id {$settings->owner}); make wp-content writable and open the settings, or say `wp larder enable`",
        };
        $why = "This process does not share the pool {$settings->pool} with the web server, as {$mend}. ";
        $journal = $settings->journal();
        if ($journal === null || !is_writable(\dirname($journal))) {
            return new NoBackend("{$why}The web does not hear what it deletes.", true);
        }
        try {
            // The store is absent on purpose, which is said in its own words: no log of it.
            return new CacheBackend(new Cache(new AbsentStore(), logger: new NullLogger(), journal: $journal), "{$why}What it deletes reaches the web by the journal.");
        } catch (Failure $refused) {
            return new NoBackend("{$why}The web does not hear what it deletes: {$refused->getMessage()}", true);
        }
    }
}
