<?php

declare(strict_types=1);

namespace Larder\Event;

/** All items with one of these tags are dead; the store has confirmed it. */
final class TagsInvalidated
{
    public function __construct(
        /** @var list<string> */
        public readonly array $tags,
    ) {}
}
