<?php

declare(strict_types=1);

namespace Larder\Store;

/** Whether an item that has not expired is live, stale or dead. */
enum Verdict: int
{
    case Live = 0;

    /** Killed by the invalidation of a tag that allows it to be served while it is computed anew. */
    case Stale = 1;

    case Dead = 2;

    /** Of two tags, the one that does more harm. */
    public function and(self $other): self
    {
        return $other->value > $this->value ? $other : $this;
    }
}
