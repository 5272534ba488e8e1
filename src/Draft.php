<?php

declare(strict_types=1);

namespace Larder;

/** The item before it is stored: what the callback of Cache::remember() learns only while it computes. */
final class Draft
{
    private bool $kept = true;

    public function __construct(
        public readonly string $key,
        private int|\DateInterval|Ttl|null $ttl,
    ) {}

    /** Shall live for so long; null: the cache's default; 0 or less: not at all. */
    public function expireAfter(int|\DateInterval|Ttl|null $ttl): void
    {
        $this->ttl = $ttl;
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

    public function isStored(): bool
    {
        return $this->kept;
    }
}
