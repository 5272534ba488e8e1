<?php

declare(strict_types=1);

namespace Larder\Tests\System;

/** An object that does something else when it is read, and cannot be made again. */
final class Bystander
{
    /** @var ?\Closure(): mixed */
    public static ?\Closure $then = null;

    /** @return array{} */
    public function __serialize(): array
    {
        return [];
    }

    /** @param array<mixed> $state */
    public function __unserialize(array $state): void
    {
        if (self::$then !== null) {
            (self::$then)();
        }
        throw new \UnexpectedValueException('It cannot be made again.');
    }
}
