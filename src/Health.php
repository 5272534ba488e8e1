<?php

declare(strict_types=1);

namespace Larder;

/** How a cache has fared with its store. */
final class Health
{
    /**
     * @param bool $available       whether the last call reached the store
     * @param int  $failures        calls that did not, since the cache was made
     * @param int  $undelivered     keys that were deleted or overwritten without the store learning of it; the
     *                              health flag is up while there are any
     * @param int  $undeliveredTags tags that were invalidated without the store learning of it; likewise
     * @param bool $clearPending    whether a clear is undelivered; the health flag is up while it is
     * @param bool $journaled       whether the journal has something that is undelivered, of this process or of others
     */
    public function __construct(
        public readonly bool $available,
        public readonly int $failures,
        public readonly int $undelivered,
        public readonly int $undeliveredTags,
        public readonly bool $clearPending,
        public readonly bool $journaled,
    ) {}

    /** The health flag: something in the store may be older than what this process was told. */
    public function isFlagged(): bool
    {
        return $this->undelivered > 0 || $this->undeliveredTags > 0 || $this->clearPending || $this->journaled;
    }
}
