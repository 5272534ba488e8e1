<?php

declare(strict_types=1);

namespace Larder\Bench\Finding;

use Larder\Bench\Experiment\CrossCheck;
use Larder\Bench\Experiment\OpeningRequests;
use Larder\Bench\Experiment\Saturation;
use Larder\Bench\Experiment\TierRequests;
use Larder\Bench\Statistics\Interval;
use Larder\Bench\Subject\Operation;

/** What the library may cost over the stores, what a read may cost a request, and how far the load generator may be trusted. */
final readonly class SitePromises
{
    /** The requests per second of the empty script that a script with one get must reach, and how sure that must be. */
    private const REQUESTS = 0.97;
    private const WIDEST = 0.1;
    private const LIBRARY = [
        ['cache-shared-memory', 'shared-memory', 'alloptions', Operation::Get, 3.0, 'Larder\Cache over the extension\'s own get of the options'],
        ['cache-tier-apcu', 'cache-apcu', 'map', Operation::Get, 1.5, 'Larder\Cache over APCu before SQLite over Larder\Cache over APCu alone, get of a map'],
        ['cache-tier-apcu', 'cache-apcu', 'string-20', Operation::Get, 1.5, 'Larder\Cache over APCu before SQLite over Larder\Cache over APCu alone, get of a string of 20 bytes'],
        ['cache-redis-predis', 'redis-predis-unix', 'map', Operation::Get, 1.25, 'Larder\Cache over Redis by Predis over Predis by hand, get of a map'],
        ['cache-redis-tags', 'redis-script', 'map', Operation::Get, 1.25, 'Larder\Cache over Redis over its script by hand, get of a map with tags'],
    ];
    /** The most that a call of a cache over a pool may take, over the pool's own call. */
    private const OVER_A_POOL = 2.0;
    /** What is behind the names of the cache and of the pool, the operation, and what it is called. */
    private const CALLS = [
        ['', '', Operation::Get, 'get'],
        ['', '', Operation::Set, 'set'],
        ['', '', Operation::Delete, 'delete'],
        ['-many', '-many', Operation::Get, 'getMany of twenty keys'],
        ['-remember', '-remember', Operation::Get, 'remember() on a hit'],
        ['-namespace', '', Operation::Get, 'get in a namespace'],
        ['-namespace', '', Operation::Set, 'set in a namespace'],
        ['-namespace', '', Operation::Delete, 'delete in a namespace'],
    ];
    /** What is opened, and the most that it may take: in ns, or over what it takes by hand. */
    private const OPENING = [
        'opening-shm' => ['a pool of shared memory', 35_000],
        'opening-tier' => ['APCu before SQLite', 80_000],
        'opening-sqlite' => ['an SQLite database', 1.5],
        'opening-redis' => ['a Redis server', 1.5],
    ];
    /** What stands above and below, each operation with its bound, and the title of the comparison. */
    private const ITEM_BY_ITEM = [
        ['cache-sqlite', 'sqlite-rows', [[Operation::Get, 2.0], [Operation::Set, 2.0]], 'Larder\Cache over SQLite over a prepared statement by hand'],
        ['cache-redis', 'redis-unix', [[Operation::Get, 1.25], [Operation::Set, 2.0]], 'Larder\Cache over Redis over phpredis by hand'],
    ];
    private const VALUES = [
        'string-20' => 'a string of 20 bytes', 'string-1k' => 'a string of 1 KiB', 'page' => 'a page of 30 KB', 'string-1m' => 'a string of 1 MiB', 'map' => 'a map', 'alloptions' => 'the options',
    ];

    private function __construct(private Findings $findings) {}

    /** @return array<string, list<Promise>> by the experiment that shows them */
    public static function of(Findings $findings): array
    {
        $promises = new self($findings);

        return ['gets' => $promises->library(), 'connect' => $promises->opening(), 'web' => $promises->web(), 'clients' => $promises->generator()];
    }

    /** @return list<Promise> */
    private function library(): array
    {
        $promises = [];
        foreach (self::LIBRARY as [$above, $below, $value, $operation, $bound, $title]) {
            $promises[] = $this->comparison($title, $above, $below, $value, $operation, $bound);
        }

        foreach (self::CALLS as [$above, $below, $operation, $title]) {
            $promises[] = $this->comparison("Larder\Cache over the extension's own call, {$title}", "cache-shared-memory{$above}", "shared-memory{$below}", 'string-20', $operation, self::OVER_A_POOL);
        }
        $promises[] = $this->comparison('begin() on a hit over remember() on a hit, of Larder\Cache over shared memory', 'cache-shared-memory-begin', 'cache-shared-memory-remember', 'string-20', Operation::Get, self::OVER_A_POOL);
        foreach (self::ITEM_BY_ITEM as [$above, $below, $operations, $title]) {
            foreach ($operations as [$operation, $bound]) {
                foreach (self::VALUES as $value => $name) {
                    $promises[] = $this->comparison("{$title}, {$operation->value} of {$name}", $above, $below, $value, $operation, $bound);
                }
            }
        }
        $promises[] = $this->comparison('Larder\Cache over Redis over phpredis by hand, 100 posts at once', 'cache-redis-many', 'redis-mget', 'post', Operation::Get, 1.25, 'many keys in random order');

        return [...$promises, $this->tierRequest()];
    }

    private function comparison(string $title, string $above, string $below, string $value, Operation $operation, float $bound, string $keys = 'one hot key'): Promise
    {
        $case = ['value' => $value, 'operation' => $operation->value, 'keys' => $keys];

        return Promise::atMost($title, 'time, the library\'s over the other', $this->findings->ratio('gets', 'time', $case, $above, $this->findings->spoken('gets', $below)), $bound);
    }

    /** The read of the string is counted in: it takes a small part of it. */
    private function tierRequest(): Promise
    {
        $case = ['value' => 'string-20', 'operation' => Operation::Get->value, 'keys' => 'one hot key'];
        $found = $this->findings->measurement('gets', 'time', $case, 'cache-tier-apcu-request');

        return Promise::atMost('a request and its first read from APCu before SQLite, when nothing was written', 'ns', $found === null ? null : $this->findings->median('gets', $found), 10_000);
    }

    /** @return list<Promise> */
    private function opening(): array
    {
        $promises = [];
        foreach (self::OPENING as $name => [$title, $bound]) {
            $byHand = OpeningRequests::OURS[$name];
            $added = $this->findings->measurement('connect', OpeningRequests::ADDED, OpeningRequests::CASE, $name);
            $promises[] = $byHand === null
                ? Promise::atMost("opening {$title} and one read, in a request of PHP-FPM", 'ns of processor time', $added === null ? null : $this->findings->median('connect', $added), $bound)
                : Promise::atMost("opening {$title} and one read, in a request of PHP-FPM, over the same by hand", 'processor time, the library\'s over the other', $this->findings->ratio('connect', OpeningRequests::ADDED, OpeningRequests::CASE, $name, $byHand), $bound);
        }

        return $promises;
    }

    /** @return list<Promise> */
    private function web(): array
    {
        $promises = [];
        $outcome = $this->findings->run->outcome('web');
        foreach ($outcome === null ? [] : $this->findings->cases($outcome, 'requests per second') as $case) {
            if (($case['value'] ?? '') === 'alloptions') {
                $promises[] = self::request($case, $this->findings->ratio('web', 'requests per second', $case, 'shared-memory', 'empty'));
            }
        }

        if ($promises === []) {
            $promises[] = self::request([], null);
        }
        foreach ([TierRequests::READ => 'its first read', TierRequests::OPENED => 'opening it and the first read'] as $part => $title) {
            $added = $this->findings->measurement('web', TierRequests::ADDED, TierRequests::of($part), 'cache-tier-apcu');
            $promises[] = Promise::atMost("APCu before SQLite in a request of PHP-FPM, when nothing was written: {$title}", 'ns more than APCu alone', $added === null ? null : $this->findings->median('web', $added), 10_000);
        }

        return $promises;
    }

    /** @param array<string, string> $case */
    private static function request(array $case, ?Interval $ratio): Promise
    {
        $circumstances = $case === [] ? '' : sprintf(' (concurrency %s, keep-alive %s)', $case['concurrency'] ?? '', $case['keep-alive'] ?? '');

        return Promise::reaches("a PHP-FPM script with one get of the array of options against an empty one{$circumstances}", 'requests per second, ours over the empty script\'s', $ratio, self::REQUESTS, self::WIDEST);
    }

    /** @return list<Promise> our generator beside redis-benchmark, where both of them wait for answers */
    private function generator(): array
    {
        $promises = [];
        $outcome = $this->findings->run->outcome('clients');
        foreach ($outcome === null ? [] : $this->findings->cases($outcome, Saturation::COMPARISON) as $case) {
            if ($this->isBusy($case)) {
                continue;
            }
            $server = isset($case['server']) ? ", server: {$case['server']}" : '';
            $title = sprintf('the load generator beside redis-benchmark (%s, clients: %s%s)', $case['operation'] ?? '', $case['clients'] ?? '', $server);
            $promises[] = Promise::within($title, 'operations per second, ours over theirs', $this->findings->ratio('clients', Saturation::COMPARISON, $case, 'generator', 'redis-benchmark'), 0.9, 1.1);
        }

        return $promises;
    }

    /**
     * Whether one of them hardly waited, be it in one block only.
     *
     * @param array<string, string> $case
     */
    private function isBusy(array $case): bool
    {
        foreach (['generator', 'redis-benchmark'] as $subject) {
            $measurement = $this->findings->measurement('clients', Saturation::COMPARISON, $case, $subject);
            if ($measurement !== null && max([0.0, ...$measurement->column(Saturation::SHARE)]) > CrossCheck::BUSY) {
                return true;
            }
        }

        return false;
    }
}
