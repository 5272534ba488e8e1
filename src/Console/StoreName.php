<?php

declare(strict_types=1);

namespace Larder\Console;

use Larder\Dsn;
use Larder\Exception\InvalidDsn;

/** DSNs as they are suggested and printed. */
final class StoreName
{
    /** Options that say which part of a server or database a store is. */
    private const PARTS = ['prefix', 'database', 'service'];

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

    /**
     * Names that tell the DSNs apart. Each has the options of PARTS. What differs in nothing but its
     * user has that, too, and else a number. DSNs that are the same have one name.
     *
     * @param list<string> $dsns
     *
     * @return array<string, string> DSNs by their names
     *
     * @throws InvalidDsn
     */
    public static function labels(array $dsns): array
    {
        $alike = [];
        foreach ($dsns as $dsn) {
            $alike[self::place($dsn, false)][trim($dsn)] = self::place($dsn, true);
        }
        $labels = [];
        foreach ($alike as $label => $names) {
            $isToldByUser = \count(array_unique($names)) === \count($names);
            $n = 0;
            foreach ($names as $dsn => $name) {
                $n++;
                $labels[match (true) {
                    \count($names) === 1 => (string) $label,
                    $isToldByUser => $name,
                    default => "{$label} ({$n})",
                }] = $dsn;
            }
        }

        return $labels;
    }

    /** @throws InvalidDsn */
    private static function place(string $dsn, bool $withUser): string
    {
        $tiers = [];
        $names = explode(' > ', self::of($dsn));
        for ($i = 0, $tier = Dsn::parse($dsn); $tier !== null; $i++, $tier = $tier->far) {
            $told = $withUser && ($tier->user ?? '') !== '' ? ['user=' . rawurlencode((string) $tier->user)] : [];
            foreach (self::PARTS as $option) {
                if ($tier->hasAny($option)) {
                    $told[] = "{$option}=" . rawurlencode($tier->text($option, ''));
                }
            }
            $tiers[] = ($names[$i] ?? '') . ($told === [] ? '' : '?' . implode('&', $told));
        }

        return implode(' > ', $tiers);
    }

    /** Whether the DSN names a near store. A database that has one has another one in each command, which was not asked for. */
    public static function isOfTier(string $dsn): bool
    {
        return preg_match('/\s>/', $dsn) === 1;
    }
}
