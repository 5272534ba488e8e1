<?php

declare(strict_types=1);

namespace Larder\Event;

/** Keys were deleted, whether or not they held something; the store has learnt of it. */
final class Deleted
{
    public function __construct(
        /** @var list<string> */
        public readonly array $keys,
    ) {}
}
