<?php

declare(strict_types=1);

namespace Larder\Bench\Statistics;

/**
 * The difference that this machine shows between a subject and itself.
 *
 * Some subjects run twice, side by side, under the same conditions. What their ratios differ from 1 is noise; the
 * floor is the 95th percentile of those differences, and no smaller difference is called one.
 */
final readonly class NoiseFloor
{
    /** Below one per cent no floor is believed, however quiet the twins were. */
    private const LEAST = 0.01;
    /** Where nothing ran twice side by side, this much is taken for noise. */
    public const ASSUMED = 0.05;

    /** @param float $share 0.03 means that a ratio between 1/1.03 and 1.03 says nothing */
    public function __construct(public float $share) {}

    /** @param list<Interval> $twins the ratios of subjects to themselves; without any, the floor is assumed */
    public static function of(array $twins): self
    {
        $distances = array_map(static fn(Interval $twin): float => exp(abs(log($twin->estimate))) - 1, $twins);
        if ($distances === []) {
            return new self(self::ASSUMED);
        }
        sort($distances);

        return new self(max(self::LEAST, Summary::percentile($distances, 0.95)));
    }
}
