<?php

declare(strict_types=1);

namespace Larder\System;

/** This process. */
final class Process
{
    private function __construct() {}

    /**
     * A number that a fork changes: what its parent has opened is not its own. Where a host has disabled what tells it, -1: it has
     * disabled what forks, too.
     */
    public static function id(): int
    {
        return \function_exists('getmypid') ? (int) getmypid() : -1;
    }

    /** @return int the user that it runs as; -1: it is not known */
    public static function user(): int
    {
        if (\function_exists('posix_geteuid')) {
            return posix_geteuid();
        }
        // Without PHP's extension posix, Linux tells it: the real one first, then the one that counts.
        $status = @file_get_contents('/proc/self/status');

        return \is_string($status) && preg_match('/^Uid:\t\d+\t(\d+)/m', $status, $ids) === 1 ? (int) $ids[1] : -1;
    }
}
