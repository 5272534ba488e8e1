<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\SharedMemory;
use Larder\Tests\Contract\Forgery;
use Larder\Tests\Scratch;

/** Somewhere that several processes share, for one test: a file, a pool of memory, or a server of its own. */
final class Place
{
    private const KINDS = [
        'shared memory' => 'shm:NAME?size=16M',
        'shared memory that does not evict' => 'shm:NAME?size=16M&evict=no',
        'APCu' => 'apcu:?prefix=NAME',
        'SQLite' => 'sqlite:DIRECTORY/cache.db',
        'files' => 'file:DIRECTORY/cache',
        'PHP files' => 'php:DIRECTORY/cache',
        'APCu in front of SQLite' => 'apcu:?prefix=NAME > sqlite:DIRECTORY/cache.db?timeout=30',
        'three tiers' => 'array: > apcu:?prefix=NAME > sqlite:DIRECTORY/cache.db?timeout=30',
        'an array in front of SQLite' => 'array: > sqlite:DIRECTORY/cache.db?timeout=30',
        'phpredis' => 'redis+unix:SOCKET?client=phpredis&read_timeout=10&timeout=10',
        'Predis' => 'redis+unix:SOCKET?client=predis&read_timeout=10&timeout=10',
        'Memcached' => 'memcached+unix:SOCKET?timeout=10',
    ];

    public readonly string $dsn;

    private readonly string $name;

    private readonly int $process;

    private ?CacheServer $server = null;

    private readonly Scratch $scratch;

    public function __construct(string $kind)
    {
        $this->name = 'test-' . bin2hex(random_bytes(4));
        $this->process = (int) getmypid();
        $this->scratch = new Scratch();
        $dsn = self::KINDS[$kind] ?? throw new \LogicException("There is no place \"{$kind}\".");
        if (str_contains($dsn, 'SOCKET')) {
            $this->server = (str_starts_with($dsn, 'memcached') ? CacheServer::memcached() : CacheServer::redis())->start();
        }
        $this->dsn = str_replace(['NAME', 'DIRECTORY', 'SOCKET'], [$this->name, $this->scratch->path, $this->server->socket ?? ''], $dsn);
    }

    public function __destruct()
    {
        if ($this->process !== getmypid()) {
            return;
        }
        $this->server?->stop();
        if (str_starts_with($this->dsn, 'shm:')) {
            SharedMemory::remove($this->name);
        }
    }

    /**
     * Changes the bytes of an item where they lie.
     *
     * @param \Closure(string): string $forge
     */
    public function forge(string $key, \Closure $forge): void
    {
        $socket = $this->server->socket ?? '';
        match (true) {
            str_contains($this->dsn, 'sqlite:') => Forgery::inSqlite("{$this->scratch->path}/cache.db", 'larder', $key, $forge),
            str_starts_with($this->dsn, 'redis') => Forgery::inRedis($socket, 0, "larder:{$key}", $forge),
            str_starts_with($this->dsn, 'memcached') => Forgery::inMemcached([$socket], 'larder', $key, $forge),
            default => Forgery::inFiles("{$this->scratch->path}/cache", $forge),
        };
        if (str_starts_with($this->dsn, 'apcu')) {
            // It would still have what nobody told it of.
            apcu_clear_cache();
        }
    }

    /** @return iterable<string, array{string}> */
    public static function kinds(): iterable
    {
        foreach (array_keys(self::KINDS) as $kind) {
            // For remembering, the two kinds of pools are alike, and three tiers have two in them.
            if (!\in_array($kind, ['shared memory that does not evict', 'an array in front of SQLite', 'APCu in front of SQLite'], true)) {
                yield $kind => [$kind];
            }
        }
    }

    /** @return iterable<string, array{string}> */
    public static function everywhere(): iterable
    {
        foreach (array_keys(self::KINDS) as $kind) {
            yield $kind => [$kind];
        }
    }

    /** @return iterable<string, array{string}> those that keep locks and sessions */
    public static function retaining(): iterable
    {
        foreach (['shared memory that does not evict', 'SQLite', 'three tiers', 'files', 'PHP files', 'phpredis', 'Predis'] as $kind) {
            yield $kind => [$kind];
        }
    }
}
