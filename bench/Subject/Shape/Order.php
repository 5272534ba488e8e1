<?php

declare(strict_types=1);

namespace Larder\Bench\Subject\Shape;

/** An object that says itself what it is made of, and is given that. */
final class Order
{
    /** @param array<string, array<string, mixed>> $lines */
    public function __construct(private int $id, private string $name, private array $lines, private ?Order $related = null) {}

    /** @return array{id: int, name: string, lines: array<string, array<string, mixed>>, related: Order|null} */
    public function __serialize(): array
    {
        return ['id' => $this->id, 'name' => $this->name, 'lines' => $this->lines, 'related' => $this->related];
    }

    /** @param array{id: int, name: string, lines: array<string, array<string, mixed>>, related: Order|null} $told */
    public function __unserialize(array $told): void
    {
        ['id' => $this->id, 'name' => $this->name, 'lines' => $this->lines, 'related' => $this->related] = $told;
    }
}
