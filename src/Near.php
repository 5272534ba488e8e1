<?php

declare(strict_types=1);

namespace Larder;

/**
 * What of a store's items a cache may read past the store: those in a pool of shared memory on this machine. A property and no method, as a
 * call would take as long as the read.
 */
final class Near
{
    /** Its items may be read at this moment, as if the store had been asked. The store may have others. Null: ask the store. */
    public ?SharedMemory $pool = null;
}
