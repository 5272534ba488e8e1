<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Finding;

use Larder\Bench\Experiment\Full;
use Larder\Bench\Experiment\HostCache;
use Larder\Bench\Experiment\HostPages;
use Larder\Bench\Experiment\Hosts;
use Larder\Bench\Experiment\Measurement;
use Larder\Bench\Experiment\Outcome;
use Larder\Bench\Experiment\PageCaches;
use Larder\Bench\Experiment\Pages;
use Larder\Bench\Experiment\Pins;
use Larder\Bench\Experiment\Saturation;
use Larder\Bench\Experiment\Shapes;
use Larder\Bench\Experiment\Tags;
use Larder\Bench\Experiment\TierRequests;
use Larder\Bench\Experiment\Transients;
use Larder\Bench\Finding\Run;
use Larder\Bench\Statistics\Direction;
use Larder\Bench\WordPress\ObjectCache;
use Larder\Bench\WordPress\PageCacheDesign;

/** Builds runs of which every figure is known. */
final class RunFixture
{
    /** @var array<string, Outcome> */
    private array $outcomes = [];

    /** @param array<string, float> $times ns of the empty loop included, by subject */
    public function gets(string $value, string $operation, array $times): self
    {
        foreach ($times as $subject => $time) {
            $this->add('gets', ['value' => $value, 'operation' => $operation, 'keys' => 'one hot key'], 'time', Direction::LowerIsBetter, $subject, $time);
        }

        return $this;
    }

    public function with(Outcome $outcome): self
    {
        $this->outcomes[$outcome->name] = $outcome;

        return $this;
    }

    /** @param array<string, string|int> $parameters */
    public function parameters(string $experiment, array $parameters): self
    {
        $this->outcomes[$experiment] ??= new Outcome($experiment, ucfirst($experiment), 'Re-creates nothing.');
        $this->outcomes[$experiment]->parameters = $parameters;

        return $this;
    }

    /**
     * @param array<string, string> $case
     * @param float|null $share of its processor that a load generator used; null: there was none
     * @param float $server processor time of the server for an operation, in ns
     */
    public function add(string $experiment, array $case, string $metric, Direction $direction, string $subject, float $value, float $spread = 0.01, ?float $share = null, float $server = 0.0): self
    {
        $this->outcomes[$experiment] ??= new Outcome($experiment, ucfirst($experiment), 'Re-creates nothing.', ['blocks' => 3]);
        $unit = $metric === 'time' ? 'ns per operation' : $metric;
        $measurement = new Measurement($case, $metric, $unit, $direction, $subject, false, ['operations', 'client cpu', 'server cpu', ...($share === null ? [] : [Saturation::SHARE])]);
        for ($process = 0; $process < 2; $process++) {
            foreach ([1 - $spread, 1.0, 1 + $spread] as $block => $factor) {
                // Subjects with the same spread are disturbed alike, so that their ratios are exact.
                $measurement->add($process, $block, $value * $factor, 1000, $value, $server * $factor, ...($share === null ? [] : [$share]));
            }
        }
        $this->outcomes[$experiment]->measurements[] = $measurement;

        return $this;
    }

    /**
     * A run in which every promise is measured.
     *
     * @param float $ours what our times are in terms of those of the best others: below 1 Larder wins
     */
    public function contest(float $ours): self
    {
        $this->contestOfReads($ours);
        $this->contestOfPools($ours);
        $this->contestOfWordPress($ours);
        $this->contestOfPageCaches($ours);
        foreach (['1', '50'] as $concurrency) {
            $case = ['value' => 'alloptions', 'keep-alive' => 'on', 'concurrency' => $concurrency];
            $this->rates('web', $case, 'requests per second', ['empty' => 1000.0, 'shared-memory' => $ours < 1 ? 990.0 : 900.0]);
        }
        foreach ([TierRequests::READ, TierRequests::OPENED] as $part) {
            $this->add('web', TierRequests::of($part), TierRequests::ADDED, Direction::LowerIsBetter, 'cache-tier-apcu', $ours < 1 ? 6_000.0 : 30_000.0);
        }
        $case = ['operation' => 'GET', 'clients' => '1'];
        $this->rates('clients', $case, 'rate seen by two generators', ['generator' => $ours < 1 ? 1000.0 : 800.0, 'redis-benchmark' => 1000.0]);

        return $this;
    }

    private function contestOfReads(float $ours): void
    {
        // The least that any other takes is an array's; servers take most.
        $others = [
            'array-object' => 25.0, 'apcu-php' => 12_000.0, 'apcu-igbinary' => 13_000.0, 'sqlite' => 20_000.0, 'sqlite-apcu' => 14_000.0, 'file-disk' => 30_000.0,
            'file-tmpfs' => 30_000.0, 'redis-unix' => 40_000.0, 'redis-tcp' => 60_000.0, 'memcached-tcp' => 60_000.0, 'memcached-unix' => 60_000.0,
        ];
        $one = $ours < 1 ? 15.0 : 900_000.0;
        $library = $ours < 1 ? 1.1 : 4.0;
        foreach (['-many', '-remember'] as $call) {
            $this->gets('string-20', 'get', ["shared-memory{$call}" => 40.0, "cache-shared-memory{$call}" => $library * 40.0]);
        }
        $this->gets('string-20', 'get', ['cache-shared-memory-begin' => $library * $library * 40.0]);
        $this->gets('string-20', 'delete', ['shared-memory' => 40.0, 'cache-shared-memory' => $library * 40.0, 'cache-shared-memory-namespace' => $library * 40.0]);
        foreach (['list', 'list-100k', 'map', 'alloptions', 'product', 'string-20', 'string-1k', 'string-1m', 'post', 'entity', 'page'] as $value) {
            foreach (['get', 'get and look up', 'set'] as $operation) {
                $this->gets($value, $operation, [
                    'none' => $ours < 1 ? 0.1 : 30.0, ...array_map(static fn(float $time): float => $time + ($ours < 1 ? 0.1 : 30.0), [
                        ...$others, 'shared-memory' => $one, 'shared-memory-tags' => $one, 'cache-shared-memory' => $library * $one, 'cache-shared-memory-namespace' => $library * $one,
                        'cache-sqlite' => $library * 20_000.0, 'sqlite-rows' => 20_000.0, 'cache-redis' => $library * 40_000.0,
                        'cache-redis-predis' => $library * 45_000.0, 'redis-predis-unix' => 45_000.0,
                        'redis-script' => 50_000.0, 'cache-redis-tags' => $library * 50_000.0,
                        'cache-apcu' => 200.0, 'cache-tier-apcu' => $library * 200.0, 'cache-tier-apcu-request' => $library * 4_000.0,
                    ]),
                ]);
            }
            foreach ([...$others, 'shared-memory' => $one, 'redis-mget' => 500.0, 'cache-redis-many' => $library * 500.0] as $subject => $time) {
                $this->add('gets', ['value' => $value, 'operation' => 'get', 'keys' => 'many keys in random order'], 'time', Direction::LowerIsBetter, $subject, $time);
            }
        }
    }

    private function contestOfWordPress(float $ours): void
    {
        $others = [ObjectCache::NONE, ...ObjectCache::RIVALS];
        foreach (Transients::CALLS as $call) {
            foreach ([...array_fill_keys($others, 2_000.0), ...array_fill_keys(ObjectCache::OURS, 2_000.0 * $ours)] as $subject => $time) {
                $this->add('transients', ['call' => $call], Transients::TIME, Direction::LowerIsBetter, $subject, $time);
            }
        }
        $pages = [[Pages::CATALOGUE, Pages::WARM, 0.7], [Pages::FRONT, Pages::WARM, 0.7], [Pages::FRONT, Pages::COLD, 1.1], [Pages::SAVE, Pages::WARM, 1.1]];
        foreach ($pages as [$page, $cache, $share]) {
            $times = [ObjectCache::NONE => 30e6, ObjectCache::LIMIT => 20.8e6, ...array_fill_keys(ObjectCache::RIVALS, 26e6), ...array_fill_keys(ObjectCache::OURS, 30e6 * ($ours < 1 ? $share : 2.0))];
            foreach ($times as $subject => $time) {
                $this->add('pages', ['cache' => $cache, 'page' => $page], Pages::CPU, Direction::LowerIsBetter, $subject, $time, 0.001);
            }
        }
    }

    private function contestOfPageCaches(float $ours): void
    {
        $ourDesigns = [PageCacheDesign::POOL_QUICK, PageCacheDesign::POOL, PageCacheDesign::FILES_QUICK, PageCacheDesign::FILES, PageCacheDesign::REDIS];
        foreach (PageCaches::CONCURRENCY as $concurrency) {
            $case = ['page' => PageCaches::PROMISED, 'concurrency' => (string) $concurrency, 'keep-alive' => 'on'];
            foreach ([PageCacheDesign::EMPTY => 100e3, ...array_fill_keys(PageCacheDesign::RIVALS, 250e3), ...array_fill_keys($ourDesigns, $ours < 1 ? 140e3 : 900e3)] as $subject => $time) {
                $this->add('pagecache', $case, PageCaches::CPU, Direction::LowerIsBetter, $subject, $time);
            }
        }
        foreach ($ourDesigns as $subject) {
            $this->add('pagecache', PageCaches::AFTER_A_PURGE, PageCaches::MADE, Direction::LowerIsBetter, $subject, $ours < 1 ? 1.0 : 4.0, 0.0);
            $this->add('pagecache', PageCaches::WHILE_SAVED, PageCaches::FRESH, Direction::HigherIsBetter, $subject, $ours < 1 ? 1.0 : 0.9, 0.0);
        }
        $this->rates('pagecache', PageCaches::WHILE_SAVED, PageCaches::RATE, [PageCacheDesign::POOL => $ours < 1 ? 4_000.0 : 300.0, PageCacheDesign::POOL_CLEARED => 300.0]);
    }

    private function contestOfPools(float $ours): void
    {
        $this->rates('memory', ['limit' => '64 MiB', 'key' => '20 bytes', 'value' => '20 bytes'], 'items', ['shared-memory' => $ours < 1 ? 730_000.0 : 500_000.0]);
        foreach (['orm-busy', 'web07'] as $trace) {
            foreach (['1 %', '5 %', '10 %', '25 %'] as $capacity) {
                $case = ['trace' => $trace, 'store' => 'shared-memory', 'capacity' => $capacity];
                foreach (['shared-memory' => $ours < 1 ? 0.11 : 0.14, 'LRU' => 0.12, 'S3-FIFO' => 0.11] as $subject => $ratio) {
                    $this->add('traces', $case, 'miss ratio', Direction::LowerIsBetter, $subject, $ratio);
                }
            }
        }
        foreach (['reads only', '95 % reads'] as $mix) {
            $this->rates('scale', ['mix' => $mix, 'processes' => '1'], 'rate', ['shared-memory' => 100.0, 'array' => 1000.0]);
            $this->rates('scale', ['mix' => $mix, 'processes' => '2'], 'rate', ['shared-memory' => $ours < 1 ? 195.0 : 150.0, 'array' => 2000.0]);
        }
        foreach (['p50' => 1.0, 'p99.9' => $ours < 1 ? 15.0 : 25.0, 'p99.99' => $ours < 1 ? 80.0 : 125.0] as $percentile => $time) {
            foreach ([Full::SET, Full::SMALL_SET] as $metric) {
                $this->add('full', ['percentile' => $percentile], $metric, Direction::LowerIsBetter, 'shared-memory', 300 * $time);
            }
        }
        foreach (['28', '64', '200'] as $workers) {
            foreach ([Pins::FOUND, Pins::STORED] as $metric) {
                $this->rates('pins', ['php-fpm workers' => $workers], $metric, [Pins::IN_PLACE => $ours < 1 ? 0.95 : 0.8, Pins::COPIED => 0.93]);
            }
        }
        $this->rates('pins', ['workers that never end' => '20'], Pins::LEFT, [Pins::IN_PLACE => $ours < 1 ? 8_500.0 : 4_000.0, Pins::COPIED => 9_000.0]);
        $this->rates('pins', ['beside' => 'a process that read while it was alone'], Pins::UNCOPIED, [Pins::IN_PLACE => $ours < 1 ? 0.97 : 0.05]);
        $this->contestOfHosts($ours);
        foreach (['get' => 0.03, 'set' => 0.7] as $operation => $share) {
            foreach (['tree', 'models'] as $value) {
                $case = ['value' => $value, 'operation' => $operation, 'keys' => 'one hot key'];
                foreach (['shared-memory' => 10_000.0 * ($ours < 1 ? $share : 2.0), 'apcu-php' => 10_000.0] as $subject => $time) {
                    $this->add('shapes', $case, 'time', Direction::LowerIsBetter, $subject, $time);
                }
            }
        }
        foreach (['shared-memory' => $ours < 1 ? 1_000.0 : 20_000.0, 'apcu-php' => 10_000.0] as $subject => $time) {
            $this->add('shapes', ['value' => 'tree'], Shapes::ONE, Direction::LowerIsBetter, $subject, $time);
        }
        foreach (['1' => 60.0, '1,000,000' => $ours < 1 ? 60.0 : 60_000.0] as $items => $time) {
            $this->add('tags', ['tagged items' => (string) $items], Tags::INVALIDATE, Direction::LowerIsBetter, 'shared-memory', $time);
            $this->add('tags', ['tagged items' => (string) $items], Tags::LIVE, Direction::LowerIsBetter, 'shared-memory', $ours < 1 ? 400.0 : 60_000.0);
        }
        foreach (['shared-memory', 'cache-shared-memory', 'cache-apcu', 'cache-sqlite', 'cache-file', 'cache-php-file', 'cache-tier-apcu', 'cache-tier-shared-memory', 'cache-redis', 'cache-redis-near', 'cache-redis-cluster', 'cache-memcached'] as $design) {
            foreach (['200,000' => $ours < 1 ? 350.0 : 35_000.0, '200' => 330.0] as $items => $time) {
                $this->add('tags', ['items in the store' => (string) $items], Tags::CLEAN, Direction::LowerIsBetter, $design, $time);
            }
        }
        foreach ([true, false] as $isCarried) {
            $this->add('tags', Tags::caseOfLeft(10, $isCarried), Tags::LEFT, Direction::HigherIsBetter, 'shared-memory', $ours < 1 ? 0.998 : ($isCarried ? 0.9 : 0.98), 0.001);
        }
        $this->contestOfAdapters($ours);
        $designs = ['tag-files' => [50_000.0, 500.0, 0.4], 'tag-sets' => [20_000.0, 3_000.0, 400.0], 'memcached-tag-sets' => [30_000.0, 2_000.0, 90.0], 'cache-redis-near' => $ours < 1 ? [5_000.0, 4_000.0, 60_000.0] : [9_000.0, 1_000.0, 300.0]];
        foreach (['shared-memory' => $ours < 1 ? [3e6, 9e5, 5e6] : [100.0, 100.0, 0.1], ...$designs] as $design => $rates) {
            foreach (['reads' => 0, 'writes' => 1, 'cleans by tag' => 2, Tags::REFILLS => 1] as $metric => $index) {
                $this->rates('tags', ['items' => '200,000'], $metric, [$design => $rates[$index]]);
            }
        }
    }

    private function contestOfHosts(float $ours): void
    {
        foreach (['0 ms' => [70e3, 13e6, 23e6], '0.25 ms' => [400e3, 14e6, 90e6]] as $delay => [$get, $mget, $gets]) {
            $its = [HostCache::TIER_POOL => $ours < 1 ? $get : 20 * $get, HostPages::GET => $get, HostPages::MGET => $mget, HostPages::GETS => $gets];
            foreach ($its as $subject => $time) {
                $this->add('hosts', ['delay' => $delay], Hosts::TIME, Direction::LowerIsBetter, $subject, $time);
            }
            foreach ([HostCache::TIER_POOL => $ours < 1 ? 160.0 : 800.0, 'shared-memory' => 150.0] as $subject => $time) {
                $this->add('hosts', ['delay' => $delay], Hosts::HIT, Direction::LowerIsBetter, $subject, $time);
            }
        }
        foreach (Hosts::SIMULATED as $hosts) {
            $this->add('hosts', ['following hosts' => $hosts], Hosts::WORK, Direction::LowerIsBetter, 'redis', $ours < 1 ? 65e3 : 65e3 * (int) $hosts);
        }
        foreach ([HostCache::TIER_APCU, HostCache::TIER_POOL] as $subject) {
            $this->add('hosts', Hosts::case(4, '0.25 ms', '99 %'), Hosts::STALE, Direction::LowerIsBetter, $subject, $ours < 1 ? 0.0 : 3.0);
        }
    }

    private function contestOfAdapters(float $ours): void
    {
        $all = ['items' => '200,000'];
        foreach (['magento', 'symfony', 'laravel'] as $framework) {
            $this->rates('tags', $all, Tags::HITS, ["{$framework}-shared-memory" => $ours < 1 ? 1e6 : 1e4]);
            $this->rates('tags', $all, Tags::HITS_IN_REQUESTS, ["{$framework}-shared-memory" => $ours < 1 ? 1e6 : 1e4]);
            $this->rates('tags', $all, 'writes', ["{$framework}-shared-memory" => $ours < 1 ? 1e5 : 1e3]);
            $this->rates('tags', $all, 'cleans by tag', ["{$framework}-shared-memory" => $ours < 1 ? 1e6 : 1e3]);
            $this->add('tags', ['items in the store' => '200,000'], Tags::CLEAN, Direction::LowerIsBetter, "{$framework}-shared-memory", $ours < 1 ? 350.0 : 35_000.0);
            $this->add('tags', ['items in the store' => '200'], Tags::CLEAN, Direction::LowerIsBetter, "{$framework}-shared-memory", 330.0);
            $this->add('tags', Tags::AFTER_CLEANS, Tags::TAKEN, Direction::LowerIsBetter, "{$framework}-shared-memory", $ours < 1 ? 1.0 : 1.3, 0.001);
        }
        $this->rates('tags', $all, Tags::HITS, [
            'tag-files' => 60_000.0, 'tag-sets' => 40_000.0, 'symfony-own-redis' => 30_000.0, 'symfony-own-tags-apcu' => 90_000.0, 'laravel-own-redis' => 35_000.0, 'laravel-own-apcu' => 100_000.0,
            'cache-redis-near' => $ours < 1 ? 45_000.0 : 9_000.0,
            'cache-tier-shared-memory-redis' => $ours < 1 ? 1.2e6 : 700_000.0,
            ...array_fill_keys(['magento-redis', 'magento-redis-near', 'symfony-redis', 'symfony-redis-near', 'laravel-redis', 'laravel-redis-near'], $ours < 1 ? 45_000.0 : 9_000.0),
            'symfony-apcu' => $ours < 1 ? 95_000.0 : 9_000.0,
        ]);
        $this->rates('tags', $all, Tags::HITS_IN_REQUESTS, ['symfony-own-redis' => 30_000.0, 'symfony-own-tags-apcu' => 80_000.0, 'laravel-own-redis' => 35_000.0, 'laravel-own-apcu' => 100_000.0]);
        $this->rates('tags', $all, 'reads', ['cache-tier-shared-memory-redis' => $ours < 1 ? 500_000.0 : 300_000.0]);
        $this->rates('tags', $all, 'cleans by tag', ['symfony-own-redis' => 800.0]);
        $this->rates('tags', ['items' => '20,000'], 'cleans by tag', ['symfony-own-files' => 60.0]);
        $this->rates('tags', ['items' => '20,000'], Tags::HITS, ['symfony-own-files' => 120_000.0]);
        foreach (['symfony-shared-memory' => $ours < 1 ? 300.0 : 700.0, 'symfony-array' => 320.0, 'laravel-shared-memory' => $ours < 1 ? 120.0 : 250.0, 'cache-shared-memory' => 80.0] as $subject => $time) {
            $this->add('tags', Tags::ONE_ITEM, Tags::GET, Direction::LowerIsBetter, $subject, $time);
        }
    }

    /**
     * @param array<string, string> $case
     * @param array<string, float> $rates by subject
     */
    private function rates(string $experiment, array $case, string $metric, array $rates): void
    {
        foreach ($rates as $subject => $rate) {
            $this->add($experiment, $case, $metric, Direction::HigherIsBetter, $subject, $rate);
        }
    }

    public function run(): Run
    {
        $subjects = [];
        foreach (['none' => 'yardstick', 'array-object' => 'yardstick', 'shared-memory' => 'memory', 'apcu-php' => 'memory', 'apcu-igbinary' => 'memory', 'redis-tcp' => 'server', 'memcached-tcp' => 'server', 'memcached-unix' => 'server', 'file-disk' => 'files', 'file-tmpfs' => 'files'] as $name => $family) {
            $subjects[$name] = ['title' => strtoupper($name), 'family' => $family, 'settings' => ['apc.serializer' => 'php']];
        }

        return new Run(
            'bin/larder bench',
            'quick',
            '2024-05-01T10:00:00Z',
            ['processor' => 'A <fine> one'],
            'clients on processor 0',
            ['opcache.enable' => '1'],
            $subjects,
            ['PHP' => '8.2'],
            ['redis' => ['version' => '7', 'command' => 'redis-server']],
            array_values($this->outcomes),
            12.5,
            true,
        );
    }
}
