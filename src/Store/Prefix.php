<?php

declare(strict_types=1);

namespace Larder\Store;

use Larder\Exception\InvalidOption;

/**
 * What begins all keys of one store in a place that others use too. As it has no colon in it and ends
 * with one, no two prefixes ever make the same name of two keys.
 */
final class Prefix
{
    public const DEFAULT = 'larder';

    private function __construct() {}

    /** @throws InvalidOption */
    public static function check(string $prefix): string
    {
        if (preg_match('/^[A-Za-z0-9._-]{1,64}$/D', $prefix) !== 1) {
            throw InvalidOption::prefix($prefix);
        }

        return $prefix . ':';
    }
}
