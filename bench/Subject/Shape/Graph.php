<?php

declare(strict_types=1);

namespace Larder\Bench\Subject\Shape;

/** A large object: rows, and another object. */
final class Graph
{
    /** @param list<array<string, mixed>> $rows */
    public function __construct(public string $name, public array $rows, public Owner $owner) {}
}
