--TEST--
add() stores what is not there, replace() what is, delete() says whether there was something
--EXTENSIONS--
posix
pcntl
--FILE--
<?php
require __DIR__ . '/pool.inc';

$pool = fresh_pool();
foreach (['int' => 1, 'string' => 'a', 'long' => str_repeat('a', 9000), 'array' => [1, [2]], 'object' => new ArrayObject([1]), 'null' => null, 'false' => false] as $key => $value) {
    same($pool->replace($key, 'first'), false, "replace $key, which is not there");
    same($pool->has($key), false, 'nothing was stored');
    same($pool->add($key, $value), true, "add $key");
    same($pool->add($key, 'other'), false, "add $key again");
    same(serialize($pool->get($key)), serialize($value), 'the first one stays');
    same($pool->replace($key, ['replaced']), true, "replace $key");
    same($pool->get($key), ['replaced'], 'replaced');
    same($pool->replace($key, $value), true, "replace $key again");
    same(serialize($pool->get($key)), serialize($value), 'replaced again');
    same($pool->delete($key), true, "delete $key");
    same($pool->has($key), false, 'gone');
    same($pool->delete($key), false, "delete $key again");
    same($pool->get($key, 'default'), 'default', 'the default');
    same($pool->add($key, 'new'), true, 'add what was deleted');
}
// A refused process has read nothing that it could use: a worker that only adds holds nothing back from being evicted.
$pins = fresh_pool(suffix: '-pins');
foreach (['string' => str_repeat('a', 9000), 'array' => [1, [2]], 'object' => new ArrayObject([1])] as $key => $value) {
    $pins->set($key, $value);
    same($pins->add($key, 'other'), false, "add $key once more");
    usleep(5_000);
    same($pins->statistics()['oldest_pin_process'], 0, "the refused add of $key holds nothing");
}
$used = $pins->get('array');
usleep(5_000);
same($pins->statistics()['oldest_pin_process'], getmypid(), 'as what is used does');
$read = $pool->get('array');
$pool->set('array', range(1, 5000));
$held = $pool->get('array');
$pool->delete('array');
same($held, range(1, 5000), 'what was read outlives the delete');
same($pool->add(key: 'n', value: 1, ttl: null), true, 'named arguments');
same($pool->replace(key: 'n', value: 1, ttl: null), true, 'named arguments');
same($pool->delete(key: 'n'), true, 'named arguments');

// Of many processes that add a key at once, one wins: enough for a lock, where nothing is evicted.
$locks = fresh_pool(evict: false, suffix: '-locks');
$locks->set('counted', 0);
$children = [];
for ($child = 0; $child < 4; $child++) {
    $children[] = fork(function () use ($locks) {
        for ($i = 0; $i < 2_000; $i++) {
            while (!$locks->add('lock', str_repeat('l', 300))) {
            }
            $counted = $locks->get('counted') + 1;
            while (!$locks->set('counted', $counted)) {
                // Refused: on a busy machine another store may take long.
            }
            check($locks->delete('lock'), 'the lock was there');
        }
    });
}
same(await(...$children), ['0', '0', '0', '0'], 'children');
same($locks->get('counted'), 8_000, 'none counted while another did');
echo thrown(fn () => $pool->add('k')), "\n";
echo thrown(fn () => $pool->add('k', 1, 2, [], null, 3)), "\n";
echo thrown(fn () => $pool->replace()), "\n";
echo thrown(fn () => $pool->delete()), "\n";
echo thrown(fn () => $pool->delete(['k'])), "\n";
echo thrown(fn () => $pool->add('k', STDIN)), "\n";
echo thrown(fn () => $pool->replace('string', fn () => 1)), "\n";
same($pool->get('string'), 'new', 'nothing was changed');
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools('-locks', '-pins');
?>
--EXPECT--
ArgumentCountError: Larder\SharedMemory::add() expects at least 2 arguments, 1 given
ArgumentCountError: Larder\SharedMemory::add() expects at most 5 arguments, 6 given
ArgumentCountError: Larder\SharedMemory::replace() expects at least 2 arguments, 0 given
ArgumentCountError: Larder\SharedMemory::delete() expects at least 1 argument, 0 given
TypeError: Larder\SharedMemory::delete(): Argument #1 ($key) must be of type string, array given
Larder\Exception\Unstorable: The value of the key "k" was not stored: $value is a resource, which cannot be stored; store what was read from it.
Larder\Exception\Unstorable: The value of the key "string" was not stored: $value is a Closure, which cannot be stored; store what it returns, or the name of a function.
