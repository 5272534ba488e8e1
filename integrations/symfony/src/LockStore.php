<?php

declare(strict_types=1);

namespace Larder\Symfony;

use Larder\Cache;
use Larder\Cache\Far;
use Larder\Exception\StoreUnavailable;
use Larder\Exception\UnsupportedOperation;
use Larder\Key as LarderKey;
use Larder\PendingItem;
use Larder\Store\Retention;
use Symfony\Component\Lock\Exception\InvalidTtlException;
use Symfony\Component\Lock\Exception\LockConflictedException;
use Symfony\Component\Lock\Exception\LockExpiredException;
use Symfony\Component\Lock\Exception\LockReleasingException;
use Symfony\Component\Lock\Exception\LockStorageException;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\SharedLockStoreInterface;

/**
 * Locks of Symfony in a cache whose store does not evict, to be had by one for writing or by many for reading.
 *
 * A lock is an item that names its holders, and until when. A change of it is only stored if no other process has changed it since it was
 * read. So two processes that want it at once never both get it. It counts by the clock of the host. Hosts that share locks have to agree
 * on the time. A clear() of the whole cache ends all locks.
 */
final class LockStore implements SharedLockStoreInterface
{
    private const PREFIX = 'lock of Symfony:';

    private readonly Cache $cache;

    /**
     * @param Cache|string $cache      a cache, or a DSN (see Larder\Dsn)
     * @param float        $initialTtl seconds that a lock lasts that says nothing else yet
     *
     * @throws InvalidTtlException
     * @throws UnsupportedOperation the store may lose a lock before its time is over
     * @throws \Larder\Exception    the DSN is none
     */
    public function __construct(
        #[\SensitiveParameter]
        Cache|string $cache,
        private readonly float $initialTtl = 300.0,
    ) {
        if ($initialTtl <= 0.0) {
            throw new InvalidTtlException(\sprintf('"%s()" expects a strictly positive TTL. Got %F.', __METHOD__, $initialTtl));
        }
        $this->cache = $cache instanceof Cache ? $cache : Cache::open($cache);
        Retention::demand($this->cache->store);
    }

    /**
     * @throws LockConflictedException
     * @throws LockStorageException the store is unavailable or full
     * @throws LockExpiredException
     */
    public function save(Key $key): void
    {
        $key->reduceLifetime($this->initialTtl);
        $this->change($key, fn(Holders $holders): ?Holders => $holders->withWriter($this->token($key), microtime(true) + $this->initialTtl));
        $this->checkNotExpired($key);
    }

    /**
     * @throws LockConflictedException
     * @throws LockStorageException the store is unavailable or full
     * @throws LockExpiredException
     */
    public function saveRead(Key $key): void
    {
        $key->reduceLifetime($this->initialTtl);
        $this->change($key, fn(Holders $holders): ?Holders => $holders->withReader($this->token($key), microtime(true) + $this->initialTtl));
        $this->checkNotExpired($key);
    }

    /**
     * @throws LockConflictedException
     * @throws LockStorageException the store is unavailable or full
     * @throws LockExpiredException
     */
    public function putOffExpiration(Key $key, float $ttl): void
    {
        if ($ttl <= 0.0) {
            throw new InvalidTtlException(\sprintf('"%s()" expects a TTL greater or equals to 1 second. Got %F.', __METHOD__, $ttl));
        }
        $key->reduceLifetime($ttl);
        $this->change($key, fn(Holders $holders): ?Holders => $holders->prolonged($this->token($key), microtime(true) + $ttl));
        $this->checkNotExpired($key);
    }

    /** @throws LockReleasingException the store is unavailable or full */
    public function delete(Key $key): void
    {
        $token = $this->token($key);
        try {
            $this->change($key, static fn(Holders $holders): Holders => $holders->without($token));
        } catch (LockStorageException $failure) {
            throw new LockReleasingException($failure->getMessage(), 0, $failure);
        }
    }

    public function exists(Key $key): bool
    {
        $name = self::name($key);
        try {
            // What lies near may be the lock as it was when this request began.
            $found = Far::fetch($this->cache->store, [$name])->items[$name] ?? null;
        } catch (StoreUnavailable) {
            return false;
        }

        return Holders::of($found?->value, microtime(true))->has($this->token($key));
    }

    /**
     * @param \Closure(Holders): ?Holders $change null: it is another's
     *
     * @throws LockConflictedException
     * @throws LockStorageException
     */
    private function change(Key $key, \Closure $change): void
    {
        $isAsked = $isConflict = false;
        try {
            $isStored = $this->cache->update(self::name($key), static function (mixed $stored, PendingItem $pending) use ($change, &$isAsked, &$isConflict): mixed {
                $isAsked = true;
                $now = microtime(true);
                $holders = $change(Holders::of($stored, $now));
                $isConflict = $holders === null;
                if ($holders === null) {
                    $pending->doNotStore();

                    return null;
                }
                $pending->expireAfter($holders->ttl($now));

                return $holders->stored();
            });
        } catch (StoreUnavailable $failure) {
            throw new LockStorageException($failure->getMessage(), 0, $failure);
        }
        if ($isConflict) {
            throw new LockConflictedException();
        }
        if (!$isStored) {
            throw new LockStorageException($isAsked ? \sprintf('The lock "%s" could not be stored; the store is full, or too many want the lock at once.', $key) : 'The store of the locks is unavailable.');
        }
    }

    /** @throws LockExpiredException */
    private function checkNotExpired(Key $key): void
    {
        if ($key->isExpired()) {
            try {
                $this->delete($key);
            } catch (LockReleasingException) {
                // It ends by itself.
            }
            throw new LockExpiredException(\sprintf('Failed to store the "%s" lock.', $key));
        }
    }

    private static function name(Key $key): string
    {
        return LarderKey::fitting(self::PREFIX . $key, self::PREFIX);
    }

    /** The owner that a key is; the same in another process that it was sent to. */
    private function token(Key $key): string
    {
        if (!$key->hasState(self::class)) {
            $key->setState(self::class, bin2hex(random_bytes(16)));
        }
        $token = $key->getState(self::class);

        return \is_string($token) ? $token : '';
    }
}
