<?php

declare(strict_types=1);

namespace Larder\Laravel;

use Illuminate\Cache\TaggableStore;
use Illuminate\Contracts\Cache\LockProvider;
use Larder\Cache;
use Larder\Cache\Lookout;
use Larder\Exception\NotACounter;
use Larder\Exception\Unstorable;
use Larder\Key;
use Larder\Numbers;
use Larder\Tag;
use Larder\Ttl;

/**
 * A store of Laravel's cache in any store of Larder: config/cache.php has
 *
 *     'larder' => ['driver' => 'larder', 'dsn' => 'shm:site'],
 *
 * Several may share a cache of Larder, each with a prefix. Flushing one, or its tags, takes a time that does not depend on
 * how many items there are. An item that was stored under tags is found under the same tags alone.
 */
final class LarderStore extends TaggableStore implements LockProvider, FlushableLocks
{
    private readonly ?Lookout $lookout;

    /** @var list<string> that each item is put under */
    private array $tags = [];

    /** The store that this one with tags was made of, and whose prefix it has; null: it has its own. */
    private ?self $origin = null;

    /** @param ?SerializableClasses $classes what is asked before a value is written; null: the cache judges it alone */
    public function __construct(
        public readonly Cache $cache,
        private string $prefix = '',
        private readonly ?SerializableClasses $classes = null,
    ) {
        $this->lookout = Lookout::of($cache);
    }

    /** @param string $key */
    public function get($key): mixed
    {
        $name = ($this->origin ?? $this)->prefix . $key;
        if (isset($name[Key::LONGEST])) {
            $name = $this->name($key);
        }
        $this->lookout?->look($name);

        return $this->cache->get($name);
    }

    /**
     * @param array<string> $keys
     *
     * @return array<array-key, mixed> null for what is not there
     */
    public function many(array $keys): array
    {
        $names = array_map($this->name(...), $keys);
        if ($this->lookout !== null && $names !== []) {
            $this->lookout->look(reset($names));
        }
        $found = $this->cache->getMany($names);
        $values = [];
        foreach ($keys as $at => $key) {
            $values[$key] = $found[$names[$at]] ?? null;
        }

        return $values;
    }

    /**
     * @param string    $key
     * @param mixed     $value
     * @param int|float $seconds
     *
     * @return bool false also for what was computed after a miss and is outdated
     *
     * @throws Unstorable
     */
    public function put($key, $value, $seconds): bool
    {
        $this->classes?->check($key, $value);

        return $this->cache->set($this->name($key), $value, (int) $seconds, $this->larderTags());
    }

    /**
     * @param array<array-key, mixed> $values
     * @param int|float               $seconds
     *
     * @throws Unstorable
     */
    public function putMany(array $values, $seconds): bool
    {
        foreach ($this->classes === null ? [] : $values as $key => $value) {
            $this->classes?->check((string) $key, $value);
        }

        return $this->cache->setMany($this->prefixed($values), (int) $seconds, $this->larderTags());
    }

    /**
     * Of several processes that add at once, one succeeds. False means that another process has the key, or has had it during the call.
     *
     * @param string    $key
     * @param mixed     $value
     * @param int|float $seconds
     *
     * @throws Unstorable
     */
    public function add($key, $value, $seconds): bool
    {
        $this->classes?->check($key, $value);
        $name = $this->name($key);
        $tags = $this->larderTags();

        // It is refused, too, if this request has missed the key and another process has had it since. But it is free, and users take it for a lock.
        return $this->cache->add($name, $value, (int) $seconds, $tags)
            || (!$this->cache->has($name) && $this->cache->add($name, $value, (int) $seconds, $tags));
    }

    /**
     * Atomic; what is there keeps its time.
     *
     * @param string $key
     * @param mixed  $value
     *
     * @throws \InvalidArgumentException it is no whole number
     */
    public function increment($key, $value = 1): int|false
    {
        return $this->count($this->name($key), self::whole($value));
    }

    /**
     * @param string $key
     * @param mixed  $value
     *
     * @throws \InvalidArgumentException it is no whole number
     */
    public function decrement($key, $value = 1): int|false
    {
        return $this->count($this->name($key), -self::whole($value));
    }

    /**
     * @param string $key
     * @param mixed  $value
     *
     * @throws Unstorable
     */
    public function forever($key, $value): bool
    {
        $this->classes?->check($key, $value);

        return $this->cache->set($this->name($key), $value, Ttl::Forever, $this->larderTags());
    }

    /**
     * @param string    $key
     * @param int|float $seconds
     *
     * @return bool whether it is there
     */
    public function touch($key, $seconds): bool
    {
        return $this->cache->touch($this->name($key), (int) $seconds);
    }

    /**
     * @param string $key
     *
     * @return bool whether it was there
     */
    public function forget($key): bool
    {
        return $this->cache->delete($this->name($key), $isThere) && $isThere === true;
    }

    /** What has another prefix stays, and so do locks. Without a prefix, everything in the cache goes. */
    public function flush(): bool
    {
        return $this->getPrefix() === '' ? $this->cache->clear() : $this->cache->invalidateTags([$this->tagOfAll()]);
    }

    public function getPrefix(): string
    {
        return ($this->origin ?? $this)->prefix;
    }

    /**
     * From now on, this store's keys and tags are others, and so are those of the tagged caches that it has made. A lock that was made keeps its own.
     *
     * @param bool|float|int|string|\Stringable|null $prefix
     */
    public function setPrefix($prefix): void
    {
        $store = $this->origin ?? $this;
        $store->prefix = (string) $prefix;
    }

    /**
     * A prefix that the store of this one with tags is given is no longer this one's, nor the other way round.
     *
     * @internal
     */
    public function leaveOrigin(): void
    {
        $this->prefix = $this->getPrefix();
        $this->origin = null;
    }

    /**
     * @param mixed $names an array of names, or several; each a string, or what Laravel takes for one
     *
     * @throws \InvalidArgumentException it is none
     */
    public function tags($names): LarderTaggedCache
    {
        $tags = array_values(\is_array($names) ? $names : \func_get_args());
        foreach ($tags as $number => $name) {
            if (!\is_string($name)) {
                $tags[$number] = self::nameOf($name);
            }
        }
        /** @var list<string> $tags */

        // A clone asks nothing again of the cache.
        $tagged = clone $this;
        $tagged->tags = $tags;
        $tagged->origin = $this->origin ?? $this;

        return new LarderTaggedCache($tagged, new LarderTagSet($this, $tags));
    }

    /**
     * Kills what is under one of these tags.
     *
     * @param list<string> $tags
     */
    public function flushTags(array $tags): bool
    {
        return $this->cache->invalidateTags(array_map($this->tagOf(...), $tags));
    }

    /** What `cache:prune-stale-tags` calls: tags leave nothing behind here, so what is dead for other reasons goes. */
    public function flushStaleTags(): void
    {
        while ($this->cache->store->prune() > 0);
    }

    /**
     * @param string                             $name
     * @param int|float|string|null              $seconds 0: it does not end by itself
     * @param int|float|string|\Stringable|null $owner
     */
    public function lock($name, $seconds = 0, $owner = null): LarderLock
    {
        return new LarderLock($this->cache, $this->getPrefix() . $name, $seconds, $owner, $this->tagOfLocks());
    }

    /**
     * @param string                       $name
     * @param int|float|string|\Stringable $owner
     */
    public function restoreLock($name, $owner): LarderLock
    {
        return $this->lock($name, 0, $owner);
    }

    public function flushLocks(): bool
    {
        return $this->cache->invalidateTags([$this->tagOfLocks()]);
    }

    public function hasSeparateLockStore(): bool
    {
        return true;
    }

    /**
     * @param array<array-key, mixed> $values
     *
     * @return iterable<string, mixed>
     */
    private function prefixed(array $values): iterable
    {
        foreach ($values as $key => $value) {
            yield $this->name($key) => $value;
        }
    }

    /** What an item is called in the cache. Laravel's keys have no end, as Larder's have. */
    private function name(int|string $key): string
    {
        $prefix = ($this->origin ?? $this)->prefix;

        return Key::fitting($prefix . $key, "{$prefix}\0long:");
    }

    /**
     * How far to count. Half a unit is not lost without a word.
     *
     * @throws \InvalidArgumentException
     */
    private static function whole(mixed $value): int
    {
        if (\is_int($value) || \is_bool($value) || $value === null) {
            return (int) $value;
        }
        $number = is_numeric($value) ? $value + 0 : null;
        $whole = Numbers::Numeric->of($number);
        if ($whole === null || (float) $whole !== (float) $number) {
            throw new \InvalidArgumentException(\sprintf('A counter of the cache has whole numbers alone, so it cannot change by %s; count in a smaller unit.', is_numeric($value) ? $value : get_debug_type($value)));
        }

        return $whole;
    }

    private function count(string $key, int $by): int|false
    {
        $tags = $this->larderTags();
        // So that one that is made carries them.
        $isMade = $tags !== [] && $this->cache->add($key, 0, Ttl::Forever, $tags);
        try {
            $sum = $this->cache->increment($key, $by, 0, Ttl::Forever);
        } catch (NotACounter) {
            return $this->countWhatIsNoInt($key, $by);
        }
        if ($sum === $by && !$isMade) {
            $this->tagCounter($key, $tags);
        }

        return $sum;
    }

    /**
     * A counter that was not there and could not be added, as another process has just ended or invalidated it, was made without them.
     *
     * @param list<string> $tags
     */
    private function tagCounter(string $key, array $tags): void
    {
        $made = $tags === [] ? null : $this->cache->fetch([$key])->items[$key] ?? null;
        if ($made !== null && $made->expiry === null && array_diff($tags, $made->tags) !== []) {
            $this->cache->update($key, static fn(mixed $sum): mixed => $sum, Ttl::Forever, $tags);
        }
    }

    /** Laravel counts numeric strings, too; from then on they are ints. */
    private function countWhatIsNoInt(string $key, int $by): int|false
    {
        try {
            return $this->cache->increment($key, $by, 0, Ttl::Forever, numbers: Numbers::Numeric);
        } catch (NotACounter) {
            return false;
        }
    }

    /** @return list<string> */
    private function larderTags(): array
    {
        $tags = array_map($this->tagOf(...), $this->tags);
        if ($this->getPrefix() !== '') {
            $tags[] = $this->tagOfAll();
        }

        return $tags;
    }

    /** Two tags that are told apart by Laravel must not come to one name here. */
    private static function nameOf(mixed $tag): string
    {
        return match (true) {
            $tag instanceof \BackedEnum => (string) $tag->value,
            $tag instanceof \UnitEnum => $tag->name,
            $tag === null, \is_scalar($tag), $tag instanceof \Stringable => (string) $tag,
            default => throw new \InvalidArgumentException(\sprintf('A tag of the cache is %s; give its name as a string.', get_debug_type($tag))),
        };
    }

    private function tagOf(string $tag): string
    {
        return self::legal("{$this->getPrefix()}tag:{$tag}");
    }

    private function tagOfAll(): string
    {
        return self::legal("{$this->getPrefix()}\0all");
    }

    private function tagOfLocks(): string
    {
        return self::legal("{$this->getPrefix()}\0locks");
    }

    private static function legal(string $tag): string
    {
        return Tag::fitting($tag, "\0");
    }
}
