<?php

declare(strict_types=1);

namespace Larder\Cache;

/** Keys and values, where a key that is a decimal number shall stay a string. */
final class Pairs
{
    private function __construct() {}

    /**
     * An array where its keys can be those that were given, else something to iterate: PHP makes ints of decimal
     * keys of arrays.
     *
     * @template T
     *
     * @param list<array{string, T}> $pairs
     *
     * @return iterable<string, T>
     */
    public static function of(array $pairs): iterable
    {
        foreach ($pairs as [$key]) {
            if ((string) (int) $key === $key) {
                return self::each($pairs);
            }
        }

        return array_column($pairs, 1, 0);
    }

    /**
     * @template T
     *
     * @param list<array{string, T}> $pairs
     *
     * @return \Generator<string, T>
     */
    private static function each(array $pairs): \Generator
    {
        foreach ($pairs as [$key, $value]) {
            yield $key => $value;
        }
    }
}
