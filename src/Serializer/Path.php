<?php

declare(strict_types=1);

namespace Larder\Serializer;

/** The way to a part of a value, as a message names it: ['menu'][3]->items['x']. */
final class Path
{
    private const LONGEST_STEP = 60;

    private const LONGEST = 300;

    private function __construct() {}

    /** @param list<Step> $steps the first one first */
    public static function of(array $steps): string
    {
        $path = '';
        foreach ($steps as $i => $step) {
            if (\strlen($path) > self::LONGEST) {
                return $path . '…';
            }
            $path .= match (true) {
                $step->isTold => self::told($step),
                $step->object !== null => self::property($step->key),
                default => self::intoContainer($steps[$i - 1] ?? null, $step->key) ?? self::element($step->key),
            };
        }

        return $path;
    }

    private static function element(int|string $key): string
    {
        return \is_int($key) ? "[{$key}]" : "['" . self::visible($key, "'") . "']";
    }

    private static function property(int|string $name): string
    {
        // PHP writes the names of protected and private properties as "\0class\0name".
        return '->' . self::visible((string) preg_replace('/^\0.*?\0/s', '', (string) $name), '');
    }

    /** Into what an object said of itself; into PHP's containers by the names that var_dump() has for what they hold. */
    private static function told(Step $step): string
    {
        $container = self::container($step->object);
        if ($container !== null) {
            return $step->key === $container[0] ? "->{$container[1]}" : '';
        }
        if ($step->object instanceof \SplFixedArray && self::isPhps($step->object)) {
            return \is_int($step->key) ? self::element($step->key) : self::property($step->key);
        }

        return '->__serialize()' . self::element($step->key);
    }

    /** A step into an array; null if it is not one in which a container told what it holds. */
    private static function intoContainer(?Step $before, int|string $key): ?string
    {
        if ($before === null || !$before->isTold) {
            return null;
        }
        $container = self::container($before->object);
        if ($container === null) {
            return null;
        }
        if ($before->key === $container[2]) {
            return self::property($key);
        }

        return $before->key === $container[0] && $before->object instanceof \SplObjectStorage
            // An object and what goes with it in turn.
            ? \sprintf("[%d]['%s']", intdiv((int) $key, 2), (int) $key % 2 === 0 ? 'obj' : 'inf')
            : null;
    }

    /** @return ?array{int, string, int} where in its state are its contents, their name, and where the properties that a subclass adds */
    private static function container(?object $object): ?array
    {
        return match (true) {
            $object === null, !self::isPhps($object) => null,
            $object instanceof \ArrayObject, $object instanceof \ArrayIterator => [1, 'storage', 2],
            $object instanceof \SplDoublyLinkedList => [1, 'dllist', 2],
            $object instanceof \SplObjectStorage => [0, 'storage', 1],
            default => null,
        };
    }

    /** A class of the user's may tell something else instead. */
    private static function isPhps(object $object): bool
    {
        return !Kind::of($object)->asksUser;
    }

    private static function visible(string $text, string $special): string
    {
        return addcslashes(substr($text, 0, self::LONGEST_STEP), "\0..\37\\\177..\377" . $special) . (\strlen($text) > self::LONGEST_STEP ? '…' : '');
    }
}
