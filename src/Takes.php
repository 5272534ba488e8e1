<?php

declare(strict_types=1);

namespace Larder;

use Larder\Exception\StoreUnavailable;

/**
 * A store that reads an item and deletes it in one moment. One that passes calls on to another can only where that one
 * can; Capability::Takes says so.
 */
interface Takes
{
    /**
     * The live item, which is gone: of several processes that take at once one gets it, and nothing that is stored
     * meanwhile is deleted. An item that cannot be read back stays.
     *
     * @return ?Item null: there is none
     *
     * @throws StoreUnavailable
     */
    public function take(string $key): ?Item;
}
