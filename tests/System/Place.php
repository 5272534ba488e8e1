<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Store\Redis\Connections;
use Larder\Store\Redis\Layout;
use Larder\Stores;
use Larder\Tests\Pools;
use Larder\Tests\Scratch;
use Larder\Tests\Stores\Forgery;
use Larder\Tier\TieredStore;

/** Somewhere that several processes share, for one test: a file, a pool of memory, or a server of its own. */
final class Place
{
    private const KINDS = [
        'shared memory' => 'shm:NAME?size=16M',
        'shared memory that does not evict' => 'shm:NAME?size=16M&evict=no',
        'APCu' => 'apcu:?prefix=NAME',
        'SQLite' => 'sqlite:DIRECTORY/cache.db?timeout=30',
        'files' => 'file:DIRECTORY/cache?timeout=30',
        'PHP files' => 'php:DIRECTORY/cache?timeout=30',
        'APCu in front of SQLite' => 'apcu:?prefix=NAME > sqlite:DIRECTORY/cache.db?timeout=30',
        'three tiers' => 'array: > apcu:?prefix=NAME > sqlite:DIRECTORY/cache.db?timeout=30',
        'an array in front of SQLite' => 'array: > sqlite:DIRECTORY/cache.db?timeout=30',
        'phpredis' => 'redis+unix:SOCKET?client=phpredis&read_timeout=10&timeout=10',
        'Predis' => 'redis+unix:SOCKET?client=predis&read_timeout=10&timeout=10',
        'Memcached' => 'memcached+unix:SOCKET?timeout=10',
    ];

    /** Those that a caller gets only by naming them. */
    private const OTHERS = [
        'shared memory in front of SQLite' => 'shm:NAME?size=16M > sqlite:DIRECTORY/cache.db?timeout=30',
        'a cluster by phpredis' => 'redis+cluster://NODES?prefix=NAME&client=phpredis&read_timeout=10&timeout=10',
        'a cluster by Predis' => 'redis+cluster://NODES?prefix=NAME&client=predis&read_timeout=10&timeout=10',
        'three Memcacheds' => 'memcached+unix:MEMCACHEDS?prefix=NAME&timeout=10',
    ];

    /** One for all places, each of which has a prefix in it; so have these. */
    private static ?RedisCluster $cluster = null;

    /** @var list<CacheServer> */
    private static array $memcacheds = [];

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
        $dsn = self::KINDS[$kind] ?? self::OTHERS[$kind] ?? throw new \LogicException("There is no place \"{$kind}\".");
        if (str_contains($dsn, 'SOCKET')) {
            $this->server = (str_starts_with($dsn, 'memcached') ? CacheServer::memcached() : CacheServer::redis())->start();
        }
        if (str_contains($dsn, 'NODES')) {
            $dsn = str_replace('NODES', (self::$cluster ??= new RedisCluster())->hosts(), $dsn);
        }
        if (str_contains($dsn, 'MEMCACHEDS')) {
            while (\count(self::$memcacheds) < 3) {
                self::$memcacheds[] = CacheServer::memcached()->start();
            }
            $dsn = str_replace('MEMCACHEDS', implode(',', self::sockets()), $dsn);
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
            Pools::remove($this->name);
        }
    }

    /** Ends what several places have had in common. */
    public static function stop(): void
    {
        self::$cluster?->stop();
        self::$cluster = null;
        foreach (self::$memcacheds as $server) {
            $server->stop();
        }
        self::$memcacheds = [];
    }

    /** @return list<string> of the Memcacheds that places share */
    private static function sockets(): array
    {
        return array_map(static fn(CacheServer $server): string => $server->socket, self::$memcacheds);
    }

    /**
     * Changes the bytes of an item where they lie.
     *
     * @param \Closure(string): string $forge
     */
    public function forge(string $key, \Closure $forge): void
    {
        match (true) {
            str_contains($this->dsn, 'sqlite:') => Forgery::inSqlite("{$this->scratch->path}/cache.db", 'larder', $key, $forge),
            str_starts_with($this->dsn, 'redis+cluster') => $this->forgeInCluster($key, $forge),
            str_starts_with($this->dsn, 'redis') => Forgery::inRedis($this->server->socket ?? '', 0, "larder:{$key}", $forge),
            str_starts_with($this->dsn, 'memcached') && $this->server === null => Forgery::inMemcached(self::sockets(), $this->name, $key, $forge),
            str_starts_with($this->dsn, 'memcached') => Forgery::inMemcached([$this->server->socket ?? ''], 'larder', $key, $forge),
            default => Forgery::inFiles("{$this->scratch->path}/cache", $forge),
        };
        $this->forget();
    }

    /** @param \Closure(string): string $forge */
    private function forgeInCluster(string $key, \Closure $forge): void
    {
        $name = (new Layout("{$this->name}:", Connections::SHARDS))->item($key);
        $cluster = self::$cluster ?? throw new \LogicException('The cluster was stopped.');
        Forgery::inRedis($cluster->nodes[$cluster->owner($name)]->socket, 0, $name, $forge);
    }

    /** Empties what is shared and in front of something else: it would still have changes that it was not told of. */
    public function forget(): void
    {
        if (!str_contains($this->dsn, ' > ')) {
            return;
        }
        if (str_starts_with($this->dsn, 'shm:')) {
            $tier = Stores::open($this->dsn);
            $tier instanceof TieredStore && $tier->near->clear();
        } elseif (str_contains($this->dsn, 'apcu:')) {
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

    /** @return iterable<string, array{string}> those, and the ones that are several servers */
    public static function shared(): iterable
    {
        yield from self::kinds();
        foreach (['a cluster by phpredis', 'a cluster by Predis', 'three Memcacheds'] as $kind) {
            yield $kind => [$kind];
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
