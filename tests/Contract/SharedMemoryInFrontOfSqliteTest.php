<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\DirectReads;
use Larder\Item;
use Larder\SharedMemory;
use Larder\Store;
use Larder\Store\SharedMemoryStore;
use Larder\Tier\SqliteLog;
use Larder\Tier\TieredStore;
use PHPUnit\Framework\Attributes\CoversClass;

#[CoversClass(TieredStore::class)]
#[CoversClass(SqliteLog::class)]
final class SharedMemoryInFrontOfSqliteTest extends TieredStoreContract
{
    private string $pool = "";

    protected function setUp(): void
    {
        $this->pool = "test-" . bin2hex(random_bytes(4));
    }

    protected function tearDown(): void
    {
        parent::tearDown();
        if (\extension_loaded("larder")) {
            SharedMemory::remove("{$this->pool}-test");
            SharedMemory::remove("{$this->pool}-tes");
        }
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
        return SharedMemoryStore::open("{$this->pool}-{$name}", 64 << 20);
    }
}
