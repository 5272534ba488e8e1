<?php

declare(strict_types=1);

namespace Larder;

use Larder\Exception\StoreUnavailable;

/**
 * A store that keeps bytes, and can tell values without an Item around each: of a batch of small ones, the Items take more time than
 * all else that is done for it in PHP.
 */
interface ValueReads
{
    /**
     * The same as Store::fetch(), where only values are asked for.
     *
     * @param list<string> $keys
     * @param string       $seal the first element of arrays of which the whole Item is wanted
     *
     * @throws StoreUnavailable
     */
    public function readMany(array $keys, string $seal): Values;
}
