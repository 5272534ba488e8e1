<?php

declare(strict_types=1);

namespace Larder\WordPress\Bench;

/**
 * An object cache as the published ones have it: an array of what the request has seen, and a store that every write goes to at once.
 * For one site; nothing is judged, the last write wins.
 *
 * The methods, their arguments and what they return are WordPress's.
 */
#[\AllowDynamicProperties]
final class Rival
{
    /** @var array<array-key, array<array-key, mixed>> group => key => value */
    public array $cache = [];

    public int $cache_hits = 0;

    public int $cache_misses = 0;

    /** Calls of the store. */
    public int $calls = 0;

    /** @var array<array-key, array<array-key, true>> what the store did not have */
    private array $missed = [];

    /** @var array<array-key, true> */
    private array $local = [];

    public function __construct(
        private readonly Store $store,
    ) {}

    public function add(int|string $key, mixed $data, string $group, int $expire): bool
    {
        $group = $group === '' ? 'default' : $group;
        if (wp_suspend_cache_addition() || isset($this->cache[$group][$key])) {
            return false;
        }
        $data = \is_object($data) ? clone $data : $data;
        if (!isset($this->local[$group])) {
            ++$this->calls;
            if (!$this->store->add($group, $key, $data, $expire)) {
                return false;
            }
        }
        $this->cache[$group][$key] = $data;

        return true;
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
        $this->get($key, $group, false, $found);

        return $found && $this->set($key, $data, $group, $expire);
    }

    public function set(int|string $key, mixed $data, string $group, int $expire): bool
    {
        return $this->set_multiple([$key => $data], $group, $expire)[$key];
    }

    /**
     * @param array<array-key, mixed> $data key => value
     *
     * @return array<array-key, bool>
     */
    public function set_multiple(array $data, string $group, int $expire): array
    {
        $group = $group === '' ? 'default' : $group;
        foreach ($data as $key => $value) {
            $this->cache[$group][$key] = \is_object($value) ? clone $value : $value;
        }
        if (!isset($this->local[$group])) {
            ++$this->calls;
            $this->store->write($group, $data, $expire);
        }

        return array_fill_keys(array_keys($data), true);
    }

    /** @param-out bool $found */
    public function get(int|string $key, string $group = 'default', bool $force = false, ?bool &$found = null): mixed
    {
        $group = $group === '' ? 'default' : $group;
        if ($force) {
            unset($this->cache[$group][$key], $this->missed[$group][$key]);
        }
        $value = $this->cache[$group][$key] ?? null;
        if ($value === null && !(isset($this->cache[$group]) && \array_key_exists($key, $this->cache[$group]))) {
            if (isset($this->local[$group]) || isset($this->missed[$group][$key]) || !$this->look($group, [$key])) {
                $found = false;
                ++$this->cache_misses;

                return false;
            }
            $value = $this->cache[$group][$key];
        }
        $found = true;
        ++$this->cache_hits;

        return \is_object($value) ? clone $value : $value;
    }

    /**
     * @param array<int|string> $keys
     *
     * @return array<array-key, mixed>
     */
    public function get_multiple(array $keys, string $group = 'default', bool $force = false): array
    {
        $group = $group === '' ? 'default' : $group;
        if (!isset($this->local[$group])) {
            $unknown = [];
            foreach ($keys as $key) {
                if ($force || (!isset($this->cache[$group][$key]) && !isset($this->missed[$group][$key]))) {
                    $unknown[] = $key;
                }
            }
            if ($unknown !== []) {
                $this->look($group, $unknown);
            }
        }
        $values = [];
        foreach ($keys as $key) {
            $values[$key] = $this->get($key, $group);
        }

        return $values;
    }

    public function delete(int|string $key, string $group = 'default'): bool
    {
        return $this->delete_multiple([$key], $group)[$key];
    }

    /**
     * @param array<int|string> $keys
     *
     * @return array<array-key, bool>
     */
    public function delete_multiple(array $keys, string $group): array
    {
        $group = $group === '' ? 'default' : $group;
        foreach ($keys as $key) {
            unset($this->cache[$group][$key]);
            $this->missed[$group][$key] = true;
        }
        if (!isset($this->local[$group])) {
            ++$this->calls;
            $this->store->delete($group, array_values($keys));
        }

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
        $this->flush_runtime();
        $this->store->clear();

        return true;
    }

    public function flush_runtime(): bool
    {
        $this->cache = $this->missed = [];

        return true;
    }

    /** @param array<string> $groups */
    public function add_non_persistent_groups(array $groups): void
    {
        $this->local += array_fill_keys($groups, true);
    }

    public function close(): bool
    {
        return true;
    }

    public function stats(): void
    {
        echo "<p>{$this->cache_hits} hits, {$this->cache_misses} misses</p>\n";
    }

    /**
     * From the store into $cache.
     *
     * @param list<int|string> $keys
     *
     * @return bool whether any was found
     */
    private function look(string $group, array $keys): bool
    {
        ++$this->calls;
        $values = $this->store->read($group, $keys);
        foreach ($keys as $key) {
            if (\array_key_exists($key, $values)) {
                $this->cache[$group][$key] = $values[$key];
            } else {
                $this->missed[$group][$key] = true;
            }
        }

        return $values !== [];
    }
}
