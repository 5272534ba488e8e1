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

    /** The same tags of another store. */
    public function in(LarderStore $larder): self
    {
        return new self($larder, $this->tags);
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

    /** No two lists of tags have the same: each name ends with a zero byte. One within a name has a \1 before it, and so has a \1. */
    public function getNamespace(): string
    {
        if ($this->tags === []) {
            return '';
        }
        $names = implode("\0", $this->tags) . "\0";
        if (substr_count($names, "\0") === \count($this->tags) && !str_contains($names, "\1")) {
            return $names;
        }

        return implode("\0", array_map(static fn(string $tag): string => strtr($tag, ["\1" => "\1\1", "\0" => "\1\0"]), $this->tags)) . "\0";
    }

    /** @param string $name */
    public function tagId($name): string
    {
        return $name;
    }
}
