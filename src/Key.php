<?php

declare(strict_types=1);

namespace Larder;

use Larder\Exception\InvalidKey;

/** What a key is: 1 to 65,535 bytes, any bytes, compared byte by byte ("7" and "007" are two keys). */
final class Key
{
    public const LONGEST = 65_535;

    private function __construct() {}

    /** @throws InvalidKey */
    public static function check(string $key): void
    {
        if ($key === '') {
            throw InvalidKey::empty();
        }
        if (\strlen($key) > self::LONGEST) {
            throw InvalidKey::tooLong($key);
        }
    }
}
