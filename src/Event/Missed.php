<?php

declare(strict_types=1);

namespace Larder\Event;

/** No value was found. */
final class Missed
{
    public function __construct(
        public readonly string $key,
    ) {}
}
