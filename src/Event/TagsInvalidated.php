<?php

declare(strict_types=1);

namespace Larder\Event;

/** Whatever carried one of these tags was killed; the store has learnt of it. */
final class TagsInvalidated
{
    public function __construct(
        /** @var list<string> */
        public readonly array $tags,
    ) {}
}
