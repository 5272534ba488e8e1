<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Store;
use Larder\Store\ChaosStore;
use PHPUnit\Framework\Attributes\CoversClass;

/** As long as nothing is to fail, it is the store that it is in front of. */
#[CoversClass(ChaosStore::class)]
final class ChaosStoreTest extends WrappedStoreCase
{
    protected function around(Store $store): Store
    {
        return new ChaosStore($store);
    }
}
