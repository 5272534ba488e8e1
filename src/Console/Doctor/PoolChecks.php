<?php

declare(strict_types=1);

namespace Larder\Console\Doctor;

use Larder\Console\ListedPool;
use Larder\Console\Printed;

/** What a pool of shared memory says of those who use it. */
final class PoolChecks
{
    /** Seconds after which a pool seems to be a site's no more. */
    private const LONG = 86_400;

    private function __construct() {}

    /**
     * @param list<ListedPool> $pools of this user
     *
     * @return list<Finding> one at most
     */
    public static function unused(array $pools): array
    {
        $unused = array_values(array_filter($pools, static fn(ListedPool $pool): bool => $pool->locksOf === null && $pool->unusedSeconds() >= self::LONG));
        $names = array_map(static fn(ListedPool $pool): string => $pool->name, $unused);
        $bytes = array_sum(array_map(static fn(ListedPool $pool): int => $pool->number('size'), $unused));

        return $unused === [] ? [] : [Finding::advice(
            'pools',
            \sprintf('No process has used %s of %s for a day or longer: %s.', Printed::counted(\count($unused), 'pool'), Printed::bytes($bytes), implode(', ', $names)),
            'larder remove ' . implode(' ', $names) . ', if no site needs them',
        )];
    }

    /**
     * @param string       $what    was looked at
     * @param array<mixed> $details what a store knows about itself
     *
     * @return list<Finding>
     */
    public static function findings(string $what, array $details): array
    {
        return [...self::pages($what, $details), ...self::place($what, $details)];
    }

    /**
     * A directory beside the one where the user's pools should be has six more letters.
     *
     * @param array<mixed> $details
     *
     * @return list<Finding>
     */
    private static function place(string $what, array $details): array
    {
        $path = $details['path'] ?? $details['near path'] ?? null;
        if (!\is_string($path) || preg_match('~^(.*/larder-g?\d+)\.[\w-]{6}/~', $path, $matches) !== 1) {
            return [];
        }
        $owner = @fileowner($matches[1]);
        $whose = $owner === false ? 'another user\'s' : "that of user {$owner}";

        return [Finding::advice($what, "It lies in {$path}, because {$matches[1]} is or was {$whose}. All processes of its user know that.", "rm -r {$matches[1]}, as its owner or root")];
    }

    /**
     * @param array<mixed> $details
     *
     * @return list<Finding>
     */
    private static function pages(string $what, array $details): array
    {
        $pages = $details['private_pages'] ?? $details['near private_pages'] ?? 0;

        return !\is_int($pages) || $pages === 0 ? [] : [Finding::advice(
            $what,
            \sprintf('A function wrote into values that it had been given: %s of memory had to be copied for the processes that called it. PHP\'s error log names it.', $pages === 1 ? 'one page' : Printed::count($pages) . ' pages'),
            'unserialize(serialize($value)) where that function is called',
        )];
    }
}
