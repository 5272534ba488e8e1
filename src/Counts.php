<?php

declare(strict_types=1);

namespace Larder;

use Larder\Exception\NotACounter;
use Larder\Exception\StoreUnavailable;

/**
 * A store that counts under conditions in one moment. A store that passes calls on to another can only where that one can;
 * Capability::Counts says so. On others a cache counts by compare and set, for which fetch() has to tell the tags (see Item).
 */
interface Counts
{
    /**
     * As Store::increment().
     *
     * @param ?int $min     a sum below it is it; null: no sum is
     * @param bool $create  false: an absent counter is not made
     * @param int  $version of a value that is no int, as fetch() says it: if the key still has that, it counts as $number; 0: none
     *
     * @return ?int the new value; null: there is none, and none was to be made
     *
     * @throws NotACounter
     * @throws StoreUnavailable
     */
    public function count(string $key, int $by, int $initial, ?int $ttl, ?int $min, bool $create, int $version = 0, int $number = 0): ?int;
}
