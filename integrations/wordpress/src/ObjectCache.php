<?php

declare(strict_types=1);

namespace Larder\WordPress;

use Larder\Token;

/**
 * WordPress's object cache (WP_Object_Cache) over what outlives the request.
 *
 * What the request has seen is in $cache, by group and then by key, as in core's own class, and is looked at first. Where
 * values come from and go to depends on the group:
 *
 * - *local* groups (WordPress calls them non-persistent) never leave the request;
 * - *judged* groups are core's, whose truth is in the database. What was made because of a miss is a fill. Fills go out together
 *   when the request ends, and are refused if another process has written or deleted the key since. A change of what was read is
 *   refused likewise, and takes the key with it, so that the next request asks the database (Trac #31245);
 * - in all others the last write wins and goes out at once: add() may be a lock there, and the value need not be anywhere else.
 *
 * A set that is refused or impossible is readable in its own request all the same.
 *
 * The methods, their arguments and what they return are WordPress's.
 */
#[\AllowDynamicProperties]
final class ObjectCache
{
    /** Judged groups; those whose names end in _meta or _relationships are, too. */
    private const JUDGED = [
        'options' => true, 'site-options' => true, 'posts' => true, 'terms' => true, 'comment' => true,
        'users' => true, 'useremail' => true, 'userlogins' => true, 'userslugs' => true, 'usernicename' => true,
        'post-queries' => true, 'term-queries' => true, 'comment-queries' => true, 'user-queries' => true,
        'site-queries' => true, 'network-queries' => true, 'bookmark' => true, 'calendar' => true,
        'timeinfo' => true, 'global-posts' => true, 'sites' => true, 'site-details' => true, 'networks' => true,
        'blog-details' => true, 'blog-lookup' => true, 'blog-id-cache' => true,
    ];

    /** What groups begin with in which WooCommerce keeps the terms of a product, with their names. It does not delete these when a term changes. */
    private const FORGETFUL = 'wc_cache_';

    private const OPTIONS = ['options' => true, 'site-options' => true];

    /** Judged groups whose entries are read, changed and written back. */
    private const CHANGED = ['options' => true, 'site-options' => true, 'calendar' => true, 'blog-id-cache' => true];

    /** Longer keys are hashed. */
    private const LONGEST_KEY = 200;

    /** Fills that wait at most, so that an import does not keep all it has seen. */
    private const MOST_PENDING = 1_000;

    /** @var array<array-key, array<array-key, mixed>> group => key => value; in a network, a site's keys begin with its id and a colon */
    public array $cache = [];

    public int $cache_hits = 0;

    public int $cache_misses = 0;

    /** @var array<array-key, true> */
    public array $global_groups = [];

    /** @var array<array-key, true> */
    public array $non_persistent_groups = [];

    public string $blog_prefix;

    public bool $multisite;

    /** No caller can have this object: what it is identical to was not in the store. */
    private readonly \stdClass $absent;

    /** @var array<array-key, array<array-key, ?Token>> what was missing in judged groups, with the token of that moment */
    private array $missed = [];

    /** @var array<array-key, array<array-key, array{?int, ?Token}>> fills that wait: group => key => [TTL, token]; the value is in $cache */
    private array $pending = [];

    /** @var array<array-key, array<array-key, true>> what was missing in other groups, for the page cache: what fills them may change a page */
    public array $absences = [];

    /** @var ?\Closure(string, bool, int|string|null): void takes the group of what was set, counted or deleted, whether only what had been missing is there again, and its id, null for all of the group; the page cache sets it */
    public ?\Closure $tells = null;

    /** @var ?\Closure(): void is called when code asks for the last change of a group, as it may keep entries under keys with that in them; the page cache sets it */
    public ?\Closure $asked = null;

    private int $pendingCount = 0;

    /** @var array<array-key, array<array-key, true>> what the store could not take */
    private array $onlyHere = [];

    /** @var array<array-key, bool> */
    private array $judges = [];

    /** @var array<array-key, array{string, list<string>}> group => [what its keys begin with in the store, its tags] */
    private array $places = [];

    /** @var array<array-key, array<array-key, bool>>|null what was read, kept or deleted in a transaction that is open, and whether the store must forget it; null: there is none */
    private ?array $touched = null;

    private bool $ends = false;

    /** The backend, if it reads ahead. */
    private readonly ?Prefetch $prefetch;

    /** The backend, if this is one of the few requests whose calls are timed. */
    private readonly ?Measured $measured;

    /** @var list<string> what was flushed in this request */
    private array $flushes = [];

    /**
     * @param string  $prefix     what all keys begin with, where the store is not this installation's alone
     * @param ?string $everything the tag that flush() invalidates; null: it clears the store
     * @param ?int    $maxTtl     seconds that anything lives at most; null: no end
     * @param array<array-key, true> $kept groups that flush() leaves; needs $everything
     */
    public function __construct(
        private readonly Backend $backend,
        private readonly string $prefix = '',
        private readonly ?string $everything = null,
        private readonly ?int $maxTtl = null,
        private readonly array $kept = [],
    ) {
        $this->absent = new \stdClass();
        $this->measured = $backend instanceof Measured ? $backend : null;
        $inner = $this->measured?->backend() ?? $backend;
        $this->prefetch = $inner instanceof Prefetch ? $inner : null;
        $this->multisite = is_multisite();
        $this->blog_prefix = $this->multisite ? get_current_blog_id() . ':' : '';
    }

    /**
     * @param int|string $key
     * @param string     $group
     * @param int        $expire
     */
    public function add($key, mixed $data, $group = 'default', $expire = 0): bool
    {
        if (wp_suspend_cache_addition() || !$this->isValid($key, __FUNCTION__)) {
            return false;
        }
        $group = empty($group) ? 'default' : $group;
        $id = $this->id($key, $group);
        $isLocal = isset($this->non_persistent_groups[$group]);
        $isFill = !$isLocal && $key !== 'last_changed' && $this->isJudged($group);
        if (($isLocal || $isFill || isset($this->onlyHere[$group][$id])) && $this->knows($group, $id)) {
            return false;
        }
        if ($isFill) {
            if (!$this->hasMissed($group, $id)) {
                if ($this->read($group, $id) !== $this->absent) {
                    return false;
                }
                // What is added without a look before may have been made before the look.
                $this->missed[$group][$id] = $this->backend->requestToken($this->place($group, $id)[0]);
            }
            $this->fill($group, $id, $data, $expire);

            return true;
        }
        $data = \is_object($data) ? clone $data : $data;
        if (!$isLocal) {
            [$name, $tags] = $this->place($group, $id);
            // What this request knows may be gone; only the store can tell which process comes first.
            $added = $this->backend->add($name, $data, $this->ttl($expire), $tags);
            if ($added === false) {
                return false;
            }
            $this->note($group, $id, $added === true);
        }
        $this->cache[$group][$id] = $data;

        return true;
    }

    /**
     * @param array<array-key, mixed> $data   key => value
     * @param string                  $group
     * @param int                     $expire
     *
     * @return array<array-key, bool>
     */
    public function add_multiple(array $data, $group = '', $expire = 0): array
    {
        $known = empty($group) ? 'default' : $group;
        if ($this->isJudged($known) && !isset($this->non_persistent_groups[$known]) && !wp_suspend_cache_addition()) {
            // What is added without a look before may have been made before this one.
            $this->look(array_keys($data), $known, isAfter: true);
        }
        $added = [];
        foreach ($data as $key => $value) {
            $added[$key] = $this->add($key, $value, $group, $expire);
        }

        return $added;
    }

    /**
     * @param int|string $key
     * @param string     $group
     * @param int        $expire
     */
    public function replace($key, mixed $data, $group = 'default', $expire = 0): bool
    {
        if (!$this->isValid($key, __FUNCTION__)) {
            return false;
        }
        $group = empty($group) ? 'default' : $group;
        $id = $this->id($key, $group);
        $isLocal = isset($this->non_persistent_groups[$group]);
        if ($isLocal || isset($this->onlyHere[$group][$id]) || $this->isJudged($group)) {
            $exists = $this->knows($group, $id) || (!$isLocal && $this->read($group, $id) !== $this->absent);
        } else {
            $exists = $this->backend->has($this->place($group, $id)[0]) ?? $this->knows($group, $id);
        }

        return $exists && $this->set($key, $data, $group, (int) $expire);
    }

    /**
     * @param int|string $key
     * @param string     $group
     * @param int        $expire
     */
    public function set($key, mixed $data, $group = 'default', $expire = 0): bool
    {
        if (!$this->isValid($key, __FUNCTION__)) {
            return false;
        }
        $group = empty($group) ? 'default' : $group;
        $id = $this->id($key, $group);
        if (isset($this->non_persistent_groups[$group])) {
            $this->cache[$group][$id] = \is_object($data) ? clone $data : $data;

            return true;
        }
        $isFill = $this->tells !== null && (isset($this->absences[$group][$id]) || $this->hasMissed($group, $id)) && !$this->knows($group, $id);
        if ($key !== 'last_changed' && $this->isJudged($group)) {
            $this->setJudged($group, $id, $data, $expire);
        } else {
            $data = \is_object($data) ? clone $data : $data;
            [$name, $tags] = $this->place($group, $id);
            $this->note($group, $id, $this->backend->set($name, $data, $this->ttl($expire), $tags));
            if ($key === 'last_changed') {
                $this->touch($group, $id);
            }
            unset($this->missed[$group][$id]);
            $this->cache[$group][$id] = $data;
        }
        $this->tells === null || ($this->tells)($group, $isFill, $id);

        return true;
    }

    /**
     * @param array<array-key, mixed> $data   key => value
     * @param string                  $group
     * @param int                     $expire
     *
     * @return array<array-key, bool>
     */
    public function set_multiple(array $data, $group = '', $expire = 0): array
    {
        $known = empty($group) ? 'default' : $group;
        $isFill = isset(self::OPTIONS[$known]) && !isset($this->non_persistent_groups[$known]);
        $set = [];
        foreach ($data as $key => $value) {
            $id = $this->id($key, $known);
            // Core sets many options at once only to keep what it has just read.
            if ($isFill && $key !== 'last_changed' && $this->hasMissed($known, $id) && $this->isValid($key, 'set')) {
                $this->fill($known, $id, $value, $expire);
                $set[$key] = true;
                continue;
            }
            $set[$key] = $this->set($key, $value, $group, $expire);
        }

        return $set;
    }

    /**
     * @param mixed      $key   an int or a string; another is refused
     * @param string     $group
     * @param bool       $force
     * @param ?bool      $found
     */
    public function get($key, $group = 'default', $force = false, &$found = null): mixed
    {
        $group = empty($group) ? 'default' : $group;
        if ($key === 'last_changed' && $this->asked !== null) {
            ($this->asked)();
        }
        if (!$force && (\is_string($key) || \is_int($key))) {
            // Nothing lies under a key that is not valid, and most of what a page asks for lies here.
            $id = $this->multisite && !isset($this->global_groups[$group]) ? $this->blog_prefix . $key : $key;
            $value = $this->cache[$group][$id] ?? null;
            if ($value !== null) {
                $found = true;
                ++$this->cache_hits;

                return \is_object($value) ? clone $value : $value;
            }
        }
        if (!$this->isValid($key, __FUNCTION__)) {
            return false;
        }
        $id = $this->id($key, $group);
        if (!$force || isset($this->non_persistent_groups[$group]) || isset($this->onlyHere[$group][$id])) {
            $value = $this->cache[$group][$id] ?? ($this->knows($group, $id) ? null : $this->absent);
            if ($value === $this->absent && !isset($this->non_persistent_groups[$group]) && !$this->hasMissed($group, $id)) {
                $value = $this->read($group, $id);
            }
        } else {
            $value = $this->readAnew($group, $id);
        }
        if ($value === $this->absent) {
            $found = false;
            ++$this->cache_misses;

            return false;
        }
        $found = true;
        ++$this->cache_hits;

        return \is_object($value) ? clone $value : $value;
    }

    /**
     * @param array<int|string> $keys
     * @param string            $group
     * @param bool              $force
     *
     * @return array<array-key, mixed>
     */
    public function get_multiple($keys, $group = 'default', $force = false): array
    {
        $known = empty($group) ? 'default' : $group;
        $gone = isset($this->non_persistent_groups[$known]) ? [] : $this->look($keys, $known, (bool) $force);
        $values = [];
        foreach ($keys as $key) {
            if ($gone !== [] && isset($gone[$this->id($key, $known)])) {
                $values[$key] = false;
                ++$this->cache_misses;
            } else {
                $values[$key] = $this->get($key, $group);
            }
        }

        return $values;
    }

    /**
     * @param int|string $key
     * @param string     $group
     * @param bool       $deprecated
     */
    public function delete($key, $group = 'default', $deprecated = false): bool
    {
        if (!$this->isValid($key, __FUNCTION__)) {
            return false;
        }
        $group = empty($group) ? 'default' : $group;
        $id = $this->id($key, $group);
        $existed = $this->knows($group, $id);
        $this->forget($group, $id);
        if (!isset($this->non_persistent_groups[$group])) {
            $existed = $this->backend->delete([$this->place($group, $id)[0]]) !== [] || $existed;
            $this->tells === null || ($this->tells)($group, false, $id);
        }

        return $existed;
    }

    /**
     * @param array<int|string> $keys
     * @param string            $group
     *
     * @return array<array-key, bool>
     */
    public function delete_multiple(array $keys, $group = ''): array
    {
        $known = empty($group) ? 'default' : $group;
        $deleted = $names = [];
        foreach ($keys as $key) {
            $again = isset($deleted[$key]);
            $deleted[$key] = false;
            if ($this->isValid($key, 'delete')) {
                $id = $this->id($key, $known);
                $deleted[$key] = $this->knows($known, $id);
                $this->forget($known, $id);
                $names[$this->place($known, $id)[0]] = $again ? null : $key;
            }
        }
        if ($names !== [] && !isset($this->non_persistent_groups[$known])) {
            foreach ($this->backend->delete(array_map(strval(...), array_keys($names))) as $name) {
                // The second time it is named it is gone.
                if (isset($names[$name])) {
                    $deleted[$names[$name]] = true;
                }
            }
            foreach ($keys as $key) {
                $this->tells === null || ($this->tells)($known, false, $this->id($key, $known));
            }
        }

        return $deleted;
    }

    /**
     * @param int|string $key
     * @param int        $offset
     * @param string     $group
     */
    public function incr($key, $offset = 1, $group = 'default'): int|float|false
    {
        return $this->isValid($key, __FUNCTION__) ? $this->count($key, (int) $offset, empty($group) ? 'default' : $group) : false;
    }

    /**
     * @param int|string $key
     * @param int        $offset
     * @param string     $group
     */
    public function decr($key, $offset = 1, $group = 'default'): int|float|false
    {
        return $this->isValid($key, __FUNCTION__) ? $this->count($key, -(int) $offset, empty($group) ? 'default' : $group) : false;
    }

    /** From now on other processes do not read what this one writes to the database, and it may not read what they write. */
    public function beginTransaction(): void
    {
        $this->touched ??= [];
    }

    /** A query has failed: what was kept since the one before it may say that nothing is there. */
    public function distrust(): void
    {
        foreach ($this->pending as $group => $waiting) {
            $this->cache[$group] = array_diff_key($this->cache[$group] ?? [], $waiting);
        }
        $this->pending = [];
        $this->pendingCount = 0;
    }

    /** Others have read the old rows meanwhile and kept them, and this process new ones that may have been taken back. The database knows best. */
    public function endTransaction(): void
    {
        $touched = $this->touched ?? [];
        $this->touched = null;
        foreach ($touched as $group => $ids) {
            $group = (string) $group;
            $names = [];
            foreach ($ids as $id => $isChanged) {
                $this->forget($group, $id);
                if ($isChanged) {
                    $names[] = $this->place($group, $id)[0];
                }
            }
            if (!isset($this->non_persistent_groups[$group])) {
                foreach (array_chunk($names, 500) as $some) {
                    $this->backend->delete($some);
                }
            }
        }
    }

    /** Of all sites. */
    public function flush(): bool
    {
        $this->drop();
        $this->flushes[] = 'flush';

        return $this->everything === null ? $this->backend->clear() : $this->backend->invalidate([$this->everything]);
    }

    /**
     * Of all sites.
     *
     * @param string $group
     */
    public function flush_group($group): bool
    {
        unset($this->cache[$group], $this->missed[$group], $this->pending[$group], $this->onlyHere[$group]);
        $this->flushes[] = "flush of group {$group}";

        if (isset($this->non_persistent_groups[$group])) {
            return true;
        }
        $isFlushed = $this->backend->invalidate([$this->groupTag((string) $group)]);
        $this->tells === null || ($this->tells)((string) $group, false, null);

        return $isFlushed;
    }

    /**
     * When entries end, of those that are in the store and do so.
     *
     * @param list<int|string> $ids as the request has them in $cache
     *
     * @return list<int> in Unix seconds
     */
    public function ends(string $group, array $ids): array
    {
        return $ids === [] ? [] : $this->backend->ends(array_map(fn(int|string $id): string => $this->place($group, $id)[0], $ids));
    }

    /** Whether the store has something of a group; null: it cannot tell. */
    public function hasGroup(string $group): ?bool
    {
        foreach ([$this->placeOf($group)[0] => true, $this->prefix => false] as $prefix => $is) {
            foreach ($this->backend->keys((string) $prefix) as $key) {
                return $is;
            }
        }

        return null;
    }

    /** What one site of a network has in groups that are not global; without a network, everything. */
    public function flush_site(int $site): bool
    {
        if (!$this->multisite) {
            return $this->flush();
        }
        $this->flush_runtime();
        $this->flushes[] = "flush of site {$site}";

        return $this->backend->invalidate([$this->siteTag($site)]);
    }

    /** Forgets what the request has seen; what waits goes out before. */
    public function flush_runtime(): bool
    {
        $this->commit();
        $this->drop();

        return true;
    }

    /** @param string|list<string> $groups */
    public function add_global_groups($groups): void
    {
        $this->global_groups = array_merge($this->global_groups, array_fill_keys((array) $groups, true));
        $this->places = [];
    }

    /** @param string|list<string> $groups */
    public function add_non_persistent_groups($groups): void
    {
        $this->non_persistent_groups = array_merge($this->non_persistent_groups, array_fill_keys((array) $groups, true));
    }

    /** @param int $blog_id */
    public function switch_to_blog($blog_id): void
    {
        $this->blog_prefix = $this->multisite ? (int) $blog_id . ':' : '';
        $this->places = [];
    }

    public function reset(): void
    {
        _deprecated_function(__FUNCTION__, '3.5.0', 'WP_Object_Cache::switch_to_blog()');
        $this->commit();
        $this->prefetch?->forget();
        $this->missed = [];
        $this->cache = array_intersect_key($this->cache, $this->global_groups);
    }

    public function stats(): void
    {
        printf("<p><strong>Cache Hits:</strong> %d<br /><strong>Cache Misses:</strong> %d<br /></p>\n<ul>\n", $this->cache_hits, $this->cache_misses);
        foreach ($this->cache as $group => $values) {
            try {
                $size = number_format(\strlen(serialize($values)) / 1024, 2);
            } catch (\Throwable) {
                $size = '?';
            }
            printf("<li><strong>Group:</strong> %s - ( %sk )</li>\n", esc_html((string) $group), $size);
        }
        echo "</ul>\n";
    }

    /**
     * A row of an option is gone or new. What others have read before, and would keep later, is then no longer true.
     *
     * @param list<string> $keys of the lists, such as alloptions, and rows that may say otherwise
     */
    public function rows_changed(array $keys, string $group): void
    {
        $names = [];
        foreach ($keys as $key) {
            $id = $this->id($key, $group);
            $this->unqueue($group, $id);
            $names[] = $this->place($group, $id)[0];
        }
        $this->backend->delete($names);
    }

    /** Sends out what waits. */
    public function commit(): void
    {
        $fills = [];
        foreach ($this->pending as $group => $waiting) {
            foreach ($waiting as $id => [$ttl, $token]) {
                [$name, $tags] = $this->place((string) $group, $id);
                $fills[] = new Fill($name, $this->cache[$group][$id] ?? null, $ttl, $tags, $token);
            }
        }
        $this->pending = [];
        $this->pendingCount = 0;
        if ($fills !== []) {
            $this->backend->fill($fills);
        }
    }

    /** The request ends: what waits goes out when the visitor has the page. */
    public function close(): bool
    {
        $learns = $this->prefetch?->hasLearned() === true ? $this->prefetch : null;
        if ($this->ends || ($this->pending === [] && $learns === null && $this->measured === null)) {
            $this->commit();

            return true;
        }
        $this->ends = true;
        // The last of the functions that are called at the end; others may still say something to the visitor.
        register_shutdown_function(function () use ($learns): void {
            if (\function_exists('fastcgi_finish_request')) {
                fastcgi_finish_request();
            }
            $this->commit();
            $learns?->learn();
            if ($this->measured !== null) {
                Figures::keepRequest($this->measured, $this);
            }
        });

        return true;
    }

    /** What failed in this request, in a sentence; null: nothing. */
    public function trouble(): ?string
    {
        return $this->backend->trouble();
    }

    /** @return list<string> what was flushed in this request: each flush in words */
    public function flushes(): array
    {
        return $this->flushes;
    }

    /** @return ?self this request's; null: WordPress uses its own, or another plugin's */
    public static function current(): ?self
    {
        $cache = $GLOBALS['wp_object_cache'] ?? null;

        return $cache instanceof self ? $cache : null;
    }

    /** For administration: what is behind this cache. */
    public function backend(): Backend
    {
        return $this->backend;
    }

    /**
     * For administration.
     *
     * @return array<string, int> how many items each group has in the store; empty where the store cannot tell
     */
    public function groups(): array
    {
        $groups = [];
        foreach ($this->backend->keys($this->prefix) as $name) {
            $group = strtr(explode(':', substr($name, \strlen($this->prefix)), 2)[0], ['%3A' => ':', '%25' => '%']);
            $groups[$group] = ($groups[$group] ?? 0) + 1;
        }
        arsort($groups);

        return $groups;
    }

    private function setJudged(string $group, int|string $id, mixed $data, mixed $expire): void
    {
        $isOption = isset(self::OPTIONS[$group]);
        $old = $this->cache[$group][$id] ?? null;
        if ($isOption ? $this->onlyGrows($id, $old, $data) : $this->hasMissed($group, $id)) {
            $this->fill($group, $id, $data, $expire);

            return;
        }
        [$name, $tags] = $this->place($group, $id);
        $version = 0;
        $isOpen = $this->touch($group, $id);
        $token = $isOpen || (isset(self::CHANGED[$group]) && !isset($this->pending[$group][$id]) && $this->knows($group, $id)) ? null : $this->judging($group, $id);
        if (!$isOpen && $token === null && $this->knows($group, $id)) {
            [$there, $token, $version] = $this->backend->getForChange($name, $this->absent);
            // It was made from what this request has; if others have changed that, the database knows best.
            $token = $this->isSame($there, $old) ? $token : null;
        }
        $data = \is_object($data) ? clone $data : $data;
        $this->unqueue($group, $id);
        if ($token === null) {
            $this->backend->delete([$name]);
        } else {
            $this->backend->set($name, $data, $this->ttl($expire), $tags, $token, $version);
        }
        unset($this->missed[$group][$id]);
        $this->cache[$group][$id] = $data;
    }

    /**
     * Whether it is a list of options that are not there, and more are not there now. That others do not know this yet costs them a
     * query, and a page that asks for twenty such options need not write twenty times.
     */
    private function onlyGrows(int|string $id, mixed $old, mixed $new): bool
    {
        if (($id !== 'notoptions' && !str_ends_with((string) $id, ':notoptions')) || !\is_array($new) || ($old !== null && !\is_array($old))) {
            return false;
        }
        foreach ($new as $is) {
            if ($is !== true) {
                return false;
            }
        }

        return array_diff_key($old ?? [], $new) === [];
    }

    private function fill(string $group, int|string $id, mixed $data, mixed $expire): void
    {
        $data = \is_object($data) ? clone $data : $data;
        if ($this->touch($group, $id, false)) {
            $this->unqueue($group, $id);
            unset($this->missed[$group][$id]);
            $this->cache[$group][$id] = $data;

            return;
        }
        $token = $this->judging($group, $id);
        $this->cache[$group][$id] = $data;
        $ttl = $this->ttl($expire);
        if ($this->holdsObjects(\is_object($data) ? get_mangled_object_vars($data) : $data, 8)) {
            // They may change before the request ends.
            [$name, $tags] = $this->place($group, $id);
            $this->backend->fill([new Fill($name, $data, $ttl, $tags, $token)]);
        } else {
            $this->pendingCount += isset($this->pending[$group][$id]) ? 0 : 1;
            $this->pending[$group][$id] = [$ttl, $token];
        }
        unset($this->missed[$group][$id]);
        if ($this->pendingCount >= self::MOST_PENDING) {
            $this->commit();
        }
    }

    private function judging(string $group, int|string $id): ?Token
    {
        return $this->missed[$group][$id] ?? $this->pending[$group][$id][1] ?? $this->backend->requestToken($this->place($group, $id)[0]);
    }

    private function isSame(mixed $one, mixed $other): bool
    {
        if ($one === $other || !$this->holdsObjects([$one], 8)) {
            return $one === $other;
        }
        try {
            return serialize($one) === serialize($other);
        } catch (\Throwable) {
            return false;
        }
    }

    private function holdsObjects(mixed $value, int $depth): bool
    {
        if (!\is_array($value)) {
            return \is_object($value);
        }
        foreach ($value as $element) {
            if (\is_object($element) || (\is_array($element) && ($depth === 0 || $this->holdsObjects($element, $depth - 1)))) {
                return true;
            }
        }

        return false;
    }

    private function count(int|string $key, int $by, string $group): int|float|false
    {
        $id = $this->id($key, $group);
        if (!isset($this->non_persistent_groups[$group]) && !isset($this->onlyHere[$group][$id])) {
            $this->sendOut($group, $id);
            [$name, $tags] = $this->place($group, $id);
            $sum = $this->backend->count($name, $by, $tags);
            if ($sum === false && !($this->isJudged($group) && $this->knows($group, $id))) {
                $this->forget($group, $id);

                return false;
            }
            $this->tells === null || ($this->tells)($group, false, $id);
            if ($sum !== null && $sum !== false) {
                return $this->cache[$group][$id] = $sum;
            }
            if (!$this->knows($group, $id) && $this->read($group, $id) === $this->absent) {
                return false;
            }
        }
        if (!$this->knows($group, $id)) {
            return false;
        }
        $value = $this->cache[$group][$id];
        $sum = max(0, (is_numeric($value) ? $value + 0 : 0) + $by);
        $this->cache[$group][$id] = $sum;
        if (!isset($this->non_persistent_groups[$group])) {
            [$name, $tags] = $this->place($group, $id);
            $this->note($group, $id, $this->backend->set($name, $sum, $this->ttl(0), $tags));
        }

        return $sum;
    }

    /** From the store into $cache; $absent if it has none. */
    private function read(string $group, int|string $id, bool $anew = false): mixed
    {
        if (str_starts_with($group, self::FORGETFUL)) {
            $this->non_persistent_groups[$group] = true;

            return $this->absent;
        }
        [$name] = $this->place($group, $id);
        $value = $this->backend->get($name, $this->absent, $anew);
        if ($value !== $this->absent) {
            return $this->cache[$group][$id] = $value;
        }
        if ($this->isJudged($group)) {
            $this->missed[$group][$id] = $this->backend->token($name);
        } else {
            $this->absences[$group][$id] = true;
        }

        return $value;
    }

    private function readAnew(string $group, int|string $id): mixed
    {
        $this->sendOut($group, $id);
        $this->forget($group, $id);

        return $this->read($group, $id, true);
    }

    /**
     * Reads what the request does not know yet in one batch.
     *
     * @param array<mixed> $keys
     * @param bool         $isAfter whether values for what is missing may have been made before
     *
     * @return array<array-key, true> by id, what is missing
     */
    private function look(array $keys, string $group, bool $force = false, bool $isAfter = false): array
    {
        $isJudged = $this->isJudged($group);
        $names = $gone = [];
        foreach ($keys as $key) {
            if (!\is_int($key) && (!\is_string($key) || trim($key) === '')) {
                continue;
            }
            $id = $this->id($key, $group);
            if ($force && !isset($this->onlyHere[$group][$id])) {
                $this->sendOut($group, $id);
                $this->forget($group, $id);
            } elseif (isset($this->cache[$group][$id]) || $this->knows($group, $id)) {
                continue;
            } elseif ($isJudged && $this->hasMissed($group, $id)) {
                $gone[$id] = true;
                continue;
            }
            $names[$this->place($group, $id)[0]] = $id;
        }
        if ($names === []) {
            return $gone;
        }
        $asked = array_map(strval(...), array_keys($names));
        $values = $this->backend->getMany($asked, $force);
        foreach ($names as $name => $id) {
            if (\array_key_exists($name, $values)) {
                $this->cache[$group][$id] = $values[$name];
                continue;
            }
            $gone[$id] = true;
            if ($isJudged) {
                $this->missed[$group][$id] = $isAfter ? $this->backend->requestToken((string) $name) : $this->backend->token((string) $name);
            } else {
                $this->absences[$group][$id] = true;
            }
        }

        return $gone;
    }

    /** Whether the truth of a group's entries is in the database. */
    public static function isOfDatabase(string $group): bool
    {
        return isset(self::JUDGED[$group]) || str_ends_with($group, '_meta') || str_ends_with($group, '_relationships');
    }

    private function isJudged(string $group): bool
    {
        return $this->judges[$group] ??= self::isOfDatabase($group);
    }

    private function knows(string $group, int|string $id): bool
    {
        return isset($this->cache[$group]) && \array_key_exists($id, $this->cache[$group]);
    }

    private function hasMissed(string $group, int|string $id): bool
    {
        return isset($this->missed[$group]) && \array_key_exists($id, $this->missed[$group]);
    }

    private function id(mixed $key, string $group): int|string
    {
        return $this->multisite && !isset($this->global_groups[$group]) ? $this->blog_prefix . (\is_scalar($key) ? $key : '') : (\is_int($key) || \is_string($key) ? $key : '');
    }

    /** @return array{string, list<string>} the name of the key in the store, and its tags */
    private function place(string $group, int|string $id): array
    {
        [$beginning, $tags] = $this->places[$group] ??= $this->placeOf($group);
        $name = $beginning . $id;

        return [isset($name[self::LONGEST_KEY]) ? $beginning . hash('sha256', (string) $id) : $name, $tags];
    }

    /** @return array{string, list<string>} */
    private function placeOf(string $group): array
    {
        $tags = [$this->groupTag($group)];
        if ($this->multisite && !isset($this->global_groups[$group])) {
            $tags[] = $this->siteTag((int) $this->blog_prefix);
        }
        if ($this->everything !== null && !isset($this->kept[$group])) {
            $tags[] = $this->everything;
        }
        // A colon in a group's name must not make it another group's.
        $escaped = strtr($group, ['%' => '%25', ':' => '%3A']);

        return [$this->prefix . (isset($escaped[self::LONGEST_KEY >> 1]) ? hash('sha256', $group) : $escaped) . ':', $tags];
    }

    private function groupTag(string $group): string
    {
        return $this->prefix . 'group:' . (isset($group[self::LONGEST_KEY >> 1]) ? hash('sha256', $group) : $group);
    }

    private function siteTag(int $site): string
    {
        return $this->prefix . 'site:' . $site;
    }

    /** Seconds to live; null: no end. */
    private function ttl(mixed $expire): ?int
    {
        $seconds = \is_scalar($expire) ? (int) $expire : 0;
        if ($seconds === 0) {
            return $this->maxTtl;
        }

        return $this->maxTtl === null ? $seconds : min($seconds, $this->maxTtl);
    }

    /** @return bool whether a transaction is open. The store gets no row that was read in one: the rows may be those of its beginning, or never come to be. */
    private function touch(string $group, int|string $id, bool $isChanged = true): bool
    {
        if ($this->touched === null) {
            return false;
        }
        $this->touched[$group][$id] = $isChanged || ($this->touched[$group][$id] ?? false);

        return true;
    }

    private function forget(string $group, int|string $id): void
    {
        $this->touch($group, $id);
        $this->unqueue($group, $id);
        unset($this->cache[$group][$id], $this->missed[$group][$id], $this->onlyHere[$group][$id]);
    }

    private function unqueue(string $group, int|string $id): void
    {
        if (isset($this->pending[$group][$id])) {
            unset($this->pending[$group][$id]);
            --$this->pendingCount;
        }
    }

    /** What waits of one key goes out now. */
    private function sendOut(string $group, int|string $id): void
    {
        if (isset($this->pending[$group][$id])) {
            [$ttl, $token] = $this->pending[$group][$id];
            [$name, $tags] = $this->place($group, $id);
            $this->unqueue($group, $id);
            $this->backend->fill([new Fill($name, $this->cache[$group][$id] ?? null, $ttl, $tags, $token)]);
        }
    }

    private function note(string $group, int|string $id, bool $isStored): void
    {
        if ($isStored) {
            unset($this->onlyHere[$group][$id]);
        } else {
            $this->onlyHere[$group][$id] = true;
        }
    }

    private function drop(): void
    {
        $this->cache = $this->missed = $this->pending = $this->onlyHere = [];
        $this->pendingCount = 0;
        $this->prefetch?->forget();
    }

    private function isValid(mixed $key, string $function): bool
    {
        if (\is_int($key) || (\is_string($key) && trim($key) !== '')) {
            return true;
        }
        _doing_it_wrong(
            'WP_Object_Cache::' . $function,
            \is_string($key) ? 'A cache key must not be blank.' : 'A cache key must be an int or a string; this one is of the type ' . \gettype($key) . '.',
            '6.1.0',
        );

        return false;
    }
}
