<?php

declare(strict_types=1);

namespace Larder\WordPress\Bench;

use Larder\SharedMemory;

/**
 * The limit of what an object cache can do for a page: all that a page reads is one array in a pool, which is used without a copy.
 *
 * It is no cache for a site: a URL's array is made once, and nothing that is written later changes it.
 */
#[\AllowDynamicProperties]
final class OnePage
{
    /** @var array<array-key, array<array-key, mixed>> group => key => value; of an object, its properties */
    public array $cache = [];

    public int $cache_hits = 0;

    public int $cache_misses = 0;

    public int $calls = 1;

    /** @var array<array-key, array<array-key, true>> group => key, of objects */
    private array $objects = [];

    /** @var array<array-key, true> */
    private array $local = [];

    private readonly SharedMemory $pool;

    private readonly string $page;

    private bool $isNew = true;

    public function __construct(string $pool)
    {
        $this->pool = SharedMemory::open($pool, 64 << 20);
        $url = $_SERVER['REQUEST_URI'] ?? '';
        $this->page = 'page:' . md5(\is_string($url) ? $url : '');
        $found = $this->pool->get($this->page);
        if ($found !== null) {
            /** @var array{array<array-key, array<array-key, mixed>>, array<array-key, array<array-key, true>>} $found */
            [$this->cache, $this->objects] = $found;
            $this->isNew = false;
        }
    }

    public function add(int|string $key, mixed $data, string $group, int $expire): bool
    {
        return !wp_suspend_cache_addition() && !isset($this->cache[$group === '' ? 'default' : $group][$key]) && $this->set($key, $data, $group, $expire);
    }

    /**
     * @param array<array-key, mixed> $data key => value
     *
     * @return array<array-key, bool>
     */
    public function add_multiple(array $data, string $group, int $expire): array
    {
        $added = [];
        foreach ($data as $key => $value) {
            $added[$key] = $this->add($key, $value, $group, $expire);
        }

        return $added;
    }

    public function replace(int|string $key, mixed $data, string $group, int $expire): bool
    {
        return isset($this->cache[$group === '' ? 'default' : $group][$key]) && $this->set($key, $data, $group, $expire);
    }

    public function set(int|string $key, mixed $data, string $group, int $expire): bool
    {
        $group = $group === '' ? 'default' : $group;
        unset($this->objects[$group][$key]);
        if ($data instanceof \stdClass) {
            $this->objects[$group][$key] = true;
            $data = (array) $data;
        }
        $this->cache[$group][$key] = \is_object($data) ? clone $data : $data;

        return true;
    }

    /**
     * @param array<array-key, mixed> $data key => value
     *
     * @return array<array-key, bool>
     */
    public function set_multiple(array $data, string $group, int $expire): array
    {
        foreach ($data as $key => $value) {
            $this->set($key, $value, $group, $expire);
        }

        return array_fill_keys(array_keys($data), true);
    }

    /** @param-out bool $found */
    public function get(int|string $key, string $group = 'default', bool $force = false, ?bool &$found = null): mixed
    {
        $group = $group === '' ? 'default' : $group;
        $value = $this->cache[$group][$key] ?? null;
        if ($value === null && !(isset($this->cache[$group]) && \array_key_exists($key, $this->cache[$group]))) {
            $found = false;
            ++$this->cache_misses;

            return false;
        }
        $found = true;
        ++$this->cache_hits;
        if (isset($this->objects[$group][$key])) {
            return (object) $value;
        }

        return \is_object($value) ? clone $value : $value;
    }

    /**
     * @param array<int|string> $keys
     *
     * @return array<array-key, mixed>
     */
    public function get_multiple(array $keys, string $group = 'default', bool $force = false): array
    {
        $values = [];
        foreach ($keys as $key) {
            $values[$key] = $this->get($key, $group);
        }

        return $values;
    }

    public function delete(int|string $key, string $group = 'default'): bool
    {
        unset($this->cache[$group === '' ? 'default' : $group][$key]);

        return true;
    }

    /**
     * @param array<int|string> $keys
     *
     * @return array<array-key, bool>
     */
    public function delete_multiple(array $keys, string $group): array
    {
        array_walk($keys, fn(int|string $key): bool => $this->delete($key, $group));

        return array_fill_keys($keys, true);
    }

    public function incr(int|string $key, int $by, string $group): int|float|false
    {
        $value = $this->get($key, $group, false, $found);
        if (!$found) {
            return false;
        }
        $sum = max(0, (is_numeric($value) ? $value + 0 : 0) + $by);
        $this->set($key, $sum, $group, 0);

        return $sum;
    }

    public function flush(): bool
    {
        $this->cache = $this->objects = [];
        $this->pool->clear();

        return true;
    }

    public function flush_runtime(): bool
    {
        return true;
    }

    /** @param array<string> $groups */
    public function add_non_persistent_groups(array $groups): void
    {
        $this->local += array_fill_keys($groups, true);
    }

    public function close(): bool
    {
        if ($this->isNew) {
            $this->pool->set($this->page, [array_diff_key($this->cache, $this->local), array_diff_key($this->objects, $this->local)]);
        }

        return true;
    }

    public function stats(): void {}
}
