<?php

declare(strict_types=1);

namespace Larder;

use Larder\Exception\PoolUnusable;
use Larder\Exception\StoreUnavailable;
use Larder\Store\AbsentStore;
use Larder\Store\ApcuStore;
use Larder\Store\ArrayStore;
use Larder\Store\FileStore;
use Larder\Store\LateStore;
use Larder\Store\MemcachedStore;
use Larder\Store\PhpFileStore;
use Larder\Store\RedisStore;
use Larder\Store\SharedMemoryStore;
use Larder\Store\SqliteStore;
use Larder\Tier\TieredStore;
use Larder\Tier\Tiers;

/** Opens the stores that DSNs name. Nothing that may be down at the moment is contacted yet. */
final class Stores
{
    private function __construct() {}

    /**
     * @param string $dsn see Dsn for the grammar
     *
     * @throws Exception
     */
    public static function open(#[\SensitiveParameter] string $dsn): Store
    {
        return self::of(Dsn::parse($dsn));
    }

    /**
     * @param string $near the scheme of the near store in front of it, '' without one
     *
     * @throws Exception
     */
    public static function of(Dsn $dsn, string $near = ''): Store
    {
        if ($dsn->far !== null) {
            Tiers::demand($dsn, $dsn->far);

            return Tiers::open($dsn, $dsn->far, $dsn->far->far === null && $dsn->far->scheme === 'sqlite' ? SqliteStore::fromDsn($dsn->far) : self::of($dsn->far, $dsn->scheme));
        }

        return match ($dsn->scheme) {
            'shm' => self::pool($dsn),
            'array' => ArrayStore::fromDsn($dsn),
            'absent' => AbsentStore::fromDsn($dsn),
            'apcu' => ApcuStore::fromDsn($dsn),
            'sqlite' => self::database($dsn),
            'file' => FileStore::fromDsn($dsn),
            'php' => PhpFileStore::fromDsn($dsn),
            'memcached', 'memcached+unix' => MemcachedStore::fromDsn($dsn),
            // A host that keeps values near has the memory to judge tags there, too: a miss is a plain read then, and no script.
            default => RedisStore::fromDsn($dsn, \in_array($near, ['shm', 'apcu'], true) ? 'near' : 'far'),
        };
    }

    /**
     * Each change of a database that has near stores in front of it has to be in its log, or they would go on with what they
     * have. A process that opens the database alone has a near store of its own, then.
     *
     * @throws Exception
     */
    private static function database(Dsn $dsn): Store
    {
        $store = SqliteStore::fromDsn($dsn);
        $log = $store->log();

        return $log->isFollowed() ? new TieredStore(new ArrayStore(), $store, $log) : $store;
    }

    /**
     * A pool that cannot be had at the moment is a store that has failed, and no reason to take a site down.
     *
     * @throws Exception
     */
    private static function pool(Dsn $dsn): Store
    {
        $open = static function () use ($dsn): Store {
            try {
                return SharedMemoryStore::fromDsn($dsn);
            } catch (PoolUnusable $failure) {
                throw SharedMemoryStore::unavailable($failure);
            }
        };
        try {
            return $open();
        } catch (StoreUnavailable $failure) {
            $evicts = $dsn->switch('evict', true);
            if (SharedMemoryStore::isMadeOtherwise(SharedMemoryStore::poolOf($dsn), $evicts)) {
                throw $failure->getPrevious() instanceof PoolUnusable ? $failure->getPrevious() : $failure;
            }

            return new LateStore($open, $failure, SharedMemoryStore::promised($evicts));
        }
    }
}
