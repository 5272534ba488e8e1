<?php

declare(strict_types=1);

namespace Larder\Serializer;

/** The way to a part of a value, as a message names it: ['menu'][3]->items['x']. */
final class Path
{
    private const LONGEST_STEP = 60;

    private const LONGEST = 300;

    private function __construct() {}

    public static function element(int|string $key): string
    {
        return \is_int($key) ? "[{$key}]" : "['" . self::visible($key, "'") . "']";
    }

    /** @param list<string> $steps the last one first */
    public static function of(array $steps): string
    {
        $path = '';
        while ($steps !== []) {
            if (\strlen($path) > self::LONGEST) {
                return $path . '…';
            }
            $path .= array_pop($steps);
        }

        return $path;
    }

    /**
     * @param array<array-key, mixed> $properties as an array that an object was cast to
     *
     * @return iterable<string, mixed> by the steps to them
     */
    public static function ofProperties(array $properties): iterable
    {
        foreach ($properties as $name => $value) {
            // PHP writes the names of protected and private properties as "\0class\0name".
            yield '->' . self::visible((string) preg_replace('/^\0.*?\0/s', '', (string) $name), '') => $value;
        }
    }

    /**
     * What an object says of itself, PHP's containers by the names that var_dump() has for what they hold.
     *
     * @param array<array-key, mixed> $state what its __serialize() returned
     *
     * @return iterable<string, mixed> by the steps to them
     */
    public static function ofState(object $object, array $state): iterable
    {
        [$contents, $name, $members] = match (true) {
            $object instanceof \ArrayObject, $object instanceof \ArrayIterator => [1, 'storage', 2],
            $object instanceof \SplDoublyLinkedList => [1, 'dllist', 2],
            $object instanceof \SplObjectStorage => [0, 'storage', 1],
            default => [null, '', null],
        };
        foreach ($state as $key => $part) {
            if ($key === $members && \is_array($part)) {
                yield from self::ofProperties($part);
            } elseif ($key === $contents && \is_array($part) && $object instanceof \SplObjectStorage) {
                yield from self::ofPairs($part);
            } elseif ($key === $contents) {
                yield "->{$name}" => $part;
            } elseif ($object instanceof \SplFixedArray) {
                yield from \is_int($key) ? [self::element($key) => $part] : self::ofProperties([$key => $part]);
            } else {
                yield '->__serialize()' . self::element($key) => $part;
            }
        }
    }

    /**
     * @param array<array-key, mixed> $storage an object and what goes with it in turn
     *
     * @return iterable<string, mixed> by the steps to them
     */
    private static function ofPairs(array $storage): iterable
    {
        foreach (array_values($storage) as $i => $part) {
            yield \sprintf("->storage[%d]['%s']", intdiv($i, 2), $i % 2 === 0 ? 'obj' : 'inf') => $part;
        }
    }

    private static function visible(string $text, string $special): string
    {
        return addcslashes(substr($text, 0, self::LONGEST_STEP), "\0..\37\\\177..\377" . $special) . (\strlen($text) > self::LONGEST_STEP ? '…' : '');
    }
}
