--TEST--
What is one variable in a value is one in what is read, with the types of the properties that refer to it
--FILE--
<?php
require __DIR__ . '/values.inc';

class Typed
{
    public int $number = 1;
    public ?array $list = null;
    public mixed $any = null;

    public function __construct(int &$number, mixed &$any)
    {
        $this->number = &$number;
        $this->any = &$any;
    }
}

// In one array, in nested ones, between arrays and properties.
$shared = ['s'];
$object = new stdClass();
$object->s = &$shared;
$value = ['a' => &$shared, 'n' => ['deep' => [&$shared]], 'o' => $object, 'copy' => $shared];
$image = new Image($value);
check($image->kind() === 18, 'made anew');
foreach (readings($image) as $how => $read) {
    check(serialize($read) === serialize($value), "the same, $how");
    $read['a'][] = 'changed';
    check($read['n']['deep'][0] === ['s', 'changed'] && $read['o']->s === ['s', 'changed'] && $read['copy'] === ['s'], "one variable, $how");
    unset($read['a']);
    $read['o']->s = 5;
    check($read['n']['deep'][0] === 5, "still one, $how");
    unset($read);
}
check($shared === ['s'], 'the value stays as it was');

// Scalars, strings, objects, enum cases and null behind references.
foreach ([5, 1.5, true, null, 'text', str_repeat('long', 2000), new Point(3), Suit::Hearts, [[1]]] as $inner) {
    $value = [&$inner, &$inner, 'x' => [&$inner]];
    foreach (readings(new Image($value)) as $how => $read) {
        check(serialize($read) === serialize($value), get_debug_type($inner) . " $how");
        $read[0] = 'new';
        check($read[1] === 'new' && $read['x'][0] === 'new', get_debug_type($inner) . ", one variable $how");
        unset($read);
    }
    unset($value, $inner);
}

// Typed properties that share a variable keep their types.
$number = 7;
$any = [1];
$one = new Typed($number, $any);
$other = new Typed($number, $any);
foreach (readings(new Image([$one, $other, 'n' => &$number])) as $how => $read) {
    $read['n'] = 8;
    check($read[0]->number === 8 && $read[1]->number === 8, "one int, $how");
    foreach ([fn () => $read['n'] = 'text', fn () => $read[0]->number = []] as $wrong) {
        try {
            $wrong();
            check(false, "the type is kept, $how");
        } catch (TypeError $e) {
            check(str_contains($e->getMessage(), 'Typed::$number of type int'), $e->getMessage());
        }
    }
    $read[0]->any[] = 2;
    check($read[1]->any === [1, 2], "one array, $how");
    unset($read, $wrong);
}
$read = (new Image([$one, $other, 'n' => &$number]))->get();
unset($read[0]);
try {
    $read['n'] = 'text';
    check(false, 'one property is left');
} catch (TypeError) {
}
unset($read[1]);
$read['n'] = 'now it may be anything';

// One that leads nowhere else in the value is a plain value: arrays stay in place.
$held = 'held';
$plain = ['a' => &$held, 'n' => [[&$plainer]]];
check((new Image($plain))->kind() === 17, 'a reference to the outside');
foreach (readings(new Image($plain)) as $how => $read) {
    check($read === ['a' => 'held', 'n' => [[null]]], "a reference to the outside, $how");
    $read['a'] = 'mine';
    check($held === 'held', "and the outside stays as it is, $how");
}
$list = [1, 'two', [3]];
foreach ($list as &$element) {
}
unset($element);
check((new Image($list))->kind() === 17 && (new Image($list))->get() === [1, 'two', [3]], 'what a foreach leaves behind');
$again = [1, ['x']];
$list = [$again, [$again, 'k' => [$again]], [1], $again];
foreach ($list as &$element) {
}
unset($element);
$list = [$list, $list, $again, (object) ['list' => $list]];
check((new Image($list))->kind() === 18 && serialize((new Image($list))->get()) === serialize($list), 'beside shared arrays');
$object = new Point(1);
$label = 'l';
$object->label = &$label;
check(serialize((new Image([$object]))->get()) === serialize([$object]), 'of a property to the outside');

// Arrays that contain themselves.
$cycle = ['x' => 1];
$cycle['self'] = &$cycle;
foreach (readings(new Image($cycle)) as $how => $read) {
    check($read['x'] === 1, "a cycle, $how");
    $read['self']['x'] = 5;
    check($read['self']['self']['self']['x'] === 5, "a cycle is one array, $how");
    unset($read['self']['self']);
    unset($read);
}
$twice = [1];
$twice['self'] = &$twice;
$value = ['t' => &$twice, 'u' => [&$twice]];
foreach (readings(new Image($value)) as $how => $read) {
    $read['t'][0] = 2;
    check($read['u'][0]['self'][0] === 2 && $read['t']['self']['self'][0] === 2, "a cycle met twice, $how");
    $read['t']['self'] = null;
    unset($read);
}
function inner(): array
{
    $a = [1];
    $a[1] = &$a;
    return $a;
}
$image = new Image(inner());
foreach (readings($image) as $how => $read) {
    check($read[0] === 1 && $read[1][0] === 1 && $read[1][1][1][0] === 1, "a cycle that nothing else holds, $how");
    unset($read);
}
$a = ['a'];
$b = ['b', 'to a' => &$a];
$a['to b'] = &$b;
foreach (readings(new Image([$a, 'b' => $b])) as $how => $read) {
    check($read[0]['to b']['to a']['to b'][0] === 'b' && $read['b']['to a'][0] === 'a', "two in each other, $how");
    $read[0]['to b'][] = 'new';
    check(end($read[0]['to b']['to a']['to b']) === 'new', "and one variable, $how");
    unset($read);
}
$with = [new Point(7), [new Point(8)]];
$with['self'] = &$with;
foreach (readings(new Image($with)) as $how => $read) {
    check($read[0] === $read['self'][0] && $read[1][0] === $read['self'][1][0], "a cycle has its objects once, $how");
    unset($read['self']['self']);
    unset($read);
}
unset($with['self']);
function through_one_array_twice(): array
{
    $a = [];
    $inner = [&$a];
    $a = [$inner, $inner, 'end'];
    return $a;
}
// Not serialize(), which PHP 8.4 cannot do with the value itself either: it runs out of its stack.
foreach (readings(new Image(through_one_array_twice())) as $how => $read) {
    check(strlen(print_r($read, true)) < 10000 && $read[0][0][1][0][2] === 'end', "a cycle through one array twice ends, $how");
    unset($read);
}
function beside(): array
{
    $a = [1, [2]];
    foreach ($a[1] as &$element) {
    }
    $a[2] = &$a;
    return $a;
}
foreach (readings(new Image(beside())) as $how => $read) {
    $read[1][0] = 'changed';
    check($read[2][1][0] === 2, "what a foreach leaves behind beside a cycle, $how");
    unset($read);
}
$loop = new Point(1);
$loop->any = ['self' => &$loop->any, 'o' => $loop];
foreach (readings(new Image($loop)) as $how => $read) {
    check($read->any['o'] === $read && $read->any['self']['self']['o'] === $read, "through an object, $how");
    unset($read);
}
gc_collect_cycles();
unset($cycle['self'], $twice['self'], $a['to b'], $b['to a'], $loop->any);

// What is not kept.
$itself = new Point(1);
$itself->any = $itself;
$image = new Image($itself);
$usage = [];
for ($i = 0; $i < 4; $i++) {
    foreach ([true, false] as $zeroCopy) {
        (fn (): mixed => $image->get($zeroCopy))();
    }
    gc_collect_cycles();
    $usage[] = memory_get_usage();
}
check($usage[3] === $usage[2], 'nothing is left of an object that contains itself and is not kept');
$itself->any = null;

// In what objects tell of themselves.
$magic = new WithMagic();
$magic->parts = ['one' => &$shared, 'two' => &$shared];
foreach (readings(new Image([$magic, &$shared])) as $how => $read) {
    check(serialize($read) === serialize([$magic, &$shared]), "told, $how");
    $read[0]->parts['one'] = 'new';
    check($read[0]->parts['two'] === 'new' && $read[1] === 'new', "told, one variable, $how");
    unset($read);
}
// In an array that the value has twice: one variable, as long as something else holds it when the value is stored.
function changed(Image $image, Closure $write): array
{
    $changed = [];
    foreach (readings($image) as $how => $read) {
        $write($read);
        $changed[$how] = Image::describe($read);
    }
    return $changed;
}
$x = 'first';
$held = [&$x, 'list' => [1, 2]];
$twice = [
    'twice' => [[$held, $held], function (array &$v): void { $v[0][0] = 'new'; $v[1]['list'][] = 3; }],
    'three times' => [[$held, $held, [$held]], function (array &$v): void { unset($v[0]); $v[2][0][0] = 'new'; }],
    'in a nested array twice' => [[[$held], [$held]], function (array &$v): void { $v[1][0][0] = 'new'; }],
    'under a key of an array that is there twice' => [array_fill(0, 2, ['key' => $held, 'n' => 1]), function (array &$v): void { $v[1]['key'][0] = 'new'; $v[0]['n']++; }],
    'in properties' => [(object) ['a' => $held, 'b' => $held], function (object $v): void { $v->a[0] = 'new'; }],
    'in properties and an array' => [[(object) ['a' => $held], $held], function (array &$v): void { $v[0]->a[0] = 'new'; }],
];
foreach ($twice as $what => [$value, $write]) {
    $own = unserialize(serialize($value));
    $write($own);
    foreach (changed(new Image($value), $write) as $how => $described) {
        check($described === Image::describe($own), "a variable in an array, $what, $how");
    }
}
check($x === 'first', 'and the outside stays as it is');
$loop = ['n' => 1];
$loop['self'] = &$loop;
foreach (readings(new Image([$loop, $loop])) as $how => $read) {
    $read[0]['self']['n'] = 2;
    check($read[1]['self']['n'] === 2 && $read[0]['n'] === 1 && $read[1]['self']['self']['self']['n'] === 2, "a cycle twice, $how");
    unset($read[0]['self']['self']);
    unset($read);
}
unset($loop['self']);

// Only what has a variable below it is in the image more than once.
$large = array_fill(0, 1000, random_int(1, 9));
$rows = [$large, $large, ['k' => $large]];
$without = (new Image([$rows, $rows]))->size();
$with = (new Image([[$held, $rows], [$held, $rows]]))->size();
check($with < $without + 2000, 'what no variable is below is in the image once');
unset($held, $value, $twice, $own, $write);
$only = [1, [2]];
foreach ($only as &$element) {
}
unset($element);
check((new Image([$only, $only]))->kind() === 17, 'what a foreach leaves behind in an array that is there twice');

// Two to the power of the depth.
function doubled(array $inner, int $depth): array
{
    for ($i = 0; $i < $depth; $i++) {
        $inner = [$inner, $inner];
    }
    return $inner;
}
check((new Image(doubled([1], 60)))->kind() === 17, 'without references there is no limit');
$image = new Image(doubled([&$x], 10));
check($image->size() > 1000 * 100 && Image::describe($image->get()) === Image::describe(doubled([&$x], 10)), 'some');
try {
    new Image(doubled([&$x], 60));
    check(false, 'there is a limit');
} catch (RuntimeException $refusal) {
    check(str_contains($refusal->getMessage(), 'more than 262144 would be written once more'), $refusal->getMessage());
}
$below = [doubled([&$x], 16), doubled([&$x], 16)];
check((new Image($below))->kind() === 18, 'just below the limit');
try {
    new Image([$below, doubled([&$x], 6)]);
    check(false, 'just above the limit');
} catch (RuntimeException) {
}
echo "done\n";
?>
--EXPECT--
done
