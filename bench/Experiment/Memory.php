<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Experiment\Raw\RawStores;
use Larder\Bench\Server\Server;
use Larder\Bench\Server\ServerFailed;
use Larder\Bench\Statistics\Direction;
use Larder\Bench\Subject\WorkerFailed;

/** What holding items costs, and what a store does with memory that it no longer needs. */
final class Memory implements Experiment
{
    private const MEGABYTES = 64;
    private const KEY = 20;
    private const LENGTHS = [20, 100, 1_000, 10_000];
    /** The life of a store is led with items of this size, of which this share of the limit is written. */
    private const LENGTH_IN_LIFE = 1_000;

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
        return 'Source C claims that Redis gives unused memory back and never exceeds its limit, and that Memcached does '
            . 'neither; it shows no figures. Ours gives each store a limit and strings of one size under keys of '
            . self::KEY . ' bytes until it evicts or is full. Then it asks for every key, and counts the items that are there. Then it '
            . 'writes twice what fits, deletes, flushes and restarts, and looks at what the store\'s processes occupy: for a '
            . 'server its resident memory, for APCu the shared memory of the process, for a pool its file.';
    }

    public function needs(Profile $profile): Needs
    {
        return new Needs(160, 512, 28);
    }

    public function run(Laboratory $laboratory, Progress $progress, Outcome $outcome): void
    {
        $outcome->parameters = ['limit' => self::MEGABYTES . ' MiB', 'bytes of a key' => self::KEY, 'bytes of a value that lives through it all' => self::LENGTH_IN_LIFE];
        $stores = RawStores::all();
        $outcome->titles = array_map(static fn(array $store): string => $store['title'], $stores);
        $progress->begin($this->title(), count($stores) * (count(self::LENGTHS) + 1));
        foreach ($stores as $store => ['subject' => $subject, 'title' => $title]) {
            if (!$outcome->includes($laboratory, $store, $subject)) {
                continue;
            }
            try {
                foreach (self::LENGTHS as $length) {
                    $progress->advance("{$title}, values of {$length} bytes");
                    $this->fill($outcome, $laboratory, $store, $length);
                }
                $progress->advance("{$title}, after deleting, flushing and a restart");
                $this->live($outcome, $laboratory, $store);
            } catch (WorkerFailed|ServerFailed $failure) {
                $outcome->fail($store, $failure);
            }
        }
        $progress->end();
    }

    private function fill(Outcome $outcome, Laboratory $laboratory, string $store, int $length): void
    {
        $server = RawStores::server($store, $laboratory, self::MEGABYTES);
        try {
            $items = $laboratory->task(
                $outcome->titles[$store] ?? $store,
                Fill::class,
                ['store' => $store, 'length' => $length, 'megabytes' => self::MEGABYTES, 'endpoint' => self::endpoint($server, '')],
                ['apc.shm_size' => self::MEGABYTES . 'M'],
            )->int('items');
        } finally {
            $server?->stop();
        }
        $case = ['limit' => self::MEGABYTES . ' MiB', 'key' => self::KEY . ' bytes', 'value' => number_format($length) . ' bytes'];
        $outcome->measurement($case, 'items', 'items', Direction::HigherIsBetter, $store)->add(0, 0, $items);
        $outcome->measurement($case, 'memory', 'bytes per item', Direction::LowerIsBetter, $store)
            ->add(0, 0, (self::MEGABYTES << 20) / max(1, $items));
    }

    /** Twice as many items as fit are written; then all of them are deleted, written again, flushed, and written again. */
    private function live(Outcome $outcome, Laboratory $laboratory, string $store): void
    {
        $server = RawStores::server($store, $laboratory, self::MEGABYTES);
        $pool = 'bench-' . bin2hex(random_bytes(6));
        $arguments = [
            'store' => $store, 'megabytes' => self::MEGABYTES, 'length' => self::LENGTH_IN_LIFE,
            'items' => intdiv(2 * self::MEGABYTES << 20, self::LENGTH_IN_LIFE), 'endpoint' => self::endpoint($server, $pool), 'last' => 'no',
        ];
        $settings = ['apc.shm_size' => self::MEGABYTES . 'M'];
        try {
            // APCu's memory ends with its process, so it lives in one; a server is looked at from outside.
            $steps = $server === null ? ['fill delete fill flush fill count'] : ['fill', 'delete', 'fill', 'flush', 'fill count'];
            $before = 0;
            foreach ($steps as $step) {
                $found = $laboratory->task($outcome->titles[$store] ?? $store, Lifetime::class, [...$arguments, 'steps' => $step], $settings);
                foreach (explode(' ', $step) as $each) {
                    $bytes = $server === null ? $found->int("resident after {$each}") : Resident::memory($server->processIds());
                    $this->occupies($outcome, $store, $each, $bytes);
                }
                $before = $found->int('items');
            }
            $server?->stop();
            $server = RawStores::server($store, $laboratory, self::MEGABYTES);
            $after = $laboratory->task(
                $outcome->titles[$store] ?? $store,
                Lifetime::class,
                [...$arguments, 'endpoint' => self::endpoint($server, $pool), 'steps' => 'count', 'last' => 'yes'],
                $settings,
            )->int('items');
            $outcome->measurement(['after' => 'a restart of all its processes'], 'items left', 'share of the items before', Direction::HigherIsBetter, $store)
                ->add(0, 0, $after / max(1, $before));
        } finally {
            $server?->stop();
        }
    }

    private function occupies(Outcome $outcome, string $store, string $step, int $bytes): void
    {
        $after = match ($step) {
            'fill' => 'writing twice what fits',
            'delete' => 'deleting every item',
            'flush' => 'flushing',
            default => null,
        };
        if ($after !== null) {
            $measurement = $outcome->measurement(['limit' => self::MEGABYTES . ' MiB', 'after' => $after], 'memory occupied', 'bytes', Direction::LowerIsBetter, $store);
            if ($measurement->values() === []) {
                $measurement->add(0, 0, $bytes);
            }
        }
    }

    private static function endpoint(?Server $server, string $pool): string
    {
        return $server === null ? $pool : (string) ($server->endpoint()['socket'] ?? '');
    }
}
