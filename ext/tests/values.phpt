--TEST--
get() gives back what set() stored: the same value and type, the default where there is nothing
--EXTENSIONS--
posix
--FILE--
<?php
require __DIR__ . '/pool.inc';

use Larder\SharedMemory;

enum Suit: string
{
    case Hearts = 'h';
}

class Point
{
    public ?Point $next = null;
    private array $inner = ['inner'];
    protected $guarded;

    public function __construct(public int $x = 0, public readonly string $name = 'p') {}
}

$pool = fresh_pool();
same($pool->statistics()['mode'], 'zero-copy', 'mode');

$values = [
    'null' => null, 'true' => true, 'false' => false,
    'zero' => 0, 'minus' => -1, 'max' => PHP_INT_MAX, 'min' => PHP_INT_MIN, 'counter max' => 2 ** 62 - 1, 'above' => 2 ** 62,
    'counter min' => -(2 ** 62), 'below' => -(2 ** 62) - 1,
    'float' => 1.5, '-0.0' => -0.0, 'inf' => INF, '-inf' => -INF, 'tiny' => PHP_FLOAT_MIN, 'whole' => 3.0,
    'empty' => '', 'one' => 'x', 'nul' => "a\0b", 'binary' => random_bytes(100), 'numeric' => '12', 'long' => random_bytes(100_000),
    'utf-8' => 'grüße', 'exactly 4096' => str_repeat('a', 4096), 'megabyte' => str_repeat('0123456789abcdef', 65536),
    'empty array' => [], 'list' => [1, 2, 3], 'map' => ['a' => 1, 'b' => ['c' => [2]]], 'holes' => [5 => 1, 3 => 2, -7 => 3],
    'mixed keys' => ['1' => 'int', '01' => 'string', '' => 'empty', "\0" => 'nul', PHP_INT_MAX => 'max'],
    'nested empty' => [[], [[]], ['' => []]], 'big list' => range(1, 10_000), 'null inside' => [null, false, 0, '', '0'],
    'long strings' => array_map(fn (int $i): string => str_repeat((string) $i, 5000), range(1, 20)),
];
foreach ($values as $name => $value) {
    check($pool->set($name, $value) === true, "set $name");
}
foreach ($values as $name => $value) {
    same($pool->get($name), $value, $name);
    same($pool->get($name, 'default'), $value, "$name, with a default");
    same($pool->has($name), true, "has $name");
}
$nan = [NAN, ['n' => NAN]];
$pool->set('nan', NAN);
$pool->set('nans', $nan);
check(is_nan($pool->get('nan')) && is_nan($pool->get('nans')[0]) && is_nan($pool->get('nans')[1]['n']), 'NAN');
foreach ([-0.0, [-0.0]] as $i => $zero) {
    $pool->set("zero $i", $zero);
    same(var_export($pool->get("zero $i"), true), var_export($zero, true), 'the sign of zero');
}

$strings = $places = [];
for ($length = 1; $length < 300; $length++) {
    $strings[] = random_bytes($length);
}
array_push($strings, str_repeat("\xff", 5_000), random_bytes(4_097), random_bytes(10_007));
foreach ($strings as $i => $string) {
    // Of its own, as PHP hashes the one that is stored.
    $places[substr("-$string", 1)] = $i;
}
$pool->set('strings', $strings);
foreach ($pool->get('strings') as $i => $string) {
    same($places[$string] ?? null, $i, 'a string that was stored has the hash that PHP gives it');
    $pool->set('string', substr("-$string", 1));
    same($places[$pool->get('string')] ?? null, $i, 'a string alone, too');
}

echo "-- objects\n";
$point = new Point(3, 'three');
$point->next = new Point(4);
$objects = [
    'stdClass' => (object) ['a' => 1, '0' => 'numeric', '' => 'empty'], 'empty stdClass' => new stdClass(), 'point' => $point,
    'enum' => Suit::Hearts, 'array of objects' => ['p' => $point, 'same' => $point, 's' => new stdClass(), 'list' => [Suit::Hearts]],
    'date' => new DateTimeImmutable('2020-01-02 03:04:05', new DateTimeZone('Europe/Berlin')), 'array object' => new ArrayObject([1, [2]]),
    'exception' => new RuntimeException('stored'), 'fixed array' => SplFixedArray::fromArray([1, 2]), 'interval' => new DateInterval('P1D'),
];
foreach ($objects as $name => $value) {
    check($pool->set($name, $value), "set $name");
    $read = $pool->get($name);
    same(serialize($read), serialize($value), $name);
    check(!is_object($value) || $value instanceof UnitEnum ? $read == $value : $read !== $value && get_class($read) === get_class($value), $name);
}
check($pool->get('enum') === Suit::Hearts, 'an enum case is itself');
$read = $pool->get('array of objects');
check($read['p'] === $read['same'] && $read['list'][0] === Suit::Hearts, 'one object stays one');
check($pool->get('point') !== $pool->get('point'), 'two reads, two objects');
echo thrown(fn () => $pool->get('point')->name = 'other'), "\n";

echo "-- references and cycles\n";
$shared = ['shared'];
$value = ['a' => &$shared, 'b' => &$shared];
$pool->set('references', $value);
$read = $pool->get('references');
$read['a'][] = 'changed';
same($read['b'], ['shared', 'changed'], 'a reference inside is kept');
$cycle = new stdClass();
$cycle->self = $cycle;
$pool->set('cycle', $cycle);
$read = $pool->get('cycle');
check($read->self === $read, 'a cycle is kept');
$array = ['x'];
$array['self'] = &$array;
$pool->set('array cycle', $array);
same($pool->get('array cycle')['self']['self'][0], 'x', 'a cycle of arrays');
$variable = [1, 2];
$reference = &$variable;
$pool->set('through a reference', $reference);
$reference[] = 3;
same($pool->get('through a reference'), [1, 2], 'a variable that is a reference');

echo "-- misses\n";
same($pool->get('missing'), null, 'no default');
same($pool->get('missing', 'd'), 'd', 'a default');
same($pool->get('missing', $point), $point, 'an object as default, the very same');
same($pool->get('missing', default: [1]), [1], 'a named argument');
same($pool->get(default: 5, key: 'missing'), 5, 'named arguments');
same($pool->get('null', 'default'), null, 'null is a value');
same($pool->has('missing'), false, 'has');
$default = 'before';
$alias = &$default;
$got = $pool->get('missing', $alias);
$got .= 'after';
same($default, 'before', 'a default by reference is a copy');

echo "-- overwriting\n";
foreach (['a', 'longer than before', '', 5, ['array'], null, str_repeat('x', 50_000), $point] as $value) {
    check($pool->set('again', $value), 'set again');
    same(serialize($pool->get('again')), serialize($value), 'the last one counts');
}
$before = $pool->get('list');
$pool->set('list', ['new']);
same($before, [1, 2, 3], 'what was read stays');
same($pool->get('list'), ['new'], 'the next reader sees the new one');
same($pool->set(key: 'named', value: 1, ttl: null), true, 'named arguments');

echo "-- keys\n";
foreach (['0', ' ', "\0", "a\0b", 'a', "\xff\xfe", str_repeat('k', 255), str_repeat('k', 65535), 'großer Schlüssel', '12', '012', '-0'] as $i => $key) {
    check($pool->set($key, $i), 'set');
}
foreach (['0', ' ', "\0", "a\0b", 'a', "\xff\xfe", str_repeat('k', 255), str_repeat('k', 65535), 'großer Schlüssel', '12', '012', '-0'] as $i => $key) {
    same($pool->get($key), $i, 'key ' . substr($key, 0, 20));
}
same($pool->get(12), 9, 'an int as key is its decimal string');
same($pool->get(true, 'none'), 'none', 'true is "1"');
foreach (['x', 'get', 'a'] as $key) {
    $hashed = $key . random_int(0, 9) . 'key';
    $pool->set($hashed, $key);
    same($pool->get(substr("$hashed!", 0, -1)), $key, 'a key made anew, without a hash yet');
}
echo "done\n";
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
?>
--EXPECT--
-- objects
Error: Cannot modify readonly property Point::$name
-- references and cycles
-- misses
-- overwriting
-- keys
done
