<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Raw;

use Larder\SharedMemory;

final readonly class RawSharedMemory implements RawStore
{
    private SharedMemory $pool;

    public function __construct(string $name, int $megabytes)
    {
        $this->pool = SharedMemory::open($name, $megabytes << 20);
    }

    public function set(string $key, string $value): bool
    {
        return $this->pool->set($key, $value);
    }

    public function get(string $key): ?string
    {
        $value = $this->pool->get($key);

        return is_string($value) ? $value : null;
    }

    public function fill(array $keys, string $value): bool
    {
        $this->pool->setMany(array_fill_keys($keys, $value));

        return $this->pool->statistics()['evictions'] === 0;
    }

    public function count(array $keys): int
    {
        return count($this->pool->getMany($keys));
    }

    public function delete(array $keys): void
    {
        $this->pool->deleteMany($keys);
    }

    public function clear(): void
    {
        $this->pool->clear();
    }

    public function items(): int
    {
        return $this->pool->statistics()['items'];
    }
}
