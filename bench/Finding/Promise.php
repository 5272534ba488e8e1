<?php

declare(strict_types=1);

namespace Larder\Bench\Finding;

use Larder\Bench\Statistics\Interval;

/** A claim that Larder makes of itself, and the answer of this run. */
final readonly class Promise
{
    private function __construct(
        public string $title,
        public string $figure,
        public ?Interval $found,
        public string $bound,
        public PromiseState $state,
        /** So many times as many samples would tell, if the estimate is right; null: it is told, or no number of samples is known to tell. */
        public ?float $samples = null,
    ) {}

    /** Met when the whole interval is no more than the bound, missed when all of it is more: noise must neither help nor harm a promise. */
    public static function atMost(string $title, string $figure, ?Interval $found, float $bound): self
    {
        $state = match (true) {
            $found === null => PromiseState::NotMeasured,
            $found->high <= $bound => PromiseState::Met,
            $found->low > $bound => PromiseState::Missed,
            default => PromiseState::NotShown,
        };

        return new self($title, $figure, $found, 'at most ' . self::number($bound), $state, self::samples($state, $found, $bound));
    }

    /** Met when the whole interval is no less than the bound, missed when all of it is less. */
    public static function atLeast(string $title, string $figure, ?Interval $found, float $bound): self
    {
        $state = match (true) {
            $found === null => PromiseState::NotMeasured,
            $found->low >= $bound => PromiseState::Met,
            $found->high < $bound => PromiseState::Missed,
            default => PromiseState::NotShown,
        };

        return new self($title, $figure, $found, 'at least ' . self::number($bound), $state, self::samples($state, $found, $bound));
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
            $found->estimate < $least || $found->estimate > $most => PromiseState::Missed,
            default => PromiseState::Met,
        };

        return new self($title, $figure, $found, self::number($least) . ' to ' . self::number($most), $state);
    }

    /** An interval becomes narrower by the root of the samples. It has to end before the bound, on the side of the estimate. */
    private static function samples(PromiseState $state, ?Interval $found, float $bound): ?float
    {
        if ($state !== PromiseState::NotShown || $found === null || $found->low <= 0.0 || is_infinite($found->high) || $found->estimate === $bound) {
            return null;
        }
        $end = $found->estimate < $bound ? $found->high : $found->low;

        return (log($end / $found->estimate) / log($bound / $found->estimate)) ** 2;
    }

    private static function number(float $bound): string
    {
        return $bound > 0.0 && $bound < 0.01 ? '1/' . round(1 / $bound) : rtrim(rtrim(number_format($bound, 2), '0'), '.');
    }
}
