<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Capability;
use Larder\Exception\UnsupportedOperation;
use Larder\Fetched;
use Larder\Item;
use Larder\Key;
use Larder\SaveMode;

/** What every store promises of keys, of time and of its operations. */
final class StoreContract extends Suite
{
    /** @return non-empty-list<string> */
    public static function hostileKeys(): array
    {
        return [
            '007', '7', '7.0', ' 7', '7 ', '1e3', '1000', '0', '-0', '-7', '+7', 'null', 'key', 'KEY',
            '9223372036854775807', '9223372036854775808', '-9223372036854775808',
            ' ', "\0", "\0\0", "a\0b", "a\0c", "\n", "a\r\nset b 0 0 1\r\nx\r\n", "\t", "\x7f", "\xff\xfe", "\xc3", 'ü', "u\u{308}",
            '*', '?', '[a-z]', '\\', '%', '_', "'", '"', '; DROP TABLE items', '../../../etc/passwd', '.', '..', '/', 'a/b', 'a:b', 'generation',
            '{tag}', 'secret', '.lock', str_repeat('k', 249), str_repeat('k', 250), str_repeat('k', 251),
            str_repeat('k', 65_534), str_repeat('k', Key::LONGEST), str_repeat("\xf0", Key::LONGEST),
        ];
    }

    /** @return non-empty-list<string> */
    private function legalKeys(): array
    {
        $longest = $this->of->longestKey();

        return array_values(array_unique(array_map(static fn(string $key): string => substr($key, 0, $longest), self::hostileKeys())));
    }

    public function testEveryLegalKeyIsAKeyOfItsOwn(): void
    {
        $keys = $this->legalKeys();
        foreach ($keys as $i => $key) {
            self::assertSame([], $this->store()->save([new Item($key, "value {$i}")]));
        }
        foreach ($keys as $i => $key) {
            self::assertSame("value {$i}", $this->value($key));
        }
        foreach ($keys as $i => $key) {
            self::assertSame([$key], $this->store()->delete([$key]));
            self::assertFalse($this->has($key));
            if (isset($keys[$i + 1])) {
                self::assertTrue($this->has($keys[$i + 1]));
            }
        }
    }

    public function testEveryLegalKeyWorksInABatch(): void
    {
        $keys = $this->legalKeys();
        $items = array_map(static fn(string $key): Item => new Item($key, $key), $keys);
        self::assertSame([], $this->store()->save($items));
        $fetched = $this->store()->fetch($keys);
        self::assertSame([], $fetched->tokens);
        self::assertSame($keys, array_map(strval(...), array_keys($fetched->items)));
        foreach ($keys as $key) {
            self::assertSame($key, $fetched->items[$key]->key);
            self::assertSame($key, $fetched->items[$key]->value);
        }
        self::assertSame($keys, $this->store()->touch($keys, 100));
        self::assertSame($keys, $this->store()->delete($keys));
        self::assertSame([], $this->store()->fetch($keys)->items);
    }

    public function testEveryLegalKeyCanBeACounter(): void
    {
        $keys = $this->legalKeys();
        foreach ($keys as $i => $key) {
            self::assertSame($i, $this->store()->increment($key, $i));
        }
        foreach ($keys as $i => $key) {
            self::assertSame($i, $this->value($key));
        }
    }

    public function testAnEmptyBatchDoesNothing(): void
    {
        $store = $this->store();
        self::assertEquals(new Fetched([], []), $store->fetch([]));
        self::assertSame([], $store->save([]));
        self::assertSame([], $store->delete([]));
        self::assertSame([], $store->touch([], 10));
    }

    public function testInABatchThatNamesAKeyTwiceTheLastItemWins(): void
    {
        self::assertSame([], $this->store()->save([new Item('key', 'first'), new Item('key', 'second')]));
        self::assertSame('second', $this->value('key'));
        self::assertCount(1, $this->store()->fetch(['key', 'key'])->items);
    }

    public function testALargeBatchIsWhatItsMembersWouldBe(): void
    {
        $items = $keys = [];
        for ($i = 0; $i < 1_000; $i++) {
            $keys[] = "key {$i}";
            $items[] = new Item("key {$i}", ['number' => $i, 'text' => str_repeat('x', $i)]);
        }
        self::assertSame([], $this->store()->save($items));
        foreach ([0, 1, 499, 999] as $i) {
            self::assertSame(['number' => $i, 'text' => str_repeat('x', $i)], $this->value("key {$i}"));
        }
        $fetched = $this->store()->fetch([...$keys, 'absent']);
        self::assertCount(1_000, $fetched->items);
        self::assertSame(['absent'], array_keys($fetched->tokens));
        self::assertSame($keys, $this->store()->delete(['absent', ...$keys]));
        self::assertSame([], $this->store()->fetch($keys)->items);
    }

    public function testSetOverwrites(): void
    {
        $this->store()->save([new Item('key', 'a long value that is overwritten by a short one')]);
        $this->store()->save([new Item('key', 1)]);
        self::assertSame(1, $this->value('key'));
        $this->store()->save([new Item('key', ['array'])]);
        self::assertSame(['array'], $this->value('key'));
        $this->store()->save([new Item('key', null)]);
        self::assertTrue($this->has('key'));
        self::assertNull($this->value('key'));
    }

    public function testAddStoresOnlyWhatIsMissing(): void
    {
        $this->store()->save([new Item('taken', null)]);
        self::assertSame(['taken'], $this->store()->save([new Item('taken', 'new'), new Item('free', 'new')], SaveMode::Add));
        self::assertTrue($this->has('taken'));
        self::assertNull($this->value('taken'));
        self::assertSame('new', $this->value('free'));
        self::assertSame(['free'], $this->store()->save([new Item('free', 'newer')], SaveMode::Add));
    }

    public function testReplaceStoresOnlyWhatIsThere(): void
    {
        $this->store()->save([new Item('taken', false)]);
        self::assertSame(['free'], $this->store()->save([new Item('taken', 'new'), new Item('free', 'new')], SaveMode::Replace));
        self::assertSame('new', $this->value('taken'));
        self::assertFalse($this->has('free'));
    }

    public function testATtlOfZeroOrLessDeletes(): void
    {
        $store = $this->store();
        foreach ([0, -1, \PHP_INT_MIN] as $ttl) {
            $store->save([new Item('set', 1), new Item('replaced', 1), new Item('kept', 1), new Item('touched', 1)]);
            self::assertSame([], $store->save([new Item('set', 2, $ttl)]));
            self::assertSame([], $store->save([new Item('replaced', 2, $ttl)], SaveMode::Replace));
            self::assertSame(['replaced'], $store->save([new Item('replaced', 2, $ttl)], SaveMode::Replace));
            self::assertSame([], $store->save([new Item('added', 2, $ttl)], SaveMode::Add));
            self::assertSame(['kept'], $store->save([new Item('kept', 2, $ttl)], SaveMode::Add));
            self::assertSame(['touched'], $store->touch(['touched', 'absent'], $ttl));
            self::assertSame(['kept'], array_keys($store->fetch(['set', 'replaced', 'added', 'kept', 'touched'])->items));
            self::assertSame(3, $store->increment('counter', 3, 0, $ttl));
            self::assertFalse($this->has('counter'));
        }
    }

    public function testAnAbsurdTtlIsAVeryLongOne(): void
    {
        foreach ([\PHP_INT_MAX, 1 << 40, 4_000_000_000, 3_000_000_000, 2_592_001] as $ttl) {
            self::assertSame([], $this->store()->save([new Item('key', $ttl, $ttl)]));
            self::assertSame($ttl, $this->value('key'));
            self::assertSame(['key'], $this->store()->touch(['key'], $ttl));
            self::assertSame($ttl, $this->value('key'));
            self::assertSame([], $this->store()->save([new Item('key', $ttl, $ttl)], SaveMode::Replace));
            self::assertSame(['key'], $this->store()->delete(['key']));
            self::assertSame(1, $this->store()->increment('key', ttl: $ttl));
            self::assertSame(2, $this->store()->increment('key', ttl: $ttl));
            self::assertSame(['key'], $this->store()->delete(['key']));
        }
    }

    public function testAnItemTellsWhenItExpires(): void
    {
        $before = time();
        $this->store()->save([new Item('never', 1), new Item('later', 'x', 100), new Item('array', [1], 5_000_000)]);
        $this->store()->increment('counter', ttl: 100);
        $items = $this->store()->fetch(['never', 'later', 'counter', 'array'])->items;
        $after = time();
        self::assertNull($items['never']->expiry);
        foreach (['later' => 100, 'counter' => 100, 'array' => 5_000_000] as $key => $ttl) {
            // Rounded to a whole second, and counted by clocks whose seconds begin at other moments.
            self::assertGreaterThanOrEqual($before + $ttl - 2, $items[$key]->expiry);
            self::assertLessThanOrEqual($after + $ttl + 1, $items[$key]->expiry);
        }
    }

    public function testTouchChangesTheExpiryAndNothingElse(): void
    {
        $before = time();
        $this->store()->save([new Item('a', ['value'], 10), new Item('b', 5), new Item('c', 'text', 10), new Item('large', str_repeat('x', 3_000_000), 10)]);
        self::assertSame(['a', 'b', 'large'], $this->store()->touch(['a', 'absent', 'b', 'large'], 1_000));
        self::assertSame(['c'], $this->store()->touch(['c'], null));
        $items = $this->store()->fetch(['a', 'b', 'c', 'absent', 'large'])->items;
        self::assertSame(['value'], $items['a']->value);
        self::assertSame(5, $items['b']->value);
        self::assertSame('text', $items['c']->value);
        self::assertSame(str_repeat('x', 3_000_000), $items['large']->value);
        self::assertGreaterThanOrEqual($before + 998, $items['a']->expiry);
        self::assertGreaterThanOrEqual($before + 998, $items['b']->expiry);
        self::assertGreaterThanOrEqual($before + 998, $items['large']->expiry);
        self::assertNull($items['c']->expiry);
        self::assertArrayNotHasKey('absent', $items);
        self::assertSame(6, $this->store()->increment('b'));
    }

    public function testWhatHasExpiredIsAMissToEveryOperation(): void
    {
        $store = $this->store();
        $dead = ['fetched', 'array', 'added', 'replaced', 'deleted', 'incremented', 'touched', 'counter', 'large'];
        do {
            // Within one second of the clock, so that this says the same as a store with a clock of its own.
            $store->clear();
            $second = time();
            $store->save(array_map(static fn(string $key): Item => new Item($key, match ($key) {
                'array' => ['a' => [1]],
                'counter', 'incremented' => 41,
                'large' => str_repeat('x', 2_500_000),
                default => 'old',
            }, 1), $dead));
            $store->save([new Item('alive', 'x', 100), new Item('touched into life', 'x', 1), new Item('touched to death', 'x', 100)]);
            $store->touch(['touched to death'], 1);
            $store->increment('made by increment', 5, 0, 1);
            $store->increment('counter', 1, 0, 1_000);
            $store->save([new Item('set again', 'old', 1)]);
            $store->save([new Item('set again', 'new')]);
            $store->save([new Item('counted again', 1, 1_000)]);
            $store->increment('counted again', 1, 0, 1);
            $store->touch(['touched into life'], 100);
        } while (time() !== $second);
        $this->of->waitFor(1.1);

        self::assertSame([], $store->fetch([...$dead, 'touched to death', 'made by increment'])->items);
        self::assertSame([], $store->save([new Item('added', 'new')], SaveMode::Add));
        self::assertSame('new', $this->value('added'));
        self::assertSame(['replaced'], $store->save([new Item('replaced', 'new')], SaveMode::Replace));
        self::assertSame([], $store->delete(['deleted']));
        self::assertSame(101, $store->increment('incremented', 1, 100));
        self::assertSame([], $store->touch(['touched'], 100));
        self::assertSame(['alive', 'set again', 'counted again'], array_keys($store->fetch(['alive', 'set again', 'counted again'])->items));
        self::assertSame('new', $this->value('set again'));
        if (\in_array(Capability::Keys, $store->capabilities(), true)) {
            self::assertNotContains('fetched', [...$store->keys()]);
            self::assertContains('alive', [...$store->keys()]);
        }
    }

    public function testPruneRemovesWhatIsDeadAndNothingElse(): void
    {
        $store = $this->store();
        $store->save([new Item('dead', 'x', 1), new Item('alive', 'x', 100), new Item('forever', 'x'), new Item('a number', 5, 1)]);
        $this->of->waitFor(1.1);
        for ($rounds = 0; $store->prune() > 0; $rounds++) {
            self::assertLessThan(1_000, $rounds, 'prune() never says that it is done');
        }
        self::assertSame(['alive', 'forever'], array_keys($store->fetch(['dead', 'alive', 'forever', 'a number'])->items));
    }

    public function testDeleteTellsWhatExisted(): void
    {
        $this->store()->save([new Item('a', null), new Item('b', false), new Item('7', 1)]);
        self::assertSame(['a', 'b', '7'], $this->store()->delete(['a', 'absent', 'b', '7']));
        self::assertSame([], $this->store()->delete(['a', 'absent', 'b', '7']));
    }

    public function testClearKillsEverything(): void
    {
        $keys = $this->legalKeys();
        $this->store()->save(array_map(static fn(string $key): Item => new Item($key, 'x'), $keys));
        $this->store()->increment('counter');
        $this->store()->save([new Item('large', str_repeat('x', 2_000_000))]);
        $this->store()->clear();
        self::assertSame([], $this->store()->fetch([...$keys, 'counter', 'large'])->items);
        self::assertSame([], $this->store()->delete($keys));
        self::assertSame(5, $this->store()->increment('counter', 5));
        $this->store()->save([new Item('key', 'after')]);
        self::assertSame('after', $this->value('key'));
        $this->store()->clear();
        $this->store()->clear();
        self::assertFalse($this->has('key'));
    }

    public function testNeighboursShareNothing(): void
    {
        $store = $this->store();
        $neighbour = $this->of->neighbour();
        $store->save([new Item('key', 'mine'), new Item('only mine', 1)]);
        $neighbour->save([new Item('key', 'theirs')]);
        self::assertSame('mine', $this->value('key'));
        self::assertSame('theirs', $neighbour->fetch(['key'])->items['key']->value ?? null);
        self::assertSame([], $neighbour->fetch(['only mine'])->items);
        self::assertSame([], $neighbour->delete(['only mine']));
        self::assertSame(1, $neighbour->increment('only mine'));
        self::assertSame(1, $this->value('only mine'));
        if (\in_array(Capability::Keys, $store->capabilities(), true)) {
            self::assertSame(['key', 'only mine'], self::sorted($neighbour->keys()));
        }
        $neighbour->clear();
        self::assertSame([], $neighbour->fetch(['key', 'only mine'])->items);
        self::assertCount(2, $store->fetch(['key', 'only mine'])->items);
        $neighbour->save([new Item('key', 'theirs')]);
        $store->clear();
        self::assertSame('theirs', $neighbour->fetch(['key'])->items['key']->value ?? null);
        $neighbour->clear();
    }

    public function testKeysListsWhatBeginsWithAPrefix(): void
    {
        $store = $this->store();
        if (!\in_array(Capability::Keys, $store->capabilities(), true)) {
            try {
                [...$store->keys()];
                self::fail('Keys are listed that cannot be.');
            } catch (UnsupportedOperation $refusal) {
                self::assertNotSame('', $refusal->getMessage());
            }

            return;
        }
        $keys = $this->legalKeys();
        $store->save(array_map(static fn(string $key): Item => new Item($key, 'x'), $keys));
        self::assertSame(self::sorted($keys), self::sorted($store->keys()));
        foreach (['7', 'k', '*', '[a', "\0", "\xf0", '\\', '%', '.', 'nothing begins with this'] as $prefix) {
            $expected = array_values(array_filter($keys, static fn(string $key): bool => str_starts_with($key, $prefix)));
            self::assertSame(self::sorted($expected), self::sorted($store->keys($prefix)), "prefix {$prefix}");
        }
        $store->delete(['7']);
        self::assertNotContains('7', [...$store->keys()]);
    }

    public function testALeaseIsItsOwnersUntilItIsReleasedAndNoItem(): void
    {
        $leases = $this->of->leases();
        foreach (['name', "\0\xff of any bytes", str_repeat('n', 2_000)] as $name) {
            self::assertTrue($leases->acquire($name, 'one', 60.0));
            self::assertFalse($leases->acquire($name, 'two', 60.0));
            self::assertTrue($leases->acquire($name, 'one', 60.0), 'The first answer may have been lost.');
            self::assertFalse($leases->acquire($name, 'two', 60.0));
            self::assertFalse($leases->refresh($name, 'two', 60.0));
            self::assertFalse($leases->release($name, 'two'));
            self::assertTrue($leases->refresh($name, 'one', 60.0));
            self::assertFalse($this->has($name));
            self::assertTrue($leases->release($name, 'one'));
            self::assertFalse($leases->refresh($name, 'one', 60.0));
            self::assertFalse($leases->release($name, 'one'));
            self::assertTrue($leases->acquire($name, 'two', 60.0));
            self::assertTrue($leases->release($name, 'two'));
        }
    }

    public function testEachOwnerOfALeaseIsGivenAGreaterNumberThanAllBefore(): void
    {
        $leases = $this->of->leases();
        $given = 0;
        foreach (['name', "\0\xff of any bytes", str_repeat('n', 2_000)] as $name) {
            self::assertNull($leases->fence($name, 'one'));
            foreach (['one', 'two', 'one'] as $owner) {
                self::assertTrue($leases->acquire($name, $owner, 60.0));
                self::assertNull($leases->fence($name, 'another'));
                foreach (['as it is', 'refreshed', 'taken once more', 'after a clear'] as $state) {
                    match ($state) {
                        'refreshed' => $leases->refresh($name, $owner, 60.0),
                        'taken once more' => $leases->acquire($name, $owner, 60.0),
                        default => null,
                    };
                    if ($state === 'after a clear' && $this->can(Capability::Retention)) {
                        $this->store()->clear();
                    }
                    $number = $leases->fence($name, $owner);
                    self::assertGreaterThan($given, $number, $state);
                    $given = (int) $number;
                }
                self::assertTrue($leases->release($name, $owner));
                self::assertNull($leases->fence($name, $owner));
            }
            $given = 0;
        }
    }

    public function testALeaseThatItsOwnerTakesOnceMoreLastsFromThenOn(): void
    {
        $leases = $this->of->leases();
        self::assertTrue($leases->acquire('name', 'one', 0.5));
        self::assertTrue($leases->acquire('name', 'one', 60.0));
        // What was taken later for as short a time ends after it. A store that counts in seconds may take two.
        self::assertTrue($leases->acquire('later', 'one', 0.5));
        for ($waits = 0; !$leases->acquire('later', 'two', 60.0); $waits++) {
            self::assertLessThan(1_000, $waits, 'A lease does not end.');
            $this->of->waitFor(0.05);
        }
        self::assertTrue($leases->release('later', 'two'));
        self::assertFalse($leases->acquire('name', 'two', 60.0));
        self::assertTrue($leases->release('name', 'one'));
        self::assertTrue($leases->acquire('name', 'two', 60.0));
        self::assertTrue($leases->release('name', 'two'), 'A clear would not end it.');
    }

    public function testStatisticsCountWhatTheyCan(): void
    {
        $this->store()->save([new Item('a', 1), new Item('b', 2)]);
        $statistics = $this->store()->statistics();
        self::assertTrue($statistics->items === null || $statistics->items >= 2);
        self::assertTrue($statistics->bytes === null || $statistics->bytes > 0);
    }

    /**
     * @param iterable<int, string> $keys
     *
     * @return list<string>
     */
    private static function sorted(iterable $keys): array
    {
        $sorted = [...$keys];
        sort($sorted, \SORT_STRING);

        return $sorted;
    }
}
