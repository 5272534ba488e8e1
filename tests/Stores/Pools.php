<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\SharedMemory;
use Larder\Store\SharedMemoryStore;

/** Pools of shared memory for one test. */
final class Pools
{
    private readonly string $name;

    /** @var array<string, true> */
    private array $opened = [];

    /** @param int $size of each, in bytes */
    public function __construct(
        private readonly int $size,
    ) {
        $this->name = 'test-' . bin2hex(random_bytes(4));
    }

    public function open(string $name): SharedMemoryStore
    {
        $store = SharedMemoryStore::open("{$this->name}-{$name}", $this->size);
        $this->opened["{$this->name}-{$name}"] = true;

        return $store;
    }

    public function remove(): void
    {
        foreach ($this->opened as $name => $ignored) {
            SharedMemory::remove($name);
        }
        $this->opened = [];
    }
}
