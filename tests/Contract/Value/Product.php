<?php

declare(strict_types=1);

namespace Larder\Tests\Contract\Value;

/** An ordinary object of an application: every visibility, a default, a nested object, an enum. */
class Product
{
    public mixed $note = null;

    /** @var list<string> */
    protected array $labels = ['new'];

    private float $price = 9.5;

    public function __construct(
        public readonly string $name,
        private ?self $related = null,
        public Suit $suit = Suit::Spades,
    ) {}

    public function related(): ?self
    {
        return $this->related;
    }

    public function price(): float
    {
        return $this->price;
    }

    public function label(string $label): void
    {
        $this->labels[] = $label;
    }

    /** @return list<string> */
    public function labels(): array
    {
        return $this->labels;
    }
}
