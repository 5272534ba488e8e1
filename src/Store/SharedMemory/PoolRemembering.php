<?php

declare(strict_types=1);

namespace Larder\Store\SharedMemory;

use Larder\Cache\Lifetimes;
use Larder\Draft;
use Larder\Event\Computed;
use Larder\Event\Hit;
use Larder\Event\Missed;
use Larder\Event\Written;
use Larder\Exception\PoolUnusable;
use Larder\Remember\AtTheEnd;
use Larder\Remember\Patience;
use Larder\Remember\Recipe;
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
        private readonly Part $part,
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
                    $this->logFailure($recipe->key, $failure);
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
        $key = $this->part->outer($recipe->key);
        $ttl = $this->lifetimes->seconds($recipe->ttl);
        [$lease, $hard, $soft, $afterFailure] = self::inSeconds($recipe->patience);
        $ask = fn(): mixed => self::marked($compute, $course);
        try {
            $value = $this->part->pool->remember($key, $ask, $ttl, [...$recipe->tags, ...$this->part->tags], $recipe->earliness, $recipe->grace, $lease, $hard, $soft, $retry ?? $afterFailure);
        } catch (Shaped|Failed $end) {
            return $this->valueIn($end, $recipe->key);
        }
        if ($course->failure !== null) {
            $this->logFailure($recipe->key, $course->failure);
        }
        $isWritten = $course->isAsked && !$course->isPutOff && $course->failure === null;
        $this->events?->dispatch($isWritten ? new Written([$recipe->key]) : new Hit($recipe->key));

        return $value;
    }

    /** @internal what a pool is answered that asks for a computation */
    public function answer(Recipe $recipe, Course $course): mixed
    {
        return self::marked(fn(): mixed => $this->compute($recipe), $course);
    }

    /**
     * @internal the value that a computation has ended with, as the pool let it pass
     *
     * @throws \Throwable what the computation threw, or the pool
     */
    public function valueIn(\Throwable $end, string $key): mixed
    {
        if ($end instanceof Shaped) {
            return $end->value;
        }
        if ($end instanceof \ValueError) {
            // Of all that the pool was given only the key can be wrong.
            $this->part->outer($key);
        }
        throw $end instanceof Failed ? $end->failure : $end;
    }

    /**
     * Computes, and notes what came of it.
     *
     * @param \Closure(): mixed $compute
     */
    private static function marked(\Closure $compute, Course $course): mixed
    {
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
    }

    /** @return array{float, float, float, float} lease, hard, soft, retry */
    private static function inSeconds(Patience $patience): array
    {
        return [min($patience->lease, self::LONGEST), min($patience->hard, self::LONGEST), min($patience->soft, self::LONGEST), min($patience->retry, self::LONGEST)];
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
            $this->part->pool->fill($this->part->outer($recipe->key), $value, $token, $ttl, [...$tags, ...$this->part->tags], $cost);
        }

        throw new Shaped($value);
    }

    /** Null: the pool cannot be reached, and nothing can be stored. */
    private function token(string $key): ?Token
    {
        try {
            return $this->part->pool->token($this->part->outer($key));
        } catch (PoolUnusable) {
            return null;
        }
    }

    /** @internal */
    public function logFailure(string $key, \Throwable $failure): void
    {
        $this->logger?->warning('A value could not be computed anew; the stale one is served.', [
            'key' => $key,
            'exception' => $failure,
        ]);
    }
}
