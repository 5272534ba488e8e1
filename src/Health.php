<?php

declare(strict_types=1);

namespace Larder;

/** How a cache has fared with its store. */
final class Health
{
    /**
     * @param bool $available     whether the last call reached the store
     * @param int  $failures      calls that did not, since the cache was made
     * @param int  $undelivered   keys that were deleted or overwritten without the store learning of it; the
     *                            health flag is up while there are any
     * @param bool $clearPending  whether a clear is undelivered; the health flag is up while it is
     */
    public function __construct(
        public readonly bool $available,
        public readonly int $failures,
        public readonly int $undelivered,
        public readonly bool $clearPending,
    ) {}

    /** The health flag: something in the store may be older than what this process was told. */
    public function isFlagged(): bool
    {
        return $this->undelivered > 0 || $this->clearPending;
    }
}
