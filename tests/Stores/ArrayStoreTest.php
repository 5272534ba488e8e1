<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Store;
use Larder\Store\ArrayStore;
use PHPUnit\Framework\Attributes\CoversClass;

#[CoversClass(ArrayStore::class)]
final class ArrayStoreTest extends WrappedStoreCase
{
    protected function around(Store $store): Store
    {
        return $store;
    }
}
