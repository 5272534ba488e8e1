<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Raw;

use Larder\Bench\Experiment\Laboratory;
use Larder\Bench\Server\MemcachedServer;
use Larder\Bench\Server\RedisFlavour;
use Larder\Bench\Server\RedisServer;
use Larder\Bench\Server\Server;
use Larder\Bench\Server\ServerFailed;

/** The raw stores by name, and the servers that some of them need. */
final class RawStores
{
    public const SHARED_MEMORY = 'shared-memory';
    public const APCU = 'apcu';
    public const MEMCACHED = 'memcached';

    /** @return array<string, array{subject: string, title: string}> by name: the subject that must have been asked for, and the title */
    public static function all(): array
    {
        $flavour = self::flavour();

        return [
            self::SHARED_MEMORY => ['subject' => 'shared-memory', 'title' => 'Larder shared memory'],
            self::APCU => ['subject' => 'apcu-php', 'title' => 'APCu'],
            $flavour->value => ['subject' => "{$flavour->value}-unix", 'title' => $flavour->title()],
            self::MEMCACHED => ['subject' => 'memcached-unix', 'title' => 'Memcached'],
        ];
    }

    /** The server that speaks Redis's protocol here: Redis, or Valkey where only that is installed. */
    public static function flavour(): RedisFlavour
    {
        return RedisFlavour::installed() ?? RedisFlavour::Redis;
    }

    /**
     * @param string $endpoint a server's socket, or the name of the pool
     * @param int|null $ttl of what is set in Redis or Valkey one by one, for policies that look at it
     */
    public static function open(string $name, string $endpoint, int $megabytes, ?int $ttl = null): RawStore
    {
        return match ($name) {
            self::SHARED_MEMORY => new RawSharedMemory($endpoint, $megabytes),
            self::APCU => new RawApcu(),
            self::MEMCACHED => new RawMemcached($endpoint),
            RedisFlavour::Redis->value, RedisFlavour::Valkey->value => new RawRedis($endpoint, $ttl),
            default => throw new \OutOfBoundsException("There is no store {$name}."),
        };
    }

    /**
     * A fresh server of the store's, so that nothing of a former one is left in its memory.
     *
     * @param list<string> $options of Redis's or Valkey's
     * @throws ServerFailed
     */
    public static function server(string $name, Laboratory $laboratory, int $megabytes, array $options = []): ?Server
    {
        return match ($name) {
            RedisFlavour::Redis->value, RedisFlavour::Valkey->value => RedisServer::start(RedisFlavour::from($name), $megabytes, $laboratory->placement->server, $options),
            self::MEMCACHED => MemcachedServer::onSocket($megabytes, $laboratory->placement->server),
            default => null,
        };
    }
}
