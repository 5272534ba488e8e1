<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Tag;

use Larder\Bench\Experiment\Shuffled;
use Larder\Bench\Fields;

/** The designs of a tagged cache that are measured, and how to open each. */
enum Design: string
{
    case SharedMemory = 'shared-memory';
    case LibrarySharedMemory = 'cache-shared-memory';
    case LibraryApcu = 'cache-apcu';
    case LibrarySqlite = 'cache-sqlite';
    case LibraryFile = 'cache-file';
    case LibraryPhpFile = 'cache-php-file';
    case LibraryApcuTier = 'cache-tier-apcu';
    case LibrarySharedMemoryTier = 'cache-tier-shared-memory';
    case LibraryApcuRedisTier = 'cache-tier-apcu-redis';
    case LibrarySharedMemoryRedisTier = 'cache-tier-shared-memory-redis';
    case LibraryRedis = 'cache-redis';
    case LibraryRedisNear = 'cache-redis-near';
    case LibraryRedisCluster = 'cache-redis-cluster';
    case LibraryMemcached = 'cache-memcached';
    case Files = 'tag-files';
    case Sets = 'tag-sets';
    case MemcachedFiles = 'memcached-tag-files';
    case MemcachedSets = 'memcached-tag-sets';
    case ZendFile = 'zend-file';
    case ZendRedis = 'zend-redis';
    case ZendMemcachedFile = 'zend-memcached-file';
    case ZendMemcachedRedis = 'zend-memcached-redis';
    case MagentoSharedMemory = 'magento-shared-memory';
    case MagentoRedis = 'magento-redis';
    case MagentoRedisNear = 'magento-redis-near';
    case SymfonySharedMemory = 'symfony-shared-memory';
    case SymfonyApcu = 'symfony-apcu';
    case SymfonyRedis = 'symfony-redis';
    case SymfonyRedisNear = 'symfony-redis-near';
    case SymfonyOwnApcu = 'symfony-own-tags-apcu';
    case SymfonyOwnTagsRedis = 'symfony-own-tags-redis';
    case SymfonyOwnRedis = 'symfony-own-redis';
    case SymfonyOwnFiles = 'symfony-own-files';
    case LaravelSharedMemory = 'laravel-shared-memory';
    case LaravelRedis = 'laravel-redis';
    case LaravelRedisNear = 'laravel-redis-near';
    case LaravelOwnApcu = 'laravel-own-apcu';
    case LaravelOwnRedis = 'laravel-own-redis';

    /** Larder's adapters of frameworks, on shared memory. */
    public const ADAPTERS = [self::MagentoSharedMemory, self::SymfonySharedMemory, self::LaravelSharedMemory];

    /** @param string $redis what speaks Redis's protocol here */
    public function title(string $redis): string
    {
        return match ($this) {
            self::SharedMemory => 'Larder shared memory',
            self::LibrarySharedMemory => 'Larder\Cache over shared memory',
            self::LibraryApcu => 'Larder\Cache over APCu',
            self::LibrarySqlite => 'Larder\Cache over SQLite',
            self::LibraryFile => 'Larder\Cache over files',
            self::LibraryPhpFile => 'Larder\Cache over PHP files',
            self::LibraryApcuTier => 'Larder\Cache over APCu before SQLite',
            self::LibrarySharedMemoryTier => 'Larder\Cache over shared memory before SQLite',
            self::LibraryApcuRedisTier => "Larder\\Cache over APCu before {$redis}",
            self::LibrarySharedMemoryRedisTier => "Larder\\Cache over shared memory before {$redis}",
            self::LibraryRedis => "Larder\\Cache over {$redis}",
            self::LibraryRedisNear => "Larder\\Cache over {$redis}, tags judged near",
            self::LibraryRedisCluster => "Larder\\Cache over a {$redis} Cluster of three",
            self::LibraryMemcached => 'Larder\Cache over Memcached',
            self::Files => 'tag files (re-creation)',
            self::Sets => "tag sets in {$redis} (re-creation)",
            self::MemcachedFiles => 'Memcached over tag files (re-creation)',
            self::MemcachedSets => "Memcached over tag sets in {$redis} (re-creation)",
            self::ZendFile => 'Zend_Cache_Backend_File',
            self::ZendRedis => 'Cm_Cache_Backend_Redis',
            self::ZendMemcachedFile => 'Zend two levels: Memcached, File',
            self::ZendMemcachedRedis => 'Zend two levels: Memcached, Redis',
            self::MagentoSharedMemory => 'Larder_Cache_Backend over shared memory',
            self::MagentoRedis => "Larder_Cache_Backend over {$redis}",
            self::MagentoRedisNear => "Larder_Cache_Backend over {$redis}, tags judged near",
            self::SymfonySharedMemory => 'Larder\Symfony over shared memory',
            self::SymfonyApcu => 'Larder\Symfony over APCu',
            self::SymfonyRedis => "Larder\\Symfony over {$redis}",
            self::SymfonyRedisNear => "Larder\\Symfony over {$redis}, tags judged near",
            self::SymfonyOwnApcu => 'Symfony: TagAwareAdapter over APCu',
            self::SymfonyOwnTagsRedis => "Symfony: TagAwareAdapter over {$redis}",
            self::SymfonyOwnRedis => "Symfony: RedisTagAwareAdapter, {$redis}",
            self::SymfonyOwnFiles => 'Symfony: FilesystemTagAwareAdapter',
            self::LaravelSharedMemory => 'Larder\Laravel over shared memory',
            self::LaravelRedis => "Larder\\Laravel over {$redis}",
            self::LaravelRedisNear => "Larder\\Laravel over {$redis}, tags judged near",
            self::LaravelOwnApcu => 'Laravel: tags in APCu',
            self::LaravelOwnRedis => "Laravel: tags in {$redis}",
        };
    }

    /** @return list<string> subjects that must have been asked for; `redis`, `cluster` and `memcached` stand for the servers' own */
    public function needs(): array
    {
        return match ($this) {
            self::SharedMemory => ['shared-memory'],
            self::LibrarySharedMemory, self::MagentoSharedMemory, self::SymfonySharedMemory, self::LaravelSharedMemory => ['cache-shared-memory'],
            self::LibraryApcu, self::SymfonyApcu => ['cache-apcu'],
            self::LibrarySqlite => ['cache-sqlite'],
            self::LibraryFile => ['cache-file'],
            self::LibraryPhpFile => ['cache-php-file'],
            self::LibraryApcuTier => ['cache-tier-apcu'],
            self::LibrarySharedMemoryTier => ['cache-tier-shared-memory'],
            self::LibraryApcuRedisTier => ['redis', 'cache-tier-apcu-redis'],
            self::LibrarySharedMemoryRedisTier => ['redis', 'cache-tier-shared-memory-redis'],
            self::LibraryRedis, self::LibraryRedisNear, self::MagentoRedis, self::MagentoRedisNear, self::SymfonyRedis, self::SymfonyRedisNear, self::LaravelRedis, self::LaravelRedisNear => ['redis', 'cache-redis'],
            self::LibraryRedisCluster => ['cluster', 'cache-redis'],
            self::LibraryMemcached => ['memcached', 'cache-memcached'],
            self::Files, self::ZendFile, self::SymfonyOwnFiles => ['file-disk'],
            self::Sets, self::ZendRedis, self::SymfonyOwnTagsRedis, self::SymfonyOwnRedis, self::LaravelOwnRedis => ['redis'],
            self::SymfonyOwnApcu, self::LaravelOwnApcu => ['apcu-php'],
            self::MemcachedFiles, self::ZendMemcachedFile => ['memcached', 'file-disk'],
            self::MemcachedSets, self::ZendMemcachedRedis => ['memcached', 'redis'],
        };
    }

    /** Whether it is one of a framework's own, from a directory that the reader gives. */
    public function isZend(): bool
    {
        return str_starts_with($this->value, 'zend-');
    }

    /** Whether it keeps its items in a pool of shared memory, which is as large as it is told to be when it is made. */
    public function isPool(): bool
    {
        return in_array($this, [
            self::SharedMemory, self::LibrarySharedMemory, self::LibrarySharedMemoryTier, self::LibrarySharedMemoryRedisTier, self::MagentoSharedMemory, self::SymfonySharedMemory, self::LaravelSharedMemory,
        ], true);
    }

    /** Whether it has a near store, which keeps what was read. */
    public function isTier(): bool
    {
        return in_array($this, [self::LibraryApcuTier, self::LibrarySharedMemoryTier, self::LibraryApcuRedisTier, self::LibrarySharedMemoryRedisTier], true);
    }

    /** Whether its framework says when a request is over. */
    public function servesRequests(): bool
    {
        return in_array(explode('-', $this->value)[0], ['symfony', 'laravel'], true);
    }

    /** Whether an item is read under the tags that it was stored under, as Laravel wants it. */
    public function readsUnderTags(): bool
    {
        return in_array($this, [self::LaravelSharedMemory, self::LaravelRedis, self::LaravelRedisNear, self::LaravelOwnApcu, self::LaravelOwnRedis], true);
    }

    /**
     * Of so many items in the store of others it has one. Symfony's files are a link and, nearly always, a directory for each tag
     * of an item, which are three million and twelve gigabytes for the items of a thorough run.
     */
    public function fewerBy(): int
    {
        return $this === self::SymfonyOwnFiles ? 10 : 1;
    }

    /** @return list<string> of a Redis server, beside those that every design's has */
    public function redisOptions(): array
    {
        // Symfony's adapter refuses a server that may evict what has no end, such as the sets of its tags.
        return $this === self::SymfonyOwnRedis ? ['--maxmemory-policy', 'volatile-lru'] : [];
    }

    /**
     * In another order each time, but for those that keep each item in files of its own: after them thousands of files
     * are deleted, which slows any process that makes files on the same disk within the next minute (see Cleans). Of these
     * Larder's come first, which make files where they clean.
     *
     * @param list<self> $designs
     * @return list<self>
     */
    public static function inTurn(array $designs): array
    {
        $shuffled = array_values(Shuffled::of($designs));
        usort($shuffled, static fn(self $one, self $other): int => $one->leaves() <=> $other->leaves());

        return $shuffled;
    }

    /** Whether a clean makes files, so that it takes what making one takes where its directory lies. */
    public function makesFilesToClean(): bool
    {
        return $this === self::LibraryFile || $this === self::LibraryPhpFile;
    }

    /** @return int 0: hardly any file to delete; 1: thousands, and it makes files where it cleans; 2: thousands */
    private function leaves(): int
    {
        return match ($this) {
            self::LibraryFile, self::LibraryPhpFile => 1,
            self::Files, self::MemcachedFiles, self::ZendFile, self::ZendMemcachedFile, self::SymfonyOwnFiles => 2,
            default => 0,
        };
    }

    /** @return list<string> classes of Zend Framework 1, and of what its back ends use, that it takes from the directory of the reader's */
    public function classes(): array
    {
        return match ($this) {
            self::ZendFile => ['Zend_Cache_Backend_File'],
            self::ZendRedis => ['Cm_Cache_Backend_Redis', 'Credis_Client'],
            self::ZendMemcachedFile => ['Zend_Cache_Backend_TwoLevels', 'Zend_Cache_Backend_Libmemcached', 'Zend_Cache_Backend_File'],
            self::ZendMemcachedRedis => ['Zend_Cache_Backend_TwoLevels', 'Zend_Cache_Backend_Libmemcached', 'Cm_Cache_Backend_Redis', 'Credis_Client'],
            default => [],
        };
    }

    /**
     * @param string|null $zend the directory of Zend Framework 1
     * @param string|null $laravel that of Laravel
     * @return string|null what of a framework is not here and how to get it, as a sentence
     */
    public function lack(?string $zend, ?string $laravel): ?string
    {
        foreach ($this->classes() as $class) {
            if (!ZendTags::has((string) $zend, $class)) {
                return "The class {$class} is not in {$zend}: give --zend the folder that has it.";
            }
        }

        return match (explode('-', $this->value)[0]) {
            'symfony' => SymfonyTags::lack(),
            'laravel' => LaravelTags::lack($laravel, $this === self::LaravelOwnRedis),
            default => null,
        };
    }

    /** @param Fields $place `directory`, `pool`, `bytes`, `redis`, `memcached` (sockets), `cluster` (hosts), `zend` and `laravel` (directories, if any) */
    public function open(Fields $place): TaggedCache
    {
        $directory = $place->string('directory');
        $redis = $place->string('redis');
        $memcached = $place->string('memcached');
        $shared = fn(): string => "shm:{$place->string('pool')}?size={$place->int('bytes')}";
        $overRedis = "redis+unix:{$redis}";
        $near = "{$overRedis}?tags=near";

        return match ($this) {
            self::SharedMemory => new SharedMemoryTags($place->string('pool'), $place->int('bytes')),
            self::LibrarySharedMemory => new LibraryTags($shared()),
            self::LibraryApcu => new LibraryTags('apcu:'),
            self::LibrarySqlite => new LibraryTags("sqlite:{$directory}/cache.sqlite"),
            self::LibraryFile => new LibraryTags("file:{$directory}/cache"),
            self::LibraryPhpFile => new LibraryTags("php:{$directory}/cache"),
            self::LibraryApcuTier => new LibraryTags("apcu: > sqlite:{$directory}/cache.sqlite"),
            self::LibrarySharedMemoryTier => new LibraryTags("{$shared()} > sqlite:{$directory}/cache.sqlite"),
            self::LibraryApcuRedisTier => new LibraryTags("apcu: > {$overRedis}"),
            self::LibrarySharedMemoryRedisTier => new LibraryTags("{$shared()} > {$overRedis}"),
            self::LibraryRedis => new LibraryTags($overRedis),
            self::LibraryRedisNear => new LibraryTags($near),
            self::LibraryRedisCluster => new LibraryTags("redis+cluster://{$place->string('cluster')}"),
            self::LibraryMemcached => new LibraryTags("memcached+unix:{$memcached}"),
            self::Files => new TagFiles($directory),
            self::Sets => new TagSets($redis),
            self::MemcachedFiles => new TwoLevels($memcached, new TagFiles($directory)),
            self::MemcachedSets => new TwoLevels($memcached, new TagSets($redis)),
            self::ZendFile => ZendTags::open($place->string('zend'), 'Zend_Cache_Backend_File', self::fileOptions($directory)),
            self::ZendRedis => ZendTags::open($place->string('zend'), 'Cm_Cache_Backend_Redis', self::cmOptions($redis)),
            self::ZendMemcachedFile => ZendTags::open($place->string('zend'), 'Zend_Cache_Backend_TwoLevels', self::twoLevels($memcached, 'File', self::fileOptions($directory), false)),
            self::ZendMemcachedRedis => ZendTags::open($place->string('zend'), 'Zend_Cache_Backend_TwoLevels', self::twoLevels($memcached, 'Cm_Cache_Backend_Redis', self::cmOptions($redis), true)),
            self::MagentoSharedMemory => ZendTags::ours($place->string('zend'), $shared()),
            self::MagentoRedis => ZendTags::ours($place->string('zend'), $overRedis),
            self::MagentoRedisNear => ZendTags::ours($place->string('zend'), $near),
            self::SymfonySharedMemory => SymfonyTags::ours($shared()),
            self::SymfonyApcu => SymfonyTags::ours('apcu:'),
            self::SymfonyRedis => SymfonyTags::ours($overRedis),
            self::SymfonyRedisNear => SymfonyTags::ours($near),
            self::SymfonyOwnApcu => SymfonyTags::overApcu(),
            self::SymfonyOwnTagsRedis => SymfonyTags::overRedis($redis),
            self::SymfonyOwnRedis => SymfonyTags::inRedis($redis),
            self::SymfonyOwnFiles => SymfonyTags::inFiles($directory),
            self::LaravelSharedMemory => LaravelTags::ours($place->string('laravel'), $shared()),
            self::LaravelRedis => LaravelTags::ours($place->string('laravel'), $overRedis),
            self::LaravelRedisNear => LaravelTags::ours($place->string('laravel'), $near),
            self::LaravelOwnApcu => LaravelTags::inApcu($place->string('laravel')),
            self::LaravelOwnRedis => LaravelTags::inRedis($place->string('laravel'), $redis),
        };
    }

    /** @return array<string, mixed> as Magento 1 sets them */
    private static function fileOptions(string $directory): array
    {
        return ['cache_dir' => $directory, 'hashed_directory_level' => 1, 'hashed_directory_umask' => 0o777, 'file_name_prefix' => 'mage'];
    }

    /** @return array<string, mixed> */
    private static function cmOptions(string $socket): array
    {
        return ['server' => $socket, 'port' => 0, 'force_standalone' => false, 'compress_data' => 0, 'compress_tags' => 0];
    }

    /**
     * @param array<string, mixed> $slow
     * @return array<string, mixed>
     */
    private static function twoLevels(string $memcached, string $class, array $slow, bool $isCustom): array
    {
        return [
            'fast_backend' => 'Libmemcached', 'fast_backend_options' => ['servers' => [['host' => $memcached, 'port' => 0, 'weight' => 1]]],
            'slow_backend' => $class, 'slow_backend_options' => $slow, 'slow_backend_custom_naming' => $isCustom, 'slow_backend_autoload' => true,
            'auto_refresh_fast_cache' => false,
        ];
    }
}
