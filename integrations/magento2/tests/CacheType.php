<?php

declare(strict_types=1);

namespace Larder\Magento2\Tests;

use Larder\Magento2\Backend;

/**
 * What a cache type of Magento asks its backend. Its own tag follows those of an item, and is one of those that are cleaned by. After it comes MAGE,
 * the tag of all frontends. Magento's frontend puts the prefix of the shop's ids before each tag.
 */
final class CacheType
{
    public function __construct(
        private readonly Backend $backend,
        private readonly string $tag,
        private readonly string $prefix = '',
    ) {}

    /** @param list<string> $tags */
    public function save(string $id, array $tags): bool
    {
        return $this->backend->save('data', $this->id($id), $this->tags([...$tags, $this->tag]));
    }

    public function has(string $id): bool
    {
        return $this->backend->test($this->id($id)) !== false;
    }

    /** @param list<string> $tags any of them; none: all */
    public function clean(array $tags = []): void
    {
        foreach ($tags === [] ? [[]] : array_map(static fn(string $tag): array => [$tag], $tags) as $each) {
            $this->backend->clean(\Zend_Cache::CLEANING_MODE_MATCHING_TAG, $this->tags([...$each, $this->tag]));
        }
    }

    private function id(string $id): string
    {
        return "{$this->prefix}{$this->tag}_{$id}";
    }

    /**
     * @param list<string> $tags
     *
     * @return list<string>
     */
    private function tags(array $tags): array
    {
        return array_map(fn(string $tag): string => $this->prefix . $tag, [...$tags, 'MAGE']);
    }
}
