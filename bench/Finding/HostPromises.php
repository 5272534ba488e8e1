<?php

declare(strict_types=1);

namespace Larder\Bench\Finding;

use Larder\Bench\Experiment\HostCache;
use Larder\Bench\Experiment\HostPages;
use Larder\Bench\Experiment\Hosts;

/** What several hosts gain from near stores that follow a log, and what the server pays for them. */
final readonly class HostPromises
{
    private function __construct() {}

    /** @return array<string, list<Promise>> by the experiment that shows them */
    public static function of(Findings $findings): array
    {
        $ours = HostCache::TIER_POOL;
        $over = static fn(string $delay, string $other) => $findings->ratio('hosts', Hosts::TIME, ['delay' => $delay], $ours, $other);
        $under = static fn(string $delay, string $other) => $findings->ratio('hosts', Hosts::TIME, ['delay' => $delay], $other, $ours);
        $promises = [
            Promise::atMost('a near hit within a request, over the same memory without a far store', 'time, over that of shared memory alone', $findings->ratio('hosts', Hosts::HIT, ['delay' => '0 ms'], $ours, 'shared-memory'), 1.3),
            Promise::atMost('a request that reads 200 near pages, over one GET by TCP', 'time, over that of the GET', $over('0 ms', HostPages::GET), 1.15),
            Promise::atLeast('one MGET of 200 pages with 0.25 ms of delay, over a request that reads them near', 'time, over ours', $under('0.25 ms', HostPages::MGET), 20),
            Promise::atLeast('200 GETs with 0.25 ms of delay, over a request that reads the pages near', 'time, over ours', $under('0.25 ms', HostPages::GETS), 100),
        ];
        foreach (array_slice(Hosts::SIMULATED, 1) as $hosts) {
            $promises[] = Promise::atMost(
                "processor time of Redis for a write that {$hosts} hosts follow, over that for one",
                'time, over that with one host',
                $findings->between('hosts', Hosts::WORK, ['following hosts' => $hosts], 'redis', ['following hosts' => '1'], 'redis'),
                1.1,
            );
        }
        foreach ([HostCache::TIER_APCU, HostCache::TIER_POOL] as $subject) {
            $stale = $findings->measurement('hosts', Hosts::STALE, Hosts::case(4, '0.25 ms', '99 %'), $subject);
            $promises[] = Promise::atMost(
                'stale reads of four hosts, ' . HostCache::TITLES[$subject],
                'of a million reads',
                $stale === null ? null : $findings->median('hosts', $stale),
                0,
            );
        }

        return ['hosts' => $promises];
    }
}
