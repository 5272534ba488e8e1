<?php

declare(strict_types=1);

namespace Larder\Symfony;

use Larder\Cache;
use Larder\Exception\UnsupportedOperation;
use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Lock\SharedLockInterface;

/**
 * Locks for rate limiters, of which each takes one for the moment in which it counts. They differ from those of a LockStore in three points.
 * A limiter looks again after milliseconds. A process that was killed while it counted blocks others for some seconds only. A store that
 * is unavailable or full does not stop any request.
 */
final class RateLimiterLocks extends LockFactory
{
    /**
     * @param Cache|string $cache a cache, or a DSN (see Larder\Dsn)
     *
     * @throws UnsupportedOperation the store may lose a lock before its time is over
     * @throws \Larder\Exception    the DSN is none
     */
    public static function in(
        #[\SensitiveParameter]
        Cache|string $cache,
    ): self {
        return new self(new RateLimiterLockStore(new LockStore($cache, RateLimiterLockStore::SECONDS)));
    }

    /** @param ?float $ttl is ignored: a limiter asks for the five minutes that are the default */
    public function createLock(string $resource, ?float $ttl = null, bool $autoRelease = true): SharedLockInterface
    {
        return parent::createLock($resource, null, $autoRelease);
    }
}
