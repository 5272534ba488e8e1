<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Tag;

/** A tagged cache that can say which items have a tag, and so be the slow level of two. */
interface Indexed extends TaggedCache
{
    /**
     * @param non-empty-list<string> $tags
     * @return list<string> the ids of the items that have one of them
     */
    public function withAny(array $tags): array;

    public function remove(string $id): void;
}
