<?php

declare(strict_types=1);

namespace Larder\System;

/** Why something has failed, in words that one process leaves to others. */
final class Cause
{
    /** What callers are told that have not met it themselves. */
    private const REPEATED = ' (a moment ago)';

    private function __construct() {}

    /**
     * In one line, without half a character at its end.
     *
     * @param int $most bytes
     */
    public static function line(string $why, int $most): string
    {
        $line = (string) preg_replace('/[[:cntrl:]]+/', ' ', self::first($why));

        return \strlen($line) <= $most ? $line : (string) preg_replace('/[\xc0-\xff][\x80-\xbf]*$/D', '', substr($line, 0, $most));
    }

    /** For a process that was told it by another. */
    public static function again(string $why): string
    {
        return str_ends_with($why, '.') ? substr($why, 0, -1) . self::REPEATED . '.' : $why . self::REPEATED;
    }

    /** The same in the process that has met it and in those that were told. */
    public static function first(string $why): string
    {
        return str_replace(self::REPEATED, '', $why);
    }
}
