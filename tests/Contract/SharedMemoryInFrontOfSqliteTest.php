<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\DirectReads;
use Larder\Item;
use Larder\SharedMemory;
use Larder\Store;
use Larder\Store\ArrayStore;
use Larder\Store\SharedMemoryStore;
use Larder\Store\SqliteStore;
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

    /** The pool does not tell it the tags of what it keeps. */
    public function testAnArrayInFrontOfBothForgetsWhatATagInvalidates(): void
    {
        $open = function (): TieredStore {
            $far = new SqliteStore("{$this->path()}/cache.db", 'test', timeout: 30.0);
            $log = $far->log();

            return new TieredStore(new ArrayStore(), new TieredStore($this->near('test'), $far, $log), $log);
        };
        [$here, $there] = [$open(), $open()];
        foreach (['own' => $here, 'of another process' => $there] as $whose => $writer) {
            $there->save([new Item('key', 'old', 100, ['x'])]);
            self::assertSame('old', $there->read('key'), 'from SQLite into the pool');
            foreach (['from the pool', 'from the array'] as $where) {
                $here->beginRequest();
                self::assertSame('old', $here->read('key'), $where);
            }
            $writer->invalidateTags(['x']);
            $here->beginRequest();
            self::assertNull($here->read('key'), $whose);
            $there->beginRequest();
        }
    }

    protected function near(string $name): Store&DirectReads
    {
        return SharedMemoryStore::open("{$this->pool}-{$name}", 64 << 20);
    }
}
