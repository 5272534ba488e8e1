<?php

declare(strict_types=1);

namespace Larder\System;

/** This process, by a number that a fork changes: what its parent has opened is not its own. */
final class Process
{
    private function __construct() {}

    /** Where a host has disabled what tells it, -1: it has disabled what forks, too. */
    public static function id(): int
    {
        return \function_exists('getmypid') ? (int) getmypid() : -1;
    }
}
