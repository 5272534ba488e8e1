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
        return \function_exists('posix_geteuid') ? posix_geteuid() : -1;
    }
}
