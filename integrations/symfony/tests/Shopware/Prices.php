<?php

declare(strict_types=1);

namespace Larder\Symfony\Tests\Shopware;

/** The database of the shop: a file of prices, and how often it was asked. */
final class Prices
{
    public int $asked = 0;

    public function __construct(private readonly string $path) {}

    public function of(string $product): int
    {
        $this->asked++;
        $prices = json_decode((string) file_get_contents($this->path), true);
        $price = \is_array($prices) ? $prices[$product] ?? 0 : 0;

        return \is_int($price) ? $price : 0;
    }
}
