<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Cache;
use Larder\Item;
use Larder\Lease\AddedLeases;
use Larder\Leases;
use Larder\SaveMode;
use Larder\Session\SessionHandler;
use Larder\Store;
use Larder\Store\ApcuStore;
use Larder\Store\ArrayStore;
use Larder\Store\NamespacedStore;
use Larder\Store\PhpFileStore;
use Larder\Store\SharedMemoryStore;
use Larder\Store\SqliteStore;
use Larder\Stores;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/** Every store that may have a size, when it has reached it. */
#[CoversClass(ApcuStore::class)]
#[CoversClass(ArrayStore::class)]
#[CoversClass(NamespacedStore::class)]
#[CoversClass(PhpFileStore::class)]
#[CoversClass(SharedMemoryStore::class)]
#[CoversClass(SqliteStore::class)]
#[CoversClass(SessionHandler::class)]
final class FullStoresTest extends TestCase
{
    private readonly Scratch $scratch;

    protected function setUp(): void
    {
        $this->scratch = new Scratch();
    }

    /** @return iterable<string, array{string}> */
    public static function refusingItems(): iterable
    {
        yield from self::keeping();
        yield 'few files' => ['file:DIRECTORY/cache?files=256&evict=no'];
    }

    /** @return iterable<string, array{string}> */
    public static function refusing(): iterable
    {
        yield 'SQLite' => ['sqlite:DIRECTORY/cache.db?size=1M&evict=no'];
        yield 'files' => ['file:DIRECTORY/cache?size=1M&evict=no'];
        yield 'PHP files' => ['php:DIRECTORY/cache?size=1M&evict=no'];
    }

    /** @return iterable<string, array{string}> */
    public static function keeping(): iterable
    {
        yield from self::refusing();
        yield 'shared memory' => ['shm:NAME?size=4M&evict=no'];
    }

    /** @return iterable<string, array{string}> */
    public static function bounded(): iterable
    {
        yield from self::keeping();
        yield 'an array' => ['array:?size=1M'];
        yield 'an evicting SQLite' => ['sqlite:DIRECTORY/cache.db?size=1M'];
        yield 'evicting files' => ['file:DIRECTORY/cache?size=1M'];
        yield 'evicting PHP files' => ['php:DIRECTORY/cache?size=1M'];
        yield 'evicting shared memory' => ['shm:NAME?size=4M'];
        yield 'APCu' => ['apcu:?prefix=NAME'];
    }

    #[DataProvider('keeping')]
    public function testInAFullStoreWhatKeepsIsLeftByAWriteThatDoesNotFit(string $dsn): void
    {
        $this->with($dsn, function (Store $store): void {
            $part = new NamespacedStore($store, 'part');
            foreach ([$store, $part] as $each) {
                self::assertSame([], $each->save([new Item('key', 'old', 1_000), new Item('other', 'old', 1_000)]));
            }
            self::fill($store);
            $long = random_bytes(90_000);
            foreach ([$store, $part] as $each) {
                self::assertSame(['key'], $each->save([new Item('key', $long, keeps: true)]));
                self::assertSame(['key'], $each->save([new Item('key', $long, keeps: true)], SaveMode::Replace));
                self::assertSame(['key'], $each->save([new Item('key', $long, token: $each->token('key'), keeps: true)]));
                self::assertSame('old', $each->fetch(['key'])->items['key']->value ?? null);
                self::assertSame(['other'], $each->save([new Item('other', $long)]));
                self::assertSame([], $each->fetch(['other'])->items, 'What is not to stay is gone.');
            }
            $store->delete(array_map(static fn(int $i): string => "60000 {$i}", range(0, 11)));
            foreach ([$store, $part] as $each) {
                self::assertSame([], $each->save([new Item('key', $long, keeps: true)]));
                self::assertSame($long, $each->fetch(['key'])->items['key']->value ?? null);
            }
        });
    }

    #[DataProvider('bounded')]
    public function testWhatKeepsIsLeftByAWriteThatIsTooLargeForTheStore(string $dsn): void
    {
        $this->with($dsn, static function (Store $store): void {
            self::assertSame([], $store->save([new Item('key', 'old')]));
            $tooLong = random_bytes(40_000_000);
            self::assertSame(['key'], $store->save([new Item('key', $tooLong, keeps: true)]));
            self::assertSame('old', $store->fetch(['key'])->items['key']->value ?? null);
            self::assertSame(['key'], $store->save([new Item('key', $tooLong)]));
            self::assertSame([], $store->fetch(['key'])->items);
        });
    }

    #[DataProvider('refusingItems')]
    public function testAFullStoreHasRoomForLeases(string $dsn): void
    {
        $this->with($dsn, static function (Store $store): void {
            self::fill($store);
            $leases = $store instanceof Leases ? $store : new AddedLeases($store);
            for ($i = 0; $i < 100; $i++) {
                self::assertTrue($leases->acquire("lease {$i}", 'owner', 100.0), "lease {$i}");
                self::assertFalse($leases->acquire("lease {$i}", 'another', 100.0));
                self::assertGreaterThan(0, $leases->fence("lease {$i}", 'owner'));
                self::assertTrue($leases->refresh("lease {$i}", 'owner', 100.0));
            }
            for ($i = 0; $i < 100; $i++) {
                self::assertTrue($leases->release("lease {$i}", 'owner'));
            }
            self::assertNotSame([], $store->save([new Item('item', random_bytes(60_000))], SaveMode::Add), 'It is still full.');
        });
    }

    #[DataProvider('refusingItems')]
    public function testAFullStoreStillLetsSessionsBeReadAndEnded(string $dsn): void
    {
        $this->with($dsn, static function (Store $store): void {
            $handler = new SessionHandler(new Cache($store), 1_000);
            self::assertSame('', $handler->read('visitor'));
            self::assertTrue($handler->write('visitor', 'who|s:4:"Anna";'));
            $handler->close();
            self::fill($store);
            self::assertSame('who|s:4:"Anna";', $handler->read('visitor'));
            $handler->write('visitor', random_bytes(90_000));
            $handler->close();
            self::assertNotSame('', $handler->read('visitor'));
            self::assertTrue($handler->destroy('visitor'));
            $handler->close();
        });
    }

    /** @param \Closure(Store): void $work */
    private function with(string $dsn, \Closure $work): void
    {
        $name = 'test-' . bin2hex(random_bytes(4));
        try {
            $work(Stores::open(str_replace(['DIRECTORY', 'NAME'], [$this->scratch->path, $name], $dsn)));
        } finally {
            SharedMemoryStore::remove($name);
        }
    }

    /** Until not even a short item fits. */
    private static function fill(Store $store): void
    {
        foreach ([60_000, 1_000, 10] as $length) {
            for ($i = 0; $store->save([new Item("{$length} {$i}", random_bytes($length))], SaveMode::Add) === []; $i++);
        }
    }
}
