<?php

declare(strict_types=1);

namespace Larder\Trace;

use Larder\Exception\InvalidTrace;

/**
 * The share of a trace's reads that would miss in a cache of each size that evicts the least recently used item (LRU). It is computed from
 * the distances at which items are used again, after Mattson et al., "Evaluation techniques for storage hierarchies", IBM Systems Journal
 * 1970. The distance of a use is the sum of the bytes of all items used since the last one, the item's own included. A sum tree over the
 * times of last use gives it in logarithmic time.
 */
final class MissRatioCurve
{
    /**
     * @param array<int, int> $distances how many reads have each distance, by distance in bytes, ascending
     * @param int             $cold      reads of what was never used before
     * @param int             $reads     all of them
     * @param int             $items     different ones
     * @param int             $footprint bytes of all items, when they were most
     */
    private function __construct(
        private readonly array $distances,
        public readonly int $cold,
        public readonly int $reads,
        public readonly int $items,
        public readonly int $footprint,
    ) {}

    /**
     * @param int $overhead bytes that an item costs besides key and value
     *
     * @throws InvalidTrace
     */
    public static function of(TraceFile $trace, int $overhead): self
    {
        $tree = new SumTree();
        $last = $sizes = $distances = $seen = [];
        $time = $reads = $cold = $bytes = $most = 0;
        foreach ($trace->accesses() as $access) {
            $time++;
            $key = $access->key;
            $seen[$key] = true;
            $known = isset($last[$key]);
            if ($access->verb === Verb::Read) {
                $reads++;
                if ($known) {
                    $distance = $tree->from($last[$key]);
                    $distances[$distance] = ($distances[$distance] ?? 0) + 1;
                } else {
                    $cold++;
                }
            }
            if ($known) {
                $tree->add($last[$key], -$sizes[$key]);
                $bytes -= $sizes[$key];
            }
            if ($access->verb === Verb::Delete) {
                unset($last[$key], $sizes[$key]);
                continue;
            }
            $sizes[$key] = $access->bytes > 0 ? $access->bytes + $overhead : $sizes[$key] ?? $overhead;
            $tree->add($time, $sizes[$key]);
            $most = max($most, $bytes += $sizes[$key]);
            $last[$key] = $time;
        }
        ksort($distances);
        $scaled = [];
        foreach ($distances as $distance => $count) {
            $scaled[(int) round($distance / $trace->rate)] = $count;
        }

        return new self($scaled, $cold, $reads, \count($seen), (int) round($most / $trace->rate));
    }

    /** The share of reads that miss in a cache of so many bytes; 0.0 to 1.0. */
    public function missRatio(int $bytes): float
    {
        $hits = 0;
        foreach ($this->distances as $distance => $count) {
            if ($distance > $bytes) {
                break;
            }
            $hits += $count;
        }

        return $this->reads === 0 ? 0.0 : 1.0 - $hits / $this->reads;
    }

    /** The least size with which so large a share of the hits remains that a cache without limits has. */
    public function sizeFor(float $share): int
    {
        $wanted = $share * ($this->reads - $this->cold);
        $hits = 0;
        foreach ($this->distances as $distance => $count) {
            $hits += $count;
            if ($hits >= $wanted) {
                return $distance;
            }
        }

        return $this->footprint;
    }
}
