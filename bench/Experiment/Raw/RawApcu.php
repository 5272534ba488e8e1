<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Raw;

final readonly class RawApcu implements RawStore
{
    public function set(string $key, string $value): bool
    {
        return apcu_store($key, $value) === true;
    }

    public function get(string $key): ?string
    {
        $value = apcu_fetch($key);

        return is_string($value) ? $value : null;
    }

    public function fill(array $keys, string $value): bool
    {
        foreach ($keys as $key) {
            // APCu empties itself when it is full: what it held just before is what it can hold.
            $memory = apcu_sma_info(true);
            if (!is_array($memory) || $memory['avail_mem'] < 2 * strlen($value) + 4096 || !$this->set($key, $value)) {
                return false;
            }
        }

        return true;
    }

    public function count(array $keys): int
    {
        $found = apcu_fetch($keys);

        return is_array($found) ? count($found) : 0;
    }

    public function delete(array $keys): void
    {
        apcu_delete($keys);
    }

    public function clear(): void
    {
        apcu_clear_cache();
    }

    public function items(): int
    {
        $cache = apcu_cache_info(true);

        return is_array($cache) && is_numeric($cache['num_entries'] ?? null) ? (int) $cache['num_entries'] : 0;
    }
}
