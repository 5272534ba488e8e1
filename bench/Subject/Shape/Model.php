<?php

declare(strict_types=1);

namespace Larder\Bench\Subject\Shape;

/** A row of a database with three dates in it. */
final class Model
{
    /** @param array<string, mixed> $attributes */
    public function __construct(
        public int $id,
        public string $name,
        public \DateTimeInterface $made,
        public \DateTimeInterface $changed,
        public \DateTimeInterface $published,
        public array $attributes,
    ) {}
}
