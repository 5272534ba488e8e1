<?php

declare(strict_types=1);

namespace Larder\Magento2\Tests;

use Larder\Magento2\Backend;

/** What a cache type of Magento asks its backend: its own tag is the last of an item's, and one of those that are cleaned by. */
final class CacheType
{
    public function __construct(
        private readonly Backend $backend,
        private readonly string $tag,
    ) {}

    /** @param list<string> $tags */
    public function save(string $id, array $tags): bool
    {
        return $this->backend->save('data', "{$this->tag}_{$id}", [...$tags, $this->tag]);
    }

    public function has(string $id): bool
    {
        return $this->backend->test("{$this->tag}_{$id}") !== false;
    }

    /** @param list<string> $tags any of them; none: all */
    public function clean(array $tags = []): void
    {
        foreach ($tags === [] ? [[]] : array_map(static fn(string $tag): array => [$tag], $tags) as $each) {
            $this->backend->clean(\Zend_Cache::CLEANING_MODE_MATCHING_TAG, [...$each, $this->tag]);
        }
    }
}
