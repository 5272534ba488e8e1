<?php

declare(strict_types=1);

namespace Larder\Tests;

use PHPUnit\Framework\Assert;

/** Waits for what another process does, and says what did not happen when it takes far too long. */
final class Wait
{
    /** A backstop, not a promise: many times what anything waited for takes on two slow cores. */
    private const SECONDS = 120;
    private const PAUSE_US = 10_000;

    /**
     * @param string $what what is waited for, as a clause: "the server ends"
     * @param \Closure(): bool $happened
     * @param (\Closure(): string)|null $circumstances what may explain why it did not happen
     */
    public static function until(string $what, \Closure $happened, ?\Closure $circumstances = null): void
    {
        $end = hrtime(true) + self::SECONDS * 1_000_000_000;
        do {
            clearstatcache();
            if ($happened()) {
                return;
            }
            usleep(self::PAUSE_US);
        } while (hrtime(true) < $end);

        Assert::fail(sprintf("It was waited %d seconds in vain until %s.\n%s", self::SECONDS, $what, $circumstances === null ? '' : $circumstances()));
    }
}
