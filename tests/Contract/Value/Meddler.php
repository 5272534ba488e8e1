<?php

declare(strict_types=1);

namespace Larder\Tests\Contract\Value;

/** Does something in the middle of being stored. */
final class Meddler
{
    /** @var ?\Closure(): mixed */
    private ?\Closure $meddle;

    /** @param \Closure(): mixed $meddle */
    public function __construct(\Closure $meddle)
    {
        $this->meddle = $meddle;
    }

    /** @return array{} */
    public function __serialize(): array
    {
        $this->meddle === null ?: ($this->meddle)();

        return [];
    }

    /** @param array<mixed> $nothing */
    public function __unserialize(array $nothing): void
    {
        $this->meddle = null;
    }
}
