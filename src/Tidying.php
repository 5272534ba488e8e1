<?php

declare(strict_types=1);

namespace Larder;

use Larder\Exception\StoreUnavailable;

/**
 * A store in which what is over stays until something removes it. Other stores remove it by themselves, so that sessions need
 * no garbage collection there.
 */
interface Tidying
{
    /**
     * Looks at some items, others each time, and removes the dead ones among them. However many items there are, it looks at no more than
     * a visitor of a site can wait for.
     *
     * @return int how many items were removed
     *
     * @throws StoreUnavailable
     */
    public function tidy(): int;
}
