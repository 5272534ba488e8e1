<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Server\MemcachedServer;
use Larder\Bench\Server\RedisServer;
use Larder\Bench\Server\Server;
use Larder\Bench\Server\ServerFailed;
use Larder\Bench\Statistics\Direction;
use Larder\Bench\Subject\WorkerFailed;

/** What holding items costs: how many fit into a given memory before something has to go. */
final class Memory implements Experiment
{
    private const MEGABYTES = 64;
    private const KEY = 20;
    private const LENGTHS = [20, 100, 1_000, 10_000];
    /** Store => the subject that says whether it can run, and the title. */
    private const STORES = [
        'shared-memory' => 'shared-memory',
        'apcu' => 'apcu-php',
        'redis' => 'redis-unix',
        'memcached' => 'memcached-unix',
    ];

    public function name(): string
    {
        return 'memory';
    }

    public function title(): string
    {
        return 'What holding items costs';
    }

    public function recreates(): string
    {
        return 'Each store gets a limit and strings of one size under keys of ' . self::KEY . ' bytes until it evicts or is '
            . 'full; then every key is asked for and what is there is counted. A server\'s limit is the one it is configured '
            . 'with; what the process takes beyond that is not counted against it.';
    }

    public function run(Laboratory $laboratory, Progress $progress): Outcome
    {
        $outcome = Outcome::of($this, ['limit' => self::MEGABYTES . ' MiB', 'bytes of a key' => self::KEY]);
        $outcome->titles = ['apcu' => 'APCu', 'redis' => 'Redis', 'memcached' => 'Memcached'];
        $progress->begin($this->title(), count(self::STORES) * count(self::LENGTHS));
        foreach (self::STORES as $store => $name) {
            $subject = $laboratory->subjects[$name] ?? null;
            $missing = $subject === null ? 'it was not among the subjects asked for' : $subject->missing();
            if ($missing !== null) {
                $outcome->leftOut[$store] = $missing;
                continue;
            }
            foreach (self::LENGTHS as $length) {
                $progress->advance("{$name}, values of {$length} bytes");
                if ($laboratory->isInterrupted()) {
                    break 2;
                }
                try {
                    $this->fill($outcome, $laboratory, $store, $length);
                } catch (WorkerFailed|ServerFailed $failure) {
                    $outcome->leftOut[$store] = $failure->getMessage();
                    break;
                }
            }
        }
        $outcome->isComplete = !$laboratory->isInterrupted();
        $progress->end();

        return $outcome;
    }

    private function fill(Outcome $outcome, Laboratory $laboratory, string $store, int $length): void
    {
        $server = $this->server($laboratory, $store);
        try {
            $items = ChildProcess::run(
                $outcome->titles[$store] ?? 'Larder shared memory',
                Fill::class,
                ['store' => $store, 'length' => $length, 'megabytes' => self::MEGABYTES, 'endpoint' => $server?->endpoint()['socket'] ?? ''],
                ['apc.shm_size' => self::MEGABYTES . 'M'],
            )->int('items');
        } finally {
            $server?->stop();
        }
        $case = ['limit' => self::MEGABYTES . ' MiB', 'key' => self::KEY . ' bytes', 'value' => number_format($length) . ' bytes'];
        $held = new Measurement($case, 'items', 'items', Direction::HigherIsBetter, $store);
        $held->add(0, 0, $items);
        $cost = new Measurement($case, 'memory', 'bytes per item', Direction::LowerIsBetter, $store);
        $cost->add(0, 0, (self::MEGABYTES << 20) / max(1, $items));
        array_push($outcome->measurements, $held, $cost);
    }

    /** A fresh server for each fill, so that nothing of the former one is left in its memory. */
    private function server(Laboratory $laboratory, string $store): ?Server
    {
        return match ($store) {
            'redis' => RedisServer::start(megabytes: self::MEGABYTES, placement: $laboratory->placement->server),
            'memcached' => MemcachedServer::onSocket(self::MEGABYTES, $laboratory->placement->server),
            default => null,
        };
    }
}
