<?php

declare(strict_types=1);

namespace Larder\Remember;

use Larder\PendingItem;
use Larder\Ttl;

/** What Cache::remember() does over one kind of store: finds a value, or computes it while others wait or serve the stale one. */
interface Remembers
{
    /**
     * As of Cache::remember().
     *
     * @template T
     *
     * @param callable(PendingItem): T $compute
     * @param list<string>       $tags
     *
     * @return T
     *
     * @throws \Throwable what the computation throws
     */
    public function remember(string $key, callable $compute, int|\DateInterval|Ttl|null $ttl, array $tags, int $grace, float $beta, ?StampedeOptions $stampede): mixed;
}
