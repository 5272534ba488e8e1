<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Experiment\Raw\RawStores;
use Larder\Bench\Fields;
use Larder\Bench\Server\CpuMeter;
use Larder\Bench\Server\ServerFailed;
use Larder\Bench\Statistics\Direction;
use Larder\Bench\Subject\WorkerFailed;

/** What happens when the cache is full: what stays, what it costs, and whether everything is thrown away at once. */
final class Full implements Experiment
{
    public const SET = 'time of a set in a full cache';
    public const SMALL_SET = 'time of a set of a small value in a full cache';
    /** Of reads, the check of what they found, the stores of what was missing and, every 500 operations, a look at the number of items. */
    public const CPU = 'processor time of an operation in a full cache, client and server';
    public const OVER_TIME = 'hit ratio over time';
    /** Of a value, at first; those of the second half are four times as large. */
    private const BYTES = 8_000;
    private const SMALL_BYTES = 100;
    /** What stores in microseconds, so that a full cache's housekeeping is what its longest stores take. */
    private const IN_PROCESS = [RawStores::SHARED_MEMORY, RawStores::APCU];

    public function name(): string
    {
        return 'full';
    }

    public function title(): string
    {
        return 'When the cache is full';
    }

    public function recreates(): string
    {
        return 'The sources claim that Redis keeps to its limit and chooses what goes by LRU or LFU, and that APCu has room for '
            . 'some 4,096 items (which is a hint for its hash table, not a limit); none of them measures a full cache. '
            . 'Ours reads keys of a popularity that falls with their rank (Zipf, exponent 0.9) and stores what is missing, four times '
            . 'as many as fit. In the second half new values are four times as large, which a store that divides its '
            . 'memory by sizes cannot follow at once.';
    }

    public function needs(Profile $profile): Needs
    {
        return new Needs(80, 512, $profile === Profile::Quick ? 51 : 240);
    }

    public function run(Laboratory $laboratory, Progress $progress, Outcome $outcome): void
    {
        $isQuick = $laboratory->profile === Profile::Quick;
        $runs = $isQuick ? 2 : 4;
        $comparedRuns = $isQuick ? 1 : 2;
        // What is kept is compared over the same operations of all; times are of as many as a store does in some seconds.
        $compared = ['operations' => $isQuick ? 50_000 : 100_000, 'milliseconds' => 20_000];
        $timed = ['operations' => $isQuick ? 400_000 : 2_000_000, 'milliseconds' => $isQuick ? 1_000 : 3_000];
        // Memcached needs 16 MiB for its largest items.
        $megabytes = $isQuick ? 16 : 64;
        $outcome->parameters = [
            'limit' => "{$megabytes} MiB", 'bytes of a value' => '8,000, then 32,000', 'bytes of a small value' => '100, then 400', 'operations that are compared' => $compared['operations'],
            'operations that are timed, at most' => $timed['operations'], 'seconds of these, at most' => (string) ($timed['milliseconds'] / 1_000), 'runs that are compared' => $comparedRuns, 'runs that are timed' => $runs,
        ];
        $plan = $this->plan();
        $outcome->titles = array_map(static fn(array $entry): string => $entry['title'], $plan);
        $progress->begin($this->title(), $runs * count($plan));
        for ($run = 0; $run < $runs; $run++) {
            foreach (Shuffled::of($plan) as $name => $entry) {
                $progress->advance($entry['title']);
                if (isset($outcome->leftOut[$name]) || !$outcome->includes($laboratory, $name, $entry['subject'])) {
                    continue;
                }
                try {
                    if ($run < $comparedRuns) {
                        $this->compare($outcome, $name, $entry, $run, $megabytes, $this->overfill($laboratory, $entry, $megabytes, self::BYTES, $compared));
                    }
                    $this->time($outcome, $name, $run, $megabytes, $this->overfill($laboratory, $entry, $megabytes, self::BYTES, $timed));
                    if (in_array($name, self::IN_PROCESS, true)) {
                        $this->percentiles($outcome, self::SMALL_SET, $name, $run, $this->overfill($laboratory, $entry, $megabytes, self::SMALL_BYTES, $timed));
                    }
                } catch (WorkerFailed|ServerFailed $failure) {
                    $outcome->fail($name, $failure);
                }
            }
        }
        $progress->end();
    }

    /** @return array<string, array{store: string, subject: string, title: string, options: list<string>}> by name */
    private function plan(): array
    {
        $plan = [];
        foreach (RawStores::all() as $store => ['subject' => $subject, 'title' => $title]) {
            if ($store !== RawStores::flavour()->value) {
                $plan[$store] = ['store' => $store, 'subject' => $subject, 'title' => $title, 'options' => []];
                continue;
            }
            foreach (['allkeys-lru', 'allkeys-lfu', 'allkeys-random', 'volatile-ttl', 'noeviction'] as $policy) {
                $plan["{$store}-{$policy}"] = ['store' => $store, 'subject' => $subject, 'title' => "{$title}, {$policy}", 'options' => ['--maxmemory-policy', $policy]];
            }
        }

        return $plan;
    }

    /**
     * @param array{store: string, subject: string, title: string, options: list<string>} $entry
     * @param array{operations: int, milliseconds: int} $budget
     */
    private function overfill(Laboratory $laboratory, array $entry, int $megabytes, int $bytes, array $budget): Fields
    {
        $server = RawStores::server($entry['store'], $laboratory, $megabytes, $entry['options']);
        try {
            return $laboratory->task($entry['title'], Overfill::class, [
                'store' => $entry['store'], 'megabytes' => $megabytes, 'bytes' => $bytes, 'ttl' => in_array('volatile-ttl', $entry['options'], true) ? 3600 : 0, ...$budget,
                'servers' => implode(' ', $server?->processIds() ?? []),
                'endpoint' => $server === null ? 'bench-' . bin2hex(random_bytes(6)) : (string) ($server->endpoint()['socket'] ?? ''),
            ], ['apc.shm_size' => "{$megabytes}M"]);
        } finally {
            $server?->stop();
        }
    }

    private function time(Outcome $outcome, string $name, int $run, int $megabytes, Fields $found): void
    {
        $this->percentiles($outcome, self::SET, $name, $run, $found);
        [$client, $server] = $found->numbers('cpu');
        $outcome->measurement(['limit' => "{$megabytes} MiB"], self::CPU, 'ns per operation', Direction::LowerIsBetter, $name, columns: CpuMeter::COLUMNS)
            ->add($run, 0, round($client + $server, 1), $client, $server);
    }

    private function percentiles(Outcome $outcome, string $metric, string $name, int $run, Fields $found): void
    {
        foreach ($found->object('set')->all() as $percentile => $time) {
            $outcome->measurement(['percentile' => (string) $percentile], $metric, 'ns', Direction::LowerIsBetter, $name)->add($run, 0, (float) $time);
        }
    }

    /** @param array{store: string, subject: string, title: string, options: list<string>} $entry */
    private function compare(Outcome $outcome, string $name, array $entry, int $run, int $megabytes, Fields $found): void
    {
        $limit = ['limit' => "{$megabytes} MiB"];
        $series = $outcome->measurement($limit, self::OVER_TIME, 'share of reads', Direction::HigherIsBetter, $name, columns: ['items', 'reads']);
        foreach ($found->rows('series') as $bucket => [$hits, $items, $reads]) {
            $series->add($run, $bucket, $hits, $items, $reads);
        }
        $outcome->measurement($limit, 'largest share of items lost at once', 'share of the items before', Direction::LowerIsBetter, $name)
            ->add($run, 0, $found->float('lost'));
        $outcome->measurement($limit, 'refused', 'share of the sets', Direction::LowerIsBetter, $name)
            ->add($run, 0, $found->float('refused'));
        if ($found->bool('wasShort')) {
            $outcome->notes[] = sprintf('%s was too slow to be compared: it did %s operations in the time it had.', $entry['title'], number_format($found->int('done')));
        }
    }
}
