<?php

declare(strict_types=1);

namespace Larder\Tier;

use Larder\Dsn;
use Larder\Exception;
use Larder\Exception\InvalidDsn;
use Larder\Exception\InvalidOption;
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

    /** Of the name of a pool, and of a prefix. */
    private const LONGEST = 64;

    /** Digits of the hash in a near store's name. */
    private const HASH = 16;

    private function __construct() {}

    /**
     * Refuses what no tier can be, before any of its stores is opened, which may make a pool or a file.
     *
     * @throws Exception
     */
    public static function demand(Dsn $near, Dsn $far): void
    {
        if ($far->far !== null && \in_array($near->scheme, self::NEAR, true) && $near->scheme !== 'array') {
            throw InvalidOption::nearOfThree("\"{$near->scheme}:\"");
        }
        if ($near->integer('grace', 0) < 0) {
            throw InvalidOption::range('grace', $near->integer('grace', 0), '0 seconds or more');
        }
    }

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
            default => throw \in_array($near->scheme, self::NEAR, true) ? InvalidDsn::withoutLog($near->scheme, $far->written) : InvalidDsn::nearStore($near->written),
        };

        return new TieredStore(self::near($near->without('grace', 'staleness'), $far), $store, $log, $near->integer('grace', 0), staleness: $staleness, place: self::place($far));
    }

    /** Of a far store and its keys. Two that are named differently may be the same; two that are named alike are. */
    private static function place(Dsn $far): string
    {
        $prefix = $far->text('prefix', Prefix::DEFAULT);

        return trim((string) preg_replace('/ (?:: )?+ */', ' ', $far->place())) . ($prefix === Prefix::DEFAULT ? '' : ", prefix {$prefix}");
    }

    /**
     * A near store is its tier's own. So its name has that of the far store in it: two tiers over different ones share no item, whatever
     * either does within a request of the other. A mark in the near store could not keep them apart, as it goes with all else in there.
     */
    private static function own(string $name, Dsn $far): string
    {
        $place = $far->place() . "?{$far->text('prefix', Prefix::DEFAULT)}";

        return $name === ''
            ? 'tier-' . substr(hash('xxh128', $place), 0, self::HASH)
            : substr($name, 0, self::LONGEST - self::HASH - 1) . '.' . substr(hash('xxh128', "{$name} {$place}"), 0, self::HASH);
    }

    private static function near(Dsn $near, Dsn $far): Store&Reads
    {
        switch ($near->scheme) {
            case 'array':
                return ArrayStore::fromDsn($near);
            case 'shm':
                if ($near->path !== '' && !SharedMemoryStore::canName($near->path)) {
                    throw SharedMemoryStore::misnamed($near->path);
                }
                $own = self::own($near->path, $far);
                try {
                    return SharedMemoryStore::fromDsn($near->named($own));
                } catch (PoolUnusable $failure) {
                    if (SharedMemoryStore::isMadeOtherwise($own, $near->switch('evict', true))) {
                        throw $failure;
                    }

                    // Every process reads for itself what all would have had: slower, and right.
                    return new ArrayStore();
                }
            case 'apcu':
                $near->withoutPath();
                $near->allow('prefix');
                if (\PHP_SAPI === 'cli' && !(\function_exists('apcu_enabled') && apcu_enabled())) {
                    // The APCu of the command line would be its own anyway. The web server's learns from the log what it does.
                    return new ArrayStore();
                }

                $own = self::own('', $far);
                $prefix = $near->text('prefix', $own);

                return new ApcuStore($prefix === $own ? $own : self::own(rtrim(Prefix::check($prefix), ':'), $far));
            default:
                throw InvalidDsn::nearStore($near->written);
        }
    }
}
