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
        $this->inOne(fn() => $this->client->setMulti(array_fill_keys($keys, $value)));

        return $this->figure('evictions') === 0;
    }

    public function count(array $keys): int
    {
        $found = $this->client->getMulti($keys);

        return is_array($found) ? count($found) : 0;
    }

    public function delete(array $keys): void
    {
        $this->inOne(fn() => $this->client->deleteMulti($keys));
    }

    public function clear(): void
    {
        $this->client->flush();
    }

    public function items(): int
    {
        return $this->figure('curr_items');
    }

    /**
     * Sends many commands at once and asks for no answer: the client would wait for one after each of them, which takes
     * minutes for a million. What became of them is counted afterwards.
     *
     * @param \Closure(): mixed $commands
     */
    private function inOne(\Closure $commands): void
    {
        $this->client->setOptions([Memcached::OPT_BUFFER_WRITES => true, Memcached::OPT_NOREPLY => true]);
        $commands();
        $this->client->flushBuffers();
        $this->client->setOptions([Memcached::OPT_BUFFER_WRITES => false, Memcached::OPT_NOREPLY => false]);
    }

    private function figure(string $name): int
    {
        $servers = $this->client->getStats();
        $server = reset($servers);

        return is_array($server) && is_numeric($server[$name] ?? null) ? (int) $server[$name] : 0;
    }
}
