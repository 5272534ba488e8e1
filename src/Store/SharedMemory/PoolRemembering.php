<?php

declare(strict_types=1);

namespace Larder\Store\SharedMemory;

use Larder\Cache\Lifetimes;
use Larder\Computation;
use Larder\Event\Computed;
use Larder\Event\Hit;
use Larder\Event\Missed;
use Larder\Event\Written;
use Larder\Key;
use Larder\PendingItem;
use Larder\Pooled;
use Larder\Remember\AtTheEnd;
use Larder\Remember\Recipe;
use Larder\Remember\Remembers;
use Larder\Remember\StampedeOptions;
use Larder\Ttl;
use Psr\EventDispatcher\EventDispatcherInterface;
use Psr\Log\LoggerInterface;

/**
 * Runs Cache::remember() in shared memory. The pool itself keeps the cost of an item, and how long it may be served stale. It has leases
 * that end with their process, and says when a value has to be computed.
 */
final class PoolRemembering implements Remembers
{
    /** Seconds that a pool's lease lasts at most, and that a process waits in it. */
    private const LONGEST = 3_600.0;

    /** No caller can have this object: a value that is identical to it was not in the pool. */
    private readonly \stdClass $absent;

    public function __construct(
        private readonly Pooled $store,
        private readonly Lifetimes $lifetimes,
        private readonly AtTheEnd $atTheEnd,
        private readonly ?LoggerInterface $logger,
        private readonly ?EventDispatcherInterface $events,
    ) {
        $this->absent = new \stdClass();
    }

    public function remember(string $key, callable $compute, int|\DateInterval|Ttl|null $ttl, array $tags, int $grace, float $beta, ?StampedeOptions $stampede): mixed
    {
        return $this->value(new Recipe($key, $compute(...), $ttl, $tags, $grace, $beta, $stampede ?? new StampedeOptions()));
    }

    private function value(Recipe $recipe): mixed
    {
        $isWritten = false;
        $through = function (callable $compute, Computation $computation) use ($recipe, &$isWritten): mixed {
            $value = $recipe->stampede->afterResponse ? $this->defer($recipe, $computation) : $this->compute($compute, $computation);
            $isWritten = $computation->isStored && !$computation->hasFailed;

            return $value;
        };
        $stampede = $recipe->stampede;
        try {
            $value = $this->store->pool()->remember(
                $recipe->key,
                $recipe->compute,
                $this->lifetimes->seconds($recipe->ttl),
                $recipe->tags,
                $recipe->beta,
                $recipe->grace,
                $through,
                min($stampede->lease, self::LONGEST),
                min($stampede->missWait, self::LONGEST),
                min($stampede->staleWait, self::LONGEST),
                min($stampede->retry, self::LONGEST),
            );
        } catch (\ValueError $error) {
            $this->store->check($recipe->key);
            throw $error;
        }
        $this->events?->dispatch($isWritten ? new Written([$recipe->key]) : new Hit($recipe->key));

        return $value;
    }

    /**
     * What the pool calls when it has found nothing, or wants it anew.
     *
     * @param callable(PendingItem): mixed $compute
     */
    public function compute(callable $compute, Computation $computation): mixed
    {
        Key::check($computation->key);
        $this->events?->dispatch(new Missed($computation->key));
        $ttl = $computation->ttl ?? Ttl::Forever;
        $pending = new PendingItem($computation->key, $ttl, array_map(strval(...), array_values($computation->tags)));
        $began = hrtime(true);
        try {
            $value = $compute($pending);
        } catch (\Throwable $failure) {
            return $this->inPlaceOf($failure, $computation);
        }
        $this->events?->dispatch(new Computed($computation->key, (hrtime(true) - $began) / 1e9));
        $computation->isStored = $pending->isStored();
        $computation->tags = $pending->tags();
        if ($pending->ttl() !== $ttl) {
            $computation->ttl = $this->lifetimes->seconds($pending->ttl());
        }

        return $value;
    }

    /** The value to be served in place of one that could not be computed. */
    private function inPlaceOf(\Throwable $failure, Computation $computation): mixed
    {
        $old = $computation->old($this->absent);
        if ($old === $this->absent) {
            throw $failure;
        }
        $computation->hasFailed = true;
        $this->logFailure($computation->key, $failure);

        return $old;
    }

    /** The value to be served while another is computed at the end of the request; if there is none, it is computed now. */
    private function defer(Recipe $recipe, Computation $computation): mixed
    {
        $old = $computation->old($this->absent);
        if ($old === $this->absent) {
            return $this->compute($recipe->compute, $computation);
        }
        $computation->isStored = false;
        $stampede = $recipe->stampede;
        $atOnce = new StampedeOptions($stampede->lease, $stampede->staleWait, $stampede->missWait, $stampede->retry);
        $later = new Recipe($recipe->key, $recipe->compute, $recipe->ttl, $recipe->tags, $recipe->grace, $recipe->beta, $atOnce);
        $this->atTheEnd->add(function () use ($later): void {
            try {
                $this->value($later);
            } catch (\Throwable $failure) {
                $this->logFailure($later->key, $failure);
            }
        });

        return $old;
    }

    private function logFailure(string $key, \Throwable $failure): void
    {
        $this->logger?->warning('A value could not be computed anew; the stale one is served.', [
            'key' => $key,
            'exception' => $failure,
        ]);
    }
}
