<?php

declare(strict_types=1);

namespace Larder\Laravel;

use Illuminate\Contracts\Cache\CanFlushLocks;

// Laravel's interface came with version 13; a class can only say that it has it where it is.
if (interface_exists(CanFlushLocks::class)) {
    /** @internal */
    interface FlushableLocks extends CanFlushLocks {}
} else {
    /** @internal */
    interface FlushableLocks
    {
        public function flushLocks(): bool;

        public function hasSeparateLockStore(): bool;
    }
}
