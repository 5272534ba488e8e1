<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Experiment\Raw\RawStore;
use Larder\Bench\Experiment\Raw\RawStores;
use Larder\Bench\Fields;
use Larder\Bench\Server\CpuMeter;
use Larder\Bench\Statistics\Summary;
use Larder\SharedMemory;
use Random\Engine\Xoshiro256StarStar;
use Random\Randomizer;

/** Reads popular and less popular keys of a store that is too small for them, and stores what is missing. */
final class Overfill implements Task
{
    /** Reads between two looks at the clock and at how many items there are. */
    private const BUCKET = 500;
    /** The values of all keys would be so many times the store's memory. */
    private const TIMES = 4;
    /** Values in the second half are so many times as large. */
    private const GROWTH = 4;
    private const EXPONENT = 0.9;
    /** A bucket that begins and ends with fewer than this share of what fits is no full cache. */
    private const FULL = 0.5;

    public function run(Fields $arguments): array
    {
        $name = $arguments->string('store');
        $endpoint = $arguments->string('endpoint');
        try {
            return $this->measure(RawStores::open($name, $endpoint, $arguments->int('megabytes'), $arguments->int('ttl') ?: null), $arguments);
        } finally {
            if ($name === RawStores::SHARED_MEMORY) {
                SharedMemory::remove($endpoint);
            }
        }
    }

    /** @return array<string, mixed> */
    private function measure(RawStore $store, Fields $arguments): array
    {
        $operations = $arguments->int('operations');
        $bytes = $arguments->int('bytes');
        $keys = intdiv(self::TIMES * $arguments->int('megabytes') << 20, $bytes);
        $ranks = $this->ranks($keys, min($operations, 500_000));
        $series = $times = [];
        $done = $refused = $before = 0;
        $lost = 0.0;
        $end = hrtime(true) + $arguments->int('milliseconds') * 1_000_000;
        $half = hrtime(true) + $arguments->int('milliseconds') * 500_000;
        $values = [str_repeat('v', $bytes), str_repeat('v', self::GROWTH * $bytes)];
        $meter = CpuMeter::among($arguments->string('servers'));
        while ($done < $operations && hrtime(true) < $end) {
            // The second half of the operations or of the time, whichever comes first.
            $value = $values[$done * 2 >= $operations || hrtime(true) > $half ? 1 : 0];
            $hits = 0;
            for ($read = 0; $read < self::BUCKET; $read++) {
                $key = 'key-' . $ranks[($done + $read) % count($ranks)];
                $found = $store->get($key);
                if ($found !== null) {
                    // Only sets are timed here, so that every read can be checked.
                    if (!in_array($found, $values, true)) {
                        throw new \UnexpectedValueException("The store returned something else for {$key} than was stored: its figures would be worth nothing.");
                    }
                    $hits++;
                    continue;
                }
                $begin = hrtime(true);
                $isStored = $store->set($key, $value);
                $times[] = hrtime(true) - $begin;
                $refused += (int) !$isStored;
            }
            $done += self::BUCKET;
            $items = $store->items();
            $lost = $before > 0 ? max($lost, 1 - $items / $before) : $lost;
            $before = $items;
            $series[] = [round($hits / self::BUCKET, 4), $items, $done];
        }

        return [
            'cpu' => $meter->perOperation($done),
            'series' => self::thinned($series), 'set' => self::percentiles(array_slice($times, (int) (count($times) * (1 - self::FULL)))), 'lost' => round($lost, 4),
            'refused' => round($refused / max(1, count($times)), 4), 'done' => $done, 'wasShort' => $done < $operations,
        ];
    }

    /**
     * Keys drawn by a Zipf distribution: the key of rank r comes in proportion to r to the power of minus the exponent.
     *
     * @return non-empty-list<int>
     */
    private function ranks(int $keys, int $count): array
    {
        $random = new Randomizer(new Xoshiro256StarStar(5));
        $power = 1 - self::EXPONENT;
        $whole = $keys ** $power - 1;
        $ranks = [1];
        for ($draw = 1; $draw < $count; $draw++) {
            // The inverse of the distribution, taken as continuous.
            $ranks[] = (int) (($random->getInt(0, (1 << 52) - 1) / (1 << 52) * $whole + 1) ** (1 / $power));
        }

        return $ranks;
    }

    /**
     * At most some hundred points, each the mean of its neighbours' hit ratios.
     *
     * @param list<array{float, int, int}> $series
     * @return list<array{float, int, int}>
     */
    private static function thinned(array $series): array
    {
        $thinned = [];
        foreach (array_chunk($series, max(1, intdiv(count($series), 100))) as $some) {
            $last = $some[count($some) - 1];
            $thinned[] = [round(array_sum(array_column($some, 0)) / count($some), 4), $last[1], $last[2]];
        }

        return $thinned;
    }

    /**
     * @param list<int> $times
     * @return array<string, float>
     */
    private static function percentiles(array $times): array
    {
        if ($times === []) {
            return [];
        }
        $times = array_map(floatval(...), $times);
        sort($times);

        return [
            'p50' => Summary::percentile($times, 0.5), 'p99' => Summary::percentile($times, 0.99), 'p99.9' => Summary::percentile($times, 0.999),
            'p99.99' => Summary::percentile($times, 0.9999), 'max' => $times[count($times) - 1],
        ];
    }
}
