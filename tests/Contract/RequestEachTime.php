<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\PerRequest;
use Larder\Store;
use Larder\Store\ChaosStore;

/** A tier, or a part of one, for which each look is that of a request of its own, as what a store promises is promised to every look. */
final class RequestEachTime
{
    private function __construct() {}

    public static function of(Store&PerRequest $tier): ChaosStore
    {
        $store = new ChaosStore($tier);
        $store->before = static function (string $call) use ($tier): void {
            if (\in_array($call, ['read', 'fetch', 'token'], true)) {
                $tier->beginRequest();
            }
        };

        return $store;
    }
}
