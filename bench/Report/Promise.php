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

    /**
     * Met when the interval reaches the bound from below, and is narrow enough to say so: noise must not help a promise.
     *
     * @param float $widest the interval's largest width, as a share of the estimate
     */
    public static function reaches(string $title, string $figure, ?Interval $found, float $bound, float $widest): self
    {
        $state = match (true) {
            $found === null => PromiseState::NotMeasured,
            $found->high < $bound => PromiseState::Missed,
            $found->high - $found->low > $widest * $found->estimate => PromiseState::NotShown,
            default => PromiseState::Met,
        };

        return new self($title, $figure, $found, sprintf('interval reaches %s and is no wider than %s %%', self::number($bound), 100 * $widest), $state);
    }

    /** Met when the estimate lies between the two and the interval is no wider than what lies between them: noise must not help a promise. */
    public static function within(string $title, string $figure, ?Interval $found, float $least, float $most): self
    {
        $state = match (true) {
            $found === null => PromiseState::NotMeasured,
            $found->high < $least || $found->low > $most => PromiseState::Missed,
            $found->high - $found->low > $most - $least => PromiseState::NotShown,
            default => self::state($found->estimate >= $least && $found->estimate <= $most),
        };

        return new self($title, $figure, $found, self::number($least) . ' to ' . self::number($most), $state);
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
