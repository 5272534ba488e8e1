<?php

declare(strict_types=1);

namespace Larder\Symfony;

use Symfony\Component\Lock\BlockingStoreInterface;
use Symfony\Component\Lock\Exception\LockConflictedException;
use Symfony\Component\Lock\Exception\LockReleasingException;
use Symfony\Component\Lock\Exception\LockStorageException;
use Symfony\Component\Lock\Key;

/** @internal of RateLimiterLocks */
final class RateLimiterLockStore implements BlockingStoreInterface
{
    /** After which the lock of a killed process is free. */
    public const SECONDS = 5.0;

    /** Longer than that, so that killed processes make no request fail. */
    private const LONGEST_WAIT = 15.0;

    /** Microseconds. */
    private const PAUSE = 200;

    private const LONGEST_PAUSE = 10_000;

    public function __construct(private readonly LockStore $locks) {}

    public function save(Key $key): void
    {
        try {
            $this->locks->save($key);
        } catch (LockStorageException) {
            // Where no lock can be stored no hit is, either. The cache has logged it.
        }
    }

    public function waitAndSave(Key $key): void
    {
        $deadline = hrtime(true) + (int) (1e9 * self::LONGEST_WAIT);
        for ($pause = self::PAUSE; ; $pause = min(2 * $pause, self::LONGEST_PAUSE)) {
            try {
                $key->resetLifetime();
                $this->save($key);

                return;
            } catch (LockConflictedException $conflict) {
                if (hrtime(true) > $deadline) {
                    throw $conflict;
                }
            }
            usleep(random_int(intdiv($pause, 2), $pause));
        }
    }

    public function putOffExpiration(Key $key, float $ttl): void
    {
        try {
            $this->locks->putOffExpiration($key, $ttl);
        } catch (LockStorageException) {
            // As in save().
        }
    }

    public function delete(Key $key): void
    {
        try {
            $this->locks->delete($key);
        } catch (LockReleasingException) {
            // It ends by itself.
        }
    }

    public function exists(Key $key): bool
    {
        return $this->locks->exists($key);
    }
}
