<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Exception\NotACounter;
use Larder\Item;
use Larder\SaveMode;
use Larder\Tests\Contract\Value\Product;
use Larder\Tests\Contract\Value\Unwaking;
use PHPUnit\Framework\Attributes\DataProvider;

/** What every store promises of counters. */
final class CounterContract extends Suite
{
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

    public function testAnUnreadableValueIsInTheWayOfNoCounter(): void
    {
        $before = time();
        $items = [new Item('object', new Unwaking(), 10), new Item('inside', ['x' => [new Unwaking()]])];
        $this->store()->save($items);
        self::assertSame(12, $this->store()->increment('object', 2, 10, 1_000));
        self::assertSame(14, $this->store()->increment('object', 2, 10, 5));
        self::assertSame(-1, $this->store()->increment('inside', -1));
        $found = $this->store()->fetch(['object', 'inside'])->items;
        self::assertSame([14, -1], [$found['object']->value, $found['inside']->value]);
        self::assertGreaterThanOrEqual($before + 998, $found['object']->expiry);
        self::assertNull($found['inside']->expiry);

        $this->store()->save($items);
        self::assertSame(5, $this->store()->increment('object', 5, 0, 0));
        self::assertFalse($this->has('object'));
        try {
            $this->store()->increment('inside', 1, \PHP_INT_MAX);
            self::fail('It went past the range of int.');
        } catch (NotACounter $mistake) {
            self::assertStringContainsString('inside', $mistake->getMessage());
        }
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
}
