<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Item;
use Larder\Reads;
use Larder\Store;

/** Shared memory in front of SQLite, whatever may be in front of it. */
abstract class PoolInFrontOfSqliteCase extends TieredStoreCase
{
    private readonly Pools $pools;

    final protected function setUp(): void
    {
        $this->pools = new Pools(8 << 20);
    }

    final protected function tearDown(): void
    {
        parent::tearDown();
        $this->pools->remove();
    }

    /** The pool keeps their hashes; so it does when the item comes from there. */
    public function testAnItemThatComesFromThePoolTellsNoTags(): void
    {
        $this->store()->save([new Item('key', 1, 100, ['x', 'y'])]);
        self::assertSame(['x', 'y'], $this->store()->fetch(['key'])->items['key']->tags);
        self::assertSame([], $this->reopened()->fetch(['key'])->items['key']->tags);
    }

    final protected function near(string $name): Store&Reads
    {
        return $this->pools->open($name);
    }
}
