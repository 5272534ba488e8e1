<?php

declare(strict_types=1);

namespace Larder;

use Larder\Cache\Gate;
use Larder\Exception\InvalidOption;
use Larder\Exception\StoreUnavailable;

/**
 * A lock that one process at a time can have (see Cache::lock()). It ends by itself when its time is over. Longer work has to refresh()
 * it. Work that must never be done twice has to be safe even if the lock has ended.
 */
final class Lock
{
    private const POLL = 0.005;

    private const LONGEST_POLL = 0.1;

    /** Seconds that a store may be away before no process waits for it any more: the time of a restart. */
    private const AWAY = 1.0;

    /** A process that knows it can take the lock over: see the third argument of Cache::lock(). */
    public readonly string $owner;

    /** Whether no process can have the lock by this owner's name, as far as this one knows. */
    private bool $isNew;

    /**
     * @param float   $seconds more than 0
     * @param ?string $owner   1 to 64 bytes; null: a new one
     *
     * @throws InvalidOption
     *
     * @internal
     */
    public function __construct(
        private readonly Leases $leases,
        private readonly Gate $gate,
        public readonly string $name,
        private readonly float $seconds,
        ?string $owner,
    ) {
        if (!($seconds > 0.0 && $seconds <= 31_536_000.0)) {
            throw InvalidOption::range('seconds', $seconds, 'more than 0 and at most 31,536,000, a year');
        }
        if ($owner !== null && ($owner === '' || \strlen($owner) > 64)) {
            throw InvalidOption::choice('owner', addcslashes(substr($owner, 0, 70), "\0..\37\"\\\177..\377"), 'what Lock::$owner said');
        }
        $this->isNew = $owner === null;
        $this->owner = $owner ?? bin2hex(random_bytes(16));
    }

    /**
     * Takes the lock, waiting for it if need be. One that this owner has already lasts its full time again.
     *
     * @param float $wait seconds at most
     *
     * @return bool false: another owner has it, or the store has been unavailable for a second
     *
     * @throws StoreUnavailable if the cache is strict
     */
    public function acquire(float $wait = 0.0): bool
    {
        $deadline = hrtime(true) + (int) (1e9 * min(max($wait, 0.0), 1e9));
        $away = null;
        for ($pause = self::POLL; ; $pause = min(1.5 * $pause, self::LONGEST_POLL)) {
            try {
                $isAcquired = $this->ask(fn(): bool => $this->leases->acquire($this->lease(), $this->owner, $this->seconds));
            } catch (StoreUnavailable $failure) {
                $this->abandon();

                throw $failure;
            }
            if ($isAcquired) {
                $this->isNew = false;

                return true;
            }
            $now = hrtime(true);
            $left = ($deadline - $now) / 1e9;
            $away = $this->gate->isOpen ? null : $away ?? $now;
            if ($left <= 0.0 || ($away !== null && $now - $away >= 1e9 * self::AWAY)) {
                $away === null || $this->abandon();

                return false;
            }
            usleep((int) (1e6 * min($left, $pause * random_int(50, 150) / 100)));
        }
    }

    /**
     * Makes the lock last for so long from now on.
     *
     * @param ?float $seconds more than 0; null: as long as it was made for
     *
     * @return bool false: it is not this owner's any more
     *
     * @throws InvalidOption
     * @throws StoreUnavailable if the cache is strict
     */
    public function refresh(?float $seconds = null): bool
    {
        $seconds ??= $this->seconds;
        if (!($seconds > 0.0 && $seconds <= 31_536_000.0)) {
            throw InvalidOption::range('seconds', $seconds, 'more than 0 and at most 31,536,000, a year');
        }

        return $this->ask(fn(): bool => $this->leases->refresh($this->lease(), $this->owner, $seconds));
    }

    /**
     * A number by which others can tell the owners of the lock apart: greater than all that earlier owners were given. The place that
     * the work writes into keeps it, and refuses a lower one than it has seen. So an owner that slept past its time changes nothing.
     *
     * Each call gives a greater one; what goes on with the work takes the last.
     *
     * @return ?positive-int null: the lock is not this owner's, or the store is unavailable
     *
     * @throws StoreUnavailable if the cache is strict
     *
     * @phpstan-impure
     */
    public function fence(): ?int
    {
        return $this->gate->attempt(fn(): ?int => $this->leases->fence($this->lease(), $this->owner));
    }

    /**
     * Gives the lock back. A store that has failed is asked again for a second, as no process would have the lock for the rest of its time.
     *
     * @return bool false: it was not this owner's any more, or the store has been unavailable for a second
     *
     * @throws StoreUnavailable if the cache is strict
     */
    public function release(): bool
    {
        $deadline = null;
        for ($pause = self::POLL; ; $pause = min(1.5 * $pause, self::LONGEST_POLL)) {
            try {
                $isReleased = $this->gate->attempt(fn(): bool => $this->leases->release($this->lease(), $this->owner));
            } catch (StoreUnavailable $failure) {
                $isReleased = null;
            }
            if ($isReleased !== null) {
                return $isReleased;
            }
            // From when the first try has failed: that may have waited for the server for as long.
            $deadline ??= hrtime(true) + (int) (1e9 * self::AWAY);
            if (hrtime(true) >= $deadline) {
                return isset($failure) ? throw $failure : false;
            }
            usleep((int) (1e6 * $pause * random_int(50, 150) / 100));
        }
    }

    /**
     * Does something while it has the lock, and returns what that returns; null if the lock could not be had.
     *
     * @template T
     *
     * @param callable(): T $work
     * @param float         $wait seconds at most
     *
     * @return ?T
     *
     * @throws StoreUnavailable if the cache is strict
     * @throws \Throwable       what $work throws
     */
    public function run(callable $work, float $wait = 0.0): mixed
    {
        if (!$this->acquire($wait)) {
            return null;
        }
        try {
            return $work();
        } finally {
            $this->release();
        }
    }

    /** The store may have given the lock to this owner, and its answer may be lost. */
    private function abandon(): void
    {
        if (!$this->isNew) {
            return;
        }
        try {
            $this->ask(fn(): bool => $this->leases->release($this->lease(), $this->owner));
        } catch (StoreUnavailable) {
            // Then the lock ends with its time.
        }
    }

    private function lease(): string
    {
        return Key::internal('lock', $this->name);
    }

    /** @param \Closure(): bool $question */
    private function ask(\Closure $question): bool
    {
        return $this->gate->attempt(static fn(): bool => $question()) === true;
    }
}
