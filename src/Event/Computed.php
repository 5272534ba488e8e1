<?php

declare(strict_types=1);

namespace Larder\Event;

/** remember() has computed a value, whether or not it was stored. */
final class Computed
{
    public function __construct(
        public readonly string $key,
        /** wall time */
        public readonly float $seconds,
    ) {}
}
