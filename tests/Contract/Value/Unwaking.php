<?php

declare(strict_types=1);

namespace Larder\Tests\Contract\Value;

/** Fails when it is about to be made again. */
final class Unwaking
{
    /** @return array{} */
    public function __serialize(): array
    {
        return [];
    }

    /** @param array<mixed> $nothing */
    public function __unserialize(array $nothing): void
    {
        throw new \DomainException('never');
    }
}
