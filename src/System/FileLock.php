<?php

declare(strict_types=1);

namespace Larder\System;

/** The lock of a file that is open, which goes when that is closed. */
final class FileLock
{
    /** A signal may interrupt it; that it fails so often in a row has another cause. */
    private const FAILURES = 3;

    /** Microseconds between two looks: at first about as long as such locks are held, then ever longer, as a holder that is away may stay away. */
    private const SHORTEST = 25;

    private const LONGEST = 5_000;

    private function __construct() {}

    /**
     * Waits until no other process has it, but not for ever.
     *
     * @param resource  $file
     * @param int<1, 2> $kind     LOCK_SH or LOCK_EX
     * @param int       $deadline of hrtime(), in nanoseconds
     *
     * @return ?bool false: another has held it for so long; null: there are none on this file system
     */
    public static function take(mixed $file, int $kind, int $deadline): ?bool
    {
        $pause = self::SHORTEST;
        for ($failures = 0; !flock($file, $kind | \LOCK_NB, $isHeld); $pause = min(self::LONGEST, 2 * $pause)) {
            if ($isHeld !== 1 && ++$failures === self::FAILURES) {
                return null;
            }
            $now = hrtime(true);
            if ($now > $deadline) {
                return false;
            }
            // Between half of it and all of it, so that those who wait do not all come back at once.
            usleep($pause - $now % ($pause >> 1));
        }

        return true;
    }
}
