<?php

declare(strict_types=1);

namespace Larder;

use Larder\Exception\StoreUnavailable;

/** A store in front of another one, whose own memory may not know all of an item, such as its tags. */
interface ReadsFar
{
    /**
     * As Store::fetch(), of the store behind, which knows all.
     *
     * @param list<string> $keys
     *
     * @throws StoreUnavailable
     */
    public function fetchFar(array $keys): Fetched;
}
