<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Store;

use Larder\Item;
use Larder\Store\Sqlite\LogFile;
use Larder\Store\SqliteStore;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

#[CoversClass(LogFile::class)]
final class LogFileTest extends TestCase
{
    private Scratch $scratch;

    protected function setUp(): void
    {
        $this->scratch = new Scratch();
    }

    /** @return iterable<string, array{int}> */
    public static function sizes(): iterable
    {
        foreach ([1, 2, 3, 4, 8, 16, 1_000] as $megabytes) {
            yield "{$megabytes}M" => [$megabytes << 20];
        }
    }

    #[DataProvider('sizes')]
    public function testALogTakesAnEighthOfASizeAndAtMostAQuarterOfASmallOne(int $size): void
    {
        $log = new LogFile("{$this->scratch->path}/cache.db", $size);

        self::assertGreaterThanOrEqual($size >> 3, $log->most());
        self::assertLessThanOrEqual($size < 2 << 20 ? $size >> 2 : $size >> 3, $log->most());
        self::assertLessThan($log->most(), 4_096 * $log->pages(4_096), 'It is emptied before it is too long.');
    }

    /** Each time that SQLite brings the log into the database, it waits for the disk. */
    #[DataProvider('sizes')]
    public function testAlsoASmallDatabaseHasRoomForManyWritesInItsLog(int $size): void
    {
        self::assertGreaterThanOrEqual(48, (new LogFile("{$this->scratch->path}/cache.db", $size))->pages(4_096));
    }

    public function testWhileALogIsLongEachWriteLooks(): void
    {
        $log = $this->log(900_000);
        self::assertLessThan(1_000, $this->looks($log), 'Few writes look before it was seen to be long.');
        self::assertFalse($log->isTooLong());
        self::assertSame(1_000, $this->looks($log));
        $this->log(100);
        self::assertFalse($log->isTooLong());
        self::assertLessThan(1_000, $this->looks($log));
    }

    public function testALogIsTooLongBeyondWhatItMayHave(): void
    {
        $log = $this->log(1 << 20);
        self::assertFalse($log->isTooLong());
        $this->log((1 << 20) + 1);
        self::assertTrue($log->isTooLong());
    }

    public function testALogStaysIfItIsThereAndShort(): void
    {
        self::assertFalse((new LogFile("{$this->scratch->path}/cache.db", null))->mayStay());
        self::assertTrue($this->log(0)->mayStay());
        self::assertTrue($this->log(256 << 10)->mayStay());
        self::assertFalse($this->log((256 << 10) + 1)->mayStay());
    }

    public function testASmallDatabaseKeepsItsSizeWithItsLog(): void
    {
        $store = new SqliteStore("{$this->scratch->path}/small.db", size: 1 << 20);
        for ($i = 0; $i < 2_000; $i++) {
            $store->save([new Item("key {$i}", random_bytes(1_000))]);
        }
        clearstatcache();

        // The last transaction is in the log before that is emptied.
        self::assertLessThanOrEqual((1 << 20) + (128 << 10), (int) filesize("{$this->scratch->path}/small.db") + (int) filesize("{$this->scratch->path}/small.db-wal"));
    }

    private function log(int $bytes): LogFile
    {
        file_put_contents("{$this->scratch->path}/cache.db-wal", str_repeat("\0", $bytes));

        return new LogFile("{$this->scratch->path}/cache.db", 8 << 20);
    }

    /** @phpstan-impure */
    private function looks(LogFile $log): int
    {
        $looks = 0;
        for ($i = 0; $i < 1_000; $i++) {
            $looks += $log->isWorthALook() ? 1 : 0;
        }

        return $looks;
    }
}
