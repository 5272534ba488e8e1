<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Capability;
use Larder\Exception\UnsupportedOperation;
use Larder\Item;
use Larder\SaveMode;

/** What a store that keeps tags promises. */
final class TagContract extends Suite
{
    /** Items that are there in the end. */
    private const LIVE = 250;

    /** Bytes that a store may need for what does not grow, such as a log that is trimmed. */
    private const SLACK = 1 << 19;

    /** @return non-empty-list<string> */
    public static function hostileTags(): array
    {
        return [
            'tag', 'TAG', 'tag ', '7', '007', '7.0', '-7', '1e3', '0', '', "\0", "\0\0", "a\0b", "\n", "a\r\nb", "\xff", "\xc3", 'ü', '*', '[a-z]', '%', '_',
            "'", '"', '; DROP TABLE tags', '../tags', '/', '.', 'a:b', '{tag}', 'e', 'c', 'epoch', 'clock', 'generation', ',', ';', str_repeat('t', 254),
            str_repeat('t', 255), str_repeat("\xf0", 255),
        ];
    }

    /** A store without tags refuses an item that has some: it could not be invalidated. */
    public function testTagsAreKeptOrRefused(): void
    {
        $store = $this->store();
        if ($this->can(Capability::Tags)) {
            $store->save([new Item('a', 1, tags: ['x', 'y']), new Item('b', 1, tags: ['y']), new Item('c', 1)]);
            $store->invalidateTags(['x']);
            self::assertSame(['b', 'c'], array_keys($store->fetch(['a', 'b', 'c'])->items));

            return;
        }
        foreach ([static fn(): array => $store->save([new Item('a', 1, tags: ['x'])]), static fn() => $store->invalidateTags(['x'])] as $call) {
            try {
                $call();
                self::fail('Tags were taken by a store that says it cannot keep them.');
            } catch (UnsupportedOperation) {
                self::assertFalse($this->has('a'));
            }
        }
    }

    public function testEveryLegalTagIsATagOfItsOwn(): void
    {
        if ($this->cannotKeepTags()) {
            return;
        }
        $tags = array_values(array_filter(self::hostileTags(), static fn(string $tag): bool => $tag !== ''));
        $keys = array_map(static fn(int $i): string => "key {$i}", array_keys($tags));
        $this->store()->save(array_map(static fn(string $key, string $tag): Item => new Item($key, $tag, 100, ['all', $tag]), $keys, $tags));
        foreach ($tags as $i => $tag) {
            $this->store()->invalidateTags([$tag]);
            self::assertSame(\array_slice($keys, $i + 1), array_keys($this->store()->fetch($keys)->items), "tag {$i}");
        }
    }

    public function testAnyOneOfAThousandTagsKills(): void
    {
        if ($this->cannotKeepTags()) {
            return;
        }
        $tags = array_map(static fn(int $i): string => "tag {$i} " . str_repeat('x', 200), range(0, 999));
        foreach ([0, 500, 999] as $i) {
            self::assertSame([], $this->store()->save([new Item('key', ['value'], 100, $tags), new Item('other', 5, null, ['y'])]));
            self::assertSame(['value'], $this->value('key'));
            $this->store()->invalidateTags(['absent', $tags[$i]]);
            self::assertSame(['other'], array_keys($this->store()->fetch(['key', 'other'])->items));
        }
        self::assertSame([], $this->store()->save([new Item('key', 'again', 100, $tags)]));
        self::assertSame('again', $this->value('key'));
        $this->store()->invalidateTags($tags);
        self::assertFalse($this->has('key'));
    }

    public function testWhatATagKilledIsAMissToEveryOperation(): void
    {
        if ($this->cannotKeepTags()) {
            return;
        }
        $store = $this->store();
        $dead = ['fetched', 'added', 'replaced', 'deleted', 'counter', 'touched', 'large', 'object'];
        $store->save(array_map(static fn(string $key): Item => new Item($key, match ($key) {
            'counter' => 41,
            'large' => str_repeat('x', 2_500_000),
            'object' => [(object) ['a' => 1]],
            default => 'old',
        }, $key === 'fetched' ? null : 100, ['dead']), $dead));
        self::assertCount(\count($dead), $store->fetch($dead)->items);
        $store->invalidateTags(['dead']);
        $fetched = $store->fetch($dead);
        self::assertSame([], $fetched->items);
        self::assertSame([], $fetched->stale);
        self::assertSame($dead, array_keys($fetched->tokens));
        self::assertSame([], $store->save([new Item('added', 'new')], SaveMode::Add));
        self::assertSame('new', $this->value('added'));
        self::assertSame(['replaced'], $store->save([new Item('replaced', 'new')], SaveMode::Replace));
        self::assertSame([], $store->delete(['deleted']));
        self::assertSame(101, $store->increment('counter', 1, 100));
        self::assertSame([], $store->touch(['touched'], 100));
        self::assertFalse($this->has('touched'));
        self::assertSame([], $store->save([new Item('large', 'new', 100, ['dead'])]));
        self::assertSame('new', $this->value('large'));
        if ($this->can(Capability::Keys)) {
            $keys = [...$store->keys()];
            sort($keys);
            self::assertSame(['added', 'counter', 'large'], $keys);
        }
        for ($rounds = 0; $store->prune() > 0; $rounds++) {
            self::assertLessThan(1_000, $rounds, 'prune() never says that it is done');
        }
        self::assertSame(['added', 'counter', 'large'], array_keys($store->fetch(['added', 'counter', 'large', ...$dead])->items));
    }

    public function testPruneForgetsNoTagThatAnItemStillNeeds(): void
    {
        if ($this->cannotKeepTags()) {
            return;
        }
        $store = $this->store();
        $store->save([new Item('old', 'x', 100, ['kept']), new Item('dead', 'x', null, ['x', 'kept'])]);
        $store->invalidateTags(['x', 'unknown']);
        $store->save([new Item('new', 'x', 100, ['x'])]);
        for ($rounds = 0; $store->prune() > 0; $rounds++) {
            self::assertLessThan(1_000, $rounds, 'prune() never says that it is done');
        }
        self::assertSame(['old', 'new'], array_keys($store->fetch(['old', 'dead', 'new'])->items));
        $store->invalidateTags(['kept']);
        self::assertSame(['new'], array_keys($store->fetch(['old', 'dead', 'new'])->items));
    }

    /**
     * Neither what was overwritten, deleted, invalidated and cleared, nor tags that will never be named again. As many writes
     * as LARDER_WRITES says; `make leftovers` has a million.
     */
    public function testAfterManyWritesAndClearsThereIsNoMoreThanTheLiveItemsNeed(): void
    {
        if ($this->cannotKeepTags()) {
            return;
        }
        if ($this->of->footprint() === null) {
            self::assertNull($this->of->footprint(), 'It leaves to others what is not asked for.');

            return;
        }
        $store = $this->store();
        $writes = (int) (getenv('LARDER_WRITES') ?: 1_000);
        $clears = max(4, intdiv($writes, 10_000));
        $live = array_map(strval(...), range(0, self::LIVE - 1));
        $saveLive = static function () use ($store, $live): void {
            foreach (array_chunk($live, 50) as $keys) {
                $store->save(array_map(static fn(string $key): Item => new Item($key, str_repeat('x', 500), 10_000, ['live']), $keys));
            }
        };
        $saveLive();
        $needed = $this->prunedFootprint();
        $seed = random_int(0, 1 << 30);
        $random = new \Random\Randomizer(new \Random\Engine\Mt19937($seed));
        $batches = intdiv($writes, $clears * 50);
        for ($written = $clear = 0; $clear <= $clears; $clear++) {
            for ($batch = 0; $batch < $batches; $batch++) {
                $isFill = $batch % 4 === 3;
                // Before a clear also under keys that will never be used again.
                $isLast = $clear === $clears;
                $keys = array_map(static fn(int $i): string => $isLast || $i % 2 === 0 ? $live[$random->getInt(0, self::LIVE - 1)] : "item {$written} {$i}", range(1, 50));
                $tokens = [];
                if ($isFill) {
                    $store->delete($keys);
                    $tokens = $store->fetch($keys)->tokens;
                }
                $items = [];
                foreach ($keys as $key) {
                    $written++;
                    $items[] = new Item($key, $random->getBytes(1_000), 10_000, ["tag {$written}", 'tag of batch ' . intdiv($written, 50)], $tokens[$key] ?? null, $isFill);
                }
                $store->save($items);
                $store->invalidateTags(["tag {$written}", "never used {$written}"]);
                if (!$isLast) {
                    $store->save([new Item("gone {$written}", 'x', 1)]);
                    $store->delete(["gone {$written}", "never there {$written}"]);
                }
            }
            if ($clear < $clears) {
                $store->clear();
            }
        }
        $saveLive();
        $left = $this->prunedFootprint();
        self::assertCount(self::LIVE, $store->fetch($live)->items);
        self::assertLessThanOrEqual(1.5 * $needed + self::SLACK, $left, "after {$written} writes, seed {$seed}");
    }

    /** As many tags as LARDER_TAGS says; `make leftovers` has a hundred thousand. */
    public function testAfterManyInvalidationsItemsThatCarryOtherTagsLive(): void
    {
        if ($this->cannotKeepTags()) {
            return;
        }
        $store = $this->store();
        $tags = (int) (getenv('LARDER_TAGS') ?: 2_000);
        $keys = array_map(static fn(int $i): string => "key {$i}", range(0, 999));
        foreach (array_chunk($keys, 50) as $i => $some) {
            $store->save(array_map(static fn(string $key): Item => new Item($key, $key, 10_000, ['all', "category {$i}", "own {$key}"]), $some));
        }
        foreach (array_chunk(range(1, intdiv($tags, 2)), 50) as $numbers) {
            $store->save(array_map(static fn(int $i): Item => new Item('carries ' . $i % 100, $i, 10_000, ["carried {$i}"]), $numbers));
            $store->invalidateTags(array_map(static fn(int $i): string => "carried {$i}", $numbers));
        }
        $left = \count($store->fetch($keys)->items);
        self::assertGreaterThanOrEqual(950, $left, 'of a thousand, after half of the tags, which were carried');
        foreach (array_chunk(range(1, $tags), 500) as $numbers) {
            $store->invalidateTags(array_map(static fn(int $i): string => "not carried {$i}", $numbers));
        }
        self::assertGreaterThanOrEqual($left - 10, \count($store->fetch($keys)->items), 'of those, after as many as all, which were not');
        $store->invalidateTags(['category 3']);
        self::assertSame([], $store->fetch(\array_slice($keys, 150, 50))->items);
    }

    public function testAnItemTellsItsTags(): void
    {
        if ($this->cannotKeepTags()) {
            return;
        }
        $this->store()->save([new Item('a', 'text', 100, ['x', '7', 'y']), new Item('b', 5, null, ['x']), new Item('c', null)]);
        $items = $this->store()->fetch(['a', 'b', 'c'])->items;
        $tags = $this->of->tellsTags() ? [['x', '7', 'y'], ['x'], []] : [[], [], []];
        self::assertSame($tags, [$items['a']->tags, $items['b']->tags, $items['c']->tags]);
    }

    public function testTagsBelongToTheValueThatWasSavedWithThem(): void
    {
        if ($this->cannotKeepTags()) {
            return;
        }
        $store = $this->store();
        $store->save([new Item('a', 1, 100, ['x']), new Item('b', 1, 100, ['x', 'x']), new Item('c', 1, 100, ['x']), new Item('d', 1, 100)]);
        $store->save([new Item('a', 2)]);
        $store->save([new Item('c', 2, 100, ['y'])], SaveMode::Replace);
        $store->save([new Item('d', 2, 100, ['y']), new Item('e', 2, 100, ['z'])]);
        $store->save([new Item('e', 3, 100, ['x'])], SaveMode::Add);
        $store->invalidateTags(['x']);
        self::assertSame(['a', 'c', 'd', 'e'], array_keys($store->fetch(['a', 'b', 'c', 'd', 'e'])->items));
        $store->invalidateTags(['y', 'y', 'z']);
        self::assertSame(['a'], array_keys($store->fetch(['a', 'b', 'c', 'd', 'e'])->items));
        $store->invalidateTags([]);
        self::assertTrue($this->has('a'));
    }

    public function testACounterAndATouchedItemKeepTheirTags(): void
    {
        if ($this->cannotKeepTags()) {
            return;
        }
        $store = $this->store();
        $store->save([new Item('n', 5, 100, ['x']), new Item('m', 5, 100, ['y']), new Item('t', 'text', 100, ['x']), new Item('large', str_repeat('x', 1_500_000), 100, ['x'])]);
        self::assertSame(6, $store->increment('n'));
        self::assertSame(6, $store->increment('m'));
        self::assertSame(['t', 'large'], $store->touch(['t', 'large'], null));
        self::assertSame(['n', 'm', 't', 'large'], array_keys($store->fetch(['n', 'm', 't', 'large'])->items));
        $store->invalidateTags(['x']);
        self::assertSame(['m'], array_keys($store->fetch(['n', 'm', 't', 'large'])->items));
        self::assertSame(1, $store->increment('n'));
        $store->invalidateTags(['x']);
        self::assertSame(1, $this->value('n'));
    }

    public function testWhatIsSavedAfterAnInvalidationLives(): void
    {
        if ($this->cannotKeepTags()) {
            return;
        }
        for ($i = 0; $i < 20; $i++) {
            $this->store()->invalidateTags(['x']);
            self::assertFalse($this->has('key'));
            self::assertSame([], $this->store()->save([new Item('key', $i, 100, ['x', "y {$i}"])]));
            self::assertSame($i, $this->value('key'));
        }
    }

    public function testTagsDoNotReachANeighbour(): void
    {
        if ($this->cannotKeepTags()) {
            return;
        }
        $neighbour = $this->of->neighbour();
        $this->store()->save([new Item('key', 'mine', 100, ['x'])]);
        $neighbour->save([new Item('key', 'theirs', 100, ['x'])]);
        $neighbour->invalidateTags(['x']);
        self::assertSame('mine', $this->value('key'));
        self::assertSame([], $neighbour->fetch(['key'])->items);
        $neighbour->save([new Item('key', 'theirs', 100, ['x'])]);
        $this->store()->clear();
        self::assertCount(1, $neighbour->fetch(['key', 'absent'])->items);
        $this->store()->save([new Item('key', 'mine', 100, ['x'])]);
        $neighbour->clear();
        self::assertSame('mine', $this->value('key'));
        $this->store()->invalidateTags(['x']);
        self::assertFalse($this->has('key'));
    }

    public function testAnInvalidationBeforeAClearIsNothingToWhatComesAfterIt(): void
    {
        if ($this->cannotKeepTags()) {
            return;
        }
        $this->store()->save([new Item('key', 'old', 100, ['x']), new Item('other', 'old', 100, ['y'])]);
        $this->store()->invalidateTags(['x']);
        $this->store()->clear();
        self::assertSame([], $this->store()->fetch(['key', 'other'])->items);
        self::assertSame([], $this->store()->save([new Item('key', 'new', 100, ['x'])]));
        self::assertSame('new', $this->value('key'));
        $this->store()->invalidateTags(['x', 'y']);
        self::assertSame([], $this->store()->fetch(['key', 'other'])->items);
    }

    /** None serves what it must not. */
    public function testWhatATagLetsBeServedIsServedAsStaleOnly(): void
    {
        if ($this->cannotKeepTags()) {
            return;
        }
        $store = $this->store();
        $store->save([new Item('soft', ['old'], 100, ['x', 'soft']), new Item('hard', 'old', 100, ['x', 'hard']), new Item('expired', 'old', 1, ['x']), new Item('brief', 'old', 100, ['y'])]);
        $store->invalidateTags(['hard']);
        $store->invalidateTags(['x'], 60);
        $store->invalidateTags(['y'], 1);
        $fetched = $store->fetch(['soft', 'hard']);
        self::assertSame([], $fetched->items);
        self::assertSame(['soft', 'hard'], array_keys($fetched->tokens));
        $served = array_map(static fn(Item $item): mixed => $item->value, $fetched->stale);
        self::assertSame($this->of->servesStale() ? ['soft' => ['old']] : [], $served);
        self::assertSame([], $store->touch(['soft'], 1_000));
        self::assertSame(['soft'], $store->save([new Item('soft', 'new')], SaveMode::Replace));
        $this->of->waitFor(1.1);
        self::assertSame($this->of->servesStale() ? ['soft'] : [], array_keys($store->fetch(['soft', 'expired', 'brief'])->stale));
        self::assertSame([], $store->save([new Item('soft', ['new'], 100, ['x'])]));
        self::assertSame(['new'], $this->value('soft'));
        $store->invalidateTags(['x'], 60);
        $store->invalidateTags(['x']);
        self::assertSame([], $store->fetch(['soft'])->stale);
    }

    public function testATagMayLetItemsBeServedForAsLongAsAnIntCanSay(): void
    {
        if ($this->cannotKeepTags()) {
            return;
        }
        $store = $this->store();
        $store->save([new Item('key', 'old', 100, ['tag'])]);
        $store->invalidateTags(['tag'], \PHP_INT_MAX);
        $store->invalidateTags(['tag'], \PHP_INT_MAX);
        self::assertSame([], $store->fetch(['key'])->items);
        $store->save([new Item('key', 'new', 100, ['tag'])]);
        $store->invalidateTags(['tag'], \PHP_INT_MAX);
        self::assertSame($this->of->servesStale() ? ['key'] : [], array_keys($store->fetch(['key'])->stale));
    }

    /** Wherever they lie, and in whatever order they are asked for. */
    public function testOfManyItemsThoseThatMayBeServedAreTold(): void
    {
        if ($this->cannotKeepTags()) {
            return;
        }
        $store = $this->store();
        $items = $living = $old = [];
        for ($i = 0; $i < 60; $i++) {
            $isOld = $i % 3 === 1;
            $items[] = new Item("key {$i}", $i, 100, [$isOld ? 'soft' : 'other']);
            $isOld ? $old["key {$i}"] = $i : $living["key {$i}"] = $i;
        }
        $store->save($items);
        $store->invalidateTags(['soft'], 60);
        $fetched = $store->fetch(array_map(static fn(Item $item): string => $item->key, $items));
        self::assertSame($living, array_map(static fn(Item $item): mixed => $item->value, $fetched->items));
        self::assertSame(array_keys($old), array_keys($fetched->tokens));
        self::assertSame($this->of->servesStale() ? $old : [], array_map(static fn(Item $item): mixed => $item->value, $fetched->stale));
    }

    private function cannotKeepTags(): bool
    {
        if ($this->can(Capability::Tags)) {
            return false;
        }
        self::assertNotContains(Capability::Tags, $this->store()->capabilities());

        return true;
    }

    private function prunedFootprint(): int
    {
        for ($rounds = 0; $this->store()->prune() > 0; $rounds++) {
            self::assertLessThan(100_000, $rounds, 'prune() never says that it is done');
        }

        return (int) $this->of->footprint();
    }
}
