<?php

declare(strict_types=1);

namespace Larder\Cache;

use Larder\Exception\StoreUnavailable;
use Larder\Fetched;
use Larder\ReadsFar;
use Larder\Store;

/** Reads past a store in front of another. An item there may be as it was when the request began, and may lack its tags. */
final class Far
{
    private function __construct() {}

    /**
     * @param list<string> $keys
     *
     * @throws StoreUnavailable
     */
    public static function fetch(Store $store, array $keys): Fetched
    {
        return $store instanceof ReadsFar ? $store->fetchFar($keys) : $store->fetch($keys);
    }
}
