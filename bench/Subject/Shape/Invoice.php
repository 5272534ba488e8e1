<?php

declare(strict_types=1);

namespace Larder\Bench\Subject\Shape;

/** An object that is given its properties, and does not say them itself. */
final class Invoice
{
    public int $checksum;

    /** @param array<string, array<string, mixed>> $lines */
    public function __construct(public int $id, public string $name, public array $lines, public ?Invoice $related = null)
    {
        $this->check();
    }

    /** @param array{id: int, name: string, lines: array<string, array<string, mixed>>, related: Invoice|null} $told */
    public function __unserialize(array $told): void
    {
        ['id' => $this->id, 'name' => $this->name, 'lines' => $this->lines, 'related' => $this->related] = $told;
        $this->check();
    }

    private function check(): void
    {
        $this->checksum = $this->id + strlen($this->name) + count($this->lines);
    }
}
