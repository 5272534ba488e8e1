<?php

declare(strict_types=1);

namespace Larder\Bench\Subject;

/** An object as an application's own class makes it: twenty declared properties. */
final class Entity
{
    /** @param list<string> $tags */
    public function __construct(
        public int $id,
        public string $sku,
        public string $title,
        public string $slug,
        public string $description,
        public float $price,
        public float $tax,
        public int $stock,
        public bool $visible,
        public bool $taxable,
        public ?string $brand,
        public ?string $supplier,
        public string $created,
        public string $changed,
        public int $views,
        public int $sold,
        public float $rating,
        public int $ratings,
        public string $image,
        public array $tags,
    ) {}
}
