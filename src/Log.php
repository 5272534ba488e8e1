<?php

declare(strict_types=1);

namespace Larder;

use Larder\Exception\StoreUnavailable;
use Larder\Log\News;

/**
 * The ordered list of invalidations that near stores follow. It is an append-only list of events. Every process with a near store in
 * front of the same far store can read it.
 *
 * An event is there as soon as its change can be seen in the far store, neither sooner nor later. The two are one transaction, or one
 * script. A log may forget its older part. A near store that has not followed for so long starts anew.
 *
 * A log is either beside the processes that follow it (Log\Beside), or a round trip away (Log\Away).
 */
interface Log
{
    /**
     * The events since a position: all that were finished before this is asked, and perhaps more.
     *
     * @param ?string $position as earlier news told it; null: from a near store that has followed nothing yet, which gets
     *                          the present position and no events
     *
     * @throws StoreUnavailable
     */
    public function since(?string $position): News;

    /**
     * Whether what this process has just read of the far store is of the history that the position is of. It is not if another server, or
     * another file, has taken that one's place, and this process goes on with the former.
     */
    public function isOfHistory(string $position): bool;
}
