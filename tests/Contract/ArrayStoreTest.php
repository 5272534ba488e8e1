<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Store;
use Larder\Store\ArrayStore;
use PHPUnit\Framework\Attributes\CoversClass;

#[CoversClass(ArrayStore::class)]
final class ArrayStoreTest extends WrappedStoreContract
{
    protected function around(Store $store): Store
    {
        return $store;
    }
}
