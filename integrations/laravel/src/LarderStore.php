<?php

declare(strict_types=1);

namespace Larder\Laravel;

use Illuminate\Cache\TaggableStore;
use Illuminate\Contracts\Cache\LockProvider;
use Larder\Cache;
use Larder\Cache\Lookout;
use Larder\Exception\NotACounter;
use Larder\Exception\Unstorable;
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

    /** @param list<string> $tags that each item is put under */
    public function __construct(
        public readonly Cache $cache,
        private readonly string $prefix = '',
        private array $tags = [],
    ) {
        $this->lookout = Lookout::of($cache);
    }

    /** @param string $key */
    public function get($key): mixed
    {
        $this->lookout?->look($this->prefix . $key);

        return $this->cache->get($this->prefix . $key);
    }

    /**
     * @param array<string> $keys
     *
     * @return array<array-key, mixed> null for what is not there
     */
    public function many(array $keys): array
    {
        if ($this->lookout !== null && $keys !== []) {
            $this->lookout->look($this->prefix . reset($keys));
        }
        $found = $this->cache->getMany(array_map(fn(int|string $key): string => $this->prefix . $key, $keys));
        $values = [];
        foreach ($keys as $key) {
            $values[$key] = $found[$this->prefix . $key] ?? null;
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
        return $this->cache->set($this->prefix . $key, $value, (int) $seconds, $this->stamps());
    }

    /**
     * @param array<array-key, mixed> $values
     * @param int|float               $seconds
     *
     * @throws Unstorable
     */
    public function putMany(array $values, $seconds): bool
    {
        return $this->cache->setMany($this->prefixed($values), (int) $seconds, $this->stamps());
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
        $name = $this->prefix . $key;
        $stamps = $this->stamps();

        // It is refused, too, if this request has missed the key and another process has had it since. But it is free, and users take it for a lock.
        return $this->cache->add($name, $value, (int) $seconds, $stamps)
            || (!$this->cache->has($name) && $this->cache->add($name, $value, (int) $seconds, $stamps));
    }

    /**
     * Atomic; what is there keeps its time.
     *
     * @param string $key
     * @param mixed  $value
     */
    public function increment($key, $value = 1): int|false
    {
        return $this->count($this->prefix . $key, is_numeric($value) ? (int) $value : 0);
    }

    /**
     * @param string $key
     * @param mixed  $value
     */
    public function decrement($key, $value = 1): int|false
    {
        return $this->count($this->prefix . $key, is_numeric($value) ? -(int) $value : 0);
    }

    /**
     * @param string $key
     * @param mixed  $value
     *
     * @throws Unstorable
     */
    public function forever($key, $value): bool
    {
        return $this->cache->set($this->prefix . $key, $value, Ttl::Forever, $this->stamps());
    }

    /**
     * @param string    $key
     * @param int|float $seconds
     *
     * @return bool whether it is there
     */
    public function touch($key, $seconds): bool
    {
        return $this->cache->touch($this->prefix . $key, (int) $seconds);
    }

    /**
     * @param string $key
     *
     * @return bool whether it was there
     */
    public function forget($key): bool
    {
        return $this->cache->delete($this->prefix . $key, $isThere) && $isThere === true;
    }

    /** What has another prefix stays, and so do locks. Without a prefix, everything in the cache goes. */
    public function flush(): bool
    {
        return $this->prefix === '' ? $this->cache->clear() : $this->cache->invalidateTags([$this->stampOfAll()]);
    }

    public function getPrefix(): string
    {
        return $this->prefix;
    }

    /**
     * @param mixed $names an array of names, or several; each a string, or what Laravel takes for one
     *
     * @throws \InvalidArgumentException it is none
     */
    public function tags($names): LarderTaggedCache
    {
        $tags = [];
        foreach (\is_array($names) ? $names : \func_get_args() as $name) {
            $tags[] = \is_string($name) ? $name : self::nameOf($name);
        }

        // A clone asks nothing again of the cache.
        $tagged = clone $this;
        $tagged->tags = $tags;

        return new LarderTaggedCache($tagged, new LarderTagSet($this, $tags));
    }

    /**
     * Kills what is under one of these tags.
     *
     * @param list<string> $tags
     */
    public function flushTags(array $tags): bool
    {
        return $this->cache->invalidateTags(array_map($this->version(...), $tags));
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
        return new LarderLock($this->cache, $this->prefix . $name, $seconds, $owner, $this->stampOfLocks());
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
        return $this->cache->invalidateTags([$this->stampOfLocks()]);
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
            yield $this->prefix . $key => $value;
        }
    }

    private function count(string $key, int $by): int|false
    {
        $versions = $this->stamps();
        // So that one that is made carries them.
        $isMade = $versions !== [] && $this->cache->add($key, 0, Ttl::Forever, $versions);
        try {
            $sum = $this->cache->increment($key, $by, 0, Ttl::Forever);
        } catch (NotACounter) {
            return $this->countWhatIsNoInt($key, $by);
        }
        if ($sum === $by && !$isMade) {
            $this->stamp($key, $versions);
        }

        return $sum;
    }

    /**
     * A counter that was not there and could not be added, as another process has just ended or invalidated it, was made without them.
     *
     * @param list<string> $versions
     */
    private function stamp(string $key, array $versions): void
    {
        $made = $versions === [] ? null : $this->cache->fetch([$key])->items[$key] ?? null;
        if ($made !== null && $made->expiry === null && array_diff($versions, $made->tags) !== []) {
            $this->cache->update($key, static fn(mixed $sum): mixed => $sum, Ttl::Forever, $versions);
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
    private function stamps(): array
    {
        $versions = array_map($this->version(...), $this->tags);
        if ($this->prefix !== '') {
            $versions[] = $this->stampOfAll();
        }

        return $versions;
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

    private function version(string $tag): string
    {
        return self::legal("{$this->prefix}tag:{$tag}");
    }

    private function stampOfAll(): string
    {
        return self::legal("{$this->prefix}\0all");
    }

    private function stampOfLocks(): string
    {
        return self::legal("{$this->prefix}\0locks");
    }

    private static function legal(string $tag): string
    {
        return \strlen($tag) > Tag::LONGEST ? "\0" . hash('sha256', $tag) : $tag;
    }
}
