<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Server\CpuMeter;
use Larder\Bench\Statistics\Direction;
use Larder\Bench\Subject\WorkerFailed;
use Larder\Bench\WordPress\ObjectCache;
use Larder\Bench\WordPress\ShopSite;

/** What WordPress's transients cost, by object cache. */
final class Transients implements Experiment
{
    public const TIME = 'time of a transient';
    public const SINGLE = 'time of a single call';
    public const CALLS = ['set', 'get', 'delete'];
    private const TRANSIENTS = 1_000;

    public function name(): string
    {
        return 'transients';
    }

    public function title(): string
    {
        return 'Transients of WordPress';
    }

    public function recreates(): string
    {
        return 'Source B sets, gets and deletes 10,000 transients of growing arrays with the object caches of several plugins, and publishes the '
            . 'mean of each call. Ours does so with 1,000 in a quick run, in a real WordPress under php-fpm, each phase a request of its own, so that '
            . 'nothing is left of the former one in its memory. The plugins are re-created by their designs; --wordpress-peers measures originals. Each '
            . 'value that is read is compared with what was set. A sample is the mean of a tenth of the calls; single calls are also timed one by one.';
    }

    public function needs(Profile $profile): Needs
    {
        return new Needs(160, 2_048, $profile === Profile::Quick ? 30 : 120);
    }

    public function run(Laboratory $laboratory, Progress $progress, Outcome $outcome): void
    {
        $isQuick = $laboratory->profile === Profile::Quick;
        $runs = $isQuick ? 2 : 3;
        $number = $isQuick ? self::TRANSIENTS : 10 * self::TRANSIENTS;
        $outcome->parameters = ['runs' => $runs, 'transients' => $number, 'calls a sample' => intdiv($number, 10)];
        $sites = Sites::open($laboratory, $outcome, 20, [ObjectCache::LIMIT, ObjectCache::REDIS_KEYS]);
        if ($sites === null) {
            return;
        }
        $progress->begin($this->title(), $runs);
        for ($run = 0; $run < $runs; $run++) {
            $progress->advance('run ' . ($run + 1) . " of {$runs}");
            $sites->reopen();
            foreach (Shuffled::of($sites->sites) as $name => $site) {
                $laboratory->goOn();
                try {
                    $this->measure($outcome, $name, $site, $run, $number);
                } catch (WorkerFailed $failure) {
                    $sites->drop($name, $failure);
                }
            }
        }
        $progress->end();
    }

    private function measure(Outcome $outcome, string $name, ShopSite $site, int $run, int $number): void
    {
        // A cache in use has touched its memory before, which costs page faults once in its life, and the worker has compiled what it runs.
        foreach (self::CALLS as $call) {
            $site->visit('transients', ['number' => $number, 'phase' => $call, 'block' => $number]);
        }
        $site->visit('flush');
        foreach (self::CALLS as $call) {
            $found = $site->visit('transients', ['number' => $number, 'phase' => $call, 'block' => intdiv($number, 10)]);
            if ($found->has('wrong')) {
                throw WorkerFailed::said($outcome->titles[$name] ?? $name, $found->string('wrong'));
            }
            $times = $found->numbers('times');
            $cpu = $found->rows('cpu');
            foreach (array_chunk($times, max(1, intdiv($number, 10))) as $block => $some) {
                $outcome->measurement(['call' => $call], self::TIME, 'ns per call', Direction::LowerIsBetter, $name, columns: CpuMeter::COLUMNS)
                    ->add($run, $block, array_sum($some) / \count($some), ...$cpu[$block] ?? [0.0, 0.0]);
            }
            if ($run === 0) {
                foreach (\array_slice($times, 0, self::TRANSIENTS) as $index => $time) {
                    $outcome->measurement(['call' => $call], self::SINGLE, 'ns per call', Direction::LowerIsBetter, $name)->add(0, $index, $time);
                }
            }
        }
    }
}
