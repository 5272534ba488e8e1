<?php

declare(strict_types=1);

namespace Larder\Remember;

use Larder\PendingItem;
use Larder\Unfinished;

/** How Cache::begin() has remember() stand still where it calls back: each call runs in a fiber. One that was not needed serves the next call. */
final class Beginnings
{
    /**
     * Null, or one that waits for another call.
     *
     * @var ?\Fiber<\Closure(callable(PendingItem): mixed): mixed, mixed, void, PendingItem|array{mixed}>
     */
    private ?\Fiber $idle = null;

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
