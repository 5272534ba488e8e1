--TEST--
Every kind of value comes back as it was, in place and as a copy, here and elsewhere, before and after a move
--FILE--
<?php
require __DIR__ . '/values.inc';

class Waking
{
    public int $x = 1;

    public function __wakeup(): void
    {
        $this->x = 1;
    }
}

$mixed = new Point(3);
$mixed->dynamic = [1];
$unset = new Child();
unset($unset->any, $unset->x);
$itself = new stdClass();
$itself->self = $itself;
$within = new Point(1);
$within->any = ['deep' => [$within]];
$twice = new stdClass();
$twice->a = 1;
$twice->b = &$twice->a;
$holes = [1, 2, 3, 4, 5];
unset($holes[1], $holes[4]);
$sparse = range(0, 999);
for ($i = 1; $i < 998; $i++) {
    unset($sparse[$i]);
}
$swiss = ['a' => 1, 'b' => 2, 'c' => 3];
unset($swiss['b']);
$values = [
    'null' => [null, 4],
    'false' => [false, 5],
    'true' => [true, 6],
    'int' => [42, 1],
    'least counter' => [-(1 << 62), 1],
    'greatest counter' => [(1 << 62) - 1, 1],
    'below counters' => [-(1 << 62) - 1, 2],
    'above counters' => [1 << 62, 2],
    'greatest int' => [PHP_INT_MAX, 2],
    'float' => [0.1, 3],
    'minus nought' => [-0.0, 3],
    'empty string' => ['', 0],
    'letter' => ['x', 0],
    'nul byte' => ["a\0b", 0],
    'longest short string' => [str_repeat('s', 4064), 0],
    'shortest long string' => [str_repeat('l', 4065), 16],
    'very long string' => [random_bytes(3_000_000), 16],
    'empty array' => [[], 17],
    'empty arrays' => [[[], ['a' => []], []], 17],
    'list' => [[1, 'two', 3.0, null, true, false], 17],
    'hash' => [['a' => 1, 5 => 'b', -3 => [], '' => 'x', '09' => 1], 17],
    'holes' => [$holes, 17],
    'mostly holes' => [$sparse, 17],
    'hash with a hole' => [$swiss, 17],
    'nested' => [['a' => ['b' => ['c' => [[[]], 'd']]]], 17],
    'big list' => [range(0, 5000), 17],
    'big hash' => [array_flip(array_map(fn ($i) => "k$i", range(0, 5000))), 17],
    'keys with one hash' => [json_decode('[{"Ez":1,"FY":2},{"FY":3,"Ez":4}]', true), 17],
    'stdClass' => [(object) ['a' => 1, 'b' => [2], 7 => 'x'], 20],
    'empty object' => [new stdClass(), 20],
    'plain object' => [new Point(2), 20],
    'child' => [new Child(2), 20],
    'unset properties' => [$unset, 20],
    'object of arrays' => [(object) ['list' => [1, [2]], 'map' => ['a' => 'b']], 20],
    'declared and dynamic' => [$mixed, 19],
    'object of itself' => [$itself, 19],
    'object of a list of itself' => [$within, 19],
    'object of a variable twice' => [$twice, 19],
    'object of an object' => [(object) ['a' => [new Point(1)]], 19],
    'object of a case' => [(object) ['a' => Suit::Hearts], 19],
    'object that wakes' => [new Waking(), 19],
    'enum' => [Suit::Spades, 19],
    'objects in arrays' => [['a' => [new Point(1), [1, 2]], 'e' => Level::Low, 'p' => [1, 2]], 18],
];
foreach ($values as $name => [$value, $kind]) {
    $image = new Image($value);
    check($image->kind() === $kind, "$name is of kind {$image->kind()}");
    foreach (readings($image) as $how => $read) {
        check(serialize($read) === serialize($value), "$name $how");
        ob_start();
        var_dump($value);
        $expected = preg_replace('/#\d+/', '#', ob_get_clean());
        ob_start();
        var_dump($read);
        check(preg_replace('/#\d+/', '#', ob_get_clean()) === $expected, "$name $how, dumped");
        unset($read);
    }
}

// An array's internal pointer is not part of its value.
$moved = ['a' => 1, 'b' => 2, 'c' => 3];
end($moved);
$left = [1, 2, 3];
unset($left[0]);
foreach (readings(new Image([$moved, $left])) as $how => $read) {
    check(current($read[0]) === 1 && current($read[1]) === 2 && key($read[1]) === 1, "the internal pointer $how");
}
$image = new Image(NAN);
check(is_nan($image->get()), 'NAN');
echo "done\n";
?>
--EXPECT--
done
