<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Fields;
use Larder\Bench\FileSystem;
use Larder\Bench\Server\RedisFlavour;
use Larder\Bench\Server\RedisServer;
use Larder\Bench\Server\ServerFailed;
use Larder\Bench\Statistics\Direction;
use Larder\Bench\Subject\TemporaryDirectory;
use Larder\Bench\Subject\WorkerFailed;

/** Several hosts in front of one Redis: what a request costs each, and whether it reads what is stale. */
final class Hosts implements Experiment
{
    public const REQUESTS = 'requests';
    public const TRIPS = 'round trips';
    public const STALE = 'stale reads';
    public const TIME = 'time of a request of 200 pages';
    public const HIT = 'time of a read in the request';
    public const WORK = 'processor time of Redis';
    /** Milliseconds that the network adds to a round trip. */
    public const DELAYS = ['0 ms' => 0, '0.25 ms' => 250, '1 ms' => 1_000];
    public const SIMULATED = ['1', '2', '4', '64'];
    /** Writes in 1,000. */
    private const MIXES = ['90 %' => 100, '99 %' => 10, '99.9 %' => 1];
    private const HOSTS = [1, 2, 4];
    private const NEEDS = [
        HostCache::REDIS => 'redis-tcp', HostCache::APCU => 'redis-tcp', HostCache::CHAIN => 'redis-tcp',
        HostCache::TIER_APCU => 'cache-tier-apcu-redis', HostCache::TIER_POOL => 'cache-tier-shared-memory-redis',
    ];

    public function name(): string
    {
        return 'hosts';
    }

    public function title(): string
    {
        return 'Several hosts in front of one Redis';
    }

    public function recreates(): string
    {
        return 'Nothing published. One, two and four hosts, which are network namespaces with a memory of their own, read and write through one Redis: '
            . 'alone, behind an APCu that is told of nothing, behind Symfony\'s chain of the two, and behind near stores that follow a log. A checker counts the reads that were stale. '
            . 'A program on the way to Redis adds the delay, as not every kernel can (netem).';
    }

    public function needs(Profile $profile): Needs
    {
        return $profile === Profile::Quick ? new Needs(0, 1_024, 70) : new Needs(0, 1_024, 270);
    }

    public function run(Laboratory $laboratory, Progress $progress, Outcome $outcome): void
    {
        $isQuick = $laboratory->profile === Profile::Quick;
        [$seconds, $starts, $blocks] = $isQuick ? [0.3, 2, 8] : [1.0, 4, 20];
        $cases = self::cases();
        $outcome->parameters = [
            'keys' => HostRequests::KEYS, 'steps of a request' => HostRequests::READS, 'order of keys' => 'Zipf, exponent 1', 'seconds of a turn' => (string) $seconds, 'starts' => $starts,
            'pages of a large request' => HostPages::PAGES, 'blocks of large requests' => $blocks, 'seconds that APCu and the chain keep' => HostCache::KEPT,
        ];
        $outcome->titles = [...HostCache::TITLES, HostPages::GET => 'one GET of a page', HostPages::MGET => 'one MGET of 200 pages', HostPages::GETS => '200 GETs', 'shared-memory' => 'shared memory alone'];
        $subjects = $this->subjects($laboratory, $outcome);
        if ($subjects === []) {
            return;
        }
        $outcome->notes[] = 'The delay is that of a program on the way to Redis, not of the network itself. It adds about 25 µs of its own to a round trip; without a delay hosts reach Redis directly.';
        $progress->begin($this->title(), $starts * count($cases) + count(self::DELAYS) + 1);
        try {
            $network = new HostNetwork(max(self::HOSTS));
            for ($start = 0; $start < $starts; $start++) {
                foreach ($cases as [$hosts, $delay, $mix]) {
                    $progress->advance("{$hosts} hosts, {$delay}, {$mix} reads");
                    foreach (Shuffled::of($subjects) as $subject) {
                        $laboratory->goOn();
                        $this->turn($laboratory, $outcome, $network, $subject, $hosts, $delay, $mix, $start, $seconds);
                    }
                }
            }
            foreach (array_keys(self::DELAYS) as $delay) {
                $progress->advance("200 pages, {$delay}");
                $laboratory->goOn();
                $this->pages($laboratory, $outcome, $network, $delay, $blocks);
            }
            $progress->advance('writes that many hosts follow');
            $this->followers($laboratory, $outcome, $network, $blocks);
        } catch (HostsFailed|ServerFailed $failure) {
            foreach ($subjects as $subject) {
                $outcome->lack($subject, $failure->getMessage());
            }
        }
        $progress->end();
    }

    /** @return list<array{int, string, string}> hosts, delay, reads */
    private static function cases(): array
    {
        $cases = [];
        foreach (self::HOSTS as $hosts) {
            foreach (array_keys(self::DELAYS) as $delay) {
                foreach (array_keys(self::MIXES) as $mix) {
                    // One is varied at a time.
                    if (($hosts !== 2) + ($delay !== '0.25 ms') + ($mix !== '99 %') <= 1) {
                        $cases[] = [$hosts, $delay, $mix];
                    }
                }
            }
        }

        return $cases;
    }

    /** @return list<string> those that can be measured here */
    private function subjects(Laboratory $laboratory, Outcome $outcome): array
    {
        $subjects = [];
        $lack = HostNetwork::lack();
        foreach (self::NEEDS as $name => $needs) {
            if ($lack !== null) {
                $outcome->lack($name, $lack);
            } elseif ($name === HostCache::CHAIN && !class_exists(\Symfony\Component\Cache\Adapter\ChainAdapter::class)) {
                $outcome->lack($name, 'the package symfony/cache is not installed: bring the packages in line with composer.json (make vendor, or composer update)');
            } elseif (in_array($name, [HostCache::APCU, HostCache::CHAIN], true) && !extension_loaded('apcu')) {
                $outcome->lack($name, 'PHP has no APCu: install the package php-apcu');
            } elseif ($outcome->includes($laboratory, $name, $needs)) {
                $subjects[] = $name;
            }
        }

        return $subjects;
    }

    /** @return array<string, string> */
    public static function case(int $hosts, string $delay, string $mix): array
    {
        return ['hosts' => (string) $hosts, 'delay' => $delay, 'reads' => $mix];
    }

    /**
     * @throws HostsFailed
     * @throws ServerFailed
     */
    private function turn(Laboratory $laboratory, Outcome $outcome, HostNetwork $network, string $subject, int $hosts, string $delay, string $mix, int $start, float $seconds): void
    {
        $folder = TemporaryDirectory::make(FileSystem::onDisk());
        $server = self::redis($laboratory->placement->server, $network);
        $relay = self::DELAYS[$delay] === 0 ? null : new Relay($network->address(), $server->port, self::DELAYS[$delay], $laboratory->placement->server);
        try {
            $running = [];
            for ($host = 0; $host < $hosts; $host++) {
                $running[] = ChildProcess::start($outcome->titles[$subject], HostRequests::class, [
                    'folder' => $folder->path, 'host' => $host, 'hosts' => $hosts, 'subject' => $subject, 'address' => $network->address(), 'port' => $relay->port ?? $server->port, 'server port' => $server->port,
                    'milliseconds' => (int) (1e3 * $seconds), 'writes in 1,000' => self::MIXES[$mix], 'seed' => 1 + 100 * $start + $host,
                ], ['memory_limit' => '1G', 'apc.shm_size' => '64M'], $network->on($host));
            }
            $trips = $relay === null ? null : self::counted($laboratory, $relay, $folder->path, $hosts);
            $found = array_map(static fn(ChildProcess $process): Fields => $process->answer($laboratory->isInterrupted(...)), $running);
        } catch (WorkerFailed $failure) {
            $outcome->fail($subject, $failure);

            return;
        } finally {
            $server->stop();
        }
        $case = self::case($hosts, $delay, $mix);
        $sum = static fn(string $name): int => array_sum(array_map(static fn(Fields $its): int => $its->int($name), $found));
        $rate = array_sum(array_map(static fn(Fields $its): float => $its->int('requests') / $its->float('seconds'), $found));
        $outcome->measurement($case, self::REQUESTS, 'requests per second', Direction::HigherIsBetter, $subject)->add(0, $start, $rate);
        $outcome->measurement($case, self::STALE, 'of a million reads', Direction::LowerIsBetter, $subject, columns: ['reads', 'stale'])
            ->add(0, $start, 1e6 * $sum('stale') / max(1, $sum('reads')), $sum('reads'), $sum('stale'));
        if ($trips !== null) {
            $outcome->measurement($case, self::TRIPS, 'a request', Direction::LowerIsBetter, $subject)->add(0, $start, $trips / max(1, $sum('requests')));
        }
    }

    /**
     * @param list<string> $placement a command that runs its arguments
     * @throws ServerFailed
     */
    public static function redis(array $placement, HostNetwork $network): RedisServer
    {
        return RedisServer::start(RedisFlavour::installed() ?? RedisFlavour::Redis, placement: $placement, options: ['--bind', "127.0.0.1 {$network->address()}", '--protected-mode', 'no', '--maxmemory-policy', 'noeviction']);
    }

    /** @return int round trips from when all hosts were warm to when the first was done */
    private static function counted(Laboratory $laboratory, Relay $relay, string $folder, int $hosts): int
    {
        $before = 0;
        foreach (['warm' => $hosts, 'done' => 1] as $where => $count) {
            // A host that has failed is not waited for. A killed one does not say so.
            $until = microtime(true) + HostRequests::TIMEOUT;
            while (count(glob("{$folder}/{$where}-*") ?: []) < $count && glob("{$folder}/failed-*") === [] && microtime(true) < $until) {
                $laboratory->goOn();
                usleep(500);
            }
            $before = $where === 'warm' ? $relay->trips() : $relay->trips() - $before;
        }

        return $before;
    }

    /**
     * @throws HostsFailed
     * @throws ServerFailed
     */
    private function pages(Laboratory $laboratory, Outcome $outcome, HostNetwork $network, string $delay, int $blocks): void
    {
        if (isset($outcome->leftOut[HostCache::TIER_POOL])) {
            return;
        }
        $server = self::redis($laboratory->placement->server, $network);
        $relay = self::DELAYS[$delay] === 0 ? null : new Relay($network->address(), $server->port, self::DELAYS[$delay], $laboratory->placement->server);
        try {
            $found = ChildProcess::start(
                $outcome->titles[HostCache::TIER_POOL],
                HostPages::class,
                ['address' => $network->address(), 'port' => $relay->port ?? $server->port, 'blocks' => $blocks],
                ['memory_limit' => '1G'],
                [...$laboratory->placement->client, ...$network->on(0)],
            )->answer($laboratory->isInterrupted(...));
        } catch (WorkerFailed $failure) {
            $outcome->fail(HostCache::TIER_POOL, $failure);

            return;
        } finally {
            $server->stop();
        }
        foreach ($found->objects('blocks') as $block => $its) {
            foreach ([HostPages::TIER => HostCache::TIER_POOL, HostPages::GET => HostPages::GET, HostPages::MGET => HostPages::MGET, HostPages::GETS => HostPages::GETS] as $way => $subject) {
                $outcome->measurement(['delay' => $delay], self::TIME, 'ns', Direction::LowerIsBetter, $subject)->add(0, $block, $its->float($way));
            }
            foreach ([HostPages::NEAR => HostCache::TIER_POOL, HostPages::ALONE => 'shared-memory'] as $way => $subject) {
                $outcome->measurement(['delay' => $delay], self::HIT, 'ns', Direction::LowerIsBetter, $subject)->add(0, $block, $its->float($way));
            }
        }
    }

    /** @throws ServerFailed */
    private function followers(Laboratory $laboratory, Outcome $outcome, HostNetwork $network, int $blocks): void
    {
        $server = self::redis($laboratory->placement->server, $network);
        try {
            $found = $laboratory->task('Larder\Cache over arrays before Redis', HostFollowers::class, ['address' => '127.0.0.1', 'port' => $server->port, 'blocks' => $blocks]);
        } catch (WorkerFailed $failure) {
            $outcome->notes[] = $failure->getMessage();

            return;
        } finally {
            $server->stop();
        }
        foreach ($found->objects('blocks') as $block => $its) {
            foreach (self::SIMULATED as $hosts) {
                $outcome->measurement(['following hosts' => $hosts], self::WORK, 'ns a write', Direction::LowerIsBetter, 'redis')->add(0, $block, $its->float($hosts));
            }
        }
    }
}
