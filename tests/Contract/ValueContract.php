<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Exception\Unstorable;
use Larder\Item;
use Larder\SaveMode;
use Larder\Tests\Contract\Value\Product;
use Larder\Tests\Contract\Value\Sleepless;
use Larder\Tests\Contract\Value\Suit;
use Larder\Tests\Contract\Value\Unwaking;
use Larder\Tests\Contract\Value\Wakeful;
use PHPUnit\Framework\Attributes\DataProvider;

/** What every store promises of values: each comes back as it was, and what cannot be stored is refused. */
final class ValueContract extends Suite
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
        yield 'an object whose class was not there when it was unserialised' => [static fn(): mixed => ['from' => [unserialize('O:7:"Missing":0:{}')]], "['from'][0]"];
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

    public function testWhatCannotBeMadeAgainIsAMissAndNotInTheWayOfAnAdd(): void
    {
        $items = [new Item('object', new Unwaking(), 1_000), new Item('inside', ['x' => [new Unwaking()]], 1_000), new Item('there', 'old', 1_000)];
        $keys = array_column($items, 'key');
        self::assertSame([], $this->store()->save($items));
        $found = $this->store()->fetch($keys);
        self::assertSame(['there'], array_keys($found->items));
        self::assertSame(['object', 'inside'], array_keys($found->tokens));
        $added = array_map(static fn(string $key): Item => new Item($key, 'added', 1_000), $keys);
        self::assertSame(['there'], $this->store()->save($added, SaveMode::Add));
        self::assertSame(['added', 'added', 'old'], array_map($this->value(...), $keys));
        self::assertSame($keys, $this->store()->save($added, SaveMode::Add));
        self::assertSame([], $this->store()->save($items));
        $token = $this->store()->fetch(['object'])->tokens['object'];
        self::assertSame([], $this->store()->save([new Item('object', 'filled', 1_000, token: $token, fill: true)], SaveMode::Add));
        self::assertSame('filled', $this->value('object'));
        self::assertSame([], $this->store()->save([new Item('inside', 'dead', 0)], SaveMode::Add));
        self::assertFalse($this->has('inside'));
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
}
