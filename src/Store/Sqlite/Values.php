<?php

declare(strict_types=1);

namespace Larder\Store\Sqlite;

use Larder\Exception\Unstorable;
use Larder\Serializer\Payload;

/** Values as they lie in rows: an int is one, so that SQLite can count with it, and the rest are payloads. */
final class Values
{
    /** From so many bytes on a payload's mark lies apart: to put it in front and take it off, PHP copies all, into memory that it gets anew. */
    private const LARGE = 131_072;

    /** Stands for what is not there. */
    public readonly \stdClass $nothing;

    public function __construct(
        private readonly Payload $payload,
    ) {
        $this->nothing = new \stdClass();
    }

    /**
     * @return array{int|string, string} what goes into the column, and its mark if that lies apart
     *
     * @throws Unstorable
     */
    public function stored(string $key, mixed $value): array
    {
        if (\is_int($value)) {
            return [$value, ''];
        }
        [$mark, $bytes] = $this->payload->apart($key, $value);

        return \strlen($bytes) < self::LARGE ? [$mark . $bytes, ''] : [$bytes, $mark];
    }

    /**
     * @param array<array-key, Row> $rows by key
     *
     * @return array<array-key, mixed> by key, of those rows that a value can be made of
     */
    public function ofAll(array $rows): array
    {
        $values = $payloads = [];
        foreach ($rows as $key => $row) {
            if (\is_string($row->value) && $row->mark === '') {
                $payloads[$key] = $row->value;
            } elseif (($value = $this->of($row)) !== $this->nothing) {
                $values[$key] = $value;
            }
        }

        return $payloads === [] ? $values : $values + $this->payload->decodeAll($payloads, 0);
    }

    /** @return mixed the value of a column, and of its mark if that lies apart; $nothing if none can be made of it */
    public function decoded(string $key, int|string $column, string $mark = ''): mixed
    {
        return \is_int($column) ? $column : $this->payload->decode($column, $this->nothing, $key, 0, $mark);
    }

    /** @return mixed $nothing if there is no row, or nothing that can be made of it */
    public function of(?Row $row): mixed
    {
        return match (true) {
            \is_int($row?->value), \is_string($row?->value) => $this->decoded($row->key, $row->value, $row->mark),
            default => $this->nothing,
        };
    }
}
