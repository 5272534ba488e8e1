<?php

declare(strict_types=1);

namespace Larder\Store\SharedMemory;

use Larder\Exception\PoolUnusable;
use Larder\Store\SharedMemoryStore;
use Larder\System\ErrorLog;
use Psr\Log\LoggerInterface;

/**
 * Tells the log that a command changes a pool whose name another user's pool has as well. What the command deletes or invalidates
 * stays in the other one, which is mostly the one that the site reads.
 */
final class Namesakes
{
    private function __construct() {}

    /**
     * Something was deleted or invalidated.
     *
     * @param ?LoggerInterface $logger null: PHP's error log
     */
    public static function tellOf(SharedMemoryStore $store, ?LoggerInterface $logger): void
    {
        try {
            $pool = $store->pool->statistics();
        } catch (PoolUnusable) {
            return;
        }
        foreach ((new PoolFiles())->owners($pool['name']) as $owner) {
            ($logger ?? new ErrorLog())->warning('What a command deletes or invalidates in its pool stays in the pool of another user.', [
                'store' => $pool['path'],
                'why' => ucfirst($owner) . " has a pool \"{$pool['name']}\" as well. Run the command as that user, or give both users the same larder.group in php.ini.",
            ]);
        }
    }
}
