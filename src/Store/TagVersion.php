<?php

declare(strict_types=1);

namespace Larder\Store;

use Larder\Ttl;

/**
 * When a tag was last invalidated, in the store's logical time. It kills the items whose own version is older.
 *
 * An invalidation may allow that killed items are served stale for a while. That is why there are two ticks. Items older than the
 * first are dead for good. Items older than the second only may be served until the time that stands beside it.
 */
final class TagVersion
{
    /**
     * @param int $dead  the last tick that killed for good; 0: none did
     * @param int $stale the last tick that lets be served what it killed; 0: none does
     * @param int $until when that ends, in Unix seconds
     */
    public function __construct(
        public readonly int $dead,
        public readonly int $stale = 0,
        public readonly int $until = 0,
    ) {}

    /**
     * The version after one more invalidation.
     *
     * Where two that let things be served overlap, the time of the first goes for both: items that it killed must not be
     * served for longer because of the second.
     */
    public function invalidated(int $tick, int $serveStale, int $now): self
    {
        if ($serveStale <= 0) {
            return new self(max($tick, $this->dead));
        }
        $until = $now + min($serveStale, Ttl::LONGEST);

        return $this->until > $now
            ? new self($this->dead, max($tick, $this->stale), min($this->until, $until))
            : new self(max($this->dead, $this->stale), $tick, $until);
    }

    /** What an item that carries the tag is. */
    public function verdict(int $version, int $now): Verdict
    {
        return match (true) {
            $version >= $this->dead && $version >= $this->stale => Verdict::Live,
            $version >= $this->dead && $now < $this->until => Verdict::Stale,
            default => Verdict::Dead,
        };
    }
}
