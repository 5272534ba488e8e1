<?php

declare(strict_types=1);

namespace Larder;

/**
 * A value that this process is to compute, as Cache::begin() found none: a remember() that stands still where the callback would run.
 * Its lease is held until it is finished or abandoned, or this object is gone.
 */
final class Unfinished
{
    /**
     * @param PendingItem $pending what the callback of remember() would get
     * @param ?\Fiber<\Closure(callable(PendingItem): mixed): mixed, mixed, void, PendingItem|array{mixed}> $waiting in which remember()
     *     waits for the value; null: it is over
     *
     * @internal for Cache::begin()
     */
    public function __construct(
        public readonly PendingItem $pending,
        private ?\Fiber $waiting,
    ) {}

    /**
     * Stores the value, on the terms of begin() and of the pending item. It is refused if its key or one of its tags was invalidated
     * since begin(), and the pending item may say not to store it. Nor is it stored when the script has ended, in a destructor or
     * in an output buffer that PHP empties then: end the buffer yourself, at the latest in a shutdown function.
     *
     * @template T
     *
     * @param T $value
     *
     * @return T the value, stored or not
     *
     * @throws Exception\Unstorable
     * @throws Exception\StoreUnavailable if the cache is strict
     * @throws \LogicException if it was finished or abandoned before
     */
    public function finish(mixed $value): mixed
    {
        $waiting = $this->waiting ?? throw new \LogicException(\sprintf('The value of "%s" was finished or abandoned before; begin it again.', $this->pending->key));
        $this->waiting = null;
        // When a script ends, PHP ends all fibers before it empties output buffers. In destructors it resumes none.
        try {
            $waiting->isTerminated() || $waiting->resume($value);
        } catch (\FiberError $mistake) {
            $waiting->isSuspended() || throw $mistake;
        }

        return $value;
    }

    /** Stores nothing, and lets another process compute. */
    public function abandon(): void
    {
        // PHP ends what waits in it, and with that the lease.
        $this->waiting = null;
    }
}
