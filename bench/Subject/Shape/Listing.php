<?php

declare(strict_types=1);

namespace Larder\Bench\Subject\Shape;

/** A page of a shop's products, as its template gets it. */
final class Listing
{
    /**
     * @param list<Card> $cards
     * @param array<string, list<array<string, mixed>>> $facets
     * @param array<string, mixed> $context
     */
    public function __construct(public string $key, public \DateTimeImmutable $made, public array $cards, public array $facets, public array $context) {}
}
