<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Store;

use Larder\Capability;
use Larder\Exception\InvalidOption;
use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\Store\File\Directory;
use Larder\Store\File\Lock;
use Larder\Store\File\TagVersions;
use Larder\Store\FileStore;
use Larder\Store\TagSlot;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;

/** The bounds of a directory, and what is removed from it. */
#[CoversClass(FileStore::class)]
#[CoversClass(Directory::class)]
#[CoversClass(Lock::class)]
#[CoversClass(TagVersions::class)]
final class FileStoreTest extends TestCase
{
    private const SIZE = 8 << 20;

    private ?Scratch $scratch = null;

    private int $now = 1_000_000;

    protected function setUp(): void
    {
        $this->scratch = new Scratch();
    }

    /** Whose lease it is and that it ends are one step: in between, it may have run out and be another's. */
    public function testNoProcessEndsALeaseThatIsAnothersByNow(): void
    {
        /** @var ?\Closure(): void $during what happens when the store asks for the time */
        $during = null;
        $clock = function () use (&$during): int {
            [$now, $then, $during] = [$this->now, $during, null];
            if ($then instanceof \Closure) {
                $then();
            }

            return $now;
        };
        $mine = new FileStore("{$this->scratch?->path}/leases", clock: $clock);
        foreach (['release', 'refresh'] as $verb) {
            $theirs = new FileStore("{$this->scratch?->path}/leases", timeout: 0.01, clock: fn(): int => $this->now);
            self::assertTrue($mine->acquire($verb, 'mine', 0.1));
            $taken = false;
            $during = function () use ($theirs, $verb, &$taken): void {
                $this->now += 100;
                try {
                    $taken = $theirs->acquire($verb, 'theirs', 30.0);
                } catch (StoreUnavailable) {
                    // It is locked for so long.
                }
            };
            $verb === 'release' ? $mine->release($verb, 'mine') : $mine->refresh($verb, 'mine', 1.0);
            self::assertSame($taken, $theirs->release($verb, 'theirs'));
        }
    }

    /** Near the end of a second, as expiries are whole ones, and at its very beginning, which time() may learn of a little later. */
    #[TestWith([0.8])]
    #[TestWith([0.0])]
    public function testALeaseLastsAsLongAsItWasAskedFor(float $from): void
    {
        $store = new FileStore("{$this->scratch?->path}/leases");
        self::assertTrue($store->acquire('another', 'mine', 0.5));
        for ($next = ceil(microtime(true)) + $from; microtime(true) < $next;);
        $begun = microtime(true);
        self::assertTrue($store->acquire('lease', 'mine', 0.5));
        while (!$store->acquire('lease', 'theirs', 30.0)) {
            usleep(1_000);
        }
        self::assertGreaterThanOrEqual(0.5, microtime(true) - $begun);
    }

    public function testALockThatCannotBeWrittenIsSaidBeforeAnythingIsRemoved(): void
    {
        $path = "{$this->scratch?->path}/lock";
        $file = fopen($path, 'c+');
        self::assertIsResource($file);
        $before = (new Lock($file))->keyVersion(7);
        $file = fopen($path, 'r');
        self::assertIsResource($file);
        $lock = new Lock($file);
        try {
            $lock->move(7);
            self::fail('No other process knows that the key version has moved.');
        } catch (StoreUnavailable $failure) {
            self::assertStringContainsString("The lock \"{$path}\"", $failure->getMessage());
        }
        self::assertSame($before, $lock->keyVersion(7));
    }

    /** What a power cut leaves of files that were written a moment before. */
    public function testAFileWithZerosInItIsAMiss(): void
    {
        $store = $this->store();
        foreach (['text' => str_repeat('a value of several pages ', 400), 'list' => range(1, 2_000), 'counter' => 7] as $key => $value) {
            $store->save([new Item($key, $value)]);
            [$file] = glob("{$this->scratch?->path}/cache/[0-9a-f][0-9a-f]/*") ?: [''];
            $bytes = (string) file_get_contents($file);
            for ($page = 0; $page < \strlen($bytes); $page += 512) {
                $length = min(512, \strlen($bytes) - $page);
                file_put_contents($file, substr_replace($bytes, str_repeat("\0", $length), $page, $length));
                self::assertSame([], $store->fetch([$key])->items, "{$key}, zeros from {$page} on");
                self::assertSame([], $store->touch([$key], 100));
            }
            file_put_contents($file, $bytes);
            self::assertSame($value, $store->fetch([$key])->items[$key]->value ?? null);
            $store->delete([$key]);
        }
    }

    /** Two power cuts may leave the same of a clock twice. */
    public function testAClockOfZerosIsNoneAndNothingOfWhatItHasKilledComesBack(): void
    {
        $store = $this->store();
        $clock = "{$this->scratch?->path}/cache/clock";
        $store->token('key');
        self::assertSame(272, filesize($clock));
        file_put_contents($clock, str_repeat("\0", 272));
        $store->save([new Item('key', 'value', 100, ['tag'])]);
        self::assertCount(1, $store->fetch(['key'])->items);
        $store->invalidateTags(['tag']);
        file_put_contents($clock, str_repeat("\0", 272));
        self::assertSame([], $store->fetch(['key'])->items);
        $store->invalidateTags(['other']);
        self::assertSame([], $store->fetch(['key'])->items);
    }

    public function testAPathMayHaveInItWhatLooksLikeAPattern(): void
    {
        $store = new FileStore("{$this->scratch?->path}/[site] *?{a,b}\\/cache", size: self::SIZE, clock: fn(): int => $this->now);
        $store->save([new Item('key', 1), new Item('dead', 1, 10)]);
        self::assertSame(['dead', 'key'], self::sorted($store->keys()));
        $this->now += 100;
        self::assertSame(1, $store->prune());
        self::assertSame(1, $store->statistics()->items);
        $store->clear();
        self::assertSame([], $store->fetch(['key'])->items);
    }

    public function testADirectoryNeverOutgrowsItsSize(): void
    {
        $store = $this->store(size: self::SIZE);
        for ($i = 0; $i < 600; $i++) {
            self::assertSame([], $store->save([new Item("key {$i}", str_repeat('x', 30_000), 1_000, ["tag {$i}"])]));
            self::assertCount(1, $store->fetch(["key {$i}"])->items, 'What was just saved is there.');
            $most = max($most ?? 0, $store->statistics()->bytes);
        }
        self::assertLessThanOrEqual(self::SIZE, $most);
        self::assertGreaterThan(self::SIZE / 2, $store->statistics()->bytes, 'More was evicted than had to be.');
        self::assertSame($this->bytesOnDisk(), $store->statistics()->bytes);
    }

    public function testADirectoryNeverHasMoreFilesThanItMay(): void
    {
        $store = $this->store(files: 1_024);
        for ($i = 0; $i < 3_000; $i++) {
            self::assertSame([], $store->save([new Item("key {$i}", $i)]));
        }
        self::assertLessThanOrEqual(1_024, $store->statistics()->items);
        self::assertGreaterThan(512, $store->statistics()->items);
        self::assertCount((int) $store->statistics()->items, [...$store->keys()]);
    }

    public function testWhatIsDeadGoesBeforeWhatIsAlive(): void
    {
        $store = $this->store(files: 1_024);
        for ($i = 0; $i < 500; $i++) {
            $store->save([new Item("alive {$i}", $i), new Item("dead {$i}", $i, 10)]);
        }
        $this->now += 100;
        for ($i = 0; $i < 400; $i++) {
            $store->save([new Item("new {$i}", $i)]);
        }
        self::assertGreaterThan(400, \count($store->fetch(array_map(static fn(int $i): string => "alive {$i}", range(0, 499)))->items));
    }

    public function testWhatIsLargerThanHalfIsRefusedAndLeavesNothing(): void
    {
        $store = $this->store(size: self::SIZE);
        $store->save([new Item('key', 'old'), new Item('other', 'x')]);
        $token = $store->token('key');
        self::assertSame(['key'], $store->save([new Item('key', str_repeat('x', self::SIZE * 3 >> 2))]));
        self::assertSame(['other'], array_keys($store->fetch(['key', 'other'])->items));
        self::assertSame(['key'], $store->save([new Item('key', 'late', token: $token, fill: true)]), 'It was new truth all the same.');
    }

    public function testAFullDirectoryThatDoesNotEvictRefusesAndKeepsWhatItHas(): void
    {
        $store = $this->store(size: self::SIZE, evict: false);
        for ($saved = 0; $store->save([new Item("key {$saved}", str_repeat('x', 100_000))]) === []; $saved++) {
            self::assertLessThan(1_000, $saved, 'The directory does not fill up.');
        }
        self::assertGreaterThan(self::SIZE / 100_000 - 5, $saved);
        self::assertCount($saved, [...$store->keys()]);
        $store->delete(['key 0', 'key 1']);
        self::assertSame([], $store->save([new Item('new', str_repeat('x', 100_000))]));
        self::assertContains(Capability::Retention, $store->capabilities());
        self::assertContains(Capability::Retention, $this->store()->capabilities());
        self::assertNotContains(Capability::Retention, $this->store(files: 1_000)->capabilities());
    }

    public function testBoundsThatAreNoneAreRefused(): void
    {
        foreach ([[1_000, null], [null, 10], [0, null]] as [$size, $files]) {
            try {
                $this->store($size, $files);
                self::fail('A bound that is none was taken.');
            } catch (InvalidOption $mistake) {
                self::assertStringContainsString('at least', $mistake->getMessage());
            }
        }
    }

    public function testAfterClearsAndAPruneOnlyWhatLivesTakesRoom(): void
    {
        $store = $this->store();
        for ($round = 0; $round < 3; $round++) {
            $store->save(array_map(static fn(int $i): Item => new Item("{$round} {$i}", 'x', null, ["tag {$i}"]), range(0, 99)));
            $store->invalidateTags(array_map(static fn(int $i): string => "tag {$i}", range(0, 49)));
            $store->clear();
        }
        $store->save(array_map(static fn(int $i): Item => new Item("dead {$i}", 'x', 10, ['all', "t {$i}"]), range(0, 99)));
        $store->save(array_map(static fn(int $i): Item => new Item("killed {$i}", 'x', null, ['killed']), range(0, 99)));
        $store->invalidateTags(['killed']);
        $store->save([new Item('alive', 'x', null, ['all', 'killed'])]);
        $this->now += 100;
        while ($store->prune() > 0);
        self::assertSame([1, $this->bytesOnDisk()], [$store->statistics()->items, $store->statistics()->bytes]);
        self::assertSame(['alive'], [...$store->keys()]);
    }

    public function testWhatALostSlotKnewIsNotForgottenWhenItIsMadeAnew(): void
    {
        $store = $this->store();
        $store->save([new Item('killed', 'x', null, ['x']), new Item('alive', 'x', null, ['y'])]);
        $store->invalidateTags(['x']);
        $neighbours = array_filter(
            array_map(static fn(int $i): string => "tag {$i}", range(0, 50_000)),
            static fn(string $tag): bool => TagSlot::place($tag)[0] === TagSlot::place('x')[0],
        );
        array_map(unlink(...), glob("{$this->scratch?->path}/cache/tags/???") ?: []);
        self::assertSame(['alive'], array_keys($store->fetch(['killed', 'alive'])->items));
        $store->invalidateTags([array_values($neighbours)[0]]);
        self::assertSame(['alive'], array_keys($store->fetch(['killed', 'alive'])->items));
    }

    public function testASlotOfAnotherLifeOfTheClockKillsNothing(): void
    {
        $store = $this->store();
        $store->save([new Item('first', 'x', null, ['x'])]);
        for ($i = 0; $i < 10; $i++) {
            $store->invalidateTags(['x']);
        }
        unlink("{$this->scratch?->path}/cache/clock");
        $store->invalidateTags(['x']);
        $store->save([new Item('key', 'x', null, ['x'])]);
        self::assertSame(['key'], array_keys($store->fetch(['key'])->items));
    }

    private function store(?int $size = null, ?int $files = null, bool $evict = true): FileStore
    {
        return new FileStore("{$this->scratch?->path}/cache", size: $size, files: $files, evict: $evict, clock: fn(): int => $this->now);
    }

    /**
     * @param iterable<string> $keys
     *
     * @return list<string>
     */
    private static function sorted(iterable $keys): array
    {
        $keys = [...$keys];
        sort($keys);

        return $keys;
    }

    private function bytesOnDisk(): int
    {
        clearstatcache();

        return (int) array_sum(array_map(filesize(...), glob("{$this->scratch?->path}/cache/[0-9a-f][0-9a-f]/*") ?: []));
    }
}
