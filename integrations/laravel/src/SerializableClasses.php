<?php

declare(strict_types=1);

namespace Larder\Laravel;

use Larder\Dsn;
use Larder\Exception\Unstorable;
use Larder\Serializer\Payload;
use Larder\Serializer\PhpSerializer;

/**
 * What cache.serializable_classes of Laravel's configuration lets be stored. A store that keeps bytes is told by the option "classes" of its DSN,
 * so that it makes no others again, either. Memory has no such option; there, values are judged before they are written.
 */
final class SerializableClasses
{
    /** Schemes of stores that keep values, not bytes. */
    private const MEMORY = ['shm', 'apcu', 'array', 'absent'];

    private ?Payload $payload = null;

    /** @param ?list<string> $names null: all */
    private function __construct(
        private readonly ?array $names,
    ) {}

    /**
     * @param mixed $setting as Laravel has it: null or true for all, false for none, or names
     *
     * @throws \InvalidArgumentException it is none of these
     */
    public static function of(mixed $setting): self
    {
        if ($setting === null || \is_bool($setting)) {
            return new self($setting === false ? [] : null);
        }
        $names = [];
        foreach (\is_array($setting) ? $setting : [$setting] as $name) {
            if (!\is_array($setting) || !\is_string($name) || preg_match('/^[\w\\\\\x80-\xff]+$/D', $name) !== 1) {
                throw new \InvalidArgumentException('The option "cache.serializable_classes" is neither true nor false nor a list of classes; give it names such as App\Models\Post::class.');
            }
            $names[] = ltrim($name, '\\');
        }

        return new self($names);
    }

    /**
     * The DSN with the classes in it. One that has the option already keeps its own.
     *
     * @throws \InvalidArgumentException its serializer cannot be limited to some classes
     * @throws \Larder\Exception         it is none
     */
    public function in(#[\SensitiveParameter] string $dsn): string
    {
        if ($this->names === null) {
            return $dsn;
        }
        $store = self::lastOf($dsn);
        if ($store->hasAny('classes') || \in_array($store->scheme, self::MEMORY, true)) {
            return $dsn;
        }
        $serializer = $store->text('serializer', 'php');
        if ($serializer !== 'php' && $serializer !== 'auto') {
            throw new \InvalidArgumentException("The DSN of the cache store has \"serializer={$serializer}\", but igbinary cannot be limited to \"cache.serializable_classes\"; remove the one, or set the other to true.");
        }
        $dsn = trim($dsn);
        $separator = match (true) {
            $store->hasOptions() => '&',
            str_ends_with($dsn, '?') => '',
            default => '?',
        };

        return "{$dsn}{$separator}classes=" . ($this->names === [] ? 'none' : implode(',', array_map(rawurlencode(...), $this->names)));
    }

    /**
     * What a store is to ask itself before it writes; null: nothing.
     *
     * @throws \Larder\Exception the DSN is none
     */
    public function ofWrites(#[\SensitiveParameter] string $dsn): ?self
    {
        return $this->names !== null && \in_array(self::lastOf($dsn)->scheme, self::MEMORY, true) ? $this : null;
    }

    /** @throws Unstorable an object in the value is of a class that is not allowed */
    public function check(string $key, mixed $value): void
    {
        if (\is_array($value) || \is_object($value)) {
            $this->payload ??= new Payload(new PhpSerializer($this->names));
            $this->payload->encode($key, $value);
        }
    }

    /** The store behind all others, which a value has to be written to first. */
    private static function lastOf(#[\SensitiveParameter] string $dsn): Dsn
    {
        $store = Dsn::parse($dsn);
        while ($store->far !== null) {
            $store = $store->far;
        }

        return $store;
    }
}
