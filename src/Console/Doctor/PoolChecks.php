<?php

declare(strict_types=1);

namespace Larder\Console\Doctor;

use Larder\Console\Printed;

/** What a pool of shared memory says of those who use it. */
final class PoolChecks
{
    private function __construct() {}

    /**
     * @param string       $what    was looked at
     * @param array<mixed> $details what a store knows about itself
     *
     * @return list<Finding>
     */
    public static function findings(string $what, array $details): array
    {
        $pages = $details['private_pages'] ?? $details['near private_pages'] ?? 0;

        return !\is_int($pages) || $pages === 0 ? [] : [Finding::advice(
            $what,
            \sprintf('A function wrote into values that it had been given: %s of memory had to be copied for the processes that called it. PHP\'s error log names it.', $pages === 1 ? 'one page' : Printed::count($pages) . ' pages'),
            'unserialize(serialize($value)) where that function is called',
        )];
    }
}
