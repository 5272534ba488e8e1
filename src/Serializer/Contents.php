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
        $found = self::find($value, $seen, static fn(mixed $part): bool => $part instanceof \Closure
            || \is_resource($part)
            || \gettype($part) === 'resource (closed)');
        if ($found !== null) {
            throw self::cannotBeStored($key, ...$found);
        }
    }

    /** What to throw after a serializer has refused the value. */
    public static function unstorable(string $key, mixed $value, \Throwable $failure): Unstorable
    {
        if (preg_match("/^Serialization of '(.+)' is not allowed/", $failure->getMessage(), $match) === 1) {
            $seen = [];
            $found = self::find($value, $seen, static fn(mixed $part): bool => \is_object($part)
                // The message ends where an anonymous class's name goes on with its file.
                && explode("\0", $part::class)[0] === $match[1]);
            if ($found !== null) {
                return self::cannotBeStored($key, $found[0], $found[1], $failure);
            }
        }

        return self::because($key, '$value could not be serialised: ' . $failure->getMessage(), $failure);
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
     * @return ?array{list<string>, mixed} the steps to the first match, the last one first, and the match
     */
    private static function find(mixed $value, array &$seen, \Closure $match): ?array
    {
        if ($match($value)) {
            return [[], $value];
        }
        if (\is_array($value)) {
            return self::findInArray($value, $seen, $match);
        }
        if (!\is_object($value) || $value instanceof \UnitEnum || isset($seen[spl_object_id($value)])) {
            return null;
        }
        $seen[spl_object_id($value)] = true;
        foreach (self::parts($value) as $step => $part) {
            if (!\is_scalar($part) && $part !== null) {
                $found = self::find($part, $seen, $match);
                if ($found !== null) {
                    $found[0][] = $step;

                    return $found;
                }
            }
        }

        return null;
    }

    /**
     * @param array<mixed>           $array
     * @param array<array-key, true> $seen
     * @param \Closure(mixed): bool  $match
     *
     * @return ?array{list<string>, mixed}
     */
    private static function findInArray(array $array, array &$seen, \Closure $match): ?array
    {
        foreach ($array as $key => $part) {
            if (\is_scalar($part) || $part === null) {
                continue;
            }
            if (\is_array($part)) {
                $reference = \ReflectionReference::fromArrayElement($array, $key)?->getId();
                if ($reference !== null) {
                    if (isset($seen[$reference])) {
                        continue;
                    }
                    $seen[$reference] = true;
                }
            }
            $found = self::find($part, $seen, $match);
            if ($found !== null) {
                $found[0][] = Path::element($key);

                return $found;
            }
        }

        return null;
    }

    /**
     * What of an object is serialised, by the step that leads there. A class of PHP's own only reads when it is
     * asked for its state; what a user's class puts there only the serializer will see.
     *
     * @return iterable<string, mixed>
     */
    private static function parts(object $value): iterable
    {
        if ($value instanceof \Serializable && !method_exists($value, '__serialize')) {
            return [];
        }
        if (!method_exists($value, '__serialize')) {
            return method_exists($value, '__sleep') ? [] : Path::ofProperties((array) $value);
        }
        if (!(new \ReflectionMethod($value, '__serialize'))->isInternal()) {
            return [];
        }

        return Path::ofState($value, (array) $value->__serialize());
    }

    /** @param list<string> $steps the last one first */
    private static function cannotBeStored(string $key, array $steps, mixed $what, ?\Throwable $previous = null): Unstorable
    {
        [$name, $advice] = match (true) {
            !\is_object($what) => ['a resource', 'store what was read from it'],
            $what instanceof \Closure => ['a Closure', 'store what it returns, or the name of a function'],
            (new \ReflectionClass($what))->isAnonymous() => ['an object of an anonymous class', 'store plain data taken from it'],
            default => ['a ' . $what::class, 'store plain data taken from it'],
        };

        return self::because($key, \sprintf('$value%s is %s, which cannot be stored; %s.', Path::of($steps), $name, $advice), $previous);
    }

    private static function because(string $key, string $why, ?\Throwable $previous): Unstorable
    {
        return new Unstorable(\sprintf(
            'The value of the key "%s" was not stored: %s',
            addcslashes(substr($key, 0, 64), "\0..\37\"\\\177..\377"),
            $why,
        ), 0, $previous);
    }
}
