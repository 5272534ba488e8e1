<?php

declare(strict_types=1);

namespace Larder\Bench\Subject;

/** Two tiers, written plainly: APCu answers what it holds, SQLite the rest, which APCu then keeps; writes go to both. */
final readonly class SqliteBehindApcu
{
    public function __construct(private SqliteTable $table) {}

    public function get(string $key): mixed
    {
        $value = apcu_fetch($key, $found);
        if ($found) {
            return $value;
        }
        $bytes = $this->table->get($key);
        if ($bytes === null) {
            return null;
        }
        $value = unserialize($bytes);
        apcu_store($key, $value);

        return $value;
    }

    public function set(string $key, mixed $value): void
    {
        $this->table->set($key, serialize($value));
        apcu_store($key, $value);
    }

    public function close(): void
    {
        $this->table->close();
        apcu_clear_cache();
    }
}
