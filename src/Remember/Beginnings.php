<?php

declare(strict_types=1);

namespace Larder\Remember;

use Larder\Computation;
use Larder\PendingItem;
use Larder\SharedMemory;
use Larder\Unfinished;

/**
 * How Cache::begin() has remember() stand still where it calls back: the call runs in a fiber. One that was not needed serves the next
 * call. A pool is asked without a fiber first, as a hit takes less time than one.
 */
final class Beginnings
{
    /** The greatest beta: a value that was found due for an early computation a moment ago is due again. */
    private const DUE = 1_000.0;

    /** No caller can have these. A result that is identical to one of them is to be computed: nothing is there, or something that is due. */
    private readonly \stdClass $nothing;

    private readonly \stdClass $due;

    /** @var \Closure(PendingItem): mixed what a look never calls */
    private \Closure $compute;

    /** @var \Closure(callable(PendingItem): mixed, Computation): \stdClass has nothing computed or stored */
    private readonly \Closure $look;

    /**
     * Null, or one that waits for another call.
     *
     * @var ?\Fiber<\Closure(callable(PendingItem): mixed): mixed, mixed, void, PendingItem|array{mixed}>
     */
    private ?\Fiber $idle = null;

    public function __construct()
    {
        [$nothing, $due] = [$this->nothing, $this->due] = [new \stdClass(), new \stdClass()];
        $this->compute = static fn(): null => null;
        $this->look = static function (callable $compute, Computation $computation) use ($nothing, $due): \stdClass {
            $computation->isStored = false;

            return $computation->old($nothing) === $nothing ? $nothing : $due;
        };
    }

    /**
     * What remember() would find in a pool, without a fiber.
     *
     * @param-out float $beta for the call that is to compute the value
     *
     * @return mixed the value, or what isToBegin() knows
     */
    public function look(SharedMemory $pool, string $key, int $grace, float &$beta): mixed
    {
        try {
            $found = $pool->remember($key, $this->compute, null, [], $beta, $grace, $this->look);
        } catch (\ValueError) {
            // The call in the fiber says what is wrong.
            return $this->nothing;
        }
        if ($found === $this->due && $beta > 0.0) {
            $beta = self::DUE;
        }

        return $found;
    }

    public function isToBegin(mixed $found): bool
    {
        return $found === $this->nothing || $found === $this->due;
    }

    /**
     * @param \Closure(callable(PendingItem): mixed): mixed $remember calls remember() with that callback
     *
     * @return mixed what remember() returns, or an Unfinished if it calls back
     */
    public function begin(\Closure $remember): mixed
    {
        $fiber = $this->idle;
        $this->idle = null;
        if ($fiber === null) {
            /** @var \Fiber<\Closure(callable(PendingItem): mixed): mixed, mixed, void, PendingItem|array{mixed}> $fiber */
            $fiber = new \Fiber(static function (?\Closure $remember): void {
                for (; ;) {
                    /** @var \Closure(callable(PendingItem): mixed): mixed $next */
                    $next = \Fiber::suspend(self::returned($remember));
                    $remember = $next;
                    unset($next);
                }
            });
            $said = $fiber->start($remember);
        } else {
            $said = $fiber->resume($remember);
        }
        if ($said instanceof PendingItem) {
            return new Unfinished($said, $fiber);
        }
        $this->idle = $fiber;

        /** @var array{mixed} $said a fiber that ends throws */
        return $said[0];
    }

    /**
     * Keeps nothing, as the fiber would keep it till the next call.
     *
     * @param (\Closure(callable(PendingItem): mixed): mixed)|null $remember
     *
     * @param-out null $remember
     *
     * @return array{mixed}
     */
    private static function returned(?\Closure &$remember): array
    {
        $value = $remember === null ? null : $remember(static fn(PendingItem $pending): mixed => \Fiber::suspend($pending));
        $remember = null;

        return [$value];
    }
}
