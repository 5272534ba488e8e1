<?php

declare(strict_types=1);

namespace Larder\Tests\Contract\Value;

/** Is another one each time that it is made again. */
final class Woken
{
    public int $times = 0;

    public function __wakeup(): void
    {
        $this->times++;
    }
}
