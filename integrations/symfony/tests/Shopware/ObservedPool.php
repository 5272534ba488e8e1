<?php

declare(strict_types=1);

namespace Larder\Symfony\Tests\Shopware;

use Psr\Cache\CacheItemInterface;
use Symfony\Component\Cache\Adapter\TagAwareAdapterInterface;
use Symfony\Component\Cache\CacheItem;
use Symfony\Contracts\Cache\CacheTrait;
use Symfony\Contracts\Cache\ItemInterface;
use Symfony\Contracts\Cache\TagAwareCacheInterface;

/** As Shopware has it around its pool of objects: what is read or saved tells the page its tags, by the metadata of the item. */
final class ObservedPool implements TagAwareAdapterInterface, TagAwareCacheInterface
{
    use CacheTrait;

    public function __construct(
        private readonly TagAwareAdapterInterface&TagAwareCacheInterface $pool,
        private readonly PageTags $tags,
    ) {}

    public function getItem(mixed $key): CacheItem
    {
        return $this->observed($this->pool->getItem($key));
    }

    /** @param array<string> $keys */
    public function getItems(array $keys = []): iterable
    {
        foreach ($this->pool->getItems($keys) as $key => $item) {
            yield $key => $this->observed($item);
        }
    }

    public function clear(string $prefix = ''): bool
    {
        return $this->pool->clear($prefix);
    }

    public function hasItem(string $key): bool
    {
        return $this->pool->hasItem($key);
    }

    public function deleteItem(string $key): bool
    {
        return $this->pool->deleteItem($key);
    }

    /** @param array<string> $keys */
    public function deleteItems(array $keys): bool
    {
        return $this->pool->deleteItems($keys);
    }

    public function save(CacheItemInterface $item): bool
    {
        $isSaved = $this->pool->save($item);
        $this->observed($item);

        return $isSaved;
    }

    public function saveDeferred(CacheItemInterface $item): bool
    {
        return $this->pool->saveDeferred($item);
    }

    public function commit(): bool
    {
        return $this->pool->commit();
    }

    /** @param array<string> $tags */
    public function invalidateTags(array $tags): bool
    {
        return $this->pool->invalidateTags($tags);
    }

    /**
     * @template T of CacheItemInterface
     *
     * @param T $item
     *
     * @return T
     */
    private function observed(CacheItemInterface $item): CacheItemInterface
    {
        $tags = $item instanceof CacheItem ? $item->getMetadata()[ItemInterface::METADATA_TAGS] ?? [] : [];
        $this->tags->add(is_iterable($tags) ? $tags : []);

        return $item;
    }
}
