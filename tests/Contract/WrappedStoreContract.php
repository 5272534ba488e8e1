<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Store;
use Larder\Store\ArrayStore;

/** An ArrayStore, or what stands in front of it and is a store itself: it promises what that promises. */
abstract class WrappedStoreContract extends StoreContract
{
    private ?Store $store = null;

    private int $now = 0;

    abstract protected function around(Store $store): Store;

    protected function setUp(): void
    {
        $this->now = time();
    }

    protected function tearDown(): void
    {
        $this->store = null;
    }

    protected function store(): Store
    {
        return $this->store ??= $this->around(new ArrayStore(clock: fn(): int => $this->now));
    }

    protected function neighbour(): Store
    {
        return $this->around(new ArrayStore());
    }

    protected function waitFor(float $seconds): void
    {
        $this->now += (int) ceil($seconds);
    }

    protected function footprint(): int
    {
        gc_collect_cycles();

        return memory_get_usage();
    }
}
