<?php

declare(strict_types=1);

namespace Larder\Console\Doctor;

use Larder\Console\Printed;
use Larder\Exception\StoreUnavailable;
use Larder\Log;
use Larder\StoreStatistics;

/** Checks a near store in front of a far one: how far it has followed the log. */
final class TierChecks
{
    private function __construct() {}

    /**
     * Follows the log as a near store does. That one would keep to itself that it cannot, and read everything from the far store.
     *
     * @throws StoreUnavailable
     */
    public static function follow(Log $log): void
    {
        $log->since($log->since(null)->position);
    }

    /** @return list<Finding> */
    public static function findings(string $what, StoreStatistics $known): array
    {
        $lag = $known->details['near lag'] ?? null;

        return [Finding::fine($what, match (true) {
            !\is_int($lag) => 'The near store has followed nothing of this log so far, or has to begin anew: the next request does.',
            $lag === 0 => 'The near store has followed the whole log.',
            default => \sprintf('The near store has %s of the log to follow, which the next request does.', $lag === 1 ? 'one event' : Printed::count($lag) . ' events'),
        })];
    }
}
