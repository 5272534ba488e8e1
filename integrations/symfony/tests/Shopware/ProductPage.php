<?php

declare(strict_types=1);

namespace Larder\Symfony\Tests\Shopware;

use Symfony\Component\HttpFoundation\Response;
use Symfony\Contracts\Cache\ItemInterface;
use Symfony\Contracts\Cache\TagAwareCacheInterface;

/** The page of a product, which may be cached for two hours. It says its tags as Shopware's pages do it. */
final class ProductPage
{
    public const TAGS = 'sw-cache-tags';

    /** @var ?\Closure(): void what others do while a page is made */
    public ?\Closure $meanwhile = null;

    public function __construct(
        private readonly TagAwareCacheInterface $objects,
        private readonly Prices $prices,
        private readonly PageTags $tags,
    ) {}

    public function __invoke(string $product): Response
    {
        $price = $this->objects->get("product-detail-route-{$product}", function (ItemInterface $item) use ($product): int {
            $item->tag(["product-{$product}", 'product-detail-route']);
            $price = $this->prices->of($product);
            if ($this->meanwhile !== null) {
                ($this->meanwhile)();
            }

            return $price;
        });
        $response = new Response("costs {$price}");
        $response->setPublic();
        $response->setSharedMaxAge(7_200);
        $response->headers->set(self::TAGS, (string) json_encode($this->tags->take()));

        return $response;
    }
}
