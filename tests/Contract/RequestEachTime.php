<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\DirectReads;
use Larder\Fetched;
use Larder\Leases;
use Larder\SaveMode;
use Larder\Store;
use Larder\StoreStatistics;
use Larder\Tier\TieredStore;
use Larder\Token;

/** A tier for which each look is that of a request of its own, as what a store promises is promised to every look. */
final class RequestEachTime implements Store, DirectReads, Leases
{
    public function __construct(
        public readonly TieredStore $store,
    ) {}

    public function read(string $key, mixed $default = null): mixed
    {
        return $this->fresh()->read($key, $default);
    }

    public function fetch(array $keys): Fetched
    {
        return $this->fresh()->fetch($keys);
    }

    public function token(string $key): Token
    {
        return $this->fresh()->token($key);
    }

    public function save(array $items, SaveMode $mode = SaveMode::Set): array
    {
        return $this->store->save($items, $mode);
    }

    public function delete(array $keys, ?Token $token = null): array
    {
        return $this->store->delete($keys, $token);
    }

    public function increment(string $key, int $by = 1, int $initial = 0, ?int $ttl = null): int
    {
        return $this->store->increment($key, $by, $initial, $ttl);
    }

    public function touch(array $keys, ?int $ttl): array
    {
        return $this->store->touch($keys, $ttl);
    }

    public function invalidateTags(array $tags, int $serveStale = 0): void
    {
        $this->store->invalidateTags($tags, $serveStale);
    }

    public function clear(): void
    {
        $this->store->clear();
    }

    public function prune(): int
    {
        return $this->store->prune();
    }

    public function keys(string $prefix = ''): iterable
    {
        return $this->store->keys($prefix);
    }

    public function statistics(): StoreStatistics
    {
        return $this->store->statistics();
    }

    public function capabilities(): array
    {
        return $this->store->capabilities();
    }

    public function acquire(string $name, string $owner, float $seconds): bool
    {
        return $this->store->acquire($name, $owner, $seconds);
    }

    public function refresh(string $name, string $owner, float $seconds): bool
    {
        return $this->store->refresh($name, $owner, $seconds);
    }

    public function release(string $name, string $owner): bool
    {
        return $this->store->release($name, $owner);
    }

    private function fresh(): TieredStore
    {
        $this->store->beginRequest();

        return $this->store;
    }
}
