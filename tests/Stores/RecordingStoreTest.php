<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Store;
use Larder\Tests\Scratch;
use Larder\Trace\RecordingStore;
use PHPUnit\Framework\Attributes\CoversClass;

/** To record what a store is asked does not change what it answers. */
#[CoversClass(RecordingStore::class)]
final class RecordingStoreTest extends WrappedStoreCase
{
    private ?Scratch $scratch = null;

    protected function tearDown(): void
    {
        parent::tearDown();
        $this->scratch = null;
    }

    protected function around(Store $store): Store
    {
        $this->scratch ??= new Scratch();

        return new RecordingStore($store, "{$this->scratch->path}/trace", 1.0);
    }
}
