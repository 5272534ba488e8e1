<?php

declare(strict_types=1);

namespace Larder\Serializer;

use Larder\Exception\Unstorable;

/** Looks through values for what cannot be stored. */
final class Contents
{
    private function __construct() {}

    /**
     * Closures and resources cannot be stored. A serializer would turn a resource silently into a number.
     *
     * @throws Unstorable naming the path inside the value
     */
    public static function refuse(string $key, mixed $value): void
    {
        if (\is_scalar($value) || $value === null) {
            return;
        }
        $seen = [];
        $path = self::find($value, $seen, static fn(mixed $part): bool => $part instanceof \Closure
            || \is_resource($part)
            || \gettype($part) === 'resource (closed)');
        if ($path !== null) {
            throw self::because($key, $path[0], \sprintf('a %s cannot be stored', $path[1] instanceof \Closure ? 'closure' : 'resource'));
        }
    }

    /** What to throw after a serializer has refused the value. */
    public static function unstorable(string $key, mixed $value, \Throwable $failure): Unstorable
    {
        if (preg_match("/^Serialization of '(.+)' is not allowed/", $failure->getMessage(), $match) === 1) {
            $seen = [];
            $path = self::find($value, $seen, static fn(mixed $part): bool => \is_object($part)
                // The message ends where an anonymous class's name goes on with its file.
                && explode("\0", $part::class)[0] === $match[1]);
            $path ??= ['', null];

            return self::because($key, $path[0], \sprintf('an object of %s cannot be serialised', $match[1]), $failure);
        }

        return self::because($key, '', rtrim($failure->getMessage(), '.'), $failure);
    }

    /**
     * Whether the value has neither objects nor references in it, so that PHP's own copy on write keeps
     * two holders of it apart.
     */
    public static function isPlain(mixed $value): bool
    {
        if (!\is_array($value)) {
            return \is_scalar($value) || $value === null;
        }
        foreach ($value as $key => $part) {
            if (\ReflectionReference::fromArrayElement($value, $key) !== null || !self::isPlain($part)) {
                return false;
            }
        }

        return true;
    }

    /**
     * @param array<array-key, true> $seen  objects and references, by their ids
     * @param \Closure(mixed): bool  $match
     *
     * @return ?array{string, mixed} the path to the first match, and the match
     */
    private static function find(mixed $value, array &$seen, \Closure $match): ?array
    {
        if ($match($value)) {
            return ['', $value];
        }
        if (\is_object($value)) {
            $id = spl_object_id($value);
            if (isset($seen[$id]) || $value instanceof \UnitEnum || self::hasItsOwnForm($value)) {
                return null;
            }
            $seen[$id] = true;
            foreach ((array) $value as $name => $part) {
                if (!\is_scalar($part) && $part !== null) {
                    $path = self::find($part, $seen, $match);
                    if ($path !== null) {
                        // PHP writes the names of protected and private properties as "\0class\0name".
                        return ['->' . preg_replace('/^\0.*\0/s', '', (string) $name) . $path[0], $path[1]];
                    }
                }
            }

            return null;
        }
        if (!\is_array($value)) {
            return null;
        }
        foreach ($value as $key => $part) {
            if (\is_scalar($part) || $part === null) {
                continue;
            }
            if (\is_array($part)) {
                $reference = \ReflectionReference::fromArrayElement($value, $key)?->getId();
                if ($reference !== null) {
                    if (isset($seen[$reference])) {
                        continue;
                    }
                    $seen[$reference] = true;
                }
            }
            $path = self::find($part, $seen, $match);
            if ($path !== null) {
                return [\sprintf('[%s]', \is_int($key) ? $key : "'" . addcslashes($key, "\0..\37'\\\177..\377") . "'") . $path[0], $path[1]];
            }
        }

        return null;
    }

    /** Such an object decides for itself what of it is stored; what that is, the serializer will see. */
    private static function hasItsOwnForm(object $value): bool
    {
        return $value instanceof \Serializable || method_exists($value, '__serialize') || method_exists($value, '__sleep');
    }

    private static function because(string $key, string $path, string $why, ?\Throwable $previous = null): Unstorable
    {
        return new Unstorable(\sprintf(
            'The value of the key "%s" was not stored: %s (at $value%s); take it out of the value first.',
            addcslashes(substr($key, 0, 64), "\0..\37\"\\\177..\377"),
            $why,
            $path,
        ), 0, $previous);
    }
}
