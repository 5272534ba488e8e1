<?php

declare(strict_types=1);

namespace Larder\Bench\Statistics;

/** Numbers as people read them: three figures and a unit of a fitting size. */
final class Quantity
{
    /** @param string $unit as a measurement has it; nanoseconds become larger units where they are many */
    public static function of(float $value, string $unit): string
    {
        if (is_nan($value)) {
            return '–';
        }
        if (!str_starts_with($unit, 'ns')) {
            return self::number($value);
        }

        return match (true) {
            $value < 1_000 => self::number($value) . ' ns',
            $value < 1_000_000 => self::number($value / 1_000) . ' µs',
            $value < 1_000_000_000 => self::number($value / 1_000_000) . ' ms',
            default => self::number($value / 1_000_000_000) . ' s',
        };
    }

    /** Three figures; whole numbers above that keep all of theirs. */
    public static function number(float $value): string
    {
        $size = abs($value);

        return match (true) {
            is_nan($value) => '–',
            is_infinite($value) => '∞',
            $size >= 100 => number_format($value),
            $size >= 10 => number_format($value, 1),
            $size >= 1 || $value === 0.0 => number_format($value, 2),
            $size >= 0.01 => number_format($value, 3),
            default => '1/' . number_format(1 / $value),
        };
    }

    /** So many figures of a number; no clock and no eye tells more of them apart, and files of them are half as large. */
    public static function rounded(float $value, int $figures): float
    {
        return $value === 0.0 || !is_finite($value) ? $value : round($value, $figures - 1 - (int) floor(log10(abs($value))));
    }

    public static function interval(Interval $interval): string
    {
        if (is_infinite($interval->high)) {
            return self::number($interval->estimate) . ' (taken once)';
        }

        return self::number($interval->estimate) . ' [' . self::number($interval->low) . ' … ' . self::number($interval->high) . ']';
    }
}
