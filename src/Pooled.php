<?php

declare(strict_types=1);

namespace Larder;

use Larder\Store\SharedMemory\Part;

/**
 * A store that controls stampedes itself, as its items lie in a pool of shared memory. The pool keeps with an item what
 * remember() needs to know of it, and notes what a request has missed, by which it judges what is stored later. So a cache neither
 * seals values nor keeps tokens of misses, and asks the pool directly.
 */
interface Pooled
{
    /** The part of the pool that is this store's; null for a part of another store that has no pool. */
    public function part(): ?Part;
}
