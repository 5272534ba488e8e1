<?php

declare(strict_types=1);

namespace Larder\Cache;

use Larder\Cache;
use Larder\Exception\StoreUnavailable;
use Larder\ReadsFar;

/**
 * For a request that lasts, such as a command that waits for a signal. Items of the store in front are as they were when the request began.
 * Once a second, a read first asks the store behind for changes since then. What the request has missed is still judged.
 */
final class Lookout
{
    /** Nanoseconds. */
    private const SPAN = 1_000_000_000;

    private int $last;

    private function __construct(
        private readonly Cache $cache,
    ) {
        $this->last = (int) hrtime(true);
    }

    /** Null: nothing lies near. */
    public static function of(Cache $cache): ?self
    {
        return $cache->store instanceof ReadsFar ? new self($cache) : null;
    }

    /** @param string $key that is about to be read */
    public function look(string $key): void
    {
        $now = (int) hrtime(true);
        if ($now - $this->last < self::SPAN) {
            return;
        }
        $this->last = $now;
        try {
            // Values that are read after a token are not older than the token.
            $this->cache->token($key);
        } catch (StoreUnavailable) {
            // A strict cache says it in the read, too.
        }
    }
}
