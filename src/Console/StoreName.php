<?php

declare(strict_types=1);

namespace Larder\Console;

/** DSNs as they are suggested and printed. */
final class StoreName
{
    private function __construct() {}

    /** @return non-empty-list<string> how the usual ones begin */
    public static function examples(): array
    {
        return ['shm:', 'apcu:', 'sqlite:/', 'file:/', 'php:/', 'redis://127.0.0.1', 'redis+unix:/', 'rediss://', 'redis+sentinel://', 'redis+cluster://', 'memcached://127.0.0.1', 'memcached+unix:/', 'array:'];
    }

    /** A DSN without what is secret in it: users, passwords and options. */
    public static function of(string $dsn): string
    {
        $tiers = preg_split('/\s>\s?/', $dsn) ?: [];

        // A password that should have been percent-encoded may have anything in it, and reach to the last "@".
        return implode(' > ', array_map(static fn(string $tier): string => preg_replace(['~(?<!sqlite:|file:|php:|/)//.*@~is', '~\?.*~s', '~(?<!sqlite:|file:|php:|/)(//[^:\[]*):(?!\d+(?:[,/]|$)).*~is'], ['//', '', '$1'], $tier) ?? '', $tiers));
    }

    /** Whether the DSN names a near store. A database that has one has another one in each command, which was not asked for. */
    public static function isOfTier(string $dsn): bool
    {
        return preg_match('/\s>/', $dsn) === 1;
    }
}
