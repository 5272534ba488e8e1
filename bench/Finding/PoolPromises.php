<?php

declare(strict_types=1);

namespace Larder\Bench\Finding;

use Larder\Bench\Experiment\Full;
use Larder\Bench\Experiment\Pins;
use Larder\Bench\Statistics\Interval;
use Larder\Bench\Statistics\PairedRatio;

/** What a pool holds, keeps, and bears. */
final readonly class PoolPromises
{
    private const OURS = 'shared-memory';
    private const TRACES = ['orm-busy', 'web07'];

    private function __construct(private Findings $findings) {}

    /** @return array<string, list<Promise>> by the experiment that shows them */
    public static function of(Findings $findings): array
    {
        $promises = new self($findings);

        return ['memory' => [$promises->items()], 'traces' => $promises->traces(), 'scale' => $promises->scale(), 'full' => $promises->full(), 'pins' => $promises->pins()];
    }

    private function items(): Promise
    {
        $case = ['limit' => '64 MiB', 'key' => '20 bytes', 'value' => '20 bytes'];
        $measurement = $this->findings->measurement('memory', 'items', $case, self::OURS);

        return Promise::atLeast(
            'values of 20 bytes under keys of 20 bytes in a pool of 64 MiB',
            'items',
            $measurement === null ? null : $this->findings->median('memory', $measurement),
            640_000,
        );
    }

    /** @return list<Promise> */
    private function traces(): array
    {
        $promises = [];
        foreach (self::TRACES as $trace) {
            $promises[] = Promise::atMost("misses of the trace {$trace} at 1 % capacity against LRU of as many items", 'miss ratio, ours over LRU\'s', $this->misses($trace, '1 %', 'LRU'), 1.08);
            foreach (['5 %', '10 %', '25 %'] as $capacity) {
                $promises[] = Promise::atMost("misses of the trace {$trace} at {$capacity} capacity against S3-FIFO of as many items", 'miss ratio, ours over S3-FIFO\'s', $this->misses($trace, $capacity, 'S3-FIFO'), 1.03);
                $promises[] = Promise::atMost("misses of the trace {$trace} at {$capacity} capacity against LRU of as many items", 'miss ratio, ours over LRU\'s', $this->misses($trace, $capacity, 'LRU'), 1.0);
            }
        }

        return $promises;
    }

    private function misses(string $trace, string $capacity, string $policy): ?Interval
    {
        return $this->findings->ratio('traces', 'miss ratio', ['trace' => $trace, 'store' => self::OURS, 'capacity' => $capacity], self::OURS, $policy);
    }

    /** @return list<Promise> */
    private function scale(): array
    {
        $promises = [];
        foreach (['reads only' => 0.95, '95 % reads' => 0.85] as $mix => $bound) {
            $promises[] = Promise::atLeast("what a second process gains ({$mix}), in terms of what it gains with no cache at all", 'gain, ours over that of an array', self::over($this->gain($mix, self::OURS), $this->gain('reads only', 'array')), $bound);
        }

        return $promises;
    }

    /** @return array<int, array<int, float>> start => round => what two processes do over what one does */
    private function gain(string $mix, string $subject): array
    {
        $one = $this->findings->measurement('scale', 'rate', ['mix' => $mix, 'processes' => '1'], $subject)?->byBlock() ?? [];
        $two = $this->findings->measurement('scale', 'rate', ['mix' => $mix, 'processes' => '2'], $subject)?->byBlock() ?? [];
        $gain = [];
        foreach ($two as $start => $rounds) {
            foreach ($rounds as $round => $rate) {
                if (($one[$start][$round] ?? 0.0) > 0) {
                    $gain[$start][$round] = $rate / $one[$start][$round];
                }
            }
        }

        return $gain;
    }

    /**
     * @param array<int, array<int, float>> $above
     * @param array<int, array<int, float>> $below
     */
    private static function over(array $above, array $below): ?Interval
    {
        return PairedRatio::of($above, $below);
    }

    /** @return list<Promise> */
    private function full(): array
    {
        $promises = [];
        foreach ([Full::SET => 'a set', Full::SMALL_SET => 'a set of a small value'] as $metric => $what) {
            foreach (['p99.9' => 20, 'p99.99' => 100] as $percentile => $bound) {
                $promises[] = Promise::atMost(
                    "{$percentile} of the time of {$what} in a full pool",
                    'time, over the median\'s',
                    $this->findings->between('full', $metric, ['percentile' => $percentile], self::OURS, ['percentile' => 'p50'], self::OURS),
                    $bound,
                );
            }
        }

        return $promises;
    }

    /** @return list<Promise> */
    private function pins(): array
    {
        $promises = [];
        foreach (Pins::WORKERS as $workers) {
            $case = ['php-fpm workers' => (string) $workers];
            foreach ([Pins::FOUND, Pins::STORED] as $metric) {
                $promises[] = Promise::atLeast("{$metric}, with {$workers} workers of php-fpm that use values in place", 'share, over that with every value copied', $this->overCopied($metric, $case), 0.99);
            }
        }
        $case = ['workers that never end' => (string) Pins::DAEMONS];
        $promises[] = Promise::atLeast(sprintf('%s while %d workers that never end use values in place', Pins::LEFT, Pins::DAEMONS), 'keys, over those with every value copied', $this->overCopied(Pins::LEFT, $case), 0.9);
        $uncopied = $this->findings->measurement('pins', Pins::UNCOPIED, ['beside' => 'a process that read while it was alone'], Pins::IN_PLACE);
        $promises[] = Promise::atLeast(
            sprintf('%s in a page beside a process that read while it was alone', Pins::UNCOPIED),
            'share',
            $uncopied === null ? null : $this->findings->median('pins', $uncopied),
            0.9,
        );

        return $promises;
    }

    /** @param array<string, string> $case */
    private function overCopied(string $metric, array $case): ?Interval
    {
        return $this->findings->ratio('pins', $metric, $case, Pins::IN_PLACE, Pins::COPIED);
    }
}
