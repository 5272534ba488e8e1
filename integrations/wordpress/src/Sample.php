<?php

declare(strict_types=1);

namespace Larder\WordPress;

/** Which requests are measured for the dashboard: one of 32, or of as many as WP_LARDER_SAMPLE says. */
final class Sample
{
    private function __construct() {}

    /** Whether this request is one. */
    public static function takes(): bool
    {
        $of = self::size();

        // The clock is as good as chance, and needs no seed.
        return $of === 1 || ($of > 0 && (hrtime(true) >> 4) % $of === 0);
    }

    /** @return int of how many requests one is measured; 0: none is */
    public static function size(): int
    {
        return \defined('WP_LARDER_SAMPLE') ? (is_numeric(WP_LARDER_SAMPLE) ? max(0, (int) WP_LARDER_SAMPLE) : 0) : 32;
    }
}
