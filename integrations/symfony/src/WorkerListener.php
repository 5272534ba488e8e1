<?php

declare(strict_types=1);

namespace Larder\Symfony;

use Larder\Cache;
use Larder\Exception\StoreUnavailable;

/**
 * Lets a worker of Messenger see between messages what others have done, also where it has had none for long. Symfony resets services
 * after a message only. A tier would not see that workers are to stop.
 */
final class WorkerListener
{
    /** @param iterable<Cache> $caches those that are open */
    public function __construct(
        private readonly iterable $caches,
    ) {}

    public function refresh(): void
    {
        foreach ($this->caches as $cache) {
            try {
                $cache->refresh();
            } catch (StoreUnavailable) {
                // The cache has logged it.
            }
        }
    }
}
