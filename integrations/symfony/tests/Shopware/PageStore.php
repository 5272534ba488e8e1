<?php

declare(strict_types=1);

namespace Larder\Symfony\Tests\Shopware;

use Symfony\Component\Cache\Adapter\TagAwareAdapterInterface;
use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\HttpKernel\HttpCache\StoreInterface;

/** As Shopware's store of pages: pages and their locks are items of the pool cache.http; behind a reverse proxy pages only get their tags. */
final class PageStore implements StoreInterface
{
    /** @var array<string, true> */
    private array $locks = [];

    /** @param string $switch a file that is there if a reverse proxy has the pages */
    public function __construct(
        private readonly TagAwareAdapterInterface $pool,
        private readonly string $switch,
    ) {}

    public function lookup(Request $request): ?Response
    {
        $item = $this->pool->getItem(self::key($request));
        $page = $item->isHit() ? $item->get() : null;

        return $page instanceof Response ? clone $page : null;
    }

    public function write(Request $request, Response $response): string
    {
        $key = self::key($request);
        $tags = json_decode((string) $response->headers->get(ProductPage::TAGS, '[]'), true);
        $tags = array_filter(\is_array($tags) ? $tags : [], \is_string(...));
        $response->headers->remove(ProductPage::TAGS);
        if (file_exists($this->switch)) {
            $response->headers->set('xkey', implode(' ', $tags));

            return $key;
        }
        $page = clone $response;
        $page->headers = clone $response->headers;
        $item = $this->pool->getItem($key)->set($page);
        $item->expiresAt($page->getExpires());
        $item->tag($tags);
        $this->pool->save($item);

        return $key;
    }

    public function invalidate(Request $request): void {}

    public function lock(Request $request): bool|string
    {
        $key = 'http_lock_' . self::key($request);
        if ($this->pool->hasItem($key)) {
            return $key;
        }
        $this->pool->save($this->pool->getItem($key)->set(true)->expiresAfter(3));
        $this->locks[$key] = true;

        return true;
    }

    public function unlock(Request $request): bool
    {
        $key = 'http_lock_' . self::key($request);
        unset($this->locks[$key]);

        return $this->pool->deleteItem($key);
    }

    public function isLocked(Request $request): bool
    {
        return $this->pool->hasItem('http_lock_' . self::key($request));
    }

    public function purge(string $url): bool
    {
        return $this->unlock(Request::create($url));
    }

    public function cleanup(): void
    {
        $this->pool->deleteItems(array_keys($this->locks));
        $this->locks = [];
    }

    private static function key(Request $request): string
    {
        return 'http_cache_' . hash('sha256', $request->getUri());
    }
}
