--TEST--
token() tells the pool's logical time, statistics() count what happens
--EXTENSIONS--
posix
--FILE--
<?php
require __DIR__ . '/pool.inc';

use Larder\SharedMemory;

$pool = fresh_pool();
$token = $pool->token('k');
check($token instanceof Larder\Token, 'a token');
same(preg_match('/^[0-9a-f]{32}$/', $token->epoch), 1, 'the epoch');
same($pool->token('other')->epoch, $token->epoch, 'one epoch for a pool');
same($pool->statistics()['id'], $token->epoch, 'which is its id');
$pool->set('k', 1);
check($pool->token('k')->version > $token->version, 'a write moves the clock');
$version = $pool->token('k')->version;
$pool->get('k');
$pool->get('missing');
$pool->has('k');
$pool->keys();
same($pool->token('k')->version, $version, 'a read does not');
foreach (['delete' => fn () => $pool->delete('k'), 'clear' => fn () => $pool->clear(), 'increment' => fn () => $pool->increment('c')] as $what => $code) {
    $version = $pool->token('k')->version;
    $code();
    check($pool->token('k')->version > $version, "$what moves the clock");
}
SharedMemory::remove(pool_name());
$pool->set('k', 1);
check($pool->token('k')->epoch !== $token->epoch, 'another pool, another epoch');

echo "-- the shape\n";
$pool = fresh_pool(4 << 20);
$shape = fn (array $statistics): array => array_map(fn (mixed $v): string => is_array($v) ? implode(' ', array_keys($v)) : get_debug_type($v), $statistics);
print_r($shape($pool->statistics()));
$s = $pool->statistics();
same([$s['name'], $s['mode'], $s['evict'], $s['size'], $s['items'], $s['bytes']], [pool_name(), 'zero-copy', true, 4 << 20, 0, 0], 'a new pool');
check($s['capacity'] < $s['size'] && $s['capacity'] > $s['size'] / 2, 'the capacity');
same($s['processes'], 1, 'processes');
same(array_sum($s['refused']), 0, 'refusals');

echo "-- counting\n";
function difference(SharedMemory $pool, callable $code): array
{
    $before = $pool->statistics();
    $code();
    $after = $pool->statistics();
    $changed = [];
    foreach (['items', 'hits', 'misses', 'sets', 'deletes', 'evictions', 'copies', 'expired', 'conflicts'] as $name) {
        if ($after[$name] !== $before[$name]) {
            $changed[] = "$name " . sprintf('%+d', $after[$name] - $before[$name]);
        }
    }

    return $changed;
}
foreach ([
    'set' => fn () => $pool->set('a', [1, 2, 3]),
    'set again' => fn () => $pool->set('a', [1, 2, 3, 4]),
    'add' => fn () => $pool->add('b', 'b'),
    'add again' => fn () => $pool->add('b', 'b'),
    'replace' => fn () => $pool->replace('b', 'c'),
    'replace nothing' => fn () => $pool->replace('x', 'c'),
    'get' => fn () => $pool->get('a'),
    'get again' => fn () => $pool->get('a'),
    'get a small one' => fn () => $pool->get('b'),
    'get nothing' => fn () => $pool->get('x'),
    'getMany' => fn () => $pool->getMany(['a', 'b', 'x']),
    'fetch' => fn () => $pool->fetch(['a', 'b', 'x']),
    'has' => fn () => [$pool->has('a'), $pool->has('x')],
    'setMany' => fn () => $pool->setMany(['c' => 1, 'd' => 2]),
    'increment' => fn () => $pool->increment('c'),
    'increment nothing' => fn () => $pool->increment('e'),
    'touch' => fn () => $pool->touch('a', 50),
    'delete' => fn () => $pool->delete('a'),
    'delete nothing' => fn () => $pool->delete('a'),
    'deleteMany' => fn () => $pool->deleteMany(['b', 'c', 'x']),
    'keys' => fn () => $pool->keys(),
    'token' => fn () => $pool->token('a'),
] as $what => $code) {
    echo "$what: ", implode(', ', difference($pool, $code)) ?: 'nothing', "\n";
}
$pool->set('a', str_repeat('x', 100_000));
check($pool->statistics()['bytes'] > 100_000 && $pool->statistics()['bytes'] < 110_000, 'bytes');
$pool->clear();
echo thrown(fn () => $pool->statistics(1)), "\n";
echo thrown(fn () => $pool->token('')), "\n";
echo thrown(fn () => $pool->token()), "\n";
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
?>
--EXPECT--
-- the shape
Array
(
    [name] => string
    [id] => string
    [mode] => string
    [path] => string
    [evict] => bool
    [size] => int
    [capacity] => int
    [items] => int
    [bytes] => int
    [hits] => int
    [misses] => int
    [sets] => int
    [deletes] => int
    [evictions] => int
    [expired] => int
    [moves] => int
    [copies] => int
    [conflicts] => int
    [private_pages] => int
    [refused] => full pinned large busy
    [segments] => free open sealed limbo tail small main bytes
    [processes] => int
    [oldest_pin_seconds] => float
    [oldest_pin_process] => int
    [pinned_bytes] => int
    [limbo_bytes] => int
    [snapshot] => loaded dropped reason
)
-- counting
set: items +1, sets +1
set again: sets +1
add: items +1, sets +1
add again: nothing
replace: sets +1
replace nothing: nothing
get: hits +1
get again: hits +1
get a small one: hits +1
get nothing: misses +1
getMany: hits +2, misses +1
fetch: hits +2, misses +1
has: nothing
setMany: items +2, sets +2
increment: nothing
increment nothing: items +1, sets +1
touch: nothing
delete: items -1, deletes +1
delete nothing: nothing
deleteMany: items -2, deletes +2
keys: nothing
token: nothing
ArgumentCountError: Larder\SharedMemory::statistics() expects exactly 0 arguments, 1 given
ValueError: Larder\SharedMemory::token(): Argument #1 ($key) must not contain an empty key; a key has 1 to 65535 bytes
ArgumentCountError: Larder\SharedMemory::token() expects exactly 1 argument, 0 given
