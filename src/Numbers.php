<?php

declare(strict_types=1);

namespace Larder;

/** What Cache::increment() takes for a number. */
enum Numbers
{
    /** Ints, and nothing else. */
    case Ints;

    /** Also numeric strings and floats, of which the whole part counts: "5" and 5.7 are 5. */
    case Numeric;

    /** Anything. A value that is not numeric counts as 0, as in WordPress. */
    case Any;

    /** @return ?int null: it is none */
    public function of(mixed $value): ?int
    {
        if (\is_int($value) || $this === self::Ints) {
            return \is_int($value) ? $value : null;
        }
        $number = \is_float($value) || (\is_string($value) && is_numeric($value)) ? $value + 0 : null;
        if (\is_float($number)) {
            // The least int is a float exactly, the first beyond the greatest, too.
            $number = $number >= -2.0 ** 63 && $number < 2.0 ** 63 ? (int) $number : null;
        }

        return $number ?? ($this === self::Any ? 0 : null);
    }
}
