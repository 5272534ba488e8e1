<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Tag;

use Larder\Cache;

/** Larder's library over one of its stores: tags by versions. */
final readonly class LibraryTags implements TaggedCache
{
    private Cache $cache;

    public function __construct(string $dsn)
    {
        $this->cache = Cache::open($dsn);
    }

    public function load(string $id, array $tags = []): ?string
    {
        $value = $this->cache->get($id);

        return is_string($value) ? $value : null;
    }

    public function save(string $id, string $value, array $tags, int $lifetime): void
    {
        $this->cache->set($id, $value, $lifetime, $tags);
    }

    public function clean(array $tags): void
    {
        $this->cache->invalidateTags($tags);
    }
}
