<?php

declare(strict_types=1);

namespace Larder\Symfony\Tests\Shopware;

/** The tags of all objects that went into the page that is being made. */
final class PageTags
{
    /** @var array<array-key, string> by tag */
    private array $tags = [];

    /** @param iterable<mixed> $tags */
    public function add(iterable $tags): void
    {
        foreach ($tags as $tag) {
            if (\is_string($tag)) {
                $this->tags[$tag] = $tag;
            }
        }
    }

    /** @return list<string> of the page that is done */
    public function take(): array
    {
        $tags = array_values($this->tags);
        $this->tags = [];

        return $tags;
    }
}
