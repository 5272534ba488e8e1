<?php

declare(strict_types=1);

namespace Larder\Bench\Statistics;

/**
 * What a list of samples looks like.
 *
 * `mad` is the mean absolute deviation from the mean (not the median's), `stdev` the sample's standard deviation
 * (n - 1). Percentiles interpolate linearly between the two nearest samples. No sample is ever dropped.
 */
final readonly class Summary
{
    private function __construct(
        public int $n,
        public float $min,
        public float $p1,
        public float $p5,
        public float $median,
        public float $mean,
        public float $p95,
        public float $p99,
        public float $max,
        public float $range,
        public float $mad,
        public float $stdev,
    ) {}

    /** @param non-empty-list<float> $samples in any order */
    public static function of(array $samples): self
    {
        sort($samples);
        $n = count($samples);
        $mean = array_sum($samples) / $n;
        $absolute = 0.0;
        $squares = 0.0;
        foreach ($samples as $sample) {
            $absolute += abs($sample - $mean);
            $squares += ($sample - $mean) ** 2;
        }

        return new self(
            $n,
            $samples[0],
            self::percentile($samples, 0.01),
            self::percentile($samples, 0.05),
            self::percentile($samples, 0.50),
            $mean,
            self::percentile($samples, 0.95),
            self::percentile($samples, 0.99),
            $samples[$n - 1],
            $samples[$n - 1] - $samples[0],
            $absolute / $n,
            $n > 1 ? sqrt($squares / ($n - 1)) : 0.0,
        );
    }

    /**
     * @param non-empty-list<float> $sorted in ascending order
     * @param float $share from 0, the least, to 1, the greatest
     */
    public static function percentile(array $sorted, float $share): float
    {
        $position = $share * (count($sorted) - 1);
        $below = (int) $position;
        $above = min($below + 1, count($sorted) - 1);

        return $sorted[$below] + ($position - $below) * ($sorted[$above] - $sorted[$below]);
    }

    /** @param non-empty-list<float> $values */
    public static function middle(array $values): float
    {
        sort($values);

        return self::percentile($values, 0.5);
    }

    /** @return array<string, int|float> */
    public function toArray(): array
    {
        return [
            'n' => $this->n,
            'min' => $this->min,
            'p1' => $this->p1,
            'p5' => $this->p5,
            'median' => $this->median,
            'mean' => $this->mean,
            'p95' => $this->p95,
            'p99' => $this->p99,
            'max' => $this->max,
            'range' => $this->range,
            'mad' => $this->mad,
            'stdev' => $this->stdev,
        ];
    }
}
