<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Raw;

use Memcached;

final readonly class RawMemcached implements RawStore
{
    private Memcached $client;

    public function __construct(string $socket)
    {
        $this->client = new Memcached();
        $this->client->setOption(Memcached::OPT_COMPRESSION, false);
        $this->client->addServer($socket, 0);
    }

    public function set(string $key, string $value): bool
    {
        return $this->client->set($key, $value);
    }

    public function get(string $key): ?string
    {
        $value = $this->client->get($key);

        return is_string($value) ? $value : null;
    }

    public function fill(array $keys, string $value): bool
    {
        $this->client->setMulti(array_fill_keys($keys, $value));

        return $this->figure('evictions') === 0;
    }

    public function count(array $keys): int
    {
        $found = $this->client->getMulti($keys);

        return is_array($found) ? count($found) : 0;
    }

    public function delete(array $keys): void
    {
        $this->client->deleteMulti($keys);
    }

    public function clear(): void
    {
        $this->client->flush();
    }

    public function items(): int
    {
        return $this->figure('curr_items');
    }

    private function figure(string $name): int
    {
        $servers = $this->client->getStats();
        $server = reset($servers);

        return is_array($server) && is_numeric($server[$name] ?? null) ? (int) $server[$name] : 0;
    }
}
