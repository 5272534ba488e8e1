<?php

declare(strict_types=1);

namespace Larder;

use Larder\Exception\StoreUnavailable;

/**
 * A store that knows leases by itself: the right of one process at a time to do something, such as to compute a
 * missing item. What such a store does is atomic; on other stores a cache makes do with save() in mode Add.
 *
 * Names are legal keys (see Key), and a lease never meets an item of the same name. The owner is a unique word of 1 to 64 bytes, such as
 * random hexadecimal digits. A store may end a lease early when its owner has died, but not while it lives. A clear() of a store that has
 * Capability::Retention ends no lease.
 */
interface Leases
{
    /**
     * Takes the lease, if it is free or this owner already has it. An owner that lost the answer may so ask again.
     *
     * @param float $seconds from now on, after which it ends by itself; more than 0
     *
     * @throws StoreUnavailable one that takes nothing: it is free, and no owner can get it
     */
    public function acquire(string $name, string $owner, float $seconds): bool;

    /**
     * Lets the lease last so long from now on, if it is this owner's.
     *
     * @throws StoreUnavailable
     */
    public function refresh(string $name, string $owner, float $seconds): bool;

    /**
     * A fencing number, if the lease is this owner's: greater than all that earlier owners of the lease were given. Each call gives a
     * greater one.
     *
     * @return ?positive-int null: the lease is not this owner's
     *
     * @throws StoreUnavailable
     */
    public function fence(string $name, string $owner): ?int;

    /**
     * Ends the lease, if it is this owner's.
     *
     * @return bool whether it was
     *
     * @throws StoreUnavailable
     */
    public function release(string $name, string $owner): bool;
}
