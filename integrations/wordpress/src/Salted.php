<?php

declare(strict_types=1);

namespace Larder\WordPress;

/** A value beside the salt that it was made under, as WordPress lays them: ['data' => …, 'salt' => …]. */
final class Salted
{
    private function __construct() {}

    /**
     * @param string|array<string> $salt
     *
     * @return array{data: mixed, salt: mixed}
     */
    public static function pair(mixed $value, mixed $salt): array
    {
        return ['data' => $value, 'salt' => \is_array($salt) ? implode(':', $salt) : $salt];
    }

    /**
     * @param string|array<string> $salt
     *
     * @return mixed false if it is none, or was made under another salt
     */
    public static function value(mixed $stored, mixed $salt): mixed
    {
        $salt = \is_array($salt) ? implode(':', $salt) : $salt;

        return \is_array($stored) && isset($stored['salt'], $stored['data']) && $stored['salt'] === $salt ? $stored['data'] : false;
    }
}
