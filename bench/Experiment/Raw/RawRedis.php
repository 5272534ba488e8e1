<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Raw;

use Redis;
use RedisException;

final readonly class RawRedis implements RawStore
{
    private Redis $client;

    /** @param int|null $ttl of everything stored, in seconds */
    public function __construct(string $socket, private ?int $ttl = null)
    {
        $this->client = new Redis();
        $this->client->connect($socket);
    }

    public function set(string $key, string $value): bool
    {
        try {
            return $this->client->set($key, $value, $this->ttl === null ? [] : ['EX' => $this->ttl]) === true;
        } catch (RedisException $refusal) {
            // A server that is full and may not evict says so.
            return str_contains($refusal->getMessage(), 'OOM') ? false : throw $refusal;
        }
    }

    public function get(string $key): ?string
    {
        $value = $this->client->get($key);

        return is_string($value) ? $value : null;
    }

    public function fill(array $keys, string $value): bool
    {
        $this->client->mset(array_fill_keys($keys, $value));

        return $this->figure('stats', 'evicted_keys') === 0;
    }

    public function count(array $keys): int
    {
        $found = $this->client->mget($keys);

        return is_array($found) ? count(array_filter($found, is_string(...))) : 0;
    }

    public function delete(array $keys): void
    {
        $this->client->del($keys);
    }

    public function clear(): void
    {
        $this->client->flushAll();
    }

    public function items(): int
    {
        $size = $this->client->dbSize();

        return is_int($size) ? $size : 0;
    }

    private function figure(string $section, string $name): int
    {
        $figures = $this->client->info($section);

        return is_array($figures) && is_numeric($figures[$name] ?? null) ? (int) $figures[$name] : 0;
    }
}
