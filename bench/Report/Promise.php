<?php

declare(strict_types=1);

namespace Larder\Bench\Report;

use Larder\Bench\Statistics\Interval;

/** Something that Larder claims of itself, and what this run says about it. */
final readonly class Promise
{
    private function __construct(
        public string $title,
        public string $figure,
        public ?Interval $found,
        public string $bound,
        public PromiseState $state,
    ) {}

    /** Met when the estimate is no more than the bound. */
    public static function atMost(string $title, string $figure, ?Interval $found, float $bound): self
    {
        return new self($title, $figure, $found, 'at most ' . self::number($bound), self::state($found === null ? null : $found->estimate <= $bound));
    }

    /** Met when the estimate is no less than the bound. */
    public static function atLeast(string $title, string $figure, ?Interval $found, float $bound): self
    {
        return new self($title, $figure, $found, 'at least ' . self::number($bound), self::state($found === null ? null : $found->estimate >= $bound));
    }

    /** Met when the interval reaches the bound from below: a difference that could be noise is not counted. */
    public static function reaches(string $title, string $figure, ?Interval $found, float $bound): self
    {
        return new self($title, $figure, $found, 'interval reaches ' . self::number($bound), self::state($found === null ? null : $found->high >= $bound));
    }

    private static function state(?bool $isMet): PromiseState
    {
        return match ($isMet) {
            null => PromiseState::NotMeasured,
            true => PromiseState::Met,
            false => PromiseState::Missed,
        };
    }

    private static function number(float $bound): string
    {
        return $bound < 0.01 ? '1/' . round(1 / $bound) : rtrim(rtrim(number_format($bound, 2), '0'), '.');
    }
}
