<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Cache;
use Larder\Numbers;
use Larder\Store\SharedMemoryStore;
use PHPUnit\Framework\Attributes\CoversClass;

#[CoversClass(SharedMemoryStore::class)]
final class SharedMemoryStoreTest extends PoolCase
{
    protected function of(SharedMemoryStore $pool): SharedMemoryStore
    {
        return $pool;
    }

    public function testACounterOfANamespaceIsCountedUnderConditionsAndKeepsItsTags(): void
    {
        $cache = new Cache($this->store(), strict: true);
        foreach ([$cache->namespace('a'), $cache->namespace('a')->namespace('b')] as $part) {
            self::assertFalse($part->increment('n', create: false));
            self::assertSame(0, $part->decrement('n', 5, 1, 1_000, min: 0));
            self::assertSame(3, $part->increment('n', 3, create: false));
            $part->set('tagged', 9, 1_000, ['x']);
            self::assertSame(0, $part->decrement('tagged', 10, min: 0));
            $cache->invalidateTags(['x']);
            self::assertFalse($part->has('tagged'));
            self::assertSame(3, $part->get('n'));
            $part->set('text', '5');
            self::assertSame(6, $part->increment('text', numbers: Numbers::Numeric));
            $part->clear();
            self::assertSame([], $part->getMany(['n', 'text']));
        }
    }
}
