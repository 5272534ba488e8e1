<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Exception\Unstorable;
use Larder\Item;
use Larder\Tests\Contract\Value\Product;
use Larder\Tests\Contract\Value\Sleeper;
use Larder\Tests\Contract\Value\Sleepless;
use Larder\Tests\Contract\Value\Suit;
use Larder\Tests\Contract\Value\Teller;
use PHPUnit\Framework\Attributes\DataProvider;

/** What every store promises of objects that say themselves what they are made of. */
final class ToldContract extends Suite
{
    /**
     * @return iterable<string, array{\Closure(\ArrayObject<int, string>): mixed, list<string>}> a value, and who in it is
     *                                                                                         asked, in which order
     */
    public static function told(): iterable
    {
        yield 'one object' => [static fn(\ArrayObject $log): mixed => self::teller($log, 'a', 1, 'two'), ['a']];
        yield 'one that says nothing' => [static fn(\ArrayObject $log): mixed => new Teller('a', null, $log), ['a']];
        yield 'two in an array' => [static fn(\ArrayObject $log): mixed => ['x' => self::teller($log, 'a'), 'y' => [self::teller($log, 'b')]], ['a', 'b']];
        yield 'one twice' => [static function (\ArrayObject $log): array {
            $teller = self::teller($log, 'a');

            return [$teller, [$teller], &$teller];
        }, ['a']];
        yield 'one in what another says' => [static fn(\ArrayObject $log): mixed => [self::teller($log, 'a', self::teller($log, 'b')), self::teller($log, 'c')], ['a', 'b', 'c']];
        yield 'each in what the other says' => [static function (\ArrayObject $log): mixed {
            $a = new Teller('a', static function () use (&$b): array {
                return ['other' => $b];
            }, $log);
            $b = self::teller($log, 'b', $a);

            return $a;
        }, ['a', 'b']];
        yield 'one that says itself' => [static fn(\ArrayObject $log): mixed => new Teller('a', static fn(Teller $self): array => [$self, [$self]], $log), ['a']];
        yield 'one in a property' => [static function (\ArrayObject $log): mixed {
            $product = new Product('shirt', new Product('tie'));
            $product->note = self::teller($log, 'a', new Product('inner'));

            return $product;
        }, ['a']];
        yield 'ones in a decimal property' => [static fn(\ArrayObject $log): mixed => (object) ['7' => self::teller($log, 'a'), 'x' => self::teller($log, 'b')], ['a', 'b']];
        yield 'ones in containers of PHP' => [static function (\ArrayObject $log): mixed {
            $storage = new \SplObjectStorage();
            $storage[self::teller($log, 'c')] = self::teller($log, 'd');

            return [new \ArrayObject(['x' => self::teller($log, 'a')]), \SplFixedArray::fromArray([self::teller($log, 'b')]), $storage];
        }, ['a', 'b', 'c', 'd']];
        yield 'one that says every kind of value' => [static fn(\ArrayObject $log): mixed => self::teller($log, 'a', null, true, -1, 0.1, -0.0, \INF, "\0\"};", [], [7 => [1]], Suit::Hearts, new \stdClass(), new \DateTimeImmutable('@1')), ['a']];
        yield 'one that says words and numbers as keys' => [static fn(\ArrayObject $log): mixed => new Teller('a', static fn(): array => [7 => 'a', '' => 'b', -1 => 'c', "\0" => 'd'], $log), ['a']];
        yield 'an enum beside and in what one says' => [static fn(\ArrayObject $log): mixed => [Suit::Spades, self::teller($log, 'a', Suit::Spades), Suit::Spades], ['a']];
        yield 'references beside and in what one says' => [static function (\ArrayObject $log): mixed {
            $shared = [1, 2];

            return [&$shared, new Teller('a', static function () use (&$shared): array {
                return ['x' => &$shared, 'y' => [&$shared]];
            }, $log), &$shared];
        }, ['a']];
        yield 'one that makes what it says' => [static fn(\ArrayObject $log): mixed => new Teller('a', static fn(): array => array_map(
            static fn(int $i): Teller => new Teller("made {$i}", static fn(): array => [new Product((string) $i)], $log),
            range(0, 99),
        ), $log), ['a', ...array_map(static fn(int $i): string => "made {$i}", range(0, 99))]];
        yield 'one that names its properties' => [static fn(\ArrayObject $log): mixed => (new Sleeper($log))->change(['x' => 1]), ['sleeper']];
        yield 'one in a property that is named' => [static fn(\ArrayObject $log): mixed => [(new Sleeper($log))->change(self::teller($log, 'a', new Sleeper($log))), 1], ['sleeper', 'a', 'sleeper']];
        yield 'one that is a text' => [static fn(\ArrayObject $log): mixed => [self::memo("\0}a text\"", $log), new Product('after')], ['memo']];
        yield 'a text twice, in what another says' => [static function (\ArrayObject $log): mixed {
            $memo = self::memo('', $log);

            return [self::teller($log, 'a', $memo, $memo), $memo];
        }, ['a', 'memo']];
    }

    /**
     * @param \Closure(\ArrayObject<int, string>): mixed $make
     * @param list<string>                               $asked
     */
    #[DataProvider('told')]
    public function testAnObjectIsAskedOnceWhatItIsMadeOf(\Closure $make, array $asked): void
    {
        $log = new \ArrayObject();
        $value = $make($log);
        self::assertSame([], $this->store()->save([new Item('key', $value)]));
        self::assertSame($asked, $log->getArrayCopy());
        $stored = $this->value('key');
        self::assertSame(serialize(unserialize(serialize($value))), serialize($stored));

        $log->exchangeArray([]);
        self::assertSame([], $this->store()->save([new Item('other', 1), new Item('key', $make($log), 100)]));
        self::assertSame($asked, $log->getArrayCopy(), 'in a batch');
        self::assertSame(serialize($stored), serialize($this->value('key')));
    }

    public function testPropertiesThatAreNamedComeBackAndOthersAreAsTheyWere(): void
    {
        $sleeper = (new Sleeper(null, ['kept', 'guarded', 'unset']))->change(['x' => 1]);
        $this->store()->save([new Item('key', [$sleeper])]);
        $stored = $this->value('key');
        self::assertIsArray($stored);
        self::assertInstanceOf(Sleeper::class, $stored[0]);
        self::assertSame([['x' => 1], 'changed', 'secret', 0], $stored[0]->inside());
        $sleeper->set(7);
        $this->store()->save([new Item('key', $sleeper)]);
        $stored = $this->value('key');
        self::assertInstanceOf(Sleeper::class, $stored);
        self::assertSame([['x' => 1], 'changed', 'secret', 7], $stored->inside());
    }

    public function testWhatIsStoredIsTheOneAnswer(): void
    {
        $number = 0;
        $teller = new Teller('a', static function () use (&$number): array {
            return [++$number];
        });
        $this->store()->save([new Item('key', [$teller, [$teller]])]);
        $stored = $this->value('key');
        self::assertIsArray($stored);
        self::assertInstanceOf(Teller::class, $stored[0]);
        self::assertSame([1], $stored[0]->told);
        self::assertSame([$stored[0]], $stored[1]);
        self::assertSame(1, $number);
    }

    /** @return iterable<string, array{\Closure(): mixed, string}> a value, and the path to what is wrong with it */
    public static function unstorableTold(): iterable
    {
        $file = static fn(): mixed => fopen('php://memory', 'r');
        yield 'a resource' => [static fn(): mixed => new Teller('a', static fn(): array => ['file' => $file()]), "->__serialize()['file'] is a resource,"];
        yield 'a closed resource' => [static fn(): mixed => new Teller('a', static function () use ($file): array {
            $closed = $file();
            self::assertIsResource($closed);
            fclose($closed);

            return [$closed];
        }), '->__serialize()[0] is a resource,'];
        yield 'a closure' => [static fn(): mixed => ['x' => new Teller('a', static fn(): array => [[static fn(): int => 1]])], "['x']->__serialize()[0][0] is a Closure,"];
        yield 'a generator' => [static fn(): mixed => new Teller('a', static fn(): array => [(static fn(): \Generator => yield 1)()]), '->__serialize()[0] is a Generator,'];
        yield 'an object of an anonymous class' => [static fn(): mixed => new Teller('a', static fn(): array => [new class {}]), '->__serialize()[0] is an object of an anonymous class,'];
        yield 'an object that forbids it' => [static fn(): mixed => new Teller('a', static fn(): array => [[new \SimpleXMLElement('<a/>')]]), '->__serialize()[0][0] is a SimpleXMLElement,'];
        yield 'a resource in an object that is said' => [static function () use ($file): mixed {
            $product = new Product('a');
            $product->note = ['log' => $file()];

            return new Teller('a', static fn(): array => ['product' => $product]);
        }, "->__serialize()['product']->note['log'] is a resource,"];
        yield 'a resource that one says in what another says' => [static fn(): mixed => new Teller('a', static fn(): array => [new Teller('b', static fn(): array => [$file()])]), '->__serialize()[0]->__serialize()[0] is a resource,'];
        yield 'a resource in a container of PHP' => [static fn(): mixed => new Teller('a', static fn(): array => [new \ArrayObject(['x' => $file()])]), "->__serialize()[0]->storage['x'] is a resource,"];
        yield 'a resource that one in a container says' => [static function () use ($file): mixed {
            $storage = new \SplObjectStorage();
            $storage[new \stdClass()] = 1;
            $storage[new \stdClass()] = new Teller('a', static fn(): array => ['file' => $file()]);

            return [$storage];
        }, "[0]->storage[1]['inf']->__serialize()['file'] is a resource,"];
        yield 'a resource beside one that says nothing wrong' => [static fn(): mixed => [new Teller('a'), ['x' => [$file()]]], "[1]['x'][0] is a resource,"];
        yield 'a resource in a property that is named' => [static fn(): mixed => [(new Sleeper())->change(['x' => $file()])], "[0]->kept['x'] is a resource,"];
        yield 'a resource behind a cycle' => [static function () use ($file): mixed {
            $array = [];
            $array['self'] = &$array;
            $array['z'] = new Teller('a', static fn(): array => [$file()]);

            return ['y' => &$array['z'], 'x' => $array];
        }, "['y']->__serialize()[0] is a resource,"];
        yield 'no names' => [static fn(): mixed => [self::nameless()], '[0] could not be serialised: its __sleep() returned no array'];
        yield 'no text' => [static fn(): mixed => [self::memo(null)], '[0] could not be serialised: its serialize() returned no string'];
        yield 'an exception' => [static fn(): mixed => ['x' => [new Sleepless()]], "['x'][0] could not be serialised: not now"];
        yield 'an exception of one in what another says' => [static fn(): mixed => new Teller('a', static fn(): array => ['b' => new Sleepless()]), "->__serialize()['b'] could not be serialised: not now"];
        yield 'an object without its class' => [static fn(): mixed => new Teller('a', static fn(): array => [unserialize('O:8:"NoSuch_X":0:{}')]), '->__serialize()[0] is a NoSuch_X without its class,'];
    }

    /** @param \Closure(): mixed $make */
    #[DataProvider('unstorableTold')]
    public function testWhatAnObjectSaysIsRefusedWithThePathToIt(\Closure $make, string $message): void
    {
        $this->store()->save([new Item('key', 'old')]);
        try {
            $this->store()->save([new Item('key', $make())]);
            self::fail('Something that cannot be stored was accepted.');
        } catch (Unstorable $mistake) {
            self::assertStringStartsWith("The value of the key \"key\" was not stored: \$value{$message}", $mistake->getMessage());
        }
        self::assertSame('old', $this->value('key'));
    }

    /** @param \ArrayObject<int, string> $log */
    private static function teller(\ArrayObject $log, string $name, mixed ...$told): Teller
    {
        return new Teller($name, static fn(): array => $told, $log);
    }

    /**
     * An object that writes itself as a text, as was the way before PHP 7.4. PHP calls it deprecated when it reads the class.
     *
     * @param ?\ArrayObject<int, string> $log
     */
    private static function memo(?string $text, ?\ArrayObject $log = null): object
    {
        return self::odd('LarderTestMemo', <<<'PHP'
            final class LarderTestMemo implements Serializable
            {
                private $log = null;

                public function __construct(public $text, $log)
                {
                    $this->log = $log;
                }

                public function serialize()
                {
                    $this->log?->append('memo');

                    return $this->text;
                }

                public function unserialize($data)
                {
                    $this->text = $data;
                }
            }
            PHP, $text, $log);
    }

    /** An object that names its properties by a word. */
    private static function nameless(): object
    {
        return self::odd('LarderTestNameless', <<<'PHP'
            final class LarderTestNameless
            {
                public function __sleep()
                {
                    return 'kept';
                }
            }
            PHP);
    }

    /** An object of a class that no analyser would let pass. */
    private static function odd(string $class, string $code, mixed ...$arguments): object
    {
        if (!class_exists($class, false)) {
            set_error_handler(static fn(): bool => true, \E_DEPRECATED);
            try {
                eval($code);
            } finally {
                restore_error_handler();
            }
        }
        self::assertTrue(class_exists($class, false));

        return new $class(...$arguments);
    }
}
