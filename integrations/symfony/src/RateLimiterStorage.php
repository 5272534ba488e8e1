<?php

declare(strict_types=1);

namespace Larder\Symfony;

use Larder\Cache;
use Larder\Exception\StoreUnavailable;
use Larder\Exception\UnsupportedOperation;
use Larder\Store\Retention;
use Larder\Ttl;
use Symfony\Component\RateLimiter\LimiterStateInterface;
use Symfony\Component\RateLimiter\Storage\StorageInterface;

/**
 * The hits that Symfony's rate limiters have counted, in a cache whose store does not evict.
 *
 *     $cache = Cache::open('shm:limits?evict=no');
 *     $logins = new RateLimiterFactory($configuration, new RateLimiterStorage($cache), RateLimiterLocks::in($cache));
 *
 * A limiter reads the state, changes it and saves it. Only with the locks are these one step for other processes, so that no hit
 * is lost. While the store is unavailable nothing is counted, and limiters let everything pass.
 */
final class RateLimiterStorage implements StorageInterface
{
    private const PREFIX = 'limit of Symfony:';

    /**
     * Seconds that an item lives longer than its state, which says itself when it ends. Of these Symfony's whole seconds take one, and so does
     * an item's expiry, which counts from the second that has begun.
     */
    private const LONGER = 2;

    private readonly Cache $cache;

    /**
     * @param Cache|string $cache a cache, or a DSN (see Larder\Dsn)
     *
     * @throws UnsupportedOperation the store may lose a state before its time is over
     * @throws \Larder\Exception    the DSN is none
     */
    public function __construct(
        #[\SensitiveParameter]
        Cache|string $cache,
    ) {
        $this->cache = $cache instanceof Cache ? $cache : Cache::open($cache);
        Retention::demand($this->cache->store);
    }

    /** @throws StoreUnavailable if the cache is strict */
    public function save(LimiterStateInterface $limiterState): void
    {
        // Unlike a set, this leaves the former state where it fails: a limiter that has counted less is better than one that has forgotten.
        $seconds = $limiterState->getExpirationTime();
        $this->cache->update(self::key($limiterState->getId()), static fn(): LimiterStateInterface => $limiterState, $seconds === null ? Ttl::Forever : max(0, $seconds) + self::LONGER);
    }

    /** @throws StoreUnavailable if the cache is strict */
    public function fetch(string $limiterStateId): ?LimiterStateInterface
    {
        $state = $this->cache->get(self::key($limiterStateId));

        return $state instanceof LimiterStateInterface ? $state : null;
    }

    /** @throws StoreUnavailable if the cache is strict */
    public function delete(string $limiterStateId): void
    {
        $this->cache->delete(self::key($limiterStateId));
    }

    /** Ids have what visitors send in them, of any length. */
    private static function key(string $id): string
    {
        return self::PREFIX . hash('sha256', $id);
    }
}
