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
        $near = self::reader($known->details);
        $lag = $near('lag');

        return [
            ...self::pool($what, $near('name')),
            match (true) {
                !\is_int($lag) => Finding::fine($what, 'The near store has followed nothing of this log so far, or has to begin anew: the next request does.'),
                $lag === 0 => Finding::fine($what, 'The near store has followed the whole log.'),
                default => Finding::fine($what, \sprintf('The near store has %s of the log to follow, which the next request does.', Printed::counted($lag, 'event'))),
            },
            ...self::past($what, (int) $near('events'), (int) $near('beginnings'), (int) $near('bypasses'), (int) $near('bypassed at'), (string) $near('bypassed because')),
        ];
    }

    /**
     * While the far store does not answer.
     *
     * @param array<string, mixed> $details of the near store; none: there is none, or it does not answer either
     *
     * @return list<Finding>
     */
    public static function nearAlone(string $what, array $details): array
    {
        if ($details === []) {
            return [];
        }
        $near = self::reader($details);
        $says = \sprintf('The near store has %s.', Printed::counted((int) $near('items'), 'item'));
        [$hits, $misses] = [$near('hits'), $near('misses')];
        if (\is_int($hits) && \is_int($misses)) {
            $says .= \sprintf(' It has answered %s of %s so far.', Printed::count($hits), Printed::counted($hits + $misses, 'look-up'));
        }

        return [
            ...self::pool($what, $near('name')),
            Finding::fine($what, $says),
            ...self::past($what, (int) $near('events'), (int) $near('beginnings'), (int) $near('bypasses'), (int) $near('bypassed at'), (string) $near('bypassed because')),
        ];
    }

    /**
     * @param array<mixed> $details
     *
     * @return \Closure(string): (int|string|null)
     */
    private static function reader(array $details): \Closure
    {
        return static fn(string $name): int|string|null => \is_int($value = $details["near {$name}"] ?? null) || \is_string($value) ? $value : null;
    }

    /** @return list<Finding> */
    private static function pool(string $what, int|string|null $pool): array
    {
        return \is_string($pool) ? [Finding::fine($what, "The near store is the pool \"{$pool}\". A tier over another far store has another pool, also if its DSN gives the same name.")] : [];
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
