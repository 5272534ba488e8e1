<?php

declare(strict_types=1);

namespace Larder\Bench\Subject;

use Larder\Bench\FileSystem;
use Larder\Bench\Pools;
use Larder\Cache;

/** The stores through the library's one interface: what its convenience costs beside the client it uses. */
final class LibrarySubjects
{
    private const READ = '$client->get($key)';
    private const WRITE = '$client->set($key, $value);';
    /** How many keys one getMany() asks for. */
    public const BATCH = 100;
    private const DELETE = '$client->delete($key);';
    private const READ_OF_A_REQUEST = '($client->refresh() ?? $client->get($key))';

    public static function sharedMemory(): Subject
    {
        return self::inPool('shared-memory', 'shared memory', self::READ, delete: self::DELETE);
    }

    /** remember() on a hit, over MemorySubjects::remembering(). */
    public static function remembering(): Subject
    {
        return self::inPool('shared-memory-remember', 'shared memory, its remember() on a hit', MemorySubjects::REMEMBER, '$client->set($key, $value, 300);', MemorySubjects::exceptReadsOfAString(...));
    }

    /** begin() on a hit, over remembering(). */
    public static function beginning(): Subject
    {
        return self::inPool('shared-memory-begin', 'shared memory, its begin() on a hit', '$client->begin($key, 300)', '$client->set($key, $value, 300);', MemorySubjects::exceptReadsOfAString(...));
    }

    /** Over MemorySubjects::many(). */
    public static function sharedMemoryMany(): Subject
    {
        return self::inPool('shared-memory-many', 'shared memory, ' . MemorySubjects::FEW . ' keys a getMany', '$client->getMany($keys)', exempt: MemorySubjects::exceptReadsOfAString(...), batch: MemorySubjects::FEW);
    }

    public static function namespaceOfSharedMemory(): Subject
    {
        return self::inPool('shared-memory-namespace', 'a namespace of shared memory', self::READ, exempt: MemorySubjects::exceptAString(...), delete: self::DELETE, namespace: 'part');
    }

    /** @param (\Closure(Operation, Value): ?string)|null $exempt */
    private static function inPool(string $name, string $title, string $read, string $write = self::WRITE, ?\Closure $exempt = null, int $batch = 1, ?string $delete = null, ?string $namespace = null): Subject
    {
        return self::cache(
            $name,
            $title,
            static fn(Place $place): string => "shm:{$place->name}?size={$place->bytes}",
            ['larder', 'it with `make ext`'],
            static function (Place $place): void {
                \Larder\SharedMemory::remove($place->name);
                self::removeDirectory($place);
            },
            warm: MemorySubjects::touchPool(...),
            read: $read,
            write: $write,
            exempt: $exempt,
            batch: $batch,
            delete: $delete,
            namespace: $namespace,
        );
    }

    public static function apcu(): Subject
    {
        return self::cache('apcu', 'APCu', static fn(): string => 'apcu:', ['apcu', 'php-apcu'], static function (): void {
            apcu_clear_cache();
        }, warm: MemorySubjects::touchApcu(...), staysWarm: true);
    }

    public static function sqlite(): Subject
    {
        return self::cache(
            'sqlite',
            'SQLite',
            static fn(Place $place): string => "sqlite:{$place->disk}/cache/cache.sqlite",
            ['sqlite3', 'php-sqlite3'],
            self::removeDirectory(...),
        );
    }

    public static function file(): Subject
    {
        return self::cache('file', 'files on disk', static fn(Place $place): string => "file:{$place->disk}/cache", null, self::removeDirectory(...));
    }

    public static function phpFile(): Subject
    {
        return self::cache('php-file', 'PHP files in opcache', static fn(Place $place): string => "php:{$place->disk}/cache", ['Zend OPcache', 'php-opcache'], self::removeDirectory(...));
    }

    /** @param bool $beginsRequests whether each read is the first of a request, which looks whether anything was written */
    public static function apcuBeforeSqlite(bool $beginsRequests): Subject
    {
        return self::cache(
            $beginsRequests ? 'tier-apcu-request' : 'tier-apcu',
            'APCu before SQLite' . ($beginsRequests ? ', a request for each read' : ''),
            static fn(Place $place): string => "apcu: > sqlite:{$place->disk}/cache/cache.sqlite",
            ['apcu', 'php-apcu'],
            self::removeTier(...),
            warm: MemorySubjects::touchApcu(...),
            staysWarm: true,
            read: $beginsRequests ? self::READ_OF_A_REQUEST : self::READ,
        );
    }

    public static function sharedMemoryBeforeSqlite(): Subject
    {
        return self::cache(
            'tier-shared-memory',
            'shared memory before SQLite',
            static fn(Place $place): string => "shm:{$place->name}?size={$place->bytes} > sqlite:{$place->disk}/cache/cache.sqlite",
            ['larder', 'it with `make ext`'],
            self::removePoolOfTier(...),
            warm: MemorySubjects::touchPool(...),
        );
    }

    /** @param bool $beginsRequests whether each read is the first of a request, which asks the log what was written */
    public static function sharedMemoryBeforeRedis(bool $beginsRequests): Subject
    {
        return self::cache(
            $beginsRequests ? 'tier-shared-memory-redis-request' : 'tier-shared-memory-redis',
            'shared memory before Redis' . ($beginsRequests ? ', a request for each read' : ''),
            static fn(Place $place): string => "shm:{$place->name}?size={$place->bytes} > redis+unix:{$place->socket()}",
            ['larder', 'it with `make ext`'],
            self::removePoolOfTier(...),
            ServerKind::Redis,
            warm: MemorySubjects::touchPool(...),
            read: $beginsRequests ? self::READ_OF_A_REQUEST : self::READ,
        );
    }

    public static function apcuBeforeRedis(): Subject
    {
        return self::cache(
            'tier-apcu-redis',
            'APCu before Redis',
            static fn(Place $place): string => "apcu: > redis+unix:{$place->socket()}",
            ['apcu', 'php-apcu'],
            self::removeTier(...),
            ServerKind::Redis,
            warm: MemorySubjects::touchApcu(...),
            staysWarm: true,
        );
    }

    public static function redis(): Subject
    {
        return self::cache(
            'redis',
            'Redis over a Unix socket',
            static fn(Place $place): string => "redis+unix:{$place->socket()}",
            ['redis', 'php-redis'],
            null,
            ServerKind::Redis,
        );
    }

    public static function redisByPredis(): Subject
    {
        return self::cache(
            'redis-predis',
            'Redis over a Unix socket, Predis',
            static fn(Place $place): string => "redis+unix:{$place->socket()}?client=predis",
            ['redis', 'php-redis'],
            null,
            ServerKind::Redis,
            exempt: static fn(Operation $operation, Value $value): ?string => in_array($operation, [Operation::Get, Operation::Set], true) && $value->name === 'map'
                ? null
                : 'it is there for one comparison',
        );
    }

    /** As many keys at once as the subject of the same by hand (RedisSubjects::many()). */
    public static function redisMany(): Subject
    {
        return self::cache(
            'redis-many',
            'Redis over a Unix socket, ' . self::BATCH . ' keys a getMany',
            static fn(Place $place): string => "redis+unix:{$place->socket()}",
            ['redis', 'php-redis'],
            null,
            ServerKind::Redis,
            read: '$client->getMany($keys)',
            exempt: self::exceptReadsOfPosts(...),
            batch: self::BATCH,
        );
    }

    public static function exceptReadsOfPosts(Operation $operation, Value $value): ?string
    {
        return $operation === Operation::Get && $value->name === 'post' ? null : 'it is there for one comparison';
    }

    /** Items with tags, of which others were invalidated since: so the server looks at the tags of each item that is read. */
    public static function redisWithTags(): Subject
    {
        return self::cache(
            'redis-tags',
            'Redis over a Unix socket, items with three tags',
            static fn(Place $place): string => "redis+unix:{$place->socket()}?prefix=tagged",
            ['redis', 'php-redis'],
            null,
            ServerKind::Redis,
            write: '$client->set($key, $value, tags: ["red", "green", "blue"]); $client->invalidateTags(["grey"]);',
            exempt: self::exceptReadsOfAMap(...),
        );
    }

    /** The same by hand: the library's own script, sent by phpredis, and no more done with the answer than has to be. */
    public static function redisScript(): Subject
    {
        return new Subject(
            name: 'redis-script',
            title: 'the script of Larder\Cache over Redis, by hand',
            family: Family::Server,
            open: static fn(Place $place): RedisScript => new RedisScript($place->socket()),
            read: static fn(): string => self::READ,
            write: static fn(): string => self::WRITE,
            close: static function (mixed $client): void {
                if ($client instanceof RedisScript) {
                    $client->close();
                }
            },
            missing: static fn(): ?string => Extension::missing('redis', 'php-redis'),
            exempt: self::exceptReadsOfAMap(...),
            server: ServerKind::Redis,
        );
    }

    private static function exceptReadsOfAMap(Operation $operation, Value $value): ?string
    {
        return $operation === Operation::Get && $value->name === 'map' ? null : 'it is there for one comparison';
    }

    public static function memcached(): Subject
    {
        return self::cache(
            'memcached',
            'Memcached over a Unix socket',
            static fn(Place $place): string => "memcached+unix:{$place->socket()}",
            ['memcached', 'php-memcached'],
            null,
            ServerKind::MemcachedSocket,
        );
    }

    /**
     * @param \Closure(Place): string $dsn
     * @param array{string, string}|null $extension the extension it needs, and what to install for it
     * @param (\Closure(Place): void)|null $clean removes what a clear leaves
     * @param (\Closure(mixed, Place): void)|null $warm
     * @param (\Closure(Operation, Value): ?string)|null $exempt
     */
    private static function cache(string $name, string $title, \Closure $dsn, ?array $extension, ?\Closure $clean, ?ServerKind $server = null, ?\Closure $warm = null, string $read = self::READ, string $write = self::WRITE, ?\Closure $exempt = null, bool $staysWarm = false, int $batch = 1, ?string $delete = null, ?string $namespace = null): Subject
    {
        return new Subject(
            name: "cache-{$name}",
            title: "Larder\\Cache over {$title}",
            family: $server === null ? Family::Library : Family::Server,
            open: static function (Place $place) use ($dsn, $namespace): Cache {
                @mkdir("{$place->disk}/cache", 0o700);

                $cache = Cache::open($dsn($place));

                return $namespace === null ? $cache : $cache->namespace($namespace);
            },
            read: static fn(): string => $read,
            write: static fn(): string => $write,
            close: static function (mixed $client, Place $place) use ($clean): void {
                if ($client instanceof Cache) {
                    $client->clear();
                }
                unset($client);
                if ($clean !== null) {
                    $clean($place);
                }
            },
            missing: static fn(): ?string => $extension === null ? null : Extension::missing(...$extension),
            exempt: $exempt,
            settings: ['apc.serializer' => Extension::hasIgbinary() ? 'igbinary' : 'php'],
            server: $server,
            warm: $warm,
            staysWarm: $staysWarm,
            batch: $batch,
            delete: $delete === null ? null : static fn(): string => $delete,
        );
    }

    private static function removePoolOfTier(Place $place): void
    {
        Pools::remove($place->name);
        self::removeDirectory($place);
    }

    private static function removeTier(Place $place): void
    {
        apcu_clear_cache();
        self::removeDirectory($place);
    }

    private static function removeDirectory(Place $place): void
    {
        FileSystem::remove("{$place->disk}/cache");
    }
}
