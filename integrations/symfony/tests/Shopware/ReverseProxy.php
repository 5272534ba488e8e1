<?php

declare(strict_types=1);

namespace Larder\Symfony\Tests\Shopware;

use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\HttpKernel\HttpKernelInterface;

/** What stands before a shop and keeps pages by the tags that come with them, until one of these is purged. */
final class ReverseProxy
{
    /** @var array<string, Response> by URI */
    private array $pages = [];

    public function __construct(private readonly HttpKernelInterface $shop) {}

    public function get(string $uri): string
    {
        $this->pages[$uri] ??= $this->shop->handle(Request::create($uri));

        return (string) $this->pages[$uri]->getContent();
    }

    /** @return list<string> */
    public function tags(string $uri): array
    {
        return explode(' ', (string) $this->pages[$uri]->headers->get('xkey'));
    }

    /** @param list<string> $tags */
    public function purge(array $tags): void
    {
        foreach (array_keys($this->pages) as $uri) {
            if (array_intersect($tags, $this->tags($uri)) !== []) {
                unset($this->pages[$uri]);
            }
        }
    }
}
