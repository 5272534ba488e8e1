<?php

declare(strict_types=1);

namespace Larder\Tests\Contract\Value;

/** A connection, which PHP never serialises, whatever the class says. */
final class Reader extends \PDO
{
    public function __construct(private readonly string $dsn)
    {
        parent::__construct($dsn);
    }

    /** @return array{string} */
    public function __serialize(): array
    {
        return [$this->dsn];
    }

    /** @param array{string} $told */
    public function __unserialize(array $told): void
    {
        $this->__construct($told[0]);
    }
}
