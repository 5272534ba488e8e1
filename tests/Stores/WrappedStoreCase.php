<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Store;
use Larder\Store\ArrayStore;
use Larder\Tests\Contract\StoreCase;

/** An ArrayStore, or what stands in front of it and is a store itself: it promises what that promises. */
abstract class WrappedStoreCase extends StoreCase
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

    public function store(): Store
    {
        return $this->store ??= $this->around(new ArrayStore(clock: fn(): int => $this->now));
    }

    public function neighbour(): Store
    {
        return $this->around(new ArrayStore());
    }

    public function waitFor(float $seconds): void
    {
        $this->now += (int) ceil($seconds);
    }

    public function footprint(): int
    {
        gc_collect_cycles();

        return memory_get_usage();
    }
}
