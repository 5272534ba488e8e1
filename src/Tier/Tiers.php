<?php

declare(strict_types=1);

namespace Larder\Tier;

use Larder\Dsn;
use Larder\Exception;
use Larder\Exception\InvalidDsn;
use Larder\Exception\PoolUnusable;
use Larder\Log\NoLog;
use Larder\Reads;
use Larder\Store;
use Larder\Store\ApcuStore;
use Larder\Store\ArrayStore;
use Larder\Store\Prefix;
use Larder\Store\RedisStore;
use Larder\Store\SharedMemoryStore;
use Larder\Store\SqliteStore;

/** How the tiers of a DSN are opened. */
final class Tiers
{
    /** The schemes of near stores. */
    private const NEAR = ['array', 'apcu', 'shm'];

    private function __construct() {}

    /**
     * Options of the near DSN besides its store's: grace (seconds in which the near store may answer while the log cannot
     * be read); staleness (seconds for which what was read from the log counts as new). A far store without a log needs staleness.
     *
     * @param Store $store what the far DSN names
     *
     * @throws Exception
     */
    public static function open(Dsn $near, Dsn $far, Store $store): TieredStore
    {
        $staleness = $near->seconds('staleness', 0.0);
        $log = match (true) {
            $store instanceof SqliteStore, $store instanceof RedisStore => $store->log(),
            $store instanceof TieredStore => $store->log,
            $staleness > 0.0 => new NoLog(),
            default => throw \in_array($near->scheme, self::NEAR, true) ? InvalidDsn::withoutLog($near->scheme, $far->scheme) : InvalidDsn::nearStore($near->scheme),
        };

        return new TieredStore(self::near($near->without('grace', 'staleness'), $far), $store, $log, $near->integer('grace', 0), staleness: $staleness, place: self::place($far));
    }

    /** Of a far store and its keys. Two that are named differently may be the same; two that are named alike are. */
    private static function place(Dsn $far): string
    {
        $prefix = $far->text('prefix', Prefix::DEFAULT);

        return trim((string) preg_replace('/ (?:: )?+ */', ' ', $far->place())) . ($prefix === Prefix::DEFAULT ? '' : ", prefix {$prefix}");
    }

    private static function near(Dsn $near, Dsn $far): Store&Reads
    {
        // A near store is its tier's own; without a name of its own it gets one that no other tier has.
        $own = 'tier-' . substr(hash('xxh128', $far->place() . "?{$far->text('prefix', Prefix::DEFAULT)}"), 0, 16);
        switch ($near->scheme) {
            case 'array':
                return ArrayStore::fromDsn($near);
            case 'shm':
                try {
                    return SharedMemoryStore::fromDsn($near->path === '' ? $near->named($own) : $near);
                } catch (PoolUnusable $failure) {
                    if (SharedMemoryStore::isMadeOtherwise($near->path === '' ? $own : $near->path, $near->switch('evict', true))) {
                        throw $failure;
                    }

                    // Every process reads for itself what all would have had: slower, and right.
                    return new ArrayStore();
                }
            case 'apcu':
                $near->withoutPath();
                $near->allow('prefix');
                if (\PHP_SAPI === 'cli' && !(\function_exists('apcu_enabled') && apcu_enabled())) {
                    // The APCu of the command line would be its own anyway. What it does the web server's learns from the log.
                    return new ArrayStore();
                }

                return new ApcuStore($near->text('prefix', $own));
            default:
                throw InvalidDsn::nearStore($near->scheme);
        }
    }
}
