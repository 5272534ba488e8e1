<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Capability;
use Larder\Exception\NotACounter;
use Larder\Exception\Unstorable;
use Larder\Exception\UnsupportedOperation;
use Larder\Fetched;
use Larder\Item;
use Larder\Key;
use Larder\SaveMode;
use Larder\Tests\Contract\Value\Product;
use Larder\Tests\Contract\Value\Sleepless;
use Larder\Tests\Contract\Value\Suit;
use Larder\Tests\Contract\Value\Wakeful;
use PHPUnit\Framework\Attributes\DataProvider;

/**
 * What every store promises. Extend it for a store of your own; one that several processes share extends
 * SharedStoreContract instead, which holds the races as well. What is promised of tags, of tokens, and of objects that
 * say themselves what they are made of is in the classes above it.
 */
abstract class StoreContract extends ToldContract
{
    /** @return iterable<string, array{\Closure(): mixed}> */
    public static function values(): iterable
    {
        $values = [
            'null' => null,
            'false' => false,
            'true' => true,
            'zero' => 0,
            'the least int' => \PHP_INT_MIN,
            'the greatest int' => \PHP_INT_MAX,
            'a float' => 0.1,
            'a whole float' => 1.0,
            'minus zero' => -0.0,
            'a tiny float' => \PHP_FLOAT_MIN,
            'infinity' => \INF,
            'not a number' => \NAN,
            'an empty string' => '',
            'the string zero' => '0',
            'a decimal string' => '42',
            'a string like an int with a sign' => '-7',
            'a string with a leading zero' => '007',
            'a string like a payload' => 'Sfoo',
            'a serialised value as a string' => 'b:0;',
            'a payload of a serializer as a string' => 'Pb:0;',
            'binary' => "\0\xff\xfe\r\n\0",
            'an empty array' => [],
            'a list' => [1, 'two', 3.0, null, true],
            'int and string keys' => [7 => 'a', '007' => 'b', '' => 'c', -1 => 'd', "\0" => 'e'],
            'a list with a hole' => [0 => 'a', 2 => 'c'],
            'nested arrays' => ['a' => ['b' => ['c' => ['d' => [1, [2, [3]]]]]]],
            'what a store might wrap a value in' => ["\0larder: value with expiry", 1, 'not wrapped'],
            'an enum' => Suit::Hearts,
            'an array of enums' => ['suit' => Suit::Spades],
        ];
        foreach ($values as $name => $value) {
            yield $name => [static fn(): mixed => $value];
        }
        yield 'ten megabytes' => [static fn(): string => str_repeat("0123456789abcde\0", 655_360)];
        yield 'an array of two megabytes' => [static fn(): array => array_fill(0, 20_000, str_repeat('x', 100))];
        yield 'an array a thousand deep' => [static function (): array {
            $array = ['bottom'];
            for ($depth = 0; $depth < 1_000; $depth++) {
                $array = [$depth => $array];
            }

            return $array;
        }];
        yield 'a plain object' => [static fn(): object => (object) ['a' => 1, 'b' => [2, (object) []]]];
        yield 'an object with decimal properties' => [static fn(): object => (object) ['7' => 'seven']];
        yield 'an object of a class' => [static fn(): object => new Product('shirt', new Product('tie'))];
        yield 'an array of objects' => [static fn(): array => [new Product('a'), [new Product('b', suit: Suit::Hearts)]]];
        yield 'a date' => [static fn(): object => new \DateTimeImmutable('2024-02-29 12:00:00.123456', new \DateTimeZone('Europe/Rome'))];
        yield 'an object with its own form' => [static fn(): object => new Wakeful('worker')];
        yield 'an ArrayObject' => [static fn(): object => new \ArrayObject(['a' => new Product('x')])];
        yield 'one object twice' => [static function (): array {
            $product = new Product('twin');

            return [$product, $product];
        }];
        yield 'a reference twice' => [static function (): array {
            $shared = [1, 2];

            return [&$shared, &$shared];
        }];
        yield 'an object that holds itself' => [static function (): object {
            $product = new Product('snake');
            $product->note = ['tail' => $product];

            return $product;
        }];
    }

    /** @param \Closure(): mixed $make */
    #[DataProvider('values')]
    public function testAValueComesBackAsItWasSaved(\Closure $make): void
    {
        $value = $make();
        self::assertSame([], $this->store()->save([new Item('key', $value)]));
        $fetched = $this->store()->fetch(['key']);
        self::assertArrayHasKey('key', $fetched->items);
        self::assertSame([], $fetched->tokens);
        self::assertSame(serialize($value), serialize($fetched->items['key']->value));
    }

    /** @param \Closure(): mixed $make */
    #[DataProvider('values')]
    public function testAValueInsideAnArrayComesBackAsItWasSaved(\Closure $make): void
    {
        $value = ['before', $make(), 'after'];
        self::assertSame([], $this->store()->save([new Item('key', $value, 100)]));
        self::assertSame(serialize($value), serialize($this->value('key')));
    }

    public function testAReferenceToItselfInAnArrayComesBack(): void
    {
        $array = ['name' => 'loop'];
        $array['self'] = &$array;
        $this->store()->save([new Item('key', $array)]);
        unset($array);
        $loop = $this->value('key');
        self::assertIsArray($loop);
        self::assertIsArray($loop['self']);
        self::assertIsArray($loop['self']['self']);
        self::assertSame('loop', $loop['self']['self']['name']);
    }

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

    public function testEveryLegalKeyIsAKeyOfItsOwn(): void
    {
        $keys = self::hostileKeys();
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
        $keys = self::hostileKeys();
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
        $keys = self::hostileKeys();
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
        $this->waitFor(1.1);

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
        $this->waitFor(1.1);
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

    public function testACounterBeginsAtItsInitialValue(): void
    {
        $store = $this->store();
        self::assertSame(1, $store->increment('a'));
        self::assertSame(2, $store->increment('a'));
        self::assertSame(15, $store->increment('b', 5, 10));
        self::assertSame(12, $store->increment('b', -3, 100));
        self::assertSame(-8, $store->increment('b', -20));
        self::assertSame(-8, $store->increment('b', 0));
        self::assertSame(-5, $store->increment('c', -5));
        self::assertSame(\PHP_INT_MIN, $store->increment('d', \PHP_INT_MIN));
        self::assertSame(-1, $store->increment('d', \PHP_INT_MAX));
        self::assertSame(\PHP_INT_MAX - 1, $store->increment('d', \PHP_INT_MAX));
        self::assertSame(-8, $this->value('b'));
    }

    public function testAnIntThatWasSavedIsACounter(): void
    {
        $this->store()->save([new Item('n', 9_007_199_254_740_993), new Item('added', -1)]);
        $this->store()->save([new Item('added too', 5)], SaveMode::Add);
        self::assertSame(9_007_199_254_740_995, $this->store()->increment('n', 2));
        self::assertSame(0, $this->store()->increment('added'));
        self::assertSame(6, $this->store()->increment('added too'));
        $this->store()->save([new Item('n', 'text')]);
        self::assertSame('text', $this->value('n'));
    }

    public function testACounterKeepsItsExpiry(): void
    {
        $before = time();
        $this->store()->save([new Item('saved', 1, 1_000)]);
        $this->store()->increment('made', 1, 0, 1_000);
        $this->store()->save([new Item('endless', 1)]);
        foreach (['saved', 'made', 'endless'] as $key) {
            $this->store()->increment($key, 1, 0, 5);
        }
        $items = $this->store()->fetch(['saved', 'made', 'endless'])->items;
        self::assertGreaterThanOrEqual($before + 998, $items['saved']->expiry);
        self::assertGreaterThanOrEqual($before + 998, $items['made']->expiry);
        self::assertNull($items['endless']->expiry);
    }

    /** @return iterable<string, array{int, int}> */
    public static function overflows(): iterable
    {
        yield 'up' => [\PHP_INT_MAX, 1];
        yield 'far up' => [\PHP_INT_MAX - 5, \PHP_INT_MAX];
        yield 'down' => [\PHP_INT_MIN, -1];
        yield 'far down' => [-2, \PHP_INT_MIN];
    }

    #[DataProvider('overflows')]
    public function testAnIncrementPastTheRangeOfIntChangesNothing(int $value, int $by): void
    {
        $this->store()->save([new Item('counter', $value, 1_000)]);
        $expiry = $this->store()->fetch(['counter'])->items['counter']->expiry ?? null;
        foreach (['counter' => 0, 'absent' => $value] as $key => $initial) {
            try {
                $this->store()->increment($key, $by, $initial);
                self::fail('The increment left the range of int.');
            } catch (NotACounter $mistake) {
                self::assertStringContainsString($key, $mistake->getMessage());
            }
        }
        self::assertSame($value, $this->value('counter'));
        self::assertEqualsWithDelta($expiry, $this->store()->fetch(['counter'])->items['counter']->expiry ?? null, 1);
        self::assertFalse($this->has('absent'));
    }

    public function testWhatIsNoIntIsNoCounter(): void
    {
        foreach (['text', '', '5', 5.0, true, null, [5], new Product('x'), "5\0"] as $value) {
            $this->store()->save([new Item('key', $value)]);
            try {
                $this->store()->increment('key');
                self::fail('Something that is no int was incremented.');
            } catch (NotACounter $mistake) {
                self::assertStringContainsString('key', $mistake->getMessage());
            }
            self::assertSame(serialize($value), serialize($this->value('key')));
        }
    }

    public function testClearKillsEverything(): void
    {
        $keys = self::hostileKeys();
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
        $neighbour = $this->neighbour();
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

    public function testAFetchedValueIsTheCallersOwn(): void
    {
        $this->store()->save([new Item('object', new Product('shirt', new Product('tie'))), new Item('array', ['a' => ['b' => 1], 'o' => (object) ['p' => 1]])]);
        $product = $this->value('object');
        self::assertInstanceOf(Product::class, $product);
        $product->note = 'changed';
        $product->label('changed');
        $related = $product->related();
        self::assertInstanceOf(Product::class, $related);
        $related->note = 'changed';
        $array = $this->value('array');
        self::assertIsArray($array);
        self::assertIsArray($array['a']);
        self::assertInstanceOf(\stdClass::class, $array['o']);
        $array['a']['b'] = 2;
        $array['o']->p = 2;

        $again = $this->value('object');
        self::assertInstanceOf(Product::class, $again);
        self::assertNotSame($product, $again);
        self::assertNull($again->note);
        self::assertSame(['new'], $again->labels());
        self::assertNull($again->related()?->note);
        self::assertEquals(['a' => ['b' => 1], 'o' => (object) ['p' => 1]], $this->value('array'));
    }

    public function testAValueChangedAfterItWasSavedIsNotChangedInTheStore(): void
    {
        $product = new Product('shirt');
        $shared = 1;
        $array = ['reference' => &$shared, 'object' => $product];
        $this->store()->save([new Item('object', $product), new Item('array', $array)]);
        $product->note = 'changed';
        $shared = 2;
        $object = $this->value('object');
        self::assertInstanceOf(Product::class, $object);
        self::assertNull($object->note);
        $stored = $this->value('array');
        self::assertIsArray($stored);
        self::assertSame(1, $stored['reference']);
        self::assertEquals(new Product('shirt'), $stored['object']);
    }

    /** @return iterable<string, array{\Closure(): mixed, string}> a value and the path to what is wrong with it */
    public static function unstorable(): iterable
    {
        yield 'a closure' => [static fn(): mixed => static fn(): int => 1, ''];
        yield 'a resource' => [static fn(): mixed => fopen('php://memory', 'r'), ''];
        yield 'a closure in an array' => [static fn(): mixed => ['a' => [1, ['x' => static fn(): int => 1]]], "['a'][1]['x']"];
        yield 'a resource in an array' => [static fn(): mixed => ['a' => 1, 'f' => [fopen('php://memory', 'r')]], "['f'][0]"];
        yield 'a closed resource' => [static function (): mixed {
            $file = fopen('php://memory', 'r');
            self::assertIsResource($file);
            fclose($file);

            return [$file];
        }, '[0]'];
        yield 'a closure in an object' => [static fn(): mixed => [(object) ['callback' => static fn(): int => 1]], '[0]->callback'];
        yield 'a resource in an object of a class' => [static function (): mixed {
            $product = new Product('file', $inner = new Product('inner'));
            $inner->note = ['log' => fopen('php://memory', 'r')];

            return $product;
        }, "->related->note['log']"];
        yield 'a closure behind a cycle' => [static function (): mixed {
            $array = ['ok' => 1];
            $array['self'] = &$array;
            $array['z'] = [static fn(): int => 1];

            return $array;
        }, "['z'][0]"];
        yield 'a resource in an ArrayObject' => [static fn(): mixed => ['a' => new \ArrayObject(['x' => fopen('php://memory', 'r')])], "['a']->storage['x']"];
        yield 'a closure in an ArrayIterator' => [static fn(): mixed => new \ArrayIterator([1, [static fn(): int => 1]]), '->storage[1][0]'];
        yield 'a closure as a key of an SplObjectStorage' => [static function (): mixed {
            $storage = new \SplObjectStorage();
            $storage[static fn(): int => 1] = 1;

            return [$storage];
        }, "[0]->storage[0]['obj']"];
        yield 'a resource in an SplObjectStorage' => [static function (): mixed {
            $storage = new \SplObjectStorage();
            $storage[new \stdClass()] = 1;
            $storage[new \stdClass()] = ['file' => fopen('php://memory', 'r')];

            return $storage;
        }, "->storage[1]['inf']['file']"];
        yield 'a resource in an SplQueue' => [static function (): mixed {
            $queue = new \SplQueue();
            $queue[] = fopen('php://memory', 'r');

            return $queue;
        }, '->dllist[0]'];
        yield 'a closure in an SplFixedArray' => [static fn(): mixed => \SplFixedArray::fromArray([1, static fn(): int => 1]), '[1]'];
        yield 'an object that forbids to be serialised' => [static fn(): mixed => ['a' => [1, new \SimpleXMLElement('<a/>')]], "['a'][1]"];
        yield 'an object of an anonymous class' => [static fn(): mixed => [new class {}], '[0]'];
        yield 'a generator' => [static fn(): mixed => ['g' => (static fn(): \Generator => yield 1)()], "['g']"];
    }

    /** @param \Closure(): mixed $make */
    #[DataProvider('unstorable')]
    public function testWhatCannotBeStoredIsRefusedWithThePathToIt(\Closure $make, string $path): void
    {
        $this->store()->save([new Item('key', 'old')]);
        try {
            $this->store()->save([new Item('key', $make())]);
            self::fail('Something that cannot be stored was accepted.');
        } catch (Unstorable $mistake) {
            self::assertStringStartsWith('The value of the key "key" was not stored: $value', $mistake->getMessage());
            self::assertStringContainsString("{$path} is a", $mistake->getMessage());
        }
        self::assertSame('old', $this->value('key'));
    }

    public function testWhatAValueThrowsWhenItIsAskedForItsStateIsTheReasonThatItIsUnstorable(): void
    {
        $this->store()->save([new Item('bad', 'old')]);
        foreach ([[new Item('bad', ['a' => new Sleepless()])], [new Item('good', 1), new Item('bad', [new Sleepless()])]] as $items) {
            try {
                $this->store()->save($items);
                self::fail('It was stored.');
            } catch (Unstorable $mistake) {
                self::assertMatchesRegularExpression('/^The value of the key "bad" was not stored: \$value.* could not be serialised: not now$/', $mistake->getMessage());
                self::assertInstanceOf(\DomainException::class, $mistake->getPrevious());
            }
            self::assertSame('old', $this->value('bad'));
        }
    }

    public function testOfABatchWithSomethingUnstorableNothingIsStored(): void
    {
        try {
            $this->store()->save([new Item('good', 1), new Item('bad', [static fn(): int => 1]), new Item('also good', 2)]);
            self::fail('Something that cannot be stored was accepted.');
        } catch (Unstorable) {
            self::assertSame([], $this->store()->fetch(['good', 'bad', 'also good'])->items);
        }
    }

    public function testKeysListsWhatBeginsWithAPrefix(): void
    {
        $store = $this->store();
        if (!\in_array(Capability::Keys, $store->capabilities(), true)) {
            $this->expectException(UnsupportedOperation::class);
            [...$store->keys()];

            return;
        }
        $keys = self::hostileKeys();
        $store->save(array_map(static fn(string $key): Item => new Item($key, 'x'), $keys));
        self::assertSame(self::sorted($keys), self::sorted($store->keys()));
        foreach (['7', 'k', '*', '[a', "\0", "\xf0", '\\', '%', '.', 'nothing begins with this'] as $prefix) {
            $expected = array_values(array_filter($keys, static fn(string $key): bool => str_starts_with($key, $prefix)));
            self::assertSame(self::sorted($expected), self::sorted($store->keys($prefix)), "prefix {$prefix}");
        }
        $store->delete(['7']);
        self::assertNotContains('7', [...$store->keys()]);
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
