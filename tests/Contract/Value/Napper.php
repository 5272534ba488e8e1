<?php

declare(strict_types=1);

namespace Larder\Tests\Contract\Value;

/** Takes its time when it is read. */
final class Napper
{
    /** Microseconds that reading one takes in this process. */
    public static int $nap = 0;

    /** @return array{} */
    public function __serialize(): array
    {
        return [];
    }

    /** @param array<mixed> $nothing */
    public function __unserialize(array $nothing): void
    {
        usleep(self::$nap);
    }
}
