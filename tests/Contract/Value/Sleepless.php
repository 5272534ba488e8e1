<?php

declare(strict_types=1);

namespace Larder\Tests\Contract\Value;

/** Fails when it is about to be stored. */
final class Sleepless
{
    /** @return array<mixed> */
    public function __serialize(): array
    {
        throw new \DomainException('not now');
    }
}
