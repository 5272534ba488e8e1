<?php

declare(strict_types=1);

namespace Larder\Tests\System;

/** Notices when it is unserialised. */
final class Trap
{
    private static int $sprung = 0;

    public function __wakeup(): void
    {
        self::$sprung++;
    }

    public static function sprung(): int
    {
        return self::$sprung;
    }
}
