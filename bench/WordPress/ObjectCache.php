<?php

declare(strict_types=1);

namespace Larder\Bench\WordPress;

/** An object cache that a site can have: none, ours over a store, a re-created design of a published one, or a given original. */
final readonly class ObjectCache
{
    public const NONE = 'none';
    /** No cache: what a page costs if all that it reads were one array in memory. */
    public const LIMIT = 'shared-memory-limit';
    public const POOL = 'shared-memory';
    public const TIER = 'cache-tier-apcu';
    public const SQLITE = 'cache-sqlite';
    public const REDIS = 'cache-redis';
    /** Beside ours over Redis, to show what its reading ahead saves. */
    public const REDIS_KEYS = 'cache-redis-keys';
    public const RIVAL_SQLITE = 'rival-sqlite';
    public const RIVAL_SQLITE_APCU = 'rival-sqlite-apcu';
    public const RIVAL_REDIS = 'rival-redis';
    public const RIVAL_REDIS_GROUPS = 'rival-redis-groups';
    public const RIVAL_FILES = 'rival-files';
    public const RIVAL_APCU = 'rival-apcu';

    public const OURS = [self::POOL, self::TIER, self::SQLITE, self::REDIS];
    public const RIVALS = [self::RIVAL_SQLITE, self::RIVAL_SQLITE_APCU, self::RIVAL_APCU, self::RIVAL_FILES, self::RIVAL_REDIS, self::RIVAL_REDIS_GROUPS];
    public const ON_REDIS = [self::REDIS, self::REDIS_KEYS, self::RIVAL_REDIS, self::RIVAL_REDIS_GROUPS];

    /**
     * @param string       $name
     * @param string|null  $needs      the subject of other experiments that must have been asked for; null: none stands for it
     * @param string|null  $dsn        of ours; {directory} and {socket} are replaced; null: it has none
     * @param list<string> $classes    of a re-created design, from integrations/wordpress/bench/rivals
     * @param string       $store      PHP that makes its store; the same is replaced in it
     * @param string       $lines      of PHP for wp-config.php
     */
    private function __construct(
        public string $name,
        public string $title,
        public ?string $needs,
        public bool $isLarder = false,
        public ?string $dsn = null,
        public array $classes = [],
        public string $store = '',
        public ?Original $original = null,
        public string $lines = '',
    ) {}

    /**
     * @param string      $server the name of the Redis or Valkey that is installed, as subjects have it
     * @param string      $title  what people call it
     * @param string|null $peers  a directory with original plugins
     *
     * @return array<string, self> by name
     */
    public static function all(string $server, string $title, ?string $peers = null): array
    {
        $rival = static fn(string $name, string $of, string $needs, array $classes, string $store): self => new self($name, $of, $needs, classes: array_values(array_filter($classes, is_string(...))), store: $store);
        $signed = 'secret=' . hash('sha256', 'larder');
        $caches = [
            new self(self::NONE, 'no object cache', null),
            new self(self::LIMIT, 'the page\'s keys as one array (the limit)', 'shared-memory', classes: ['OnePage'], store: "new OnePage('{pool}')"),
            new self(self::POOL, 'Larder over shared memory', 'shared-memory', true),
            new self(self::TIER, 'Larder over APCu before SQLite', 'cache-tier-apcu', true, "apcu: > sqlite:{directory}/larder.db?size=64M&{$signed}"),
            new self(self::SQLITE, 'Larder over SQLite', 'cache-sqlite', true, "sqlite:{directory}/larder.db?size=64M&{$signed}"),
            new self(self::REDIS, "Larder over {$title}", 'cache-redis', true, 'redis+unix:{socket}'),
            new self(self::REDIS_KEYS, "Larder over {$title}, nothing read ahead", 'cache-redis', true, 'redis+unix:{socket}', lines: 'define("WP_LARDER_PREFETCH", false);'),
            $rival(self::RIVAL_SQLITE, 'a row of SQLite a key', 'sqlite-rows', ['Bytes', 'ApcuKeys', 'SqliteRows'], "new Rival(new SqliteRows('{directory}/rival.db'))"),
            $rival(self::RIVAL_SQLITE_APCU, 'a row of SQLite a key, behind APCu', 'sqlite-apcu', ['Bytes', 'ApcuKeys', 'SqliteRows'], "new Rival(new SqliteRows('{directory}/rival.db', new ApcuKeys('rival:')))"),
            $rival(self::RIVAL_REDIS, "a string of {$title} a key", "{$server}-unix", ['Bytes', 'RedisKeys'], "new Rival(new RedisKeys('{socket}'))"),
            $rival(self::RIVAL_REDIS_GROUPS, "a hash of {$title} a group", "{$server}-unix", ['Bytes', 'RedisKeys', 'RedisGroups'], "new Rival(new RedisGroups('{socket}'))"),
            $rival(self::RIVAL_FILES, 'a PHP file a key', 'php-file', ['PhpFiles'], "new Rival(new PhpFiles('{directory}/files'))"),
            $rival(self::RIVAL_APCU, 'an entry of APCu a key', 'apcu-php', ['ApcuKeys'], "new Rival(new ApcuKeys('rival:'))"),
        ];
        foreach (Original::all($peers, Original::OBJECT_CACHE) as $plugin => $original) {
            $caches[] = new self("peer-{$plugin}", "{$plugin} (the original)", null, original: $original);
        }

        return array_combine(array_map(static fn(self $cache): string => $cache->name, $caches), $caches);
    }

    public function isOnRedis(): bool
    {
        return \in_array($this->name, self::ON_REDIS, true) || $this->original !== null;
    }
}
