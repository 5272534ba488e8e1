<?php

declare(strict_types=1);

namespace Larder\Laravel;

use Illuminate\Cache\TaggedCache;
use Larder\Exception\StoreUnavailable;

/** Laravel's tagged cache; where its events are switched off, a read makes none. */
final class LarderTaggedCache extends TaggedCache
{
    /** Bytes of names, each with its end, that are looked at and compared sooner than they are hashed. */
    private const LONGEST_NAMES = 200;

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

    /** The clone has a store of its own, whose prefix may be set, and flushes there. */
    public function __clone()
    {
        parent::__clone();
        if ($this->store instanceof LarderStore && $this->tags instanceof LarderTagSet) {
            $this->store->leaveOrigin();
            $this->tags = $this->tags->in($this->store);
        }
    }

    /** @return bool false: the store has not learnt of it, and is told when it is back */
    public function flush(): bool
    {
        return parent::flush() && $this->tags instanceof LarderTagSet && $this->tags->isReset;
    }

    /**
     * Tags leave nothing behind, so what is dead for other reasons goes, as with `cache:prune-stale-tags`.
     *
     * @return bool false: the store cannot be reached
     */
    public function flushStale(): bool
    {
        try {
            if ($this->store instanceof LarderStore) {
                $this->store->flushStaleTags();
            }

            return true;
        } catch (StoreUnavailable) {
            return false;
        }
    }

    /** Few names are themselves the beginning: their hash takes a fifth of a read. */
    private function beginning(): string
    {
        $names = $this->tags instanceof LarderTagSet ? $this->tags->plainNamespace() : null;

        return $names === null || isset($names[self::LONGEST_NAMES]) ? sha1($this->tags->getNamespace()) . ':' : "\1{$names}\1";
    }
}
