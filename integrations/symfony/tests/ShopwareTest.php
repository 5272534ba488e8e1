<?php

declare(strict_types=1);

namespace Larder\Symfony\Tests;

use Larder\Cache;
use Larder\Store\Retention;
use Larder\Symfony\LarderAdapter;
use Larder\Symfony\LockStore;
use Larder\Symfony\Tests\Shopware\Invalidator;
use Larder\Symfony\Tests\Shopware\ObservedPool;
use Larder\Symfony\Tests\Shopware\PageStore;
use Larder\Symfony\Tests\Shopware\Prices;
use Larder\Symfony\Tests\Shopware\ProductPage;
use Larder\Symfony\Tests\Shopware\ReverseProxy;
use Larder\Tests\Contract\Crowd;
use Larder\Tests\Pools;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Symfony\Component\HttpFoundation\Request;
use Symfony\Contracts\Cache\CacheInterface;

/** A kernel with Shopware's pools, tags and HTTP cache, and the configuration of docs/shopware.md on top of Shopware's. */
#[CoversNothing]
final class ShopwareTest extends TestCase
{
    private Pools $pools;

    /** @var list<Site> */
    private array $sites = [];

    protected function setUp(): void
    {
        $this->pools = new Pools();
        $this->price(5);
    }

    protected function tearDown(): void
    {
        foreach ($this->sites as $site) {
            $site->shutdown();
        }
    }

    /** @return iterable<string, array{string}> */
    public static function kinds(): iterable
    {
        foreach (['shared memory', 'SQLite', 'files', 'APCu in front of SQLite'] as $kind) {
            yield $kind => [$kind];
        }
    }

    #[DataProvider('kinds')]
    public function testPagesAndObjectsLiveUntilATagOfTheirsIsInvalidated(string $kind): void
    {
        $shop = $this->boot($kind);
        $prices = self::service($shop, Prices::class);
        self::assertSame(['costs 5', 'miss'], self::page($shop, '1'));
        self::assertSame(['costs 5', 'fresh'], self::page($shop, '1'));
        self::assertSame(['costs 5', 'miss'], self::page($shop, '2'));
        $other = $this->boot($kind);
        self::assertSame(['costs 5', 'fresh'], self::page($other, '1'));
        self::assertSame(2, $prices->asked);
        $this->price(7);
        self::service($other, Invalidator::class)->invalidate(['product-1']);
        $shop = $this->boot($kind);
        self::assertSame(['costs 7', 'miss'], self::page($shop, '1'));
        self::assertSame(['costs 7', 'fresh'], self::page($shop, '1'));
        self::assertSame(['costs 5', 'fresh'], self::page($shop, '2'));
        self::service($other, Invalidator::class)->invalidate(['product-detail-route']);
        self::assertSame(['costs 7', 'miss'], self::page($this->boot($kind), '2'));
    }

    #[DataProvider('kinds')]
    public function testAPageMadeOfWhatWasInvalidatedMeanwhileIsNotKept(string $kind): void
    {
        $shop = $this->boot($kind);
        self::service($shop, ProductPage::class)->meanwhile = function () use ($kind): void {
            $this->price(7);
            $this->elsewhere(function () use ($kind): void {
                self::service($this->boot($kind), Invalidator::class)->invalidate(['product-1']);
            });
        };
        self::assertSame('costs 5', self::page($shop, '1')[0]);
        self::service($shop, ProductPage::class)->meanwhile = null;
        self::assertSame('costs 7', self::page($this->boot($kind), '1')[0]);
        self::assertSame(['costs 7', 'fresh'], self::page($this->boot($kind), '1'));
    }

    #[DataProvider('kinds')]
    public function testAReverseProxyIsPurgedByTheTagsOfAllThatAPageShows(string $kind): void
    {
        touch("{$this->pools->path()}/proxied");
        $warm = $this->boot($kind);
        self::page($warm, '1');
        $shop = $this->boot($kind);
        $proxy = new ReverseProxy($shop);
        foreach (['/1', '/2'] as $uri) {
            self::assertSame('costs 5', $proxy->get($uri));
        }
        // The object of the first page was found in the pool, that of the second was computed: both told the page their tags.
        self::assertEqualsCanonicalizing(['product-1', 'product-detail-route'], $proxy->tags('/1'));
        self::assertEqualsCanonicalizing(['product-2', 'product-detail-route'], $proxy->tags('/2'));
        self::assertSame(1, self::service($shop, Prices::class)->asked);
        self::assertFalse(self::service($shop, LarderAdapter::class, 'cache.http')->hasItem('http_cache_' . hash('sha256', 'http://localhost/1')));
        $this->price(7);
        self::service($shop, Invalidator::class)->purge = $proxy->purge(...);
        self::service($shop, Invalidator::class)->invalidate(['product-1']);
        self::assertSame(['costs 7', 'costs 5'], [$proxy->get('/1'), $proxy->get('/2')]);
    }

    public function testEachPoolLocksAndSessionsOfTheShopAreLarders(): void
    {
        $shop = $this->boot('shared memory');
        foreach (['cache.app', 'cache.http', 'cache.rate_limiter'] as $pool) {
            self::assertInstanceOf(LarderAdapter::class, $shop->getContainer()->get($pool), $pool);
        }
        // The decorator of the pool of objects has ours in it, and nothing in between.
        $objects = $shop->getContainer()->get(ObservedPool::class);
        self::assertInstanceOf(LarderAdapter::class, (new \ReflectionProperty(ObservedPool::class, 'pool'))->getValue($objects));
        self::assertInstanceOf(LockStore::class, $shop->getContainer()->get('larder.lock_store'));
        self::assertInstanceOf(PageStore::class, $shop->getContainer()->get('http_cache.store'));
        $pool = self::service($shop, CacheInterface::class, 'cache.rate_limiter');
        self::assertSame(1, $pool->get('key', static fn(): int => 1));
        // A full cache of pages leaves what was counted.
        $limits = (new \ReflectionProperty(LarderAdapter::class, 'cache'))->getValue($pool);
        self::assertInstanceOf(Cache::class, $limits);
        Retention::demand($limits->store);
    }

    private function price(int $price): void
    {
        file_put_contents("{$this->pools->path()}/prices.json", json_encode([1 => $price, 2 => $price]));
    }

    /** A process of the shop. */
    private function boot(string $kind): Site
    {
        preg_match('/^```yaml\n(.*?)^```$/ms', (string) file_get_contents(__DIR__ . '/../../../docs/shopware.md'), $block);
        $yaml = str_replace(['shm:shop', 'shm:locks?evict=no', 'shm:sessions?evict=no', 'shm:limits?evict=no'], [$this->pools->dsn($kind), ...array_fill(0, 3, $this->pools->dsn('files'))], $block[1] ?? '', $replaced);
        self::assertSame(4, $replaced);
        $defaults = __DIR__ . '/Shopware/defaults.yaml';
        file_put_contents("{$this->pools->path()}/routes.yaml", "product: { path: '/{product}', controller: " . ProductPage::class . " }\n");
        $opened = ['cache.app', 'cache.http', 'cache.rate_limiter', 'http_cache.store', 'larder.lock_store', 'session.handler', ObservedPool::class];
        $this->sites[] = $site = new Site($this->pools->path(), "imports: [{ resource: '{$defaults}' }]\n{$yaml}", $opened);
        $site->boot();

        return $site;
    }

    /** @return array{string, string} the page, and what the HTTP cache says of it: miss or fresh */
    private static function page(Site $shop, string $product): array
    {
        $request = Request::create("/{$product}");
        $response = $shop->handle($request);
        $shop->terminate($request, $response);

        return [(string) $response->getContent(), str_contains((string) $response->headers->get('X-Symfony-Cache'), 'fresh') ? 'fresh' : 'miss'];
    }

    /** @param \Closure(): void $work */
    private function elsewhere(\Closure $work): void
    {
        Crowd::of(1, static function () use ($work): void {
            $work();
        });
    }

    /**
     * @template T of object
     *
     * @param class-string<T> $class
     *
     * @return T
     */
    private static function service(Site $shop, string $class, string $id = ''): object
    {
        $service = $shop->getContainer()->get($id === '' ? $class : $id);
        self::assertInstanceOf($class, $service);

        return $service;
    }
}
