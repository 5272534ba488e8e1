<?php

declare(strict_types=1);

namespace Larder\Lease;

use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\Key;
use Larder\Leases;
use Larder\SaveMode;
use Larder\Store;

/**
 * Leases for a store that knows none: an item under a key of its own that only one process can add.
 *
 * Unless the store can do several things in one moment, the owner is checked a moment before a lease is prolonged or ended. A process
 * that sleeps in between for longer than its lease lasts may thereby end another process's lease. Both then work at once.
 */
final class AddedLeases implements Leases
{
    /** Seconds that a lock may last at most, so that a number is there while a lease may be. */
    private const YEAR = 31_536_000;

    /** @param ?\Closure(\Closure(): bool, string): bool $atomically does what it is given to that key in one moment, if the store can */
    public function __construct(
        private readonly Store $store,
        private readonly ?\Closure $atomically = null,
    ) {}

    public function acquire(string $name, string $owner, float $seconds): bool
    {
        $key = self::key($name);
        $failure = null;
        // Twice, as its owner may have let go of it before we look whether it has one.
        for ($tries = 0; $tries < 2; $tries++) {
            try {
                if ($this->store->save([new Item($key, $owner, self::whole($seconds))], SaveMode::Add) === []) {
                    return true;
                }
            } catch (StoreUnavailable $failure) {
                if (!$failure->takesNothing) {
                    throw $failure;
                }
            }
            $has = $this->store->fetch([$key])->items[$key] ?? null;
            if ($has !== null && $has->value !== $owner) {
                return false;
            }
            if ($has !== null && $this->refresh($name, $owner, $seconds)) {
                return true;
            }
        }

        // It was refused and has no owner: either others had it, each for a moment, or the store takes nothing.
        if ($failure === null && $this->takes($owner . $name)) {
            return false;
        }

        throw $failure ?? StoreUnavailable::because('The store', 'it refuses free leases', 'see that it has room', takesNothing: true);
    }

    public function refresh(string $name, string $owner, float $seconds): bool
    {
        return $this->ifOf($name, $owner, fn(): bool => $this->store->touch([self::key($name)], self::whole($seconds)) !== []);
    }

    /**
     * The number is counted between two looks: after the first the lease is this owner's, so that it is greater than those of all earlier
     * ones; and as it still is at the second, those that come later count on.
     */
    public function fence(string $name, string $owner): ?int
    {
        if (!$this->isOf($name, $owner)) {
            return null;
        }
        // No lease has an empty name.
        $number = $this->store->increment(self::prefix(), 1, self::beginning(), self::YEAR);

        return $number > 0 && $this->isOf($name, $owner) ? $number : null;
    }

    /** Where a count begins that is new, or was lost: after all that were given before, as fewer than a million are given in a second. */
    public static function beginning(): int
    {
        return (int) (1e6 * microtime(true));
    }

    public function release(string $name, string $owner): bool
    {
        // Also where it was taken a moment ago: a process that knows the owner may have ended it, and another has it now.
        return $this->ifOf($name, $owner, fn(): bool => $this->store->delete([self::key($name)]) !== []);
    }

    /** What the keys of leases begin with, and no other: a clear of a store that locks can be in leaves them. */
    public static function prefix(): string
    {
        return Key::internal('lease', '');
    }

    /**
     * Whether there is room for a lease, under a name that no other process uses.
     *
     * @param string $lease no smaller than one: the key and the value of it together
     *
     * @throws StoreUnavailable
     */
    private function takes(string $lease): bool
    {
        $key = self::key(bin2hex(random_bytes(16)));
        try {
            $isTaken = $this->store->save([new Item($key, $lease, 1)], SaveMode::Add) === [];
        } catch (StoreUnavailable $failure) {
            return $failure->takesNothing ? false : throw $failure;
        }
        if ($isTaken) {
            $this->store->delete([$key]);
        }

        return $isTaken;
    }

    /** @param \Closure(): bool $do */
    private function ifOf(string $name, string $owner, \Closure $do): bool
    {
        $key = self::key($name);
        $all = fn(): bool => $this->isOf($name, $owner) && $do();

        return $this->atomically === null ? $all() : ($this->atomically)($all, $key);
    }

    /** @phpstan-impure */
    private function isOf(string $name, string $owner): bool
    {
        $key = self::key($name);

        return ($this->store->fetch([$key])->items[$key]->value ?? null) === $owner;
    }

    private static function key(string $name): string
    {
        return Key::internal('lease', $name);
    }

    /**
     * Stores count whole seconds, from the beginning of the present one; a lease may last a second longer than asked for, never
     * shorter. Which second that is they ask time(), whose clock may be some milliseconds behind that of microtime().
     */
    private static function whole(float $seconds): int
    {
        return (int) ceil(microtime(true) + $seconds) - time();
    }
}
