<?php

declare(strict_types=1);

namespace Larder\Laravel;

use Illuminate\Cache\TaggedCache;

/** Laravel's tagged cache; where its events are switched off, a read makes none. */
final class LarderTaggedCache extends TaggedCache
{
    /**
     * @param array<mixed>|string|\UnitEnum $key
     * @param mixed                         $default
     */
    public function get($key, $default = null): mixed
    {
        if ($this->events !== null || !\is_string($key)) {
            return parent::get($key, $default);
        }

        return $this->store->get($this->itemKey($key)) ?? value($default);
    }

    /** @return bool false: the store has not learnt of it, and is told when it is back */
    public function flush(): bool
    {
        return parent::flush() && $this->tags instanceof LarderTagSet && $this->tags->isReset;
    }
}
