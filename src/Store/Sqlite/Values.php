<?php

declare(strict_types=1);

namespace Larder\Store\Sqlite;

use Larder\Exception\Unstorable;
use Larder\Serializer\Payload;

/** Values as they lie in rows: an int is one, so that SQLite can count with it, and the rest are payloads. */
final class Values
{
    /** Stands for what is not there. */
    public readonly \stdClass $nothing;

    public function __construct(
        private readonly Payload $payload,
    ) {
        $this->nothing = new \stdClass();
    }

    /** @throws Unstorable */
    public function stored(string $key, mixed $value): int|string
    {
        return \is_int($value) ? $value : $this->payload->encode($key, $value);
    }

    /** @return mixed $nothing if there is no row, or nothing that can be made of it */
    public function of(?Row $row): mixed
    {
        return match (true) {
            \is_int($row?->value) => $row->value,
            \is_string($row?->value) => $this->payload->decode($row->value, $this->nothing, $row->key, 0, $row->mark),
            default => $this->nothing,
        };
    }
}
