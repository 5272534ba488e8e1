--TEST--
keys() lists what is there under a prefix, clear() leaves nothing
--EXTENSIONS--
posix
--FILE--
<?php
require __DIR__ . '/pool.inc';

$pool = fresh_pool();
$sorted = function (iterable $keys): array {
    $keys = [...$keys];
    check(array_is_list($keys) && array_filter($keys, is_string(...)) === $keys, 'a list of strings');
    sort($keys, SORT_STRING);

    return $keys;
};
same($sorted($pool->keys()), [], 'an empty pool');
$pool->setMany(['user:1' => 1, 'user:2' => [2], 'user' => str_repeat('x', 9000), 'page' => new stdClass(), 12 => 'int', "nul\0key" => 1]);
$pool->increment('user:count');
same($sorted($pool->keys()), ['12', "nul\0key", 'page', 'user', 'user:1', 'user:2', 'user:count'], 'all');
same($sorted($pool->keys('user:')), ['user:1', 'user:2', 'user:count'], 'a prefix');
same($sorted($pool->keys(prefix: "nul\0")), ["nul\0key"], 'a prefix with a NUL');
same($sorted($pool->keys('user:1')), ['user:1'], 'a whole key');
same($sorted($pool->keys('user:1x')), [], 'a prefix longer than a key');
same($sorted($pool->keys(str_repeat('u', 100_000))), [], 'a prefix longer than any key');
$pool->delete('user:1');
$pool->set('user:2', 'again');
$pool->set('dead', 1, 1);
$pool->set('dead', 1, 0);
same($sorted($pool->keys('user')), ['user', 'user:2', 'user:count'], 'each key once');
$snapshot = $pool->keys();
$pool->set('later', 1);
check(!in_array('later', [...$snapshot], true), 'a snapshot');
$values = [];
for ($i = 0; $i < 3000; $i++) {
    $values["many $i"] = $i;
}
$pool->setMany($values);
$expected = array_keys($values);
sort($expected, SORT_STRING);
same($sorted($pool->keys('many ')), $expected, 'three thousand');

$held = $pool->get('user');
$objects = $pool->get('page');
same($pool->clear(), null, 'clear');
same($sorted($pool->keys()), [], 'nothing is left');
same($pool->getMany(array_keys($values)), [], 'nothing is found');
same([$pool->get('user'), $pool->has('page'), $pool->delete('12'), $pool->replace('user:2', 1)], [null, false, false, false], 'nothing is there');
same($pool->increment('user:count'), 1, 'counters begin anew');
same($held, str_repeat('x', 9000), 'what was read stays');
same($pool->setMany($values), [], 'set again');
same($pool->getMany(array_keys($values)), $values, 'read again');
same($sorted($pool->keys('many ')), $expected, 'three thousand again');
for ($i = 0; $i < 50; $i++) {
    $pool->clear();
    $pool->set('k', $i);
    same($pool->get('k'), $i, 'clear and set');
}
// Other pools are not touched.
$other = fresh_pool(suffix: '-other');
$other->set('k', 'other');
$pool->clear();
same([$pool->get('k'), $other->get('k'), $other->keys()], [null, 'other', ['k']], 'a clear does not cross names');
echo thrown(fn () => $pool->clear(1)), "\n";
echo thrown(fn () => $pool->keys([])), "\n";
echo thrown(fn () => $pool->keys('a', 'b')), "\n";
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools('-other');
?>
--EXPECT--
ArgumentCountError: Larder\SharedMemory::clear() expects exactly 0 arguments, 1 given
TypeError: Larder\SharedMemory::keys(): Argument #1 ($prefix) must be of type string, array given
ArgumentCountError: Larder\SharedMemory::keys() expects at most 1 argument, 2 given
