<?php

declare(strict_types=1);

namespace Larder\Tests\Contract\Value;

/** Decides for itself what of it is stored. */
final class Wakeful
{
    /** @var ?\Closure(): string */
    public ?\Closure $connection;

    public function __construct(
        public string $name,
    ) {
        $this->connection = static fn(): string => 'connected';
    }

    /** @return array{string} */
    public function __serialize(): array
    {
        return [$this->name];
    }

    /** @param array{string} $data */
    public function __unserialize(array $data): void
    {
        [$this->name] = $data;
        $this->connection = null;
    }
}
