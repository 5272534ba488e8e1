<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\DirectReads;
use Larder\Item;
use Larder\Store;
use Larder\Tier\SqliteLog;
use Larder\Tier\TieredStore;
use PHPUnit\Framework\Attributes\CoversClass;

#[CoversClass(TieredStore::class)]
#[CoversClass(SqliteLog::class)]
final class SharedMemoryInFrontOfSqliteTest extends TieredStoreContract
{
    private readonly Pools $pools;

    protected function setUp(): void
    {
        $this->pools = new Pools(8 << 20);
    }

    protected function tearDown(): void
    {
        parent::tearDown();
        $this->pools->remove();
    }

    /** The pool keeps their hashes; so it does when the item comes from there. */
    public function testAnItemTellsItsTags(): void
    {
        $this->store()->save([new Item('key', 1, 100, ['x', 'y'])]);
        self::assertSame(['x', 'y'], $this->store()->fetch(['key'])->items['key']->tags);
        self::assertSame([], $this->store()->fetch(['key'])->items['key']->tags);
    }

    protected function near(string $name): Store&DirectReads
    {
        return $this->pools->open($name);
    }
}
