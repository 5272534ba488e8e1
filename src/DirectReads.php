<?php

declare(strict_types=1);

namespace Larder;

use Larder\Exception\StoreUnavailable;

/**
 * A store that holds PHP values itself can answer for one key without a batch and an Item around it; a
 * read of 40 ns cannot carry them.
 */
interface DirectReads
{
    /**
     * The live value of $key, or $default.
     *
     * @throws StoreUnavailable
     */
    public function read(string $key, mixed $default = null): mixed;
}
