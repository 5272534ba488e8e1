--TEST--
A variable that a value has twice is one afterwards, be it in an array that the value has twice
--FILE--
<?php
require __DIR__ . '/pool.inc';

$pool = fresh_pool();

/** Written to in the same way, what was read and what unserialize() made become the same. */
function compare(mixed $value, string $what, callable $write): void
{
    global $pool;
    $pool->set('key', $value);
    $cached = $pool->get('key');
    $own = unserialize(serialize($value));
    $write($own);
    $write($cached);
    same(serialize($cached), serialize($own), $what);
    same(serialize($pool->get('key')), serialize($value), "$what, the next reader");
}

$x = 'first';
$held = [&$x];
compare([$held, $held], 'an array twice', function (array &$v) { $v[0][0] = 'changed'; });
compare(['a' => ['b' => $held], 'c' => ['b' => $held]], 'deeper', function (array &$v) { $v['a']['b'][0] = 'changed'; });
$outer = [$held, 1];
compare([$outer, $outer], 'in an array in an array twice', function (array &$v) { $v[1][0][0] = 'changed'; });
compare([$held, $held, [$held]], 'three times', function (array &$v) { $v[2][0][0] = 'changed'; });
$object = new stdClass();
[$object->a, $object->b, $object->n] = [$held, $held, 1];
compare($object, 'in properties', function (stdClass $v) { $v->a[0] = 'changed'; });
$y = [1, 2];
$with = ['list' => &$y];
compare([$with, $with], 'an array by reference', function (array &$v) { $v[0]['list'][] = 3; });
$z = $held;
$inner = [&$z];
compare([$inner, $inner], 'a reference in what a reference refers to', function (array &$v) { $v[0][0][0] = 'changed'; $v[1][0][] = 'more'; });
compare([$inner, $inner], 'what it refers to', function (array &$v) { $v[0][0] = 'gone'; });
compare([$object, $object], 'in an object twice', function (array &$v) { $v[0]->b[0] = 'changed'; });
compare([$held, 'once'], 'once', function (array &$v) { $v[0][0] = 'changed'; });

function contains_itself(): array
{
    $array = [1];
    $array[] = &$array;
    return $array;
}
// serialize() writes null in the place of what contains itself through a variable that nothing else holds.
$pool->set('key', [contains_itself(), contains_itself()]);
$read = $pool->get('key');
$read[1][1][0] = 'changed';
same([$read[0][0], $read[0][1][1][0], $read[1][0], $read[1][1][1][0]], [1, 1, 1, 'changed'], 'arrays that contain themselves');
$self = [1];
$self[] = &$self;
compare([$self, [$self]], 'one that does, twice', function (array &$v) { $v[0][1][0] = 'changed'; });

$outer = new stdClass();
$outer->inner = new stdClass();
$pool->set('key', [(array) $outer, $outer]);
[$array, $read] = $pool->get('key');
same($array['inner'] === $read->inner, true, 'an object in the table that an array and an object share');

$many = [&$x];
for ($i = 0; $i < 18; $i++) {
    $many = [$many, $many];
}
try {
    $pool->set('key', $many);
    echo "not refused\n";
} catch (Larder\Exception\Unstorable | RuntimeException $refused) {
    same(str_contains($refused->getMessage(), '$value has arrays with references inside in too many places'), true, 'the limit');
}

// At random: arrays and objects within each other, some of them twice, and variables in them.
function random_value(int $depth, array &$variables, array &$parts): mixed
{
    $die = mt_rand(0, 9);
    if ($depth === 0 || $die < 2) {
        return mt_rand(0, 9);
    }
    if ($die < 5 && $parts !== []) {
        return $parts[array_rand($parts)];
    }
    $made = [];
    for ($i = mt_rand(1, 3); $i > 0; $i--) {
        if (mt_rand(0, 2) === 0) {
            $made["v$i"] = &$variables[mt_rand(0, count($variables) - 1)];
        } else {
            $made["e$i"] = random_value($depth - 1, $variables, $parts);
        }
    }
    return $parts[] = mt_rand(0, 5) === 0 ? (object) $made : $made;
}

/** Somewhere in the value, at a place that the generator chooses. */
function write_somewhere(mixed &$value, int $depth = 0): void
{
    if ($depth > 6 || !is_array($value) && !is_object($value) || mt_rand(0, 3) === 0) {
        $value = 'w' . mt_rand(0, 99);
        return;
    }
    $keys = array_keys(is_object($value) ? get_object_vars($value) : $value);
    if ($keys === []) {
        return;
    }
    $key = $keys[mt_rand(0, count($keys) - 1)];
    is_object($value) ? write_somewhere($value->$key, $depth + 1) : write_somewhere($value[$key], $depth + 1);
}

$seed = (int) (getenv('LARDER_TEST_SEED') ?: random_int(1, 1 << 30));
$rounds = (int) (getenv('LARDER_TEST_ROUNDS') ?: 3_000);
for ($round = 0; $round < $rounds; $round++) {
    mt_srand($seed + $round);
    $variables = [1, [2], 'three'];
    $parts = [];
    $value = [random_value(4, $variables, $parts), random_value(4, $variables, $parts)];
    compare($value, 'seed ' . ($seed + $round), function (mixed &$v) use ($seed, $round) {
        mt_srand($seed + $round);
        write_somewhere($v);
        write_somewhere($v);
    });
}
echo "done\n";
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
?>
--EXPECT--
done
