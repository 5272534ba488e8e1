<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Tag;

/**
 * A back end of Zend Framework 1, through its interface: a real one from a directory that the reader gives, or ours.
 *
 * The framework's classes are not ours and are not shipped with us, so they are called by the names of their documented methods.
 */
final readonly class ZendTags implements TaggedCache
{
    /** Where the interface is stated in our own words, for readers who have no Zend Framework. */
    private const RESTATED = __DIR__ . '/../../../integrations/magento1/tests/Zend/Cache.php';

    /**
     * @param \Closure(string): mixed $load
     * @param \Closure(string, string, list<string>, int): mixed $save
     * @param \Closure(string, list<string>): mixed $clean
     */
    private function __construct(private \Closure $load, private \Closure $save, private \Closure $clean) {}

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

        return new self(self::method($backend, 'load'), self::method($backend, 'save'), self::method($backend, 'clean'));
    }

    /**
     * Larder's back end for Magento 1.
     *
     * @param string $directory of the framework; '': the interface in our own words
     * @param string $dsn a place of Larder's
     */
    public static function ours(string $directory, string $dsn): self
    {
        if ($directory === '') {
            require_once self::RESTATED;
        }

        return self::open($directory, 'Larder_Cache_Backend', ['dsn' => $dsn]);
    }

    /** Whether the directory has the class. */
    public static function has(string $directory, string $class): bool
    {
        return is_file("{$directory}/" . strtr($class, '_', '/') . '.php');
    }

    public function load(string $id, array $tags = []): ?string
    {
        $value = ($this->load)($id);

        return is_string($value) ? $value : null;
    }

    public function save(string $id, string $value, array $tags, int $lifetime): void
    {
        ($this->save)($value, $id, $tags, $lifetime);
    }

    public function clean(array $tags): void
    {
        ($this->clean)('matchingAnyTag', $tags);
    }

    /** @return \Closure(mixed...): mixed */
    private static function method(object $backend, string $method): \Closure
    {
        $callable = [$backend, $method];

        return is_callable($callable) ? $callable(...) : throw new \RuntimeException($backend::class . " has no method {$method}: give --zend a folder with cache back ends of Zend Framework 1.");
    }

    private static function autoload(string $directory): void
    {
        if ($directory === '') {
            return;
        }
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
