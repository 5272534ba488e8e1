<?php

declare(strict_types=1);

namespace Larder\Store\SharedMemory;

use Larder\Draft;
use Larder\Remember\Recipe;
use Larder\Ttl;

/**
 * A call of a pool's remember(), used again for the next one: on a hit, an object and a closure made anew take longer than the
 * pool does.
 *
 * It is taken while it has a computation: from the first step of a call until the pool asks for that, or the call ends. What a signal's
 * handler remembers in between finds it taken, and goes the long way. A computation and what it remembers find it free.
 */
final class Call
{
    /**
     * Null: the call is free.
     *
     * @var (callable(Draft): mixed)|null
     */
    public mixed $compute = null;

    /** @var string without a type of PHP's, which would be checked with each write; nor have those below one */
    public $key = '';

    /** @var int|\DateInterval|Ttl|null */
    public $ttl;

    /** What became of the computation; null: the pool has not asked for it. */
    public ?Course $course = null;

    public function __construct(
        private readonly PoolRemembering $remembering,
    ) {}

    /** What the pool calls when it has found nothing, or wants it anew. */
    public function answer(): mixed
    {
        $recipe = new Recipe($this->key, ($this->compute ?? throw new \LogicException('A call of remember() is asked twice.'))(...), $this->ttl, []);
        $this->compute = null;
        $course = new Course();
        try {
            return $this->remembering->answer($recipe, $course);
        } finally {
            // What was remembered in between has left its own here.
            $this->course = $course;
        }
    }

    /** The call is over, after the pool has asked. */
    public function end(string $key): void
    {
        if ($this->course?->failure !== null) {
            $this->remembering->logFailure($key, $this->course->failure);
        }
        $this->course = null;
    }

    /**
     * The call is over, by what the pool let pass.
     *
     * @return mixed the value, if that is what was thrown
     *
     * @throws \Throwable
     */
    public function fail(string $key, \Throwable $end): mixed
    {
        $this->compute = $this->course = null;

        return $this->remembering->valueIn($end, $key);
    }
}
