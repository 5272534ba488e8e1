<?php

declare(strict_types=1);

namespace Larder\Tests\Contract\Value;

/** Is another one each time that it is made again. */
final class Restored
{
    public int $times = 0;

    /** @param array<mixed> $properties */
    public function __unserialize(array $properties): void
    {
        $this->times = 1 + (\is_int($properties['times'] ?? null) ? $properties['times'] : 0);
    }
}
