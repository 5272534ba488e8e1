<?php

declare(strict_types=1);

namespace Larder;

/** The lock of a file that is open, which goes when that is closed. */
final class FileLock
{
    /** A signal may interrupt it; that it fails so often in a row has another cause. */
    private const FAILURES = 3;

    private function __construct() {}

    /**
     * Waits until nobody else has it, but not for ever.
     *
     * @param resource  $file
     * @param int<1, 2> $kind     LOCK_SH or LOCK_EX
     * @param int       $deadline of hrtime(), in nanoseconds
     *
     * @return ?bool false: somebody has held it for so long; null: there are none on this file system
     */
    public static function take(mixed $file, int $kind, int $deadline): ?bool
    {
        for ($failures = 0; !flock($file, $kind | \LOCK_NB, $isHeld); usleep(25)) {
            if ($isHeld !== 1 && ++$failures === self::FAILURES) {
                return null;
            }
            if (hrtime(true) > $deadline) {
                return false;
            }
        }

        return true;
    }
}
