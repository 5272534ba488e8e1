<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\SharedMemory;
use Larder\Store;
use Larder\Store\SharedMemoryStore;
use PHPUnit\Framework\Attributes\CoversClass;

#[CoversClass(SharedMemoryStore::class)]
final class SharedMemoryStoreTest extends SharedStoreContract
{
    private const SIZE = 64 << 20;

    private string $pool = '';

    private ?SharedMemoryStore $store = null;

    protected function setUp(): void
    {
        $this->pool = 'test-' . bin2hex(random_bytes(4));
    }

    protected function tearDown(): void
    {
        if (\extension_loaded('larder')) {
            SharedMemory::remove($this->pool);
            SharedMemory::remove("{$this->pool}-neighbour");
        }
    }

    protected function store(): Store
    {
        return $this->store ??= $this->reopened();
    }

    protected function reopened(): SharedMemoryStore
    {
        return SharedMemoryStore::open($this->pool, self::SIZE);
    }

    protected function neighbour(): Store
    {
        return SharedMemoryStore::open("{$this->pool}-neighbour", self::SIZE);
    }
}
