<?php

declare(strict_types=1);

namespace Larder\Laravel;

use Illuminate\Cache\TagSet;

/** Laravel's tags have ids that are stored and change with a flush; those of Larder are their names, and nothing is stored. */
final class LarderTagSet extends TagSet
{
    /** Whether the store has learnt of the last reset. */
    public bool $isReset = false;

    /** @var list<string> */
    protected $names = [];

    /**
     * The parent's constructor does no more, and its call would be a fiftieth of a read.
     *
     * @param list<string> $names
     */
    public function __construct(private readonly LarderStore $larder, array $names)
    {
        $this->store = $larder;
        $this->names = $names;
    }

    /** The same tags of another store. */
    public function in(LarderStore $larder): self
    {
        return new self($larder, $this->names);
    }

    public function reset(): void
    {
        $this->isReset = $this->larder->flushTags($this->names);
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
        return $this->plainNamespace() ?? implode("\0", array_map(static fn(string $tag): string => strtr($tag, ["\1" => "\1\1", "\0" => "\1\0"]), $this->names)) . "\0";
    }

    /** The namespace where no name has a zero byte or a \1 in it, else null. */
    public function plainNamespace(): ?string
    {
        if ($this->names === []) {
            return '';
        }
        $names = implode("\0", $this->names) . "\0";

        return substr_count($names, "\0") === \count($this->names) && !str_contains($names, "\1") ? $names : null;
    }

    /** @param string $name */
    public function tagId($name): string
    {
        return $name;
    }
}
