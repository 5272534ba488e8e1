<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Tag;

/** A cache as Magento uses one: items with tags and a lifetime, cleaned by tag. */
interface TaggedCache
{
    /** @param list<string> $tags that it was saved with, for a design that reads under tags */
    public function load(string $id, array $tags = []): ?string;

    /** @param list<string> $tags */
    public function save(string $id, string $value, array $tags, int $lifetime): void;

    /**
     * Removes every item that has one of these tags.
     *
     * @param non-empty-list<string> $tags
     */
    public function clean(array $tags): void;
}
