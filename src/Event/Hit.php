<?php

declare(strict_types=1);

namespace Larder\Event;

/** A value was found. */
final class Hit
{
    public function __construct(
        public readonly string $key,
    ) {}
}
