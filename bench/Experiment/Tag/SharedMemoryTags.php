<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Tag;

use Larder\SharedMemory;

/** The extension itself. */
final readonly class SharedMemoryTags implements TaggedCache
{
    private SharedMemory $pool;

    public function __construct(string $name, int $bytes)
    {
        $this->pool = SharedMemory::open($name, $bytes);
    }

    public function load(string $id, array $tags = []): ?string
    {
        $value = $this->pool->get($id);

        return is_string($value) ? $value : null;
    }

    public function save(string $id, string $value, array $tags, int $lifetime): void
    {
        $this->pool->set($id, $value, $lifetime, $tags);
    }

    public function clean(array $tags): void
    {
        $this->pool->invalidateTags($tags);
    }
}
