<?php

declare(strict_types=1);

use Larder\Cache;
use Larder\Cache\Far;
use Larder\Cache\Lookout;
use Larder\Cache\Refusal;
use Larder\Capability;
use Larder\Exception;
use Larder\Exception\InvalidKey;
use Larder\Exception\StoreUnavailable;
use Larder\Exception\Suggestion;
use Larder\Exception\Unstorable;
use Larder\Exception\UnsupportedOperation;
use Larder\Item;
use Larder\Key;
use Larder\PendingItem;
use Larder\Tag;
use Larder\Ttl;

/**
 * A backend of Zend_Cache, and so of OpenMage, in any store of Larder that can list its keys.
 *
 *     <cache>
 *         <backend>Larder_Cache_Backend</backend>
 *         <backend_options><dsn>apcu: &gt; sqlite:/var/cache/shop.db</dsn></backend_options>
 *     </cache>
 *
 * Cleaning by any of some tags, or by one, takes a time that does not depend on how many items there are. Some
 * calls walk over all ids: getTags(), getIds…(), and cleaning by several tags that an item must all have, or must not have.
 *
 * A value that was computed after a miss, and is outdated when it is saved, is not kept. The result is still true: Zend_Cache_Core removes what it
 * could not save. That would remove the newer item of another process, and refuse what others compute. Its write control reads what it has
 * just saved, and removes anything else. So it reads just that.
 *
 * Items are [mtime, tags, data]. An id that is none, such as '', is of no item.
 */
class Larder_Cache_Backend extends Zend_Cache_Backend implements Zend_Cache_Backend_ExtendedInterface
{
    private const OPTIONS = ['dsn', 'namespace'];

    /** What Zend's own backends tell of an item without an end. */
    private const NEVER = 9_999_999_999;

    /** How many items are looked at in one round trip. */
    private const AT_ONCE = 500;

    private readonly Cache $larder;

    private readonly ?Lookout $lookout;

    /** Before each tag: a tag of Larder means the same in all parts of a store, and shops have theirs for themselves. */
    private readonly string $prefix;

    /** @var ?array{string, string} the id and the data, if a save was the last call */
    private ?array $saved = null;

    /**
     * @param array<mixed> $options dsn: where the items lie (see Larder\Dsn). namespace: a part of that store, if others use it as well;
     *                              1 to 64 letters, digits, dots, dashes and underscores
     *
     * @throws Zend_Cache_Exception an option is unknown or wrong, or the store cannot list its keys or keeps no tags
     */
    public function __construct(array $options = [])
    {
        foreach (array_keys($options) as $name) {
            if (!in_array($name, self::OPTIONS, true)) {
                Zend_Cache::throwException(sprintf('The option "%s" of %s is unknown; %s.', $name, static::class, Suggestion::among((string) $name, self::OPTIONS)));
            }
        }
        parent::__construct($options);
        $dsn = $options['dsn'] ?? null;
        if (!is_string($dsn) || $dsn === '') {
            Zend_Cache::throwException(sprintf('%s needs the option "dsn"; set it to a place such as "shm:shop" or "apcu: > sqlite:/var/cache/shop.db".', static::class));
        }
        $namespace = $options['namespace'] ?? '';
        if (!is_scalar($namespace)) {
            // Without one, cleaning would take what is beside it.
            Zend_Cache::throwException(sprintf('The option "namespace" of %s is no name but %s; give it as a string, such as "shop".', static::class, get_debug_type($namespace)));
        }
        $this->prefix = (string) $namespace !== '' ? "{$namespace}:" : '';
        try {
            $cache = Cache::open($dsn);
            $this->larder = (string) $namespace !== '' ? $cache->namespace((string) $namespace) : $cache;
        } catch (Exception $mistake) {
            Zend_Cache::throwException($mistake->getMessage(), $mistake instanceof \Exception ? $mistake : null);
        }
        $this->lookout = Lookout::of($this->larder);
        foreach ([Capability::Keys, Capability::Tags] as $capability) {
            if (!in_array($capability, $cache->store->capabilities(), true)) {
                $missing = UnsupportedOperation::by((new \ReflectionClass($cache->store))->getShortName(), $capability);
                Zend_Cache::throwException(sprintf('The option "dsn" of %s names no place for it: %s', static::class, $missing->getMessage()));
            }
        }
    }

    /**
     * @param string $id
     * @param bool   $doNotTestCacheValidity asked right after a save of the id: what was saved. Otherwise without a meaning: what has expired is gone
     *
     * @return string|false
     */
    public function load($id, $doNotTestCacheValidity = false)
    {
        [$saved, $this->saved] = [$this->saved, null];
        if ($doNotTestCacheValidity && $saved !== null && $saved[0] === (string) $id) {
            return $saved[1];
        }
        try {
            $this->lookout?->look((string) $id);
            $item = $this->larder->get((string) $id);
        } catch (InvalidKey) {
            return false;
        }

        return is_array($item) && is_string($item[2] ?? null) ? $item[2] : false;
    }

    /**
     * @param string $id
     *
     * @return int|false when it was saved, or touched since, in Unix seconds
     */
    public function test($id)
    {
        try {
            $this->lookout?->look((string) $id);
            $item = $this->larder->get((string) $id);
        } catch (InvalidKey) {
            return false;
        }

        return is_array($item) && is_int($item[0] ?? null) ? $item[0] : false;
    }

    /**
     * @param string              $data
     * @param string              $id
     * @param array<mixed>|string $tags
     * @param int|string|false|null $specificLifetime seconds; false: the lifetime of the frontend; null: for ever; 0 or less: it is over at once
     *
     * @return bool
     */
    public function save($data, $id, $tags = [], $specificLifetime = false)
    {
        $this->saved = null;
        $tags = self::strings($tags);
        $lifetime = $this->getLifetime($specificLifetime);
        $ttl = is_numeric($lifetime) ? (int) $lifetime : Ttl::Forever;
        $item = [time(), $tags, (string) $data];
        try {
            $isSaved = $this->larder->set((string) $id, $item, $ttl, $this->larderTags($tags));
        } catch (InvalidKey|Unstorable $mistake) {
            $this->_log($mistake->getMessage());

            return false;
        }
        if (!$isSaved && !$this->larder->has((string) $id) && Refusal::of($this->larder->store, $item) !== Refusal::Outdated) {
            return false;
        }
        $this->saved = [(string) $id, $item[2]];

        return true;
    }

    /**
     * @param string $id
     *
     * @return bool false if there was none
     */
    public function remove($id)
    {
        $this->saved = null;
        try {
            return $this->larder->delete((string) $id, $isThere) && $isThere === true;
        } catch (InvalidKey) {
            return false;
        }
    }

    /**
     * @param string              $mode
     * @param array<mixed>|string $tags without any, matchingTag and notMatchingTag remove everything, and matchingAnyTag nothing
     *
     * @return bool whether the store knows
     *
     * @throws Zend_Cache_Exception
     */
    public function clean($mode = Zend_Cache::CLEANING_MODE_ALL, $tags = [])
    {
        $this->saved = null;
        $tags = self::strings($tags);
        try {
            return match ($mode) {
                Zend_Cache::CLEANING_MODE_ALL => $this->larder->clear(),
                Zend_Cache::CLEANING_MODE_OLD => $this->prune(),
                Zend_Cache::CLEANING_MODE_MATCHING_TAG => $this->cleanMatching($tags),
                Zend_Cache::CLEANING_MODE_NOT_MATCHING_TAG => $tags === [] ? $this->larder->clear() : $this->larder->deleteMany($this->getIdsNotMatchingTags($tags)),
                Zend_Cache::CLEANING_MODE_MATCHING_ANY_TAG => $this->larder->invalidateTags($this->names($tags)),
                default => Zend_Cache::throwException('Invalid mode for clean() method'),
            };
        } catch (StoreUnavailable $failure) {
            $this->_log($failure->getMessage());

            return false;
        }
    }

    /** @return list<string> */
    public function getIds()
    {
        return array_map(strval(...), array_keys(iterator_to_array($this->tagsById())));
    }

    /** @return list<string> */
    public function getTags()
    {
        $all = [];
        foreach ($this->tagsById() as $tags) {
            foreach ($tags as $tag) {
                $all[$tag] = true;
            }
        }

        return array_map(strval(...), array_keys($all));
    }

    /**
     * @param array<mixed>|string $tags
     *
     * @return list<string> those that have all of them
     */
    public function getIdsMatchingTags($tags = [])
    {
        $wanted = self::strings($tags);

        return $this->idsOf(static fn(array $tags): bool => array_diff($wanted, $tags) === []);
    }

    /**
     * @param array<mixed>|string $tags
     *
     * @return list<string> those that have none of them
     */
    public function getIdsNotMatchingTags($tags = [])
    {
        $unwanted = self::strings($tags);

        return $this->idsOf(static fn(array $tags): bool => array_intersect($unwanted, $tags) === []);
    }

    /**
     * @param array<mixed>|string $tags
     *
     * @return list<string> those that have one of them or more
     */
    public function getIdsMatchingAnyTags($tags = [])
    {
        $wanted = self::strings($tags);

        return $this->idsOf(static fn(array $tags): bool => array_intersect($wanted, $tags) !== []);
    }

    /** @return int 0 to 100; 0 for a store that has no bound */
    public function getFillingPercentage()
    {
        $statistics = $this->larder->statistics();
        $capacity = $statistics->capacity ?? 0;

        return $capacity > 0 ? (int) min(100, round(100 * ($statistics->bytes ?? 0) / $capacity)) : 0;
    }

    /**
     * @param string $id
     *
     * @return array{expire: int, tags: list<string>, mtime: int}|false
     */
    public function getMetadatas($id)
    {
        $found = $this->found((string) $id);
        if ($found === null || !is_array($found->value) || !is_int($found->value[0] ?? null)) {
            return false;
        }

        return ['expire' => $found->expiry ?? self::NEVER, 'tags' => self::strings($found->value[1] ?? []), 'mtime' => $found->value[0]];
    }

    /**
     * @param string     $id
     * @param int|string $extraLifetime seconds that it lives longer than it would. Its mtime is the time of this call, as with Zend's own backends
     *
     * @return bool false if there is none
     */
    public function touch($id, $extraLifetime)
    {
        $id = (string) $id;
        $found = $this->found($id);
        if ($found === null) {
            return false;
        }
        $wanted = $found->expiry === null ? null : $found->expiry + (int) $extraLifetime;
        if ($wanted !== null && $wanted <= time()) {
            return $this->remove($id);
        }
        $isTouched = $this->larder->update($id, function (mixed $item, PendingItem $pending): mixed {
            if (!is_array($item)) {
                // It has gone meanwhile.
                $pending->doNotStore();

                return null;
            }
            $pending->tag(...$this->larderTags(self::strings($item[1] ?? [])));

            return [time()] + $item;
        }, $wanted === null ? Ttl::Forever : $wanted - time());
        if (!$isTouched || $wanted === null) {
            return $isTouched;
        }
        $expiry = $this->found($id)->expiry ?? $wanted;

        // Stores round to whole seconds, each in its way.
        return $expiry === $wanted || $this->larder->touch($id, $wanted - time() - ($expiry - $wanted));
    }

    /** @return array{automatic_cleaning: bool, tags: bool, expired_read: bool, priority: bool, infinite_lifetime: bool, get_list: bool} */
    public function getCapabilities()
    {
        return [
            // Stores make room by themselves; clean('old') is for a nightly job.
            'automatic_cleaning' => false,
            'tags' => true,
            'expired_read' => false,
            'priority' => false,
            'infinite_lifetime' => true,
            'get_list' => true,
        ];
    }

    /** @return bool */
    public function isAutomaticCleaningAvailable()
    {
        return false;
    }

    /**
     * @param int|string|false|null $specificLifetime layout files of OpenMage have the word "false"
     *
     * @return int|string|null
     */
    public function getLifetime($specificLifetime)
    {
        $lifetime = parent::getLifetime($specificLifetime === 'false' ? false : $specificLifetime);

        return is_int($lifetime) || is_string($lifetime) ? $lifetime : null;
    }

    /**
     * The tags in Larder of an item with these tags.
     *
     * @param list<string> $tags
     *
     * @return list<string>
     */
    protected function larderTags(array $tags): array
    {
        return $this->names($tags);
    }

    /**
     * Tags in Larder of which each item with all of these tags has one; null: there are none such.
     *
     * @param non-empty-list<string> $tags
     *
     * @return ?list<string>
     */
    protected function larderTagsOfAll(array $tags): ?array
    {
        return count($tags) === 1 ? [$this->name($tags[0])] : null;
    }

    /** What is longer than a tag of Larder's can be is known by its hash. */
    final protected function name(string $tag): string
    {
        $name = $this->prefix . $tag;

        return strlen($name) > Tag::LONGEST || $tag === '' ? "\0" . hash('sha256', $name) : $name;
    }

    /**
     * @param list<string> $tags
     *
     * @return list<string>
     */
    private function names(array $tags): array
    {
        $names = [];
        foreach ($tags as $tag) {
            $name = $this->prefix . $tag;
            $names[] = $tag === '' || isset($name[Tag::LONGEST]) ? $this->name($tag) : $name;
        }

        return $names;
    }

    private function found(string $id): ?Item
    {
        try {
            Key::check($id);
            if ($this->lookout !== null && !$this->larder->health()->isFlagged()) {
                // An item that lies near has an end of its own, as each store rounds to whole seconds in its way.
                return Far::fetch($this->larder->store, [$id])->items[$id] ?? null;
            }
        } catch (InvalidKey) {
            return null;
        } catch (StoreUnavailable) {
            // It may lie near all the same; and the cache tells of the outage.
        }

        return $this->larder->fetch([$id])->items[$id] ?? null;
    }

    /** @param list<string> $tags */
    private function cleanMatching(array $tags): bool
    {
        if ($tags === []) {
            return $this->larder->clear();
        }
        $larderTags = $this->larderTagsOfAll($tags);

        return $larderTags === null ? $this->larder->deleteMany($this->getIdsMatchingTags($tags)) : $this->larder->invalidateTags($larderTags);
    }

    private function prune(): bool
    {
        while ($this->larder->store->prune() > 0);

        return true;
    }

    /**
     * @param \Closure(list<string>): bool $isWanted
     *
     * @return list<string>
     */
    private function idsOf(\Closure $isWanted): array
    {
        $ids = [];
        foreach ($this->tagsById() as $id => $tags) {
            if ($isWanted($tags)) {
                $ids[] = (string) $id;
            }
        }

        return $ids;
    }

    /** @return \Generator<array-key, list<string>> the tags of each item, by its id */
    private function tagsById(): \Generator
    {
        $ids = [];
        try {
            foreach ($this->larder->store->keys() as $id) {
                $ids[] = $id;
                if (count($ids) === self::AT_ONCE) {
                    yield from $this->tagsOf($ids);
                    $ids = [];
                }
            }
        } catch (StoreUnavailable $failure) {
            $this->_log($failure->getMessage());
        }
        yield from $this->tagsOf($ids);
    }

    /**
     * @param list<string> $ids
     *
     * @return array<array-key, list<string>> by id
     */
    private function tagsOf(array $ids): array
    {
        $tags = [];
        foreach ($ids === [] ? [] : $this->larder->getMany($ids) as $id => $item) {
            if (is_array($item) && is_int($item[0] ?? null)) {
                $tags[$id] = self::strings($item[1] ?? []);
            }
        }

        return $tags;
    }

    /** @return list<string> none twice */
    private static function strings(mixed $tags): array
    {
        $strings = [];
        foreach (is_array($tags) ? $tags : [$tags] as $tag) {
            if (is_string($tag) || is_int($tag)) {
                $strings[$tag] = (string) $tag;
            }
        }

        return array_values($strings);
    }
}
