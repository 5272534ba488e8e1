<?php

declare(strict_types=1);

namespace Larder\WordPress\Bench;

/** An entry of APCu for each key. Another process on the command line does not see it. */
final readonly class ApcuKeys implements Store
{
    public function __construct(private string $prefix) {}

    public function read(string $group, array $keys): array
    {
        $prefix = "{$this->prefix}{$group}:";
        if (\count($keys) === 1) {
            $value = apcu_fetch($prefix . $keys[0], $found);

            return $found ? [$keys[0] => $value] : [];
        }
        $found = apcu_fetch(array_map(static fn(int|string $key): string => $prefix . $key, $keys));
        $values = [];
        foreach ($keys as $key) {
            if (\is_array($found) && \array_key_exists($prefix . $key, $found)) {
                $values[$key] = $found[$prefix . $key];
            }
        }

        return $values;
    }

    public function write(string $group, array $values, int $seconds): void
    {
        foreach ($values as $key => $value) {
            apcu_store("{$this->prefix}{$group}:{$key}", $value, max(0, $seconds));
        }
    }

    public function add(string $group, int|string $key, mixed $value, int $seconds): bool
    {
        return apcu_add("{$this->prefix}{$group}:{$key}", $value, max(0, $seconds)) === true;
    }

    public function delete(string $group, array $keys): void
    {
        foreach ($keys as $key) {
            apcu_delete("{$this->prefix}{$group}:{$key}");
        }
    }

    public function clear(): void
    {
        apcu_clear_cache();
    }
}
