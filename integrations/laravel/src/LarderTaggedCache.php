<?php

declare(strict_types=1);

namespace Larder\Laravel;

use Illuminate\Cache\TaggedCache;

/** Laravel's tagged cache; where its events are switched off, a read makes none. */
final class LarderTaggedCache extends TaggedCache
{
    /** What the keys of all its items begin with; null: not known yet. It does not change, as the names of the tags do not. */
    private ?string $beginning = null;

    /**
     * @param array<mixed>|string|\UnitEnum $key
     * @param mixed                         $default
     */
    public function get($key, $default = null): mixed
    {
        if ($this->events !== null || !\is_string($key)) {
            return parent::get($key, $default);
        }

        return $this->store->get(($this->beginning ??= $this->beginning()) . $key) ?? value($default);
    }

    /** @param string $key */
    public function taggedItemKey($key): string
    {
        return ($this->beginning ??= $this->beginning()) . $key;
    }

    /** @return bool false: the store has not learnt of it, and is told when it is back */
    public function flush(): bool
    {
        return parent::flush() && $this->tags instanceof LarderTagSet && $this->tags->isReset;
    }

    private function beginning(): string
    {
        return sha1($this->tags->getNamespace()) . ':';
    }
}
