<?php

declare(strict_types=1);

namespace Larder;

use Larder\Exception\InvalidTag;

/** The item before it is stored: what the callback of Cache::remember() learns only while it computes. */
final class PendingItem
{
    private bool $kept = true;

    /** @var list<string> */
    private array $tags;

    /** @param list<string> $tags */
    public function __construct(
        public readonly string $key,
        private int|\DateInterval|Ttl|null $ttl,
        array $tags = [],
    ) {
        $this->tags = $tags;
    }

    /** Shall live for so long; null: the cache's default; 0 or less: not at all. */
    public function expireAfter(int|\DateInterval|Ttl|null $ttl): void
    {
        $this->ttl = $ttl;
    }

    /**
     * Shall carry these tags, besides those it has.
     *
     * @throws InvalidTag
     */
    public function tag(string ...$tags): void
    {
        foreach ($tags as $tag) {
            Tag::check($tag);
            $this->tags[] = $tag;
        }
    }

    /** Hand the value to the caller, but do not store it. */
    public function doNotStore(): void
    {
        $this->kept = false;
    }

    public function ttl(): int|\DateInterval|Ttl|null
    {
        return $this->ttl;
    }

    /** @return list<string> no tag twice */
    public function tags(): array
    {
        return array_values(array_unique($this->tags));
    }

    public function isStored(): bool
    {
        return $this->kept;
    }
}
