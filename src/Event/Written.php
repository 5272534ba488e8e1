<?php

declare(strict_types=1);

namespace Larder\Event;

/** Values were stored: set, added, replaced or computed. */
final class Written
{
    public function __construct(
        /** @var list<string> */
        public readonly array $keys,
    ) {}
}
