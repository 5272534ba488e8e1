<?php

declare(strict_types=1);

namespace Larder\Store;

use Larder\Capability;
use Larder\Exception\UnsupportedOperation;
use Larder\MayEvict;
use Larder\Store;

/** Whether a store keeps what it was given until its time is over, as sessions and locks need it. */
final class Retention
{
    private function __construct() {}

    /** @throws UnsupportedOperation */
    public static function demand(Store $store): void
    {
        $name = (new \ReflectionClass($store))->getShortName();
        if (!\in_array(Capability::Retention, $store->capabilities(), true)) {
            throw UnsupportedOperation::by($name, Capability::Retention);
        }
        $policy = self::evicts($store);
        if ($policy !== null) {
            throw UnsupportedOperation::evicting($name, $policy);
        }
    }

    /** @return ?string as MayEvict::evicts() */
    public static function evicts(Store $store): ?string
    {
        return $store instanceof MayEvict ? $store->evicts() : null;
    }
}
