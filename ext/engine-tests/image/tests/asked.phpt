--TEST--
Objects that say themselves what they are made of are asked once, and made again of just that
--FILE--
<?php
require __DIR__ . '/values.inc';

error_reporting(E_ALL & ~E_DEPRECATED); // PHP 8.5 deprecates an ArrayObject of an object, but still makes it

/** Tells what happens to the objects of the classes below, in the order in which it does. */
final class Journal
{
    public static array $entries = [];

    public static function note(string $what): void
    {
        self::$entries[] = $what;
    }

    public static function read(): string
    {
        $read = implode(', ', self::$entries);
        self::$entries = [];
        return $read;
    }
}

class Tells
{
    private int $asked = 0;

    public function __construct(public string $name, public mixed $inner = null) {}

    public function __serialize(): array
    {
        Journal::note("ask $this->name");
        return ['name' => $this->name, 'inner' => $this->inner, 'asked' => ++$this->asked];
    }

    public function __unserialize(array $told): void
    {
        Journal::note("make {$told['name']}");
        $this->name = $told['name'];
        $this->inner = $told['inner'];
        $this->asked = $told['asked'];
    }
}

#[AllowDynamicProperties]
class Sleeps
{
    public $a = 1;
    protected $b = [2];
    private $c = 3;
    public readonly int $never;
    public $left = 'as declared';

    public function change(): static
    {
        [$this->a, $this->b, $this->c, $this->left] = ['one', ['two'], new Point(3), 'not kept'];
        $this->dynamic = 'd';
        return $this;
    }

    public function __sleep()
    {
        Journal::note('sleep');
        return ['a', 'b', 'c', 'never', 'dynamic'];
    }

    public function __wakeup()
    {
        Journal::note('wake');
    }
}
class Sleeper extends Sleeps {}

class Wakes
{
    public function __construct(public string $name, public mixed $inner = null) {}

    public function __wakeup()
    {
        Journal::note("wake $this->name" . (is_object($this->inner) ? " with {$this->inner->name}" : ''));
    }
}

/** Told by PHP's properties, made by a method of its own. */
class OnlyUnserializes
{
    public $a = 1;
    protected $b = 2;
    private $c = 3;
    public array $told = [];

    public function __unserialize(array $told): void
    {
        $this->told = $told;
    }
}

/** Told by a method of its own, made by PHP from names: bare, mangled, of a parent's private property, new. */
#[AllowDynamicProperties]
class OnlySerializes extends Sleepless
{
    public int $a = 1;
    protected $b = 2;
    private $c = 3;
    public ?array $kept = null;

    public function __serialize(): array
    {
        return ['a' => 10, 'b' => 20, 'c' => 30, "\0Sleepless\0hidden" => 40, 'new' => 50, 7 => 60];
    }

    public function all(): array
    {
        return [$this->a, $this->b, $this->c, $this->hidden(), $this->new, $this->{'7'}, $this->kept];
    }
}
class Sleepless
{
    private $hidden = 4;

    public function hidden(): int
    {
        return $this->hidden;
    }
}

class Both
{
    public function __construct(public $a = 1) {}

    public function __serialize(): array
    {
        return ['a' => $this->a];
    }

    public function __sleep()
    {
        throw new LogicException('__serialize comes first');
    }

    public function __unserialize(array $told): void
    {
        $this->a = $told['a'];
    }

    public function __wakeup()
    {
        throw new LogicException('__unserialize comes first');
    }
}

abstract class Named implements Serializable
{
    public $name = '';

    public function serialize()
    {
        return "name: $this->name";
    }

    public function unserialize($text)
    {
        Journal::note("unserialize $text");
        $this->name = substr($text, 6);
    }
}
@eval('class Texts extends Named {}');

class Custom extends ArrayObject
{
    public $more;
    private $own = ['o'];
}

class MyException extends DomainException
{
    public function __construct(string $message, private array $context = [], ?Throwable $previous = null)
    {
        parent::__construct($message, 5, $previous);
    }

    public function context(): array
    {
        return $this->context;
    }
}

/** An object within an array, read in every way, compared by PHP's serialize(). */
function same_again(string $name, object $value): void
{
    Journal::read();
    $image = new Image([$value, 'x', [$value]]);
    check($image->kind() === 18, "$name is of kind {$image->kind()}");
    foreach (readings($image) as $how => $read) {
        check($read[0] !== $value && $read[2][0] === $read[0], "$name, $how, is one object");
        check(get_class($read[0]) === get_class($value), "$name, $how, of its class");
        check(serialize($read) === serialize([$value, 'x', [$value]]), "$name, $how: " . serialize($read));
    }
    check((new Image($value))->kind() === 19, "$name alone");
    check(serialize((new Image($value))->get()) === serialize($value), "$name alone");
    Journal::read();
}

$custom = new Custom(['a' => 1, 'o' => new Point(1)], ArrayObject::ARRAY_AS_PROPS);
$storage = new SplObjectStorage();
$storage[new Point(1)] = ['x'];
$storage[new stdClass()] = $storage[new Point(2)] = null;
$list = new SplDoublyLinkedList();
$list->push(1);
$list->push(new Point(2));
$of_object = new ArrayObject(new Point(5));
$magic = new WithMagic();
$magic->parts = ['p' => [1], 3 => new WithMagic()];
foreach ([
    'WithMagic' => $magic,
    'Sleeps' => (new Sleeps())->change(),
    'Wakes' => new Wakes('w', new Wakes('x')),
    'Both' => new Both([1]),
    'Texts' => (function () {
        $texts = new Texts();
        $texts->name = 'nobody';
        return $texts;
    })(),
    'ArrayObject' => new ArrayObject([1, [2], 'k' => new ArrayObject()]),
    'ArrayObject of an object' => $of_object,
    'ArrayIterator' => new ArrayIterator(['i' => 1]),
    'SplObjectStorage' => $storage,
    'SplDoublyLinkedList' => $list,
    'SplQueue' => new SplQueue(),
    'SplFixedArray' => SplFixedArray::fromArray([1, new Point(1), ['x']]),
    'Custom' => $custom,
    'DateTime' => new DateTime('2024-02-29 12:00:00.5', new DateTimeZone('Europe/Rome')),
    'DateTimeImmutable' => new DateTimeImmutable('2024-01-01 UTC'),
    'DateTimeZone' => new DateTimeZone('+02:00'),
    'DateInterval' => (new DateTime('2020-01-01'))->diff(new DateTime('2021-03-04 05:06:07')),
    'DatePeriod' => new DatePeriod(new DateTimeImmutable('2020-01-01 UTC'), new DateInterval('P1D'), 3),
    'Random' => new Random\Engine\Mt19937(5),
    'Randomizer' => new Random\Randomizer(new Random\Engine\Xoshiro256StarStar(7)),
    'an exception' => new RuntimeException('x'),
    'an exception with another' => new MyException('m', ['c' => [1]], new Error('previous')),
] as $name => $value) {
    same_again($name, $value);
}

// Asked once each, in the order of PHP's serialize(); made from the inside to the outside, as by its unserialize().
$inner = new Tells('inner');
$value = ['a' => new Tells('outer', [$inner, new Tells('second')]), 'b' => $inner, 'c' => new Wakes('last', new Wakes('in', $inner))];
Journal::read();
$image = new Image($value);
check(Journal::read() === 'ask outer, ask inner, ask second', 'the order of asking');
foreach (readings($image) as $how => $read) {
    check(Journal::read() === 'make inner, make second, make outer, wake in with inner, wake last with in', "the order of making, $how");
    check($read['a']->inner[0] === $read['b'] && $read['b'] === $read['c']->inner->inner, "one object, $how");
}
unserialize(serialize($value));
check(str_ends_with(Journal::read(), 'make inner, make second, make outer, wake in with inner, wake last with in'), 'PHP has the same order');

// Cycles through what was told.
$a = new Tells('a');
$b = new Tells('b', ['to a' => $a]);
$a->inner = $b;
foreach (readings(new Image([$a])) as $how => $read) {
    check($read[0]->inner->inner['to a'] === $read[0] && $read[0]->name === 'a' && $read[0]->inner->name === 'b', "a cycle, $how");
    unset($read);
}
gc_collect_cycles();
Journal::read();

// What __sleep() does not name is as the class has it; so is what was never set.
$read = (new Image((new Sleeps())->change()))->get();
check(Journal::read() === 'sleep, wake', 'once each');
check($read->left === 'as declared' && $read->a === 'one' && $read->dynamic === 'd', 'what __sleep names');
try {
    $read->never;
    check(false, 'never set');
} catch (Error $e) {
    check(str_contains($e->getMessage(), 'before initialization'), 'never set');
}
check((new Image(new OnlyUnserializes()))->get()->told === ['a' => 1, "\0*\0b" => 2, "\0OnlyUnserializes\0c" => 3, 'told' => []], 'mangled names');
foreach (readings(new Image(new OnlySerializes())) as $how => $read) {
    check($read->all() === [10, 20, 30, 40, 50, 60, null], "by name, $how");
}
check((new Image(new MyException('m', ['c'])))->get()->context() === ['c'], 'a private property of an exception');
check((new Image($of_object))->get()['x'] === 5, 'an ArrayObject of an object');

// The answers stand, whatever the code that gives them does to the value meanwhile.
class Meddles
{
    public static ?Closure $then = null;

    public function __construct(public mixed $inner = null) {}

    public function __serialize(): array
    {
        (self::$then)($this);
        return ['inner' => $this->inner];
    }

    public function __unserialize(array $told): void
    {
        $this->inner = $told['inner'];
    }
}
$holder = new Point(1);
$holder->any = ['list' => range(1, 50), 'm' => new Meddles(), 'after' => ['x', new Point(2)]];
Meddles::$then = function (Meddles $self) use ($holder) {
    $holder->any['list'][] = 'appended';
    $holder->any['after'] = ['changed', new Meddles2()];
    $holder->label = str_repeat('changed', 100);
};
class Meddles2 extends Meddles
{
    public function __serialize(): array
    {
        return ['inner' => 'late'];
    }
}
$read = (new Image([$holder]))->get()[0];
check(end($read->any['list']) === 'appended' && $read->any['after'][0] === 'changed' && get_class($read->any['after'][1]) === 'Meddles2', 'what it is in the end');
check(serialize($holder) !== '' && $read->label === $holder->label, 'all of it');
// The variable itself.
$variable = ['m' => new Meddles([1]), 'rest' => range(1, 100)];
$alias = &$variable;
Meddles::$then = function () use (&$alias) {
    $alias = 'nothing';
};
$read = (new Image($variable))->get();
check($read['m']->inner === [1] && $read['rest'] === range(1, 100) && $variable === 'nothing', 'the value that was given');
$values = ['m' => [new Meddles([2]), range(1, 10)]];
$element = &$values['m'];
Meddles::$then = function () use (&$element) {
    $element = null;
};
check((new Image($element))->get()[0]->inner === [2], 'the element that was given');
// Objects that come and go.
Meddles::$then = function (Meddles $self) {
    $self->inner = [new Point(1), new Meddles3()];
};
class Meddles3 extends Meddles
{
    public function __serialize(): array
    {
        return ['inner' => new Point(3)];
    }
}
check((new Image([new Meddles()]))->get()[0]->inner[1]->inner->x === 3, 'new ones');
class Multiplies
{
    public array $others = [];

    public function __construct(public Point $holder) {}

    public function __serialize(): array
    {
        $this->holder->any = [new self($this->holder)];
        return [];
    }
}
$point = new Point(1);
$point->any = [new Multiplies($point)];
try {
    new Image($point);
    echo "stored\n";
} catch (RuntimeException $e) {
    echo $e->getMessage(), "\n";
}

// It may use images itself, and end the walk.
Meddles::$then = function (Meddles $self) {
    $then = Meddles::$then;
    Meddles::$then = fn () => null;
    $self->inner = (new Image([$self, new Point(4)]))->get()[1];
    Meddles::$then = $then;
};
check((new Image(new Meddles()))->get()->inner->x === 4, 'images within');
Meddles::$then = function (Meddles $self) {
    serialize([new ArrayObject([$self->inner])]);
    unserialize(serialize(new WithMagic()));
};
check((new Image(new Meddles(['i'])))->get()->inner === ['i'], 'serialize() within');

// What fails.
class Throws
{
    public static string $where = '';

    public function __construct(public mixed $inner = null) {}

    public function __serialize(): array
    {
        return self::$where === 'asked' ? throw new LogicException('not me') : [$this->inner];
    }

    public function __unserialize(array $told): void
    {
        $this->inner = $told[0];
        if (self::$where === 'made') {
            throw new LogicException('not now');
        }
    }

    public function __destruct()
    {
        echo self::$where === 'made' ? "destroyed, though it never came to be\n" : '';
    }
}
class Nothing
{
    public function __construct(public $what = null) {}

    public function __serialize()
    {
        return $this->what;
    }
}
class SleepsBadly
{
    public $a = 1;
    public static mixed $names = null;

    public function __sleep()
    {
        return self::$names;
    }
}
@eval('class TextsNothing extends Texts
{
    public function serialize()
    {
        return null;
    }
}
class NoWayBack extends Texts
{
    public function __serialize(): array
    {
        return [];
    }
}');
set_error_handler(function (int $level, string $message) {
    echo "  $message\n";
    return true;
});
function attempt(callable $code): void
{
    try {
        $code();
        echo "worked\n";
    } catch (Throwable $e) {
        echo get_class($e), ': ', $e->getMessage(), $e->getPrevious() ? ' (' . get_class($e->getPrevious()) . ')' : '', "\n";
    }
}
Throws::$where = 'asked';
attempt(fn () => new Image(['a' => [1, new Throws()]]));
attempt(fn () => new Image([(object) ['p' => new ArrayObject(['x' => new Throws()])]]));
attempt(fn () => new Image([new Both(['deep' => new Throws()])]));
Throws::$where = 'made';
$image = new Image($originals = [new Throws(), 'x', new Throws(new Wakes('not woken'))]);
attempt(fn () => $image->get());
check(Journal::read() === '', 'others are not woken any more');
Throws::$where = '';
attempt(fn () => new Image([new Nothing()]));
attempt(fn () => new Image([new Nothing(5)]));
attempt(fn () => new Image(['k' => new TextsNothing()]));
attempt(fn () => new Image(['k' => new NoWayBack()]));
SleepsBadly::$names = 'a';
attempt(fn () => new Image(['k' => new SleepsBadly()]));
SleepsBadly::$names = ['a', 'gone'];
attempt(fn () => new Image(['k' => new SleepsBadly()]));
attempt(fn () => new Image(['k' => (new Sleeper())->change()]));
restore_error_handler();
set_error_handler(fn (int $level, string $message) => throw new ErrorException($message));
attempt(fn () => new Image(['k' => new SleepsBadly()]));
restore_error_handler();

// Deep ones.
$chain = null;
for ($i = 0; $i < 3_000; $i++) {
    $chain = new WithMagic();
    $chain->parts = ['next' => $chain2 ?? null];
    $chain2 = $chain;
}
$read = (new Image($chain))->get();
for ($i = 0; $i < 2_999; $i++) {
    $read = $read->parts['next'];
}
check($read->parts === ['next' => null], 'a chain');
unset($read, $chain, $chain2);
echo "done\n";
?>
--EXPECT--
$value has other objects each time it is asked for its state; store plain data taken from it
RuntimeException: $value['a'][1] could not be serialised: not me (LogicException)
RuntimeException: $value[0]->p->storage['x'] could not be serialised: not me (LogicException)
RuntimeException: $value[0]->__serialize()['a']['deep'] could not be serialised: not me (LogicException)
OutOfBoundsException: a miss
RuntimeException: $value[0] could not be serialised: its __serialize() returned no array
RuntimeException: $value[0] could not be serialised: its __serialize() returned no array
RuntimeException: $value['k'] could not be serialised: its serialize() returned no string
RuntimeException: $value['k'] is a NoWayBack, which cannot be stored; store plain data taken from it
RuntimeException: $value['k'] could not be serialised: its __sleep() returned no array
  Image::__construct(): "gone" returned as member variable from __sleep() but does not exist
worked
  Image::__construct(): "c" returned as member variable from __sleep() but does not exist
worked
RuntimeException: $value['k'] could not be serialised: Image::__construct(): "gone" returned as member variable from __sleep() but does not exist (ErrorException)
done
