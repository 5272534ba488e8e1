<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Cache;
use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\Psr16\SimpleCache;
use Larder\Psr6\CachePool;
use Larder\SaveMode;
use Larder\Session\SessionHandler;
use Larder\SharedMemory;
use Larder\Store\NamespacedStore;
use Larder\Store\SharedMemoryStore;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

/** A pool that does not evict, and is full: what a cache over it holds after a refused write, and what a session. */
#[CoversClass(SharedMemoryStore::class)]
#[CoversClass(SessionHandler::class)]
final class RefusingPoolTest extends TestCase
{
    private const SIZE = 4 << 20;

    private readonly string $name;

    private readonly SharedMemoryStore $store;

    protected function setUp(): void
    {
        $this->name = 'test-' . bin2hex(random_bytes(4));
        $this->store = SharedMemoryStore::open($this->name, self::SIZE, false);
    }

    protected function tearDown(): void
    {
        SharedMemoryStore::remove($this->name);
    }

    public function testARefusedWriteOfACacheIsAMissAfterwards(): void
    {
        $cache = new Cache($this->store);
        $simple = new SimpleCache($cache);
        $pool = new CachePool($cache);
        $writes = [
            'a set' => fn(string $key, string $value): bool => $cache->set($key, $value),
            'many' => fn(string $key, string $value): bool => $cache->setMany([$key => $value]),
            'a replace' => fn(string $key, string $value): bool => $cache->replace($key, $value),
            'PSR-16' => fn(string $key, string $value): bool => $simple->set($key, $value),
            'PSR-6' => fn(string $key, string $value): bool => $pool->save($pool->getItem($key)->set($value)),
            'the store' => fn(string $key, string $value): bool => $this->store->save([new Item($key, $value)]) === [],
            'the store, in the place of the old' => fn(string $key, string $value): bool => $this->store->save([new Item($key, $value)], SaveMode::Replace) === [],
            'the store, with a token' => fn(string $key, string $value): bool => $this->store->save([new Item($key, $value, token: $this->store->token($key))]) === [],
        ];
        foreach ($writes as $name => $write) {
            self::assertTrue($cache->set("key.{$name}", 'old'));
        }
        $this->fill();
        foreach ($writes as $name => $write) {
            self::assertSame('old', $cache->get("key.{$name}"));
            self::assertFalse($write("key.{$name}", str_repeat('new', 30_000)), $name);
            self::assertNull($cache->get("key.{$name}"), $name);
        }
    }

    public function testWhatKeepsIsLeftByARefusedWrite(): void
    {
        foreach ([$this->store, new NamespacedStore($this->store, 'part')] as $store) {
            self::assertSame([], $store->save([new Item('key', 'old')]));
        }
        $this->fill();
        foreach ([$this->store, new NamespacedStore($this->store, 'part')] as $store) {
            $long = str_repeat('new', 30_000);
            self::assertSame(['key'], $store->save([new Item('key', $long, keeps: true)]));
            self::assertSame(['key'], $store->save([new Item('key', $long, keeps: true)], SaveMode::Replace));
            self::assertSame(['key'], $store->save([new Item('key', $long, token: $store->token('key'), keeps: true)]));
            self::assertSame('old', $store->fetch(['key'])->items['key']->value ?? null);
        }
    }

    public function testAnOutdatedWriteLeavesWhatIsNewer(): void
    {
        $token = $this->store->token('key');
        $elsewhere = pcntl_fork();
        if ($elsewhere === 0) {
            $this->store->save([new Item('key', 'newer')]);
            posix_kill((int) getmypid(), \SIGKILL);
        }
        pcntl_waitpid($elsewhere, $status);
        foreach ([true, false] as $keeps) {
            self::assertSame(['key'], $this->store->save([new Item('key', 'outdated', token: $token, keeps: $keeps)]));
            self::assertSame('newer', $this->store->fetch(['key'])->items['key']->value ?? null);
        }
    }

    public function testASessionThatCannotBeWrittenStaysAsItWas(): void
    {
        $handler = new SessionHandler(new Cache($this->store), 1_000);
        self::assertSame('', $handler->read('visitor'));
        self::assertTrue($handler->write('visitor', 'who|s:4:"Anna";'));
        $this->fill();
        self::assertFalse($handler->write('visitor', str_repeat('cart', 30_000)));
        self::assertFalse($handler->write('visitor', str_repeat('cart', 1_000_000)), 'Larger than the pool can hold.');
        $handler->close();
        self::assertTrue($handler->validateId('visitor'));
        self::assertSame('who|s:4:"Anna";', $handler->read('visitor'));
        self::assertTrue($handler->updateTimestamp('visitor', 'who|s:4:"Anna";'));
        $handler->close();
    }

    public function testAFullPoolHasRoomForLocks(): void
    {
        $this->fill();
        $cache = new Cache($this->store, strict: true);
        $lock = $cache->lock('one');
        self::assertTrue($lock->acquire());
        self::assertGreaterThan((int) $lock->fence(), $lock->fence());
        $cache->clear();
        $another = new Cache(SharedMemoryStore::open($this->name, evict: false), strict: true);
        self::assertFalse($another->lock('one')->acquire(), 'A clear ends no lock.');
        $inPart = $cache->namespace('part')->namespace('deeper');
        self::assertTrue($inPart->lock('one')->acquire(), 'It is another one in a part.');
        $inPart->clear();
        self::assertFalse($another->namespace('part')->namespace('deeper')->lock('one')->acquire());
        self::assertTrue($another->namespace('part')->lock('one')->acquire());
        self::assertTrue($another->lock('one', owner: $lock->owner)->release());
        self::assertTrue($another->lock('one')->acquire());
    }

    public function testThereIsRoomForTwentyThousandLocks(): void
    {
        $cache = new Cache($this->store, strict: true);
        for ($i = 0; $i < 20_000; $i++) {
            self::assertTrue($cache->lock('session-' . md5((string) $i), 1_000.0)->acquire());
        }
    }

    public function testARemovedPoolTakesItsLocksAlong(): void
    {
        self::assertTrue((new Cache($this->store, strict: true))->lock('session', 1_000.0)->acquire());
        $both = [$this->name, SharedMemoryStore::leasesOf($this->name)];
        self::assertEqualsCanonicalizing($both, array_intersect(SharedMemory::names(), $both));
        self::assertTrue(SharedMemoryStore::remove($this->name));
        self::assertSame([], array_intersect(SharedMemory::names(), $both));
        self::assertFalse(SharedMemoryStore::remove($this->name));
        SharedMemory::open($both[0], 4 << 20, false);
        SharedMemory::open($both[1], 4 << 20, false);
        self::assertTrue(SharedMemory::remove($this->name), 'the extension alone');
        self::assertSame([], array_intersect(SharedMemory::names(), $both));
    }

    public function testAPoolOfALongNameHasItsLocksBesideIt(): void
    {
        $names = [];
        foreach ([57, 58, 59, 64] as $length) {
            foreach (['a', 'b'] as $end) {
                $names[] = SharedMemoryStore::leasesOf(str_pad('n', $length - 1, 'n') . $end);
            }
        }
        self::assertSame($names, array_values(array_unique($names)));
        self::assertSame(64, max(array_map(strlen(...), $names)));
    }

    public function testACounterSaysWhyItIsNotCounted(): void
    {
        $this->fill();
        $this->expectException(StoreUnavailable::class);
        $this->expectExceptionMessageMatches('/is full/');
        $this->store->increment(str_repeat('counter', 8_000));
    }

    /** Until nothing fits. */
    private function fill(): void
    {
        foreach ([60_000, 1_000, 1] as $length) {
            for ($i = 0; $this->store->pool->set("{$length} {$i}", str_repeat('x', $length)); $i++);
        }
    }
}
