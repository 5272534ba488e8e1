<?php

declare(strict_types=1);

namespace Larder;

use Larder\Exception\NotACounter;
use Larder\Exception\StoreUnavailable;

/**
 * A store that counts under conditions in one moment. A store that passes calls on to another can only where that one can;
 * Capability::Counts says so. On others a cache counts by compare and set, which loses the tags of what does not tell them (see Item).
 */
interface Counts
{
    /**
     * As Store::increment().
     *
     * @param ?int $min    a sum below it is it; null: no sum is
     * @param bool $create false: an absent counter is not made
     *
     * @return ?int the new value; null: there is none, and none was to be made
     *
     * @throws NotACounter
     * @throws StoreUnavailable
     */
    public function count(string $key, int $by, int $initial, ?int $ttl, ?int $min, bool $create): ?int;
}
