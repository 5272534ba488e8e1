<?php

declare(strict_types=1);

namespace Larder\Store\SharedMemory;

/**
 * A value that the pool is not to store, as that is done, or not to be done. Not an \Exception, which the pool would
 * make up for by something stale.
 */
final class Shaped extends \Error
{
    public function __construct(
        public readonly mixed $value,
    ) {
        parent::__construct();
    }
}
