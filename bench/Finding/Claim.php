<?php

declare(strict_types=1);

namespace Larder\Bench\Finding;

use Larder\Bench\Statistics\Interval;
use Larder\Bench\Statistics\NoiseFloor;

/** A claim of a source, and the answer of this run. */
final readonly class Claim
{
    /** A factor is the claimed one when the interval comes this near to it. */
    private const ABOUT = 1.5;

    private function __construct(
        public string $source,
        public string $claim,
        public string $figure,
        public ?Interval $found,
        public ClaimState $state,
    ) {}

    /** The claim is that this ratio is above 1. */
    public static function above(string $source, string $claim, string $figure, ?Interval $found, NoiseFloor $floor, float $bound = 1.0): self
    {
        return new self($source, $claim, $figure, $found, match (true) {
            $found === null => ClaimState::NotMeasured,
            $found->low > $bound * (1 + $floor->share) => ClaimState::Agrees,
            $found->high < $bound / (1 + $floor->share) => ClaimState::Disagrees,
            default => ClaimState::Tie,
        });
    }

    /**
     * The claim is that this ratio is about so large; half as much again, or a third less, still is.
     *
     * An interval that lies partly there does not tell.
     */
    public static function about(string $source, string $claim, string $figure, ?Interval $found, float $factor): self
    {
        return new self($source, $claim, $figure, $found, match (true) {
            $found === null => ClaimState::NotMeasured,
            $found->high < $factor / self::ABOUT || $found->low > $factor * self::ABOUT => ClaimState::Disagrees,
            $found->low >= $factor / self::ABOUT && $found->high <= $factor * self::ABOUT => ClaimState::Agrees,
            default => ClaimState::Tie,
        });
    }

    /** The claim is that this figure is no more than the bound; an interval on both sides of it does not tell. */
    public static function atMost(string $source, string $claim, string $figure, ?Interval $found, float $bound): self
    {
        return new self($source, $claim, $figure, $found, match (true) {
            $found === null => ClaimState::NotMeasured,
            $found->high <= $bound => ClaimState::Agrees,
            $found->low > $bound => ClaimState::Disagrees,
            default => ClaimState::Tie,
        });
    }

    /** Nothing in this benchmark measures it. */
    public static function unmeasured(string $source, string $claim, string $why): self
    {
        return new self($source, $claim, $why, null, ClaimState::NotMeasured);
    }
}
