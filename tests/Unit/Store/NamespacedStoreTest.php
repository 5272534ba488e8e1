<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Store;

use Larder\Cache;
use Larder\Exception\InvalidKey;
use Larder\Exception\InvalidOption;
use Larder\Exception\NotACounter;
use Larder\Store\ArrayStore;
use Larder\Store\NamespacedStore;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

/** A namespace is a cache of its own in another. */
#[CoversClass(NamespacedStore::class)]
final class NamespacedStoreTest extends TestCase
{
    public function testANamespaceIsACacheOfItsOwn(): void
    {
        $cache = new Cache(new ArrayStore());
        $shop = $cache->namespace('shop');
        $blog = $cache->namespace('blog');
        $inner = $shop->namespace('inner');
        foreach (['' => $cache, 'shop' => $shop, 'blog' => $blog, 'inner' => $inner] as $name => $each) {
            self::assertTrue($each->set('key', $name, 100, ['tag']));
            self::assertSame(1, $each->increment('n'));
            self::assertSame(2, $each->increment('n'));
            self::assertTrue($each->touch('key', 200));
            self::assertTrue($each->add('7', $name));
            self::assertFalse($each->add('7', $name));
        }
        self::assertSame(['key' => 'shop', 7 => 'shop', 'n' => 2], $shop->getMany(['key', '7', 'n', 'absent']));
        self::assertSame(['7', 'key', 'n'], self::sortedKeys($inner));
        self::assertSame(['key'], [...$shop->store->keys('k')]);
        self::assertTrue($shop->delete('7'));
        self::assertTrue($blog->has('7'));
        self::assertTrue($shop->clear());
        self::assertSame([], $shop->getMany(['key', '7', 'n']));
        self::assertSame([], $inner->getMany(['key', '7', 'n']), 'What is inside goes with it.');
        self::assertSame(['key' => 'blog', 'n' => 2], $blog->getMany(['key', 'n']));
        self::assertSame(['key' => '', 'n' => 2], $cache->getMany(['key', 'n']));
        self::assertSame(11, $shop->increment('n', 1, 10), 'A counter goes with its namespace.');
        self::assertTrue($shop->set('key', 'again'));
        self::assertSame('again', $shop->remember('key', static fn(): mixed => self::computed()));
        self::assertSame('computed', $shop->remember('other', static fn(): mixed => self::computed()));
        $cache->invalidateTags(['tag']);
        self::assertFalse($blog->has('key'));
        $cache->clear();
        self::assertFalse($blog->has('n'));
    }

    public function testANamespaceHasTheStrangeCasesOfItsStore(): void
    {
        $cache = (new Cache(new ArrayStore()))->namespace('shop');
        self::assertSame(5, $cache->increment('n', 5, 0, 0));
        self::assertFalse($cache->has('n'));
        $cache->set('greatest', \PHP_INT_MAX);
        foreach (['greatest' => 0, 'absent' => \PHP_INT_MAX] as $key => $initial) {
            try {
                $cache->increment($key, 1, $initial);
                self::fail('A counter left its range.');
            } catch (NotACounter $mistake) {
                self::assertStringContainsString('would leave the range of int', $mistake->getMessage());
            }
        }
        try {
            $cache->set(str_repeat('k', 65_535), 1);
            self::fail('A key was taken that does not fit.');
        } catch (InvalidKey $mistake) {
            self::assertMatchesRegularExpression('/ has 65535 bytes; a key has at most 65\d\d\d, /', $mistake->getMessage());
        }
        foreach (['', 'with space', 'a/b', str_repeat('n', 65)] as $name) {
            try {
                $cache->namespace($name);
                self::fail('A wrong name was taken.');
            } catch (InvalidOption $mistake) {
                self::assertStringContainsString('The namespace', $mistake->getMessage());
            }
        }
    }

    /** @return list<string> */
    private static function sortedKeys(Cache $cache): array
    {
        $keys = [...$cache->store->keys()];
        sort($keys);

        return $keys;
    }

    private static function computed(): mixed
    {
        return 'computed';
    }
}
