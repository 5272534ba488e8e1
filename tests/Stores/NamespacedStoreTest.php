<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Key;
use Larder\Store;
use Larder\Store\NamespacedStore;
use PHPUnit\Framework\Attributes\CoversClass;

/** A part of a store is a store, with a little less room for keys. */
#[CoversClass(NamespacedStore::class)]
final class NamespacedStoreTest extends WrappedStoreCase
{
    protected function around(Store $store): Store
    {
        return new NamespacedStore($store, 'part');
    }

    public function longestKey(): int
    {
        return Key::LONGEST - \strlen(Key::internal('in', 'part:'));
    }
}
