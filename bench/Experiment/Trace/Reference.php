<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Trace;

/** The reference policies. */
enum Reference: string
{
    case Fifo = 'FIFO';
    case Lru = 'LRU';
    case Clock = 'CLOCK';
    case Sieve = 'SIEVE';
    case S3Fifo = 'S3-FIFO';
    case Belady = 'Belady (the limit)';

    /**
     * The share of accesses that miss when so many items are kept.
     *
     * @param non-empty-list<int> $keys
     */
    public function missRatio(array $keys, int $capacity): float
    {
        $policy = match ($this) {
            self::Fifo => new Fifo($capacity),
            self::Lru => new Lru($capacity),
            self::Clock => new Clock($capacity),
            self::Sieve => new Sieve($capacity),
            self::S3Fifo => new S3Fifo($capacity),
            self::Belady => new Belady($capacity, $keys),
        };
        $misses = 0;
        foreach ($keys as $key) {
            if (!$policy->access($key)) {
                $misses++;
            }
        }

        return $misses / count($keys);
    }
}
