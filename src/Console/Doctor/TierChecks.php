<?php

declare(strict_types=1);

namespace Larder\Console\Doctor;

use Larder\Console\Printed;
use Larder\Exception\StoreUnavailable;
use Larder\Log;
use Larder\Reads;
use Larder\Store;
use Larder\StoreStatistics;
use Larder\Tier\Follower;
use Larder\Tier\TieredStore;

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
        $near = static fn(string $name): int|string|null => \is_int($value = $known->details["near {$name}"] ?? null) || \is_string($value) ? $value : null;
        [$lag, $pool] = [$near('lag'), $near('name')];

        return [
            ...\is_string($pool) ? [Finding::fine($what, "The near store is the pool \"{$pool}\". A tier over another far store has another pool, also if its DSN gives the same name.")] : [],
            match (true) {
                !\is_int($lag) => Finding::fine($what, 'The near store has followed nothing of this log so far, or has to begin anew: the next request does.'),
                $lag === 0 => Finding::fine($what, 'The near store has followed the whole log.'),
                default => Finding::fine($what, \sprintf('The near store has %s of the log to follow, which the next request does.', Printed::counted($lag, 'event'))),
            },
            ...self::past($what, (int) $near('events'), (int) $near('beginnings'), (int) $near('bypasses'), (int) $near('bypassed at'), (string) $near('bypassed because')),
        ];
    }

    /**
     * What a near store's own cache would lose to a tier.
     *
     * @return list<Finding>
     */
    public static function alone(string $what, Store $store): array
    {
        $followed = $store instanceof Reads && !$store instanceof TieredStore ? Follower::placeIn($store) : null;

        return $followed === null ? [] : [Finding::problem($what, 'It is the near store of a tier' . ($followed === '' ? '' : " in front of {$followed}") . ': other items in it are deleted whenever that begins anew.', 'another name for this cache; or the DSN of the whole tier, to look at that')];
    }

    /** @return list<Finding> */
    private static function past(string $what, int $events, int $beginnings, int $bypasses, int $at, string $why): array
    {
        if ($events + $beginnings + $bypasses === 0) {
            return [];
        }
        $says = \sprintf('The near store has applied %s of the log, and begun anew %s.', Printed::counted($events, 'event'), Printed::counted($beginnings, 'time'));
        if ($bypasses === 0) {
            return [Finding::fine($what, "{$says} No request has left it aside.")];
        }
        $remedy = strrpos($why, '; ');
        $says .= \sprintf(' %s left it aside, the last on %s: %s', ucfirst(Printed::counted($bypasses, 'request')), date('Y-m-d H:i:s', $at), $remedy === false ? $why : substr($why, 0, $remedy) . '.');

        return [$remedy === false ? Finding::fine($what, $says) : Finding::advice($what, $says, rtrim(substr($why, $remedy + 2), '.'))];
    }
}
