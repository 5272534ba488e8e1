<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Tag;

use Larder\Cache;
use Larder\Laravel\LarderStore;

/**
 * A store of Laravel with tags, through its repository and without events.
 *
 * Laravel is not shipped with us. Its classes are called by their names, in code that is compiled here so that no call of the
 * benchmark's own stands in between.
 */
final readonly class LaravelTags implements ServesRequests
{
    /** What Debian's packages have below one folder, each with a list of its classes. */
    private const PARTS = ['Cache', 'Container', 'Redis'];
    private const MINUTE = 60;

    /**
     * @param \Closure(string, list<string>): mixed $get
     * @param \Closure(string, mixed, list<string>, int): mixed $put
     * @param \Closure(list<string>): mixed $flush
     * @param ?Cache $cache ours; null: Laravel's own stores know no end of a request
     */
    private function __construct(private \Closure $get, private \Closure $put, private \Closure $flush, private ?Cache $cache) {}

    /**
     * @param string|null $directory null: where PHP looks for files that are included
     * @param string|null $phpredis  version; null: this one's
     * @return string|null what is not here and how to get it, as a sentence
     */
    public static function lack(?string $directory, bool $isInRedis, ?string $phpredis = null): ?string
    {
        $place = self::place((string) $directory);
        if ($place === '' || self::autoloaders($place) === []) {
            return 'Laravel 10.48 or later is not here: install php-illuminate-cache and php-illuminate-redis (Debian 13), or give --laravel the folder of an application.';
        }
        if ($isInRedis && version_compare($phpredis ?? (string) phpversion('redis'), '6.1.0', '>=') && self::scansFromZero($place)) {
            return 'Before version 12, Laravel flushes no tag in Redis by phpredis 6.1 or later: give --laravel the folder of a later application.';
        }

        return $isInRedis && is_dir("{$place}/Illuminate/Cache") && !is_dir("{$place}/Illuminate/Redis") ? 'Laravel\'s classes for Redis are not here: install php-illuminate-redis.' : null;
    }

    /** To phpredis from 6.1 on, a cursor of 0 says that all was seen. */
    private static function scansFromZero(string $place): bool
    {
        foreach (['Illuminate/Cache', 'vendor/laravel/framework/src/Illuminate/Cache', 'laravel/framework/src/Illuminate/Cache', 'vendor/illuminate/cache', 'illuminate/cache'] as $folder) {
            if (is_file("{$place}/{$folder}/RedisTagSet.php")) {
                return str_contains((string) file_get_contents("{$place}/{$folder}/RedisTagSet.php"), "\$defaultCursorValue = '0'");
            }
        }

        return false;
    }

    /** @return list<string> what has to be included; none: there is no Laravel, or one before version 10 */
    public static function autoloaders(string $directory): array
    {
        foreach (["{$directory}/vendor", $directory] as $vendor) {
            if (is_file("{$vendor}/autoload.php") && (is_dir("{$vendor}/laravel/framework") || is_dir("{$vendor}/illuminate/cache"))) {
                return ["{$vendor}/autoload.php"];
            }
        }
        // Version 10 has brought this class.
        if (!is_file("{$directory}/Illuminate/Cache/RedisTagSet.php")) {
            return [];
        }

        return array_values(array_filter(array_map(static fn(string $part): string => "{$directory}/Illuminate/{$part}/autoload.php", self::PARTS), is_file(...)));
    }

    public static function ours(string $directory, string $dsn): self
    {
        self::autoload($directory);

        return self::over(new LarderStore(Cache::open($dsn), 'bench:'));
    }

    public static function inApcu(string $directory): self
    {
        self::autoload($directory);

        return self::over(self::make('Illuminate\Cache\ApcStore', self::make('Illuminate\Cache\ApcWrapper'), 'bench:'));
    }

    public static function inRedis(string $directory, string $socket): self
    {
        self::autoload($directory);
        $connection = ['host' => $socket, 'port' => 0, 'database' => 0, 'timeout' => self::MINUTE];
        $connections = self::make('Illuminate\Redis\RedisManager', self::make('Illuminate\Container\Container'), 'phpredis', ['client' => 'phpredis', 'options' => [], 'default' => $connection]);

        return self::over(self::make('Illuminate\Cache\RedisStore', $connections, 'bench:', 'default'));
    }

    public function load(string $id, array $tags = []): ?string
    {
        $value = ($this->get)($id, $tags);

        return is_string($value) ? $value : null;
    }

    public function save(string $id, string $value, array $tags, int $lifetime): void
    {
        ($this->put)($id, $value, $tags, $lifetime);
    }

    public function clean(array $tags): void
    {
        ($this->flush)($tags);
    }

    /** As our service provider does when Octane says so. */
    public function endRequest(): void
    {
        $this->cache?->refresh();
    }

    /** @param object $store of Laravel's */
    private static function over(object $store): self
    {
        $repository = self::make('Illuminate\Cache\Repository', $store);
        $code = static function (string $parameters, string $code) use ($repository): \Closure {
            $compiled = eval("return static fn(\$cache) => static fn({$parameters}) => {$code};");
            $bound = $compiled instanceof \Closure ? $compiled($repository) : null;

            return $bound instanceof \Closure ? $bound : throw new \LogicException("The code {$code} makes no closure.");
        };

        return new self(
            $code('string $id, array $tags', '($tags === [] ? $cache : $cache->tags($tags))->get($id)'),
            $code('string $id, mixed $value, array $tags, int $lifetime', '($tags === [] ? $cache : $cache->tags($tags))->put($id, $value, $lifetime)'),
            $code('array $tags', '$cache->tags($tags)->flush()'),
            $store instanceof LarderStore ? $store->cache : null,
        );
    }

    private static function make(string $class, mixed ...$arguments): object
    {
        return class_exists($class) ? new $class(...$arguments) : throw new \RuntimeException("Laravel's class {$class} is missing: install the package of Laravel that has it, or give --laravel the folder of an application.");
    }

    /** @param string $directory '': where PHP looks for files that are included */
    public static function autoload(string $directory): void
    {
        foreach (self::autoloaders(self::place($directory)) as $file) {
            require_once $file;
        }
    }

    /** The directory, or where Debian's packages are found; '': nowhere. */
    private static function place(string $directory): string
    {
        $debians = $directory === '' ? stream_resolve_include_path('Illuminate/Cache/autoload.php') : false;

        return $debians === false ? $directory : dirname($debians, 3);
    }
}
