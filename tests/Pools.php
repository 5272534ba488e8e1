<?php

declare(strict_types=1);

namespace Larder\Tests;

use Larder\Cache;
use Larder\SharedMemory;
use Larder\Store\SharedMemoryStore;
use Psr\Log\LoggerInterface;

/** Stores for one test of an integration. They are removed with this. */
final class Pools
{
    public const KINDS = ['array', 'shared memory', 'SQLite', 'files', 'APCu', 'APCu in front of SQLite'];

    private readonly string $name;

    private readonly Scratch $scratch;

    public function __construct()
    {
        $this->name = 'test-' . bin2hex(random_bytes(4));
        $this->scratch = new Scratch();
    }

    public function __destruct()
    {
        if (\extension_loaded('larder')) {
            self::remove($this->name);
        }
    }

    /** Removes the pool of that name, and those whose names begin with it: of tiers whose DSNs give it, and of a benchmark's workers. */
    public static function remove(string $name): void
    {
        SharedMemoryStore::remove($name);
        array_map(SharedMemory::remove(...), array_filter(SharedMemory::names(), static fn(string $each): bool => str_starts_with($each, "{$name}.") || str_starts_with($each, "{$name}-")));
    }

    public function dsn(string $kind): string
    {
        return match ($kind) {
            'array' => 'array:',
            'shared memory' => "shm:{$this->name}?size=16M",
            'shared memory that does not evict' => "shm:{$this->name}?size=16M&evict=no",
            'SQLite' => "sqlite:{$this->scratch->path}/cache.db",
            'files' => "file:{$this->scratch->path}/cache",
            'APCu' => "apcu:?prefix={$this->name}",
            'APCu in front of SQLite' => "apcu:?prefix={$this->name} > sqlite:{$this->scratch->path}/cache.db",
            default => throw new \LogicException("There is no {$kind}."),
        };
    }

    public function open(string $kind, ?LoggerInterface $logger = null, bool $strict = false): Cache
    {
        return Cache::open($this->dsn($kind), logger: $logger, strict: $strict);
    }

    public function path(): string
    {
        return $this->scratch->path;
    }
}
