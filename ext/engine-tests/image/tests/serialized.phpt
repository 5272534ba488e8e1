--TEST--
What no image can hold is serialised: references, magic methods, classes of PHP's own
--FILE--
<?php
require __DIR__ . '/values.inc';

class Sleeps
{
    public $a = 1;
    public $b = 2;

    public function __sleep()
    {
        return ['a'];
    }
}

class Wakes
{
    public $a = 1;
    public static int $woken = 0;

    public function __wakeup()
    {
        self::$woken++;
    }
}

class Custom extends ArrayObject
{
}

$kind = extension_loaded('igbinary') ? 8 : 7;

$reference = [1, 2];
$reference[2] = &$reference[0];
$cycle = ['x' => 1];
$cycle['self'] = &$cycle;
$byRef = ['a' => 'b'];
$held = &$byRef['a'];
$magic = new WithMagic();
$magic->parts = ['p' => [1]];
foreach ([
    'a reference' => $reference,
    'a cycle by reference' => $cycle,
    'a reference held elsewhere' => $byRef,
    '__serialize' => $magic,
    '__serialize, nested' => ['deep' => [$magic]],
    '__sleep' => new Sleeps(),
    '__wakeup' => [new Wakes()],
    'an internal class' => new ArrayObject([1, 2]),
    'a child of an internal class' => new Custom(['a' => 1]),
    'a date' => new DateTimeImmutable('2024-01-01 UTC'),
    'an exception' => new RuntimeException('x'),
] as $name => $value) {
    $image = new Image($value);
    check($image->kind() === $kind, "$name is of kind {$image->kind()}");
    foreach (readings($image) as $how => $read) {
        if ($name === 'a reference') {
            $read[0] = 9;
            check($read[2] === 9, "the reference stays one $how");
        } elseif ($name === 'a cycle by reference') {
            $read['self']['x'] = 5;
            check($read['self']['self']['x'] === 5, "the cycle stays one $how");
        } else {
            check(serialize($read) === serialize($value), "$name $how");
        }
    }
}
check(Wakes::$woken === 6, 'woken as often as read');

// One that nobody else holds is a plain value.
$plain = [1, 'two', [3]];
foreach ($plain as &$element) {
}
unset($element);
check((new Image($plain))->kind() === 17, 'a reference held once');
check((new Image($plain))->get() === [1, 'two', [3]], 'a reference held once, read');

// Also beside arrays that are met again, in each other's order and within objects.
$again = [1, ['x']];
$list = [$again, [$again, 'k' => [$again]], [1], $again];
foreach ($list as &$element) {
}
unset($element);
$list = [$list, $list, $again, (object) ['list' => $list]];
check((new Image($list))->kind() === 18, 'references held once beside shared arrays');
check(serialize((new Image($list))->get()) === serialize($list), 'references held once beside shared arrays, read');

// An array in itself through references that are each held once.
function inner(): array
{
    $a = [1];
    $a[1] = &$a;
    return $a;
}
$image = new Image(inner());
check($image->kind() === $kind, 'a cycle of references held once');
$read = $image->get();
// PHP's serialiser ends such a cycle with a null, igbinary keeps it.
check($read[0] === 1 && ($kind === 7 ? $read[1] === null : $read[1][1][1][0] === 1), 'and read');

if (PHP_VERSION_ID >= 80400) {
    require __DIR__ . '/hooks.inc';
    check_hooks($kind);
}

class Throws
{
    public function __serialize(): array
    {
        throw new LogicException('not me');
    }
}
try {
    new Image([new Throws()]);
} catch (LogicException $e) {
    echo $e->getMessage(), "\n";
}

class ThrowsOnReading
{
    public function __serialize(): array
    {
        return [];
    }

    public function __unserialize(array $data): void
    {
        throw new LogicException('not now');
    }
}
$image = new Image([new ThrowsOnReading(), 'x']);
try {
    $image->get();
} catch (LogicException $e) {
    echo $e->getMessage(), "\n";
}
echo "done\n";
?>
--EXPECT--
not me
not now
done
