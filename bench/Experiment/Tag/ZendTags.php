<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Tag;

/**
 * A real back end of Zend Framework 1, or of one that replaces it, from a directory that the reader gives.
 *
 * Its classes are not ours and are not shipped with us, so they are called by the names of their documented methods.
 */
final readonly class ZendTags implements TaggedCache
{
    /** @param object $backend with load, save and clean */
    private function __construct(private object $backend) {}

    /**
     * @param string $directory where Zend/Cache.php and, for Redis, Cm/Cache/Backend/Redis.php are found
     * @param array<string, mixed> $options
     */
    public static function open(string $directory, string $class, array $options): self
    {
        self::autoload($directory);
        if (!class_exists($class)) {
            throw new \RuntimeException("The class {$class} is not in {$directory}: give --zend the folder that has Zend/Cache/Backend and Cm/Cache/Backend in it.");
        }
        $backend = new $class($options);
        if (is_callable([$backend, 'setDirectives'])) {
            $backend->setDirectives(['lifetime' => 7200, 'logging' => false]);
        }

        return new self($backend);
    }

    /** Whether the directory has the class. */
    public static function has(string $directory, string $class): bool
    {
        return is_file("{$directory}/" . strtr($class, '_', '/') . '.php');
    }

    public function load(string $id): ?string
    {
        $value = $this->call('load', [$id]);

        return is_string($value) ? $value : null;
    }

    public function save(string $id, string $value, array $tags, int $lifetime): void
    {
        $this->call('save', [$value, $id, $tags, $lifetime]);
    }

    public function clean(array $tags): void
    {
        $this->call('clean', ['matchingAnyTag', $tags]);
    }

    /** @param list<mixed> $arguments */
    private function call(string $method, array $arguments): mixed
    {
        $callable = [$this->backend, $method];

        return is_callable($callable) ? $callable(...$arguments) : throw new \RuntimeException($this->backend::class . " has no method {$method}: give --zend a folder with cache back ends of Zend Framework 1.");
    }

    private static function autoload(string $directory): void
    {
        set_include_path($directory . PATH_SEPARATOR . get_include_path());
        // What it is written for is older than this PHP; what it complains about is its own business.
        error_reporting(E_ALL & ~E_DEPRECATED & ~E_NOTICE & ~E_WARNING);
        spl_autoload_register(static function (string $class) use ($directory): void {
            $file = "{$directory}/" . strtr($class, '_\\', '//') . '.php';
            if (is_file($file)) {
                require_once $file;
            }
        });
    }
}
