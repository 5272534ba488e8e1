<?php

declare(strict_types=1);

namespace Larder\Remember;

use Larder\Cache\Lifetimes;
use Larder\Draft;
use Larder\Event\Computed;
use Larder\Event\Hit;
use Larder\Event\Missed;
use Larder\Event\Written;
use Larder\Exception\PoolUnusable;
use Larder\SharedMemory;
use Larder\Token;
use Psr\EventDispatcher\EventDispatcherInterface;
use Psr\Log\LoggerInterface;

/**
 * What Cache::remember() does in shared memory, where the pool itself keeps the cost of an item and what it may be
 * served for past its time, and has leases that end with their process.
 *
 * The pool stores what the computation returns. What the draft says otherwise is stored before it returns, while the
 * pool still holds the lease, and the pool is then kept from storing by an exception.
 */
final class PoolRemembering
{
    /** Seconds that a pool's lease lasts at most, and that anybody waits in it. */
    private const LONGEST = 3_600.0;

    public function __construct(
        private readonly SharedMemory $pool,
        private readonly Lifetimes $lifetimes,
        private readonly AtTheEnd $atTheEnd,
        private readonly ?LoggerInterface $logger,
        private readonly ?EventDispatcherInterface $events,
    ) {}

    public function value(Recipe $recipe): mixed
    {
        $compute = fn(): mixed => $this->compute($recipe);
        if (!$recipe->patience->afterResponse) {
            return $this->remember($recipe, $compute, new Course());
        }
        $course = new Course();
        try {
            // What is put off has not failed, and is tried again at the end.
            $value = $this->remember($recipe, self::putOff(...), $course, 0.0);
        } catch (PutOff) {
            // There is nothing to serve meanwhile.
            return $this->remember($recipe, $compute, new Course());
        }
        if ($course->isPutOff) {
            $this->atTheEnd->add(function () use ($recipe, $compute): void {
                try {
                    $this->remember($recipe, $compute, new Course());
                } catch (\Throwable $failure) {
                    $this->logFailure($recipe, $failure);
                }
            });
        }

        return $value;
    }

    /**
     * @param \Closure(): mixed $compute
     * @param ?float            $retry seconds in which nobody tries again what fails; null: as the recipe says
     */
    private function remember(Recipe $recipe, \Closure $compute, Course $course, ?float $retry = null): mixed
    {
        $asked = static function () use ($compute, $course): mixed {
            $course->isAsked = true;
            try {
                return $compute();
            } catch (Shaped $end) {
                throw $end;
            } catch (PutOff $end) {
                $course->isPutOff = true;
                throw $end;
            } catch (\Throwable $failure) {
                $course->failure = $failure;
                // The pool makes up for an \Exception by what is stale, and lets an \Error pass; here both are alike.
                throw new Failed($failure);
            }
        };
        try {
            $ttl = $this->lifetimes->seconds($recipe->ttl);
            [$lease, $hard, $soft, $afterFailure] = self::inSeconds($recipe->patience);
            $value = $this->pool->remember($recipe->key, $asked, $ttl, $recipe->tags, $recipe->earliness, $recipe->grace, $lease, $hard, $soft, $retry ?? $afterFailure);
        } catch (Shaped $shaped) {
            return $shaped->value;
        } catch (Failed $failure) {
            throw $failure->failure;
        }
        if ($course->failure !== null) {
            $this->logFailure($recipe, $course->failure);
        }
        $isWritten = $course->isAsked && !$course->isPutOff && $course->failure === null;
        $this->events?->dispatch($isWritten ? new Written([$recipe->key]) : new Hit($recipe->key));

        return $value;
    }

    /** @return list<float> lease, hard, soft, retry */
    private static function inSeconds(Patience $patience): array
    {
        return array_map(static fn(float $seconds): float => min($seconds, self::LONGEST), [$patience->lease, $patience->hard, $patience->soft, $patience->retry]);
    }

    private static function putOff(): mixed
    {
        throw new PutOff();
    }

    private function compute(Recipe $recipe): mixed
    {
        $this->events?->dispatch(new Missed($recipe->key));
        $token = $this->token($recipe->key);
        $draft = new Draft($recipe->key, $recipe->ttl, $recipe->tags);
        $began = hrtime(true);
        $value = ($recipe->compute)($draft);
        $cost = (hrtime(true) - $began) / 1e9;
        $this->events?->dispatch(new Computed($recipe->key, $cost));
        $tags = $draft->tags();
        if ($draft->isStored() && $draft->ttl() === $recipe->ttl && \count($tags) === \count($recipe->tags)) {
            return $value;
        }
        $ttl = $this->lifetimes->seconds($draft->ttl());
        if ($token !== null && $draft->isStored() && ($ttl === null || $ttl > 0)) {
            $this->pool->fill($recipe->key, $value, $token, $ttl, $tags, $cost);
        }

        throw new Shaped($value);
    }

    /** Null: the pool cannot be reached, and nothing can be stored. */
    private function token(string $key): ?Token
    {
        try {
            return $this->pool->token($key);
        } catch (PoolUnusable) {
            return null;
        }
    }

    private function logFailure(Recipe $recipe, \Throwable $failure): void
    {
        $this->logger?->warning('A value could not be computed anew; the stale one is served.', [
            'key' => $recipe->key,
            'exception' => $failure,
        ]);
    }
}
