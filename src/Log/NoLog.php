<?php

declare(strict_types=1);

namespace Larder\Log;

use Larder\Log;

/**
 * Stands for the log of a far store that has none. It cannot tell what has changed. So a near store starts anew whenever it asks, and it
 * asks no sooner than its tier's staleness demands.
 */
final class NoLog implements Log
{
    public function since(?string $position): News
    {
        return new News('none', [], false);
    }

    public function isOfHistory(string $position): bool
    {
        return true;
    }
}
