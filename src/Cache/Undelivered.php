<?php

declare(strict_types=1);

namespace Larder\Cache;

/** How much a store has missed. */
final class Undelivered
{
    /**
     * @param int  $keys   that were deleted or overwritten
     * @param int  $tags   that were invalidated
     * @param bool $clears whether everything was cleared, or the journal is damaged or full, which stands for that; keys and tags
     *                     are not counted then
     */
    public function __construct(
        public readonly int $keys,
        public readonly int $tags,
        public readonly bool $clears,
    ) {}

    public function isNothing(): bool
    {
        return $this->keys === 0 && $this->tags === 0 && !$this->clears;
    }
}
