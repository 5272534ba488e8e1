--TEST--
increment() counts atomically, keeps the expiry, and changes nothing where it cannot count
--EXTENSIONS--
posix
pcntl
--FILE--
<?php
require __DIR__ . '/pool.inc';

$pool = fresh_pool();

echo "-- arguments\n";
same($pool->increment('a'), 1, 'absent');
same($pool->increment('a'), 2, 'present');
same($pool->increment('a', 10), 12, 'by');
same($pool->increment('a', -20), -8, 'by less than nothing');
same($pool->increment('a', 0), -8, 'by nothing');
same($pool->increment('b', 5, 100), 105, 'absent, with an initial value');
same($pool->increment('b', 5, 100), 110, 'present, the initial value does not matter');
same($pool->increment(key: 'c', initial: 7, by: -7, ttl: 50), 0, 'named arguments');
same($pool->get('a'), -8, 'get');
same($pool->get('c'), 0, 'get');
same($pool->increment('none', create: false), null, 'absent, and not to be made');
same($pool->increment('none', -5, 2, null, 0, false), null, 'nor with a least sum');
same($pool->has('none'), false, 'and not made');
same($pool->increment('least', -5, 2, null, 0), 0, 'absent, with a least sum');
same($pool->increment('least', 7, create: false), 7, 'present, which need not be made');
same($pool->increment('least', -9, min: 3), 3, 'present, with a least sum');
same($pool->increment('least', PHP_INT_MIN, min: PHP_INT_MIN + 1), PHP_INT_MIN + 3, 'one that is not reached');
same($pool->increment('least', PHP_INT_MIN, min: -1), -1, 'one that is, as the sum would leave the range of int');
same($pool->increment('dead', -5, 2, 0, -1), -1, 'also if it is dead at once');
same($pool->increment('dead', PHP_INT_MIN, -2, 0, -1), -1, 'and would leave the range');
same($pool->increment('dead', 1, 1, 0, null, false), null, 'or is not to be made');
$pool->set('set', 41);
same($pool->increment('set'), 42, 'what set() stored');
$pool->set('text', '41');
foreach (['text' => '41', 'float' => 1.0, 'null' => null, 'true' => true, 'array' => [1], 'object' => (object) [1], 'long' => str_repeat('1', 9000)] as $key => $value) {
    $pool->set($key, $value);
    echo thrown(fn () => $pool->increment($key)), "\n";
    same(serialize($pool->get($key)), serialize($value), 'nothing was changed');
}

echo "-- the range\n";
foreach ([PHP_INT_MAX, 2 ** 62, 2 ** 62 - 1, -(2 ** 62), -(2 ** 62) - 1, PHP_INT_MIN, 0] as $start) {
    foreach ([1, -1, 2 ** 62, -(2 ** 62), PHP_INT_MAX, PHP_INT_MIN, 0] as $by) {
        $pool->set('n', $start);
        $sum = $start + $by;
        if (is_int($sum)) {
            same($pool->increment('n', $by), $sum, "$start + $by");
            same($pool->get('n'), $sum, "get $start + $by");
        } else {
            same(thrown(fn () => $pool->increment('n', $by)), 'Larder\Exception\NotACounter: The value of "n" would leave the range of int; nothing was changed.', "$start + $by");
            same($pool->get('n'), $start, 'nothing was changed');
        }
        $pool->delete('n');
        if (is_int($sum)) {
            same($pool->increment('n', $by, $start), $sum, "absent, $start + $by");
        } else {
            same(thrown(fn () => $pool->increment('n', $by, $start)), 'Larder\Exception\NotACounter: The value of "n" would leave the range of int; nothing was changed.', "absent, $start + $by");
            same($pool->has('n'), false, 'nothing was stored');
        }
    }
}
// There and back over the border of what is counted in place.
$pool->set('n', 2 ** 62 - 3, 1000);
foreach ([1, 1, 1, 1, -1, -1, -1, -1] as $by) {
    $before = $pool->get('n');
    same($pool->increment('n', $by), $before + $by, 'over the border');
}
check(abs($pool->fetch(['n'])['n'][1] - time() - 1000) <= 2, 'with its expiry');
foreach ([1, PHP_INT_MAX - 5, 2 ** 62 - 1, 2 ** 62] as $start) {
    $pool->set('tagged', $start, null, ['t']);
    same($pool->increment('tagged'), $start + 1, 'counted');
    $pool->invalidateTags(['t']);
    same($pool->get('tagged'), null, "$start + 1 has the tags of $start");
}

echo "-- the expiry\n";
$pool->increment('e', 1, 0, 100);
$first = $pool->fetch(['e'])['e'][1];
check(abs($first - time() - 100) <= 2, 'a TTL for an absent one');
$pool->increment('e', 1, 0, 5000);
same($pool->fetch(['e'])['e'][1], $first, 'an existing one keeps its expiry');
$pool->increment('e');
same($pool->fetch(['e'])['e'][1], $first, 'an existing one keeps its expiry');
$pool->increment('f');
$pool->increment('f', 1, 0, 100);
same($pool->fetch(['f'])['f'][1], null, 'or that it has none');
same($pool->increment('e', 1, 0, 0), 4, 'a TTL of zero does not matter to an existing one');
same($pool->increment('z', 5, 0, 0), 5, 'an absent one with a TTL of zero: counted');
same($pool->has('z'), false, 'and expired at once');
same($pool->increment('z', 5, 0, -10), 5, 'an absent one with a TTL below zero');
same($pool->has('z'), false, 'and expired at once');

echo "-- many processes\n";
$children = [];
for ($i = 0; $i < 4; $i++) {
    $children[] = fork(function () use ($pool) {
        while (!$pool->has('go')) {
        }
        for ($n = 0; $n < 100_000; $n++) {
            $pool->increment('together');
            $pool->increment('there and back', $n % 2 ? 1 : -1);
        }
    });
}
$pool->set('go', true);
same(await(...$children), ['0', '0', '0', '0'], 'children');
same($pool->get('together'), 400_000, 'no count is lost');
same($pool->get('there and back'), 0, 'no count is lost');

echo "-- what is no int, as a number that the caller says\n";
$pool->set('word', '7', 100, ['shop']);
['word' => [, $expiry, $version]] = $pool->fetch(['word']);
echo thrown(fn () => $pool->increment('word', 1, version: $version + 1, number: 7)), "\n";
same($pool->get('word'), '7', 'of another version');
same($pool->increment('word', 3, version: $version, number: 7), 10, 'of this version');
same($pool->fetch(['word'])['word'][1], $expiry, 'its expiry');
same($pool->increment('word', 1, version: $version, number: 7), 11, 'it is a counter by now');
$pool->invalidateTags(['shop']);
same($pool->get('word'), null, 'its tags');
$pool->set('word', 'text');
['word' => [, , $version]] = $pool->fetch(['word']);
echo thrown(fn () => $pool->increment('word', 1, version: $version, number: PHP_INT_MAX)), "\n";
same($pool->get('word'), 'text', 'beyond an int nothing is changed');

echo "-- errors\n";
echo thrown(fn () => $pool->increment()), "\n";
echo thrown(fn () => $pool->increment('')), "\n";
echo thrown(fn () => $pool->increment(str_repeat('k', 70_000))), "\n";
echo thrown(fn () => $pool->increment('a', 'x')), "\n";
echo thrown(fn () => $pool->increment('a', 1, [])), "\n";
echo thrown(fn () => $pool->increment('a', 1, 0, 'x')), "\n";
echo thrown(fn () => $pool->increment('a', 2 ** 63)), "\n";
same($pool->get('a'), -8, 'nothing was changed');
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
?>
--EXPECT--
-- arguments
Larder\Exception\NotACounter: The value of "text" is not an int, so it cannot be counted up; delete it first.
Larder\Exception\NotACounter: The value of "float" is not an int, so it cannot be counted up; delete it first.
Larder\Exception\NotACounter: The value of "null" is not an int, so it cannot be counted up; delete it first.
Larder\Exception\NotACounter: The value of "true" is not an int, so it cannot be counted up; delete it first.
Larder\Exception\NotACounter: The value of "array" is not an int, so it cannot be counted up; delete it first.
Larder\Exception\NotACounter: The value of "object" is not an int, so it cannot be counted up; delete it first.
Larder\Exception\NotACounter: The value of "long" is not an int, so it cannot be counted up; delete it first.
-- the range
-- the expiry
-- many processes
-- what is no int, as a number that the caller says
Larder\Exception\NotACounter: The value of "word" is not an int, so it cannot be counted up; delete it first.
Larder\Exception\NotACounter: The value of "word" would leave the range of int; nothing was changed.
-- errors
ArgumentCountError: Larder\SharedMemory::increment() expects at least 1 argument, 0 given
ValueError: Larder\SharedMemory::increment(): Argument #1 ($key) must not contain an empty key; a key has 1 to 65535 bytes
ValueError: Larder\SharedMemory::increment(): Argument #1 ($key) must not contain a key of 70000 bytes; a key has 1 to 65535 bytes
TypeError: Larder\SharedMemory::increment(): Argument #2 ($by) must be of type int, string given
TypeError: Larder\SharedMemory::increment(): Argument #3 ($initial) must be of type int, array given
TypeError: Larder\SharedMemory::increment(): Argument #4 ($ttl) must be of type ?int, string given
TypeError: Larder\SharedMemory::increment(): Argument #2 ($by) must be of type int, float given
