<?php

declare(strict_types=1);

namespace Larder\Laravel;

use Illuminate\Cache\TagSet;

/** Laravel's tags have ids that are stored and change with a flush; those of Larder are their names, and nothing is stored. */
final class LarderTagSet extends TagSet
{
    /** Whether the store has learnt of the last reset. */
    public bool $isReset = false;

    /** @param list<string> $tags */
    public function __construct(
        private readonly LarderStore $larder,
        private readonly array $tags,
    ) {
        parent::__construct($larder, $tags);
    }

    public function reset(): void
    {
        $this->isReset = $this->larder->flushTags($this->tags);
    }

    public function flush(): void
    {
        $this->reset();
    }

    /** @param string $name */
    public function resetTag($name): string
    {
        $this->larder->flushTags([$name]);

        return $name;
    }

    /** @param string $name */
    public function flushTag($name): void
    {
        $this->larder->flushTags([$name]);
    }

    /** No two lists of tags have the same: each name comes with its length. */
    public function getNamespace(): string
    {
        $namespace = '';
        foreach ($this->tags as $tag) {
            $namespace .= \strlen($tag) . ":{$tag}";
        }

        return $namespace;
    }

    /** @param string $name */
    public function tagId($name): string
    {
        return $name;
    }
}
