<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Cache;
use Larder\Capability;
use Larder\Exception\NotACounter;
use Larder\Exception\UnsupportedOperation;
use Larder\Item;
use Larder\Numbers;
use Larder\OnConflict;
use Larder\PendingItem;
use Larder\Pooled;
use Larder\SaveMode;
use Larder\Store;
use Larder\Store\NamespacedStore;
use Larder\Tests\Contract\Value\Meddler;
use Larder\Tests\Contract\Value\Unwaking;

/** What every store promises through a cache of writes that say what they were made from. */
final class CacheWritesContract extends Suite
{
    public function testASetUnderATokenIsRefusedOnceAnotherProcessHasChangedTheKey(): void
    {
        if ($this->cannotJudge()) {
            return;
        }
        $cache = new Cache($this->store(), strict: true);
        $overwrite = static function (Store $store): void {
            $store->save([new Item('key', 'new', 1_000), new Item('7', 'new', 1_000)]);
        };
        self::assertTrue($cache->set('key', 'old', token: $cache->token('key')));
        foreach ([[OnConflict::Leave, 'new'], [OnConflict::Remove, null]] as [$onConflict, $left]) {
            $tokens = ['key' => $cache->token('key'), '7' => $cache->token('7')];
            $this->of->elsewhere($overwrite);
            self::assertFalse($cache->replace('key', 'late', token: $tokens['key'], onConflict: OnConflict::Leave));
            self::assertSame('new', $cache->get('key'));
            self::assertFalse($cache->set('key', 'late', token: $tokens['key'], onConflict: $onConflict));
            self::assertSame($left, $cache->get('key'));
            self::assertFalse($cache->setMany(['7' => 'late', 'free' => 'stored'], tokens: $tokens, onConflict: $onConflict));
            self::assertSame($left, $cache->get('7'));
            self::assertSame('stored', $cache->get('free'));
        }
        $token = $cache->token('added');
        $this->of->elsewhere(static function (Store $store): void {
            $store->delete(['added']);
        });
        self::assertFalse($cache->add('added', 'late', token: $token));
        self::assertTrue($cache->add('added', 'in time', token: $cache->token('added')));
        self::assertTrue($cache->replace('added', 'in time, too', token: $cache->token('added')));
        self::assertSame('in time, too', $cache->get('added'));
    }

    public function testABatchGivesEachItemItsOwnTtlTagsAndToken(): void
    {
        $cache = new Cache($this->store(), strict: true);
        $canTag = $this->can(Capability::Tags);
        $before = time();
        self::assertSame([], $cache->saveMany([
            new Item('short', [1], 1_000, $canTag ? ['x'] : []),
            new Item('long', [2], 9_000, $canTag ? ['y'] : []),
            new Item('7', 3),
            new Item('dead', 4, 0),
            new Item('twice', 'first'),
            new Item('twice', 'last', 2_000),
        ]));
        $items = $this->store()->fetch(['short', 'long', '7', 'dead', 'twice'])->items;
        self::assertSame(['short' => [1], 'long' => [2], 7 => 3, 'twice' => 'last'], array_map(static fn(Item $item): mixed => $item->value, $items));
        foreach (['short' => 1_000, 'long' => 9_000, '7' => Cache::DEFAULT_TTL, 'twice' => 2_000] as $key => $ttl) {
            self::assertEqualsWithDelta($before + $ttl, $items[$key]->expiry ?? 0, 10);
        }
        if ($canTag) {
            $cache->invalidateTags(['x']);
            self::assertSame(['long' => [2]], $cache->getMany(['short', 'long']));
        }
        self::assertSame(['absent'], $cache->saveMany([new Item('absent', 5), new Item('long', 5)], SaveMode::Replace));
        self::assertSame(['long' => 5], $cache->getMany(['absent', 'long']));
        self::assertSame(['7'], $cache->saveMany([new Item('7', 'late'), new Item('added', 6)], SaveMode::Add));
        self::assertSame([7 => 3, 'added' => 6], $cache->getMany(['7', 'added']));
        if (!$this->can(Capability::Tokens)) {
            return;
        }
        $this->store()->save([new Item('stays', 'old', 1_000), new Item('stays, too', 'old', 1_000)]);
        $tokens = array_map($cache->token(...), ['stays', 'stays, too', 'free']);
        self::assertNull($cache->get('missed'));
        $this->of->elsewhere(static function (Store $store): void {
            $store->save([new Item('stays', 'new', 1_000), new Item('stays, too', 'new', 1_000), new Item('missed', 'new', 1_000)]);
        });
        $unsaved = $cache->saveMany([
            new Item('stays', 'late', token: $tokens[0]),
            new Item('stays, too', 'late', token: $tokens[1]),
            new Item('free', 'stored', token: $tokens[2]),
            new Item('missed', 'computed before'),
        ]);
        self::assertSame(['stays', 'stays, too', 'missed'], $unsaved);
        self::assertSame(['stays' => 'new', 'stays, too' => 'new', 'free' => 'stored'], $cache->getMany(['stays', 'stays, too', 'free']));
        self::assertSame(['stays'], $cache->saveMany([new Item('stays', 'late', token: $tokens[0])], onConflict: OnConflict::Remove));
        self::assertNull($cache->get('stays'));
        self::assertSame('new', $cache->get('missed'));
    }

    public function testOfTwoItemsWithTheSameKeyTheLastOneCountsAndOfAdditionsTheFirst(): void
    {
        $cache = new Cache($this->store(), strict: true);
        $unstorable = static fn(): int => 1;
        foreach (['a', '7'] as $key) {
            self::assertSame([], $cache->saveMany([new Item($key, 1, 1_000), new Item('other', 1), new Item($key, 2, 1_000)]));
            self::assertSame(2, $cache->get($key));
            self::assertSame([], $cache->saveMany([new Item($key, $unstorable), new Item($key, 3, 1_000)], unstorable: $why));
            self::assertSame([], $why);
            self::assertSame(3, $cache->get($key));
            self::assertSame([], $cache->saveMany([new Item($key, 4, 0), new Item($key, 5, 1_000)], SaveMode::Replace));
            self::assertSame(5, $cache->get($key));
            self::assertSame([], $cache->saveMany([new Item($key, 6, 1_000), new Item($key, 7, 0)]));
            self::assertFalse($cache->has($key));
            $cache->delete($key);
            self::assertSame([], $cache->saveMany([new Item($key, 8, 1_000), new Item($key, 9, 1_000)], SaveMode::Add));
            self::assertSame(8, $cache->get($key));
            self::assertSame([$key], $cache->saveMany([new Item($key, 10), new Item($key, $unstorable)]));
            self::assertFalse($cache->has($key));
            $several = static function () use ($key): iterable {
                yield $key => 11;
                yield $key => 12;
            };
            self::assertTrue($cache->setMany($several()));
            self::assertSame(12, $cache->get($key));
            if ($this->can(Capability::Tokens)) {
                $token = $cache->token($key);
                self::assertSame([], $cache->saveMany([new Item($key, 13), new Item($key, 14, token: $token)]));
                self::assertSame(14, $cache->get($key));
                foreach (['setMany', 'saveMany'] as $call) {
                    $cache->delete($key);
                    self::assertNull($cache->get($key));
                    $this->of->elsewhere(static function (Store $store) use ($key): void {
                        $store->save([new Item($key, 'theirs', 1_000)]);
                    });
                    self::assertFalse($call === 'setMany' ? $cache->setMany($several()) : $cache->saveMany([new Item($key, 1), new Item($key, 2)]) === []);
                    self::assertSame('theirs', $this->value($key));
                }
            }
        }
    }

    public function testATokenIsOlderThanWhatOneDoesOneselfWhichOnlyAPoolLetsPass(): void
    {
        if ($this->cannotJudge()) {
            return;
        }
        $cache = new Cache($this->store(), strict: true);
        $canTag = $this->can(Capability::Tags);
        foreach (array_filter([
            static fn(): bool => $cache->set('key', 'own', 1_000),
            static fn(): bool => $cache->set('key', 'own', 0),
            static fn(): bool => $cache->replace('key', 'own', 1_000),
            static fn(): bool => $cache->delete('key'),
            static fn(): bool => $cache->touch('key', 0),
            static fn(): bool => $cache->pull('key') === 'old',
            static fn(): bool => $cache->clear(),
            $canTag ? static fn(): bool => $cache->invalidateTags(['tag']) : null,
        ]) as $i => $change) {
            $cache->set('key', 'old', 1_000);
            $token = $cache->token('key');
            self::assertTrue($change());
            self::assertSame($cache->store instanceof Pooled, $cache->set('key', 'new', 1_000, $canTag ? ['tag'] : [], $token), "change {$i}");
        }
    }

    public function testATouchThatDeletesIsOnesOwnWord(): void
    {
        $cache = new Cache($this->store(), strict: true);
        self::assertNull($cache->get('key'));
        self::assertFalse($cache->touch('key', 0));
        self::assertTrue($cache->set('key', 'its own word', 1_000));
        self::assertSame('its own word', $cache->get('key'));
    }

    public function testOfABatchWhatCannotBeStoredTakesNothingElseDown(): void
    {
        $cache = new Cache($this->store(), strict: true);
        $thrower = new Meddler(static fn(): never => throw new \DomainException('not me'));
        $keys = ['bad', 'worse', ...array_map(static fn(int $i): string => "good {$i}", range(1, 9))];
        foreach ([SaveMode::Set, SaveMode::Replace, SaveMode::Add] as $mode) {
            $mode === SaveMode::Add ? $cache->deleteMany($keys) : $cache->setMany(array_fill_keys($keys, 'old'));
            $items = array_map(static fn(string $key): Item => new Item($key, $key, 1_000), \array_slice($keys, 2));
            array_splice($items, 4, 0, [new Item('bad', static fn(): int => 1, 1_000), new Item('worse', [$thrower], 1_000)]);
            $unsaved = $cache->saveMany($items, $mode);
            sort($unsaved);
            self::assertSame(['bad', 'worse'], $unsaved, $mode->name);
            $good = \array_slice($keys, 2);
            self::assertSame(array_combine($good, $good), $cache->getMany([...$good, 'bad', 'worse']), $mode->name);
        }
    }

    public function testACounterHasALeastSumAndIsNotMadeIfNoneIsWanted(): void
    {
        if ($this->cannotJudge()) {
            return;
        }
        $cache = new Cache($this->store(), strict: true);
        $before = time();
        self::assertFalse($cache->increment('n', create: false));
        self::assertFalse($cache->decrement('n', min: 0, create: false));
        self::assertFalse($cache->has('n'));
        self::assertSame(0, $cache->decrement('n', 5, 2, 1_000, min: 0));
        self::assertSame(7, $cache->increment('n', 7, create: false));
        self::assertSame(4, $cache->decrement('n', 3, ttl: 5, min: 0, create: false));
        self::assertSame(0, $cache->decrement('n', \PHP_INT_MAX, min: 0));
        self::assertSame(-3, $cache->decrement('n', 3));
        self::assertSame(0, $cache->increment('n', 2, min: 0));
        self::assertSame(0, $this->value('n'));
        self::assertEqualsWithDelta($before + 1_000, $this->store()->fetch(['n'])->items['n']->expiry ?? 0, 10);
        self::assertSame(\PHP_INT_MIN, $cache->increment('least', \PHP_INT_MIN));
        self::assertSame(-1, $cache->decrement('least', 1, min: -1));
        $cache->set('most', \PHP_INT_MAX);
        foreach ([0, null] as $min) {
            try {
                $cache->increment('most', 1, min: $min, create: false);
                self::fail('The counter left the range of int.');
            } catch (NotACounter) {
                self::assertSame(\PHP_INT_MAX, $this->value('most'));
            }
        }
        if ($this->can(Capability::Tags)) {
            foreach ([9, '9'] as $value) {
                $cache->set('tagged', $value, 1_000, ['x']);
                $cache->refresh();
                // A near store has it from now on.
                self::assertSame($value, $cache->get('tagged'));
                self::assertSame(1, $cache->decrement('tagged', 8, min: 0, create: false, numbers: Numbers::Any));
                $cache->invalidateTags(['x']);
                self::assertFalse($cache->has('tagged'), 'A counter keeps its tags.');
            }
        }
    }

    public function testWhatIsNumericCountsIfItIsToldTo(): void
    {
        if ($this->cannotJudge()) {
            return;
        }
        $cache = new Cache($this->store(), strict: true);
        foreach ([['5', 6, 6], ['-5', -4, -4], [' 7', 8, 8], ['1e2', 101, 101], [5.9, 6, 6], ['5.9', 6, 6], ['text', null, 1], ['', null, 1], [true, null, 1], [null, null, 1], [[5], null, 1], [\INF, null, 1], ['9223372036854775808', null, 1]] as [$value, $numeric, $any]) {
            foreach ([[Numbers::Ints, null], [Numbers::Numeric, $numeric], [Numbers::Any, $any]] as [$numbers, $sum]) {
                $cache->set('key', $value, 1_000);
                try {
                    self::assertSame($sum, $cache->increment('key', create: false, numbers: $numbers));
                    self::assertSame($sum, $this->value('key'));
                    self::assertEqualsWithDelta(time() + 1_000, $this->store()->fetch(['key'])->items['key']->expiry ?? 0, 10);
                } catch (NotACounter) {
                    self::assertNull($sum);
                    self::assertSame($value, $this->value('key'));
                }
            }
        }
        $cache->set('key', 'text');
        self::assertSame(0, $cache->decrement('key', 3, min: 0, create: false, numbers: Numbers::Any));
        self::assertSame(1, $cache->increment('key'));
        self::assertSame(5, $cache->increment('absent', 5, numbers: Numbers::Any));
    }

    public function testAnUnreadableValueIsInTheWayOfNoUpdateAndNoCount(): void
    {
        if ($this->cannotJudge()) {
            return;
        }
        $cache = new Cache($this->store(), strict: true);
        $this->store()->save([new Item('value', new Unwaking(), 1_000), new Item('n', [new Unwaking()], 1_000), new Item('none', new Unwaking(), 1_000)]);
        self::assertTrue($cache->update('value', static fn(mixed $value): array => [$value], default: 'none'));
        self::assertSame(['none'], $cache->get('value'));
        self::assertFalse($cache->increment('none', min: 0, create: false));
        self::assertSame(2, $cache->increment('n', 2, min: 0));
        self::assertSame(2, $cache->get('n'));
    }

    public function testAnAddOfWhatWasNeverAskedForIsJudgedByTheBeginningOfTheRequest(): void
    {
        if (!$this->can(Capability::RequestTokens)) {
            try {
                new Cache($this->store(), judgesAdds: true);
                self::fail('It has no such tokens.');
            } catch (UnsupportedOperation $mistake) {
                self::assertStringContainsString('has no token that judges fills of any key', $mistake->getMessage());
            }

            return;
        }
        $canTag = $this->can(Capability::Tags);
        $cache = new Cache($this->store(), strict: true, judgesAdds: true);
        $whole = $cache;
        foreach ($canTag ? [$cache, $cache->namespace('part')] : [$cache] as $i => $cache) {
            foreach (['get', 'getMany', 'refreshed'] as $use) {
                $use === 'refreshed' && $cache->refresh();
                $use === 'getMany' ? $cache->getMany(['anything', 'else']) : $cache->get('anything');
                [$deleted, $counted] = ["deleted {$use}", "counted {$use}"];
                $inner = static fn(Store $store): Store => $i === 0 ? $store : new NamespacedStore($store, 'part');
                $this->of->elsewhere(static function (Store $store) use ($inner, $canTag, $deleted, $counted): void {
                    $store = $inner($store);
                    $store->save([new Item($deleted, 'old', 1_000), new Item($counted, 1, 1_000)]);
                    $store->increment($counted);
                    $store->delete([$deleted, $counted, "{$deleted} too"]);
                    $canTag && $store->invalidateTags(['x']);
                });
                self::assertFalse($cache->add($deleted, 'the old row'), $use);
                self::assertFalse($cache->add($counted, 1), $use);
                self::assertSame([$deleted], $cache->saveMany([new Item($deleted, 'the old row'), new Item("free {$use}", 1)], SaveMode::Add), $use);
                $canTag && self::assertFalse($cache->add('tagged', 'the old row', tags: ['x']), $use);
                self::assertSame([], $cache->getMany([$deleted, $counted, 'tagged']));
                self::assertTrue($cache->add("row {$use}", 'row'), $use);
                self::assertSame('row', $cache->get("row {$use}"));
                // What it has asked for since is judged by its own miss.
                $isPool = $cache->store instanceof Pooled;
                self::assertSame(!$isPool, $cache->add($deleted, 'the new row'), 'A pool judges by the request in any case.');
                $cache->delete($deleted);
                self::assertTrue($cache->add($deleted, 'its own word'), 'What a request deletes it may add.');
                if ($canTag) {
                    ($use === 'get' ? $whole : $cache)->invalidateTags(['mine']);
                    self::assertTrue($cache->add("mine {$use}", 'row', tags: ['mine']), 'Nor does its own invalidation refuse it.');
                    self::assertFalse($cache->add("{$deleted} too", 'the old row'), 'But what others did before that still counts.');
                }
                $cache->refresh();
                $cache->get('anything');
                self::assertTrue($cache->add($counted, 'of another request'));
            }
            $cache->clear();
            self::assertTrue($cache->add('cleared', 'row'));
        }
        $plain = new Cache($this->store(), strict: true);
        $plain->get('anything');
        $this->of->elsewhere(static function (Store $store): void {
            $store->delete(['plain']);
        });
        self::assertTrue($plain->add('plain', 'row'), 'It is not judged unless that is asked for.');
    }

    public function testARequestBeginsForAllNamespacesWhereAnyPartOfTheCacheIsFirstUsed(): void
    {
        if ($this->lacks(Capability::RequestTokens, Capability::Tags)) {
            return;
        }
        foreach ([
            'the whole' => static fn(Cache $cache): Cache => $cache,
            'a sibling' => static fn(Cache $cache): Cache => $cache->namespace('sibling'),
            'one within' => static fn(Cache $cache): Cache => $cache->namespace('part')->namespace('inner'),
        ] as $name => $used) {
            foreach ([false, true] as $invalidates) {
                $cache = new Cache($this->store(), strict: true, judgesAdds: true);
                $earlier = $cache->namespace('earlier');
                $used($cache)->get('anything');
                $this->of->elsewhere(static function (Store $store): void {
                    $store->delete(['deleted']);
                    foreach (['part', 'earlier'] as $part) {
                        (new NamespacedStore($store, $part))->delete(['deleted', 'another']);
                    }
                });
                $invalidates && $cache->invalidateTags(['mine']);
                foreach ([$earlier, $cache->namespace('part')] as $part) {
                    self::assertFalse($part->add('deleted', 'the old row'), $name);
                    self::assertSame(['another'], $part->saveMany([new Item('another', 'the old row'), new Item("free {$name}", 'row')], SaveMode::Add), $name);
                    self::assertTrue($part->add("mine {$name}", 'row', tags: ['mine']), $name);
                    self::assertSame([], $part->getMany(['deleted', 'another']));
                }
                self::assertFalse($cache->add('deleted', 'the old row'), $name);
                self::assertTrue($cache->clear());
            }
        }
    }

    public function testWhatARequestChangesItselfLeavesEverythingElseJudgedAsBefore(): void
    {
        if ($this->lacks(Capability::RequestTokens, Capability::Tags)) {
            return;
        }
        foreach ([
            'tags of all' => static fn(Cache $all, Cache $part): bool => $all->invalidateTags(['mine']),
            'tags of a part' => static fn(Cache $all, Cache $part): bool => $part->invalidateTags(['mine']),
            'clear of a part' => static fn(Cache $all, Cache $part): bool => $part->clear(),
            'clear of all' => static fn(Cache $all, Cache $part): bool => $all->clear(),
        ] as $name => $change) {
            $all = new Cache($this->store(), strict: true, judgesAdds: true);
            [$part, $sibling, $inner] = [$all->namespace('part'), $all->namespace('sibling'), $all->namespace('part')->namespace('inner')];
            $deleteElsewhere = function (string $key): void {
                $this->of->elsewhere(static function (Store $store) use ($key): void {
                    $part = new NamespacedStore($store, 'part');
                    foreach ([$store, $part, new NamespacedStore($store, 'sibling'), NamespacedStore::in($part, 'inner')] as $each) {
                        $each->delete([$key, "{$key}, tagged"]);
                    }
                });
            };
            $all->get('anything');
            $deleteElsewhere('before');
            self::assertTrue($change($all, $part), $name);
            // Over Redis a read brings the token.
            $all->get('anything');
            $deleteElsewhere('between');
            self::assertTrue($sibling->invalidateTags(['again']));
            $all->get('anything');
            $deleteElsewhere('after');
            foreach ([
                [$all, $name === 'clear of all'],
                [$sibling, $name === 'clear of all'],
                [$part, str_starts_with($name, 'clear')],
                [$inner, str_starts_with($name, 'clear')],
            ] as $number => [$cache, $isCleared]) {
                $case = "{$name}, cache {$number}";
                self::assertSame($isCleared, $cache->add('before', 'a row'), $case);
                self::assertFalse($cache->add('between', 'the old row'), $case);
                self::assertFalse($cache->add('after', 'the old row', tags: ['mine', 'again']), $case);
                self::assertSame($isCleared || str_starts_with($name, 'tags'), $cache->add('before, tagged', 'a row', tags: ['mine']), $case);
                self::assertFalse($cache->add('between, tagged', 'the old row', tags: ['mine']), $case);
                self::assertTrue($cache->add('between, tagged', 'its own word', tags: ['again']), $case);
            }
            $all->refresh();
            $all->get('anything');
            $deleteElsewhere('next');
            self::assertFalse($part->add('next', 'the old row', tags: ['mine']), $name);
            self::assertTrue($inner->add('free', 'a row', tags: ['mine', 'again']), $name);
            self::assertTrue($all->clear());
        }
    }

    public function testAnInvalidationOfOnesOwnMakesNothingElseOnesOwnWord(): void
    {
        if ($this->lacks(Capability::Tokens, Capability::Tags)) {
            return;
        }
        $cache = new Cache($this->store(), strict: true);
        $part = $cache->namespace('part');
        foreach ([$cache, $part] as $invalidates) {
            self::assertSame([], $cache->getMany(['deleted', 'tagged', 'mine', 'other']));
            self::assertNull($part->get('mine'));
            $this->of->elsewhere(static function (Store $store): void {
                $store->delete(['deleted']);
                $store->invalidateTags(['theirs']);
            });
            self::assertTrue($invalidates->invalidateTags(['mine', 'mine, too']));
            self::assertFalse($cache->set('deleted', 'the old row', 1_000));
            self::assertFalse($cache->set('tagged', 'the old row', 1_000, ['theirs']));
            self::assertTrue($cache->set('other', 'a row', 1_000, ['other']));
            self::assertTrue($cache->set('mine', 'its own word', 1_000, ['mine']));
            self::assertTrue($part->set('mine', 'its own word', 1_000, ['mine, too']));
            self::assertSame('its own word', $cache->get('mine'));
            self::assertSame('its own word', $part->get('mine'));
            // What was missed afterwards is judged again.
            $cache->delete('mine');
            self::assertNull($cache->get('mine'));
            $this->of->elsewhere(static function (Store $store): void {
                $store->invalidateTags(['mine']);
            });
            self::assertFalse($cache->set('mine', 'the old row', 1_000, ['mine']));
            self::assertTrue($cache->clear());
            $cache->refresh();
        }
    }

    public function testADeleteTellsWhatExistedAndJudgesNothingThatFollows(): void
    {
        $cache = new Cache($this->store(), strict: true);
        self::assertTrue($cache->setMany(['key' => 'value', '7' => null, 'other' => 0]));
        self::assertTrue($cache->delete('key', $existed));
        self::assertTrue($existed);
        self::assertTrue($cache->delete('key', $existed));
        self::assertFalse($existed);
        // A variable that held something else takes the answer, too.
        self::assertTrue($cache->deleteMany(['absent', '7', 'key', 'other', '7'], $existed));
        self::assertSame(['7', 'other'], $existed);
        self::assertTrue($cache->deleteMany([], $existed));
        self::assertSame([], $existed);
        self::assertSame([], $cache->saveMany([new Item('kept', 'value', 1_000)], unstorable: $existed));
        self::assertTrue($cache->delete('kept', $existed));
        self::assertTrue($existed);
        self::assertSame([], $cache->saveMany([new Item('kept', 'value', 1_000)], unstorable: $existed));
        self::assertSame([], $existed);
        // What was missed before a delete of one's own is no older than that.
        self::assertNull($cache->get('key'));
        $this->of->elsewhere(static function (Store $store): void {
            $store->save([new Item('key', 'theirs', 1_000)]);
        });
        self::assertTrue($cache->delete('key', $existed));
        self::assertTrue($existed);
        self::assertTrue($cache->set('key', 'new truth'));
        self::assertSame('new truth', $cache->get('key'));
    }

    public function testAnUpdateBeginsAnewWithWhatAnotherProcessHasStoredMeanwhile(): void
    {
        if ($this->cannotJudge()) {
            return;
        }
        $overtaken = $this->overtakenBefore(['save'], static fn(Store $store): array => $store->save([new Item('list', ['theirs'], 1_000)]));
        $seen = [];
        $isStored = (new Cache($overtaken, strict: true))->update('list', static function (mixed $list) use (&$seen): array {
            $seen[] = $list;
            self::assertIsArray($list);

            return [...$list, 'ours'];
        }, default: []);
        self::assertTrue($isStored);
        self::assertSame([[], ['theirs']], $seen);
        self::assertSame(['theirs', 'ours'], $this->value('list'));
    }

    /** A callback may suspend its fiber, while another one changes the same key. */
    public function testAnUpdateLosesNothingThatItsOwnProcessChangesMeanwhile(): void
    {
        if ($this->cannotJudge()) {
            return;
        }
        $cache = new Cache($this->store(), strict: true);
        $changes = [
            'a set' => static fn(): bool => $cache->set('key', [11]),
            'an update' => static fn(): bool => $cache->update('key', static fn(mixed $value): array => [\is_array($value) && \is_int($value[0] ?? null) ? $value[0] + 10 : 11]),
            'a delete and a set' => static fn(): bool => $cache->delete('key') && $cache->set('key', [11]),
        ];
        foreach ($changes as $name => $change) {
            foreach ([false, true] as $isAlone) {
                $cache->set('key', [1]);
                if (!$isAlone) {
                    $cache->set('another', 1);
                }
                $calls = 0;
                self::assertTrue($cache->update('key', static function (mixed $value) use ($change, &$calls): array {
                    if ($calls++ === 0) {
                        self::assertTrue($change());
                    }

                    return [\is_array($value) && \is_int($value[0] ?? null) ? $value[0] + 1 : 1];
                }));
                self::assertSame([12], $cache->get('key'), $name);
            }
        }
        $counts = [
            'an increment' => static fn(): bool => $cache->increment('counter', 10) === 11,
            'an update' => static fn(): bool => $cache->update('counter', static fn(mixed $value): int => (\is_int($value) ? $value : 0) + 10),
        ];
        foreach ($counts as $name => $count) {
            $cache->set('counter', 1);
            $calls = 0;
            self::assertTrue($cache->update('counter', static function (mixed $value) use ($count, &$calls): int {
                if ($calls++ === 0) {
                    self::assertTrue($count());
                }

                return (\is_int($value) ? $value : 0) + 1;
            }));
            self::assertSame(12, $cache->get('counter'), $name);
        }
    }

    public function testWhatAnotherProcessAddsMeanwhileIsUpdatedAndCounted(): void
    {
        if ($this->cannotJudge()) {
            return;
        }
        $overtaken = fn(mixed $value): Cache => new Cache($this->overtakenBefore(['save', 'count'], static function (Store $store) use ($value): void {
            self::assertTrue((new Cache($store, strict: true))->add('key', $value, 1_000));
        }), strict: true);
        self::assertTrue($overtaken(['theirs'])->update('key', static fn(mixed $list): array => [...\is_array($list) ? $list : [], 'ours'], 1_000));
        self::assertSame(['theirs', 'ours'], $this->value('key'));
        $this->store()->delete(['key']);
        self::assertSame(105, $overtaken(100)->increment('key', 5, min: 0));
        self::assertSame(105, $this->value('key'));
    }

    public function testAnUpdateIsAWriteWithTheTtlAndTheTagsOfItsPendingItem(): void
    {
        if ($this->cannotJudge()) {
            return;
        }
        $cache = new Cache($this->store(), strict: true);
        $canTag = $this->can(Capability::Tags);
        $before = time();
        self::assertTrue($cache->update('key', static function (mixed $value, PendingItem $pending) use ($canTag): array {
            self::assertSame('none', $value);
            $pending->expireAfter(1_000);
            $canTag && $pending->tag('x');

            return ['a'];
        }, 5, default: 'none'));
        self::assertEqualsWithDelta($before + 1_000, $this->store()->fetch(['key'])->items['key']->expiry ?? 0, 10);
        self::assertTrue($cache->update('key', static fn(mixed $value): mixed => \is_array($value) ? [...$value, 'b'] : null, 1_000, $canTag ? ['x'] : []));
        self::assertSame(['a', 'b'], $cache->get('key'));
        self::assertFalse($cache->update('key', static function (mixed $value, PendingItem $pending): mixed {
            $pending->doNotStore();

            return 'not stored';
        }));
        self::assertSame(['a', 'b'], $cache->get('key'));
        if ($canTag) {
            $cache->invalidateTags(['x']);
            self::assertNull($cache->get('key'));
        }
        $older = $cache->token('key');
        $this->of->elsewhere(static function (Store $store): void {
            self::assertTrue((new Cache($store, strict: true))->update('key', static fn(): string => 'new truth'));
        });
        self::assertSame(['key'], $this->store()->save([new Item('key', 'late', 100, [], $older, true)]));
        self::assertSame('new truth', $cache->get('key'));
        $older = $cache->token('nothing');
        $this->of->elsewhere(static function (Store $store): void {
            self::assertTrue((new Cache($store, strict: true))->update('nothing', static fn(): string => 'dead at once', 0));
        });
        self::assertSame($cache->store instanceof Pooled ? [] : ['nothing'], $this->store()->save([new Item('nothing', 'late', 100, [], $older, true)]));
        // What remember() has stored is read without what it needs to know besides.
        self::assertSame(['computed'], $cache->remember('remembered', static fn(): array => ['computed'], 1_000, grace: 10));
        self::assertTrue($cache->update('remembered', static fn(mixed $value): mixed => \is_array($value) ? [...$value, 'updated'] : null));
        self::assertSame(['computed', 'updated'], $cache->get('remembered'));
        self::assertTrue($cache->update('remembered', static function (mixed $value, PendingItem $pending): mixed {
            $pending->expireAfter(0);

            return $value;
        }));
        self::assertNull($cache->get('remembered'));
        try {
            $cache->update('key', static fn(): never => throw new \DomainException('no change'));
            self::fail('What the change throws is thrown.');
        } catch (\DomainException $failure) {
            self::assertSame('no change', $failure->getMessage());
        }
    }
}
