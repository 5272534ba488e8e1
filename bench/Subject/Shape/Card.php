<?php

declare(strict_types=1);

namespace Larder\Bench\Subject\Shape;

/** A product in a listing. */
final class Card
{
    /** @param array<string, mixed> $badges */
    public function __construct(public int $id, public string $sku, public string $title, public int $cents, public array $badges, public Owner $seller) {}
}
