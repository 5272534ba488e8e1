<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Trace;

/** A reference policy: which of a fixed number of items of one size to keep. */
interface Policy
{
    /**
     * Reads a key; a miss is followed by a set of it.
     *
     * @return bool whether it was a hit
     */
    public function access(int $key): bool;
}
