<?php

declare(strict_types=1);

namespace Larder\Bench\WordPress;

/** A page cache that a site can have: ours over a store and in a place, a re-created design, an original, or none in PHP. */
final readonly class PageCacheDesign
{
    public const EMPTY = 'empty';
    /** The empty script of a php-fpm without the extension, beside caches that need none. */
    public const EMPTY_PLAIN = 'empty-plain';
    public const POOL_QUICK = 'shared-memory-quick';
    public const POOL = 'shared-memory';
    /** Ours, where each save clears all pages: what knowing the pages saves. */
    public const POOL_CLEARED = 'shared-memory-cleared';
    public const FILES_QUICK = 'files-quick';
    public const FILES = 'files';
    public const REDIS = 'cache-redis';
    public const RIVAL_FILES = 'rival-files';
    public const RIVAL_FLAGS = 'rival-flags';
    public const RIVAL_REDIS = 'rival-redis';
    public const RIVAL_MEMCACHED = 'rival-memcached';
    public const RIVAL_DATABASE = 'rival-database';
    public const NGINX = 'nginx';
    public const NGINX_CACHE = 'nginx-cache';

    /** In advanced-cache.php, as ours. */
    public const RIVALS = [self::RIVAL_FILES, self::RIVAL_FLAGS, self::RIVAL_REDIS, self::RIVAL_MEMCACHED, self::RIVAL_DATABASE];
    public const RIVALS_OF_FILES = [self::RIVAL_FILES, self::RIVAL_FLAGS];
    /** Those that WordPress stands behind, so that a save means something. */
    public const SITES = [self::POOL_QUICK, self::POOL, self::POOL_CLEARED, self::FILES_QUICK, self::FILES, self::REDIS, ...self::RIVALS];

    private const QUICK = '@include __DIR__ . "/wp-content/advanced-cache.php";';
    private const ORDINARY = 'define("WP_CACHE", true);';

    /**
     * @param string|null $needs        the subject of other experiments that must have been asked for; null: none stands for it
     * @param bool        $hasExtension whether its php-fpm has the extension
     * @param string      $lines        of PHP for wp-config.php; {socket} is replaced
     * @param string|null $rival        its store, in integrations/wordpress/bench/page-cache
     */
    private function __construct(
        public string $name,
        public string $title,
        public ?string $needs = null,
        public bool $isLarder = false,
        public bool $hasExtension = false,
        public string $lines = '',
        public ?string $rival = null,
        public ?Original $original = null,
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
        $rival = static fn(string $name, string $of, ?string $needs, string $store): self => new self($name, "{$of}, re-created, in advanced-cache.php", $needs, lines: self::ORDINARY, rival: $store);
        $designs = [
            new self(self::EMPTY, 'an empty script', hasExtension: true),
            new self(self::EMPTY_PLAIN, 'an empty script, without the extension'),
            new self(self::POOL_QUICK, 'Larder from shared memory, by a line in wp-config.php', 'shared-memory', true, true, self::QUICK),
            new self(self::POOL, 'Larder from shared memory, in advanced-cache.php', 'shared-memory', true, true, self::ORDINARY),
            new self(self::POOL_CLEARED, 'the same, where each save clears all pages', 'shared-memory', true, true, self::ORDINARY . ' define("LARDER_BENCH_CLEARS_ALL", true);'),
            new self(self::FILES_QUICK, 'Larder from files, by a line in wp-config.php', null, true, false, self::QUICK),
            new self(self::FILES, 'Larder from files, in advanced-cache.php', null, true, false, self::ORDINARY),
            new self(self::REDIS, "Larder from {$title}, in advanced-cache.php", 'cache-redis', true, false, self::ORDINARY . ' define("WP_LARDER_DSN", "redis+unix:{socket}");'),
            $rival(self::RIVAL_FILES, 'a compressed file a page', null, 'files'),
            $rival(self::RIVAL_FLAGS, 'a file a page with flags', null, 'flags'),
            $rival(self::RIVAL_REDIS, "a string of {$title} a page", "{$server}-unix", 'redis'),
            $rival(self::RIVAL_MEMCACHED, 'an item of Memcached a page', 'memcached-unix', 'memcached'),
            $rival(self::RIVAL_DATABASE, 'a row of the database a page', null, 'database'),
            new self(self::NGINX, 'nginx with a compressed file (a limit: no PHP)'),
            new self(self::NGINX_CACHE, 'nginx with fastcgi_cache (a limit: no PHP)'),
        ];
        foreach (Original::all($peers, Original::PAGE_CACHE) as $plugin => $original) {
            $designs[] = new self("peer-{$plugin}", "{$plugin} (the original)", lines: self::ORDINARY, original: $original);
        }

        return array_combine(array_map(static fn(self $design): string => $design->name, $designs), $designs);
    }

    public function isSite(): bool
    {
        return $this->original !== null || \in_array($this->name, self::SITES, true);
    }

    public function isOnRedis(): bool
    {
        return $this->name === self::REDIS || $this->name === self::RIVAL_REDIS;
    }
}
