<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Store;
use Larder\Store\ArrayStore;
use PHPUnit\Framework\Attributes\CoversClass;

#[CoversClass(ArrayStore::class)]
final class ArrayStoreTest extends StoreContract
{
    private ?ArrayStore $store = null;

    private int $now = 0;

    protected function setUp(): void
    {
        $this->now = time();
    }

    protected function store(): Store
    {
        return $this->store ??= new ArrayStore(clock: fn(): int => $this->now);
    }

    protected function neighbour(): Store
    {
        return new ArrayStore();
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
