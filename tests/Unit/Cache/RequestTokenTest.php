<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Cache;

use Larder\Cache;
use Larder\Cache\RequestToken;
use Larder\Store\ArrayStore;
use Larder\Store\ChaosStore;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(RequestToken::class)]
final class RequestTokenTest extends TestCase
{
    public function testARequestWhoseStoreIsDownBeginsWhenItIsBack(): void
    {
        $store = new ChaosStore();
        $cache = new Cache($store, judgesAdds: true);
        $store->isDown = true;
        self::assertNull($cache->get('options'));
        $store->isDown = false;
        self::assertNull($cache->get('options'));
        $store->store->delete(['row']);
        self::assertFalse($cache->add('row', 'old'));
        $store->isDown = true;
        $cache->refresh();
        $store->isDown = false;
        self::assertTrue($cache->add('row', 'of the next request'));
    }

    public function testTheFirstUseMayBeAnything(): void
    {
        foreach ([
            static fn(Cache $cache): mixed => $cache->has('options'),
            static fn(Cache $cache): mixed => $cache->remember('options', static fn(): array => []),
            static fn(Cache $cache): mixed => $cache->update('options', static fn(): array => []),
            static fn(Cache $cache): mixed => $cache->increment('options', min: 0),
            static fn(Cache $cache): mixed => $cache->saveMany([]),
            static fn(Cache $cache): mixed => $cache->namespace('part')->get('options'),
        ] as $use) {
            $store = new ArrayStore();
            $cache = new Cache($store, strict: true, judgesAdds: true);
            $use($cache);
            $cache->get('options');
            $store->delete(['row']);
            self::assertFalse($cache->add('row', 'old'));
        }
    }

    public function testManyOwnWritesAreRememberedOrTheTokenIsTakenAnew(): void
    {
        $cache = new Cache(new ArrayStore(), strict: true, judgesAdds: true);
        $cache->get('options');
        for ($i = 0; $i < 70; $i++) {
            $keys = array_map(static fn(int $number): string => "{$i}: {$number}", range(0, 999));
            $cache->deleteMany($keys);
            self::assertTrue($cache->add($keys[0], 'own word'));
        }
        self::assertTrue($cache->add('0: 1', 'own word'));
    }
}
