--TEST--
A TTL is kept: null is forever, zero or less deletes, any other number of seconds ends in time
--EXTENSIONS--
posix
--FILE--
<?php
require __DIR__ . '/pool.inc';

$pool = fresh_pool();
$expiry = fn (string $key): ?int => $pool->fetch([$key])[$key][1];

echo "-- set\n";
foreach ([null, 1, 2, 60, 86400 * 365, 2 ** 31, 2 ** 40] as $ttl) {
    $before = time();
    same($pool->set('k', 'v', $ttl), true, 'set');
    same($pool->get('k'), 'v', "TTL $ttl");
    $end = $expiry('k');
    check($ttl === null ? $end === null : $end >= $before + $ttl && $end <= time() + $ttl + 1, "expiry for TTL $ttl");
}
foreach ([PHP_INT_MAX, PHP_INT_MAX - 1, intdiv(PHP_INT_MAX, 1000), intdiv(PHP_INT_MAX, 1000) + 1, intdiv(PHP_INT_MAX, 500), 2 ** 62] as $ttl) {
    same($pool->set('k', $ttl, $ttl), true, "set with TTL $ttl");
    same($pool->get('k'), $ttl, "TTL $ttl");
    check($expiry('k') === null || $expiry('k') > time() + 2 ** 40, "an expiry far away for TTL $ttl");
    same($pool->touch('k', $ttl), true, "touch with TTL $ttl");
    same($pool->get('k'), $ttl, "TTL $ttl, touched");
    same($pool->increment('c', 1, 0, $ttl) > 0, true, "increment with TTL $ttl");
}
foreach ([0, -1, -60, PHP_INT_MIN] as $ttl) {
    $pool->set('k', 'old');
    same($pool->set('k', 'new', $ttl), true, "set with TTL $ttl");
    same($pool->has('k'), false, "TTL $ttl deletes");
    same($pool->set('k', 'new', $ttl), true, "set with TTL $ttl of what is not there");
    $pool->set('k', 'old');
    same($pool->touch('k', $ttl), true, "touch with TTL $ttl");
    same($pool->has('k'), false, "touch with TTL $ttl deletes");
    same($pool->touch('k', $ttl), false, "touch with TTL $ttl of what is not there");
}
echo thrown(fn () => $pool->set('k', fn () => 1, 0)), "\n";

echo "-- add and replace\n";
same($pool->add('n', 1, 0), true, 'add with TTL 0 of what is not there: stored, and expired at once');
same($pool->has('n'), false, 'it is not there');
$pool->set('n', 'old', 100);
same($pool->add('n', 1, 0), false, 'add with TTL 0 of what is there');
same($pool->get('n'), 'old', 'it stays');
same($pool->replace('n', 1, 0), true, 'replace with TTL 0');
same($pool->has('n'), false, 'it is gone');
same($pool->replace('n', 1, 0), false, 'replace with TTL 0 of what is not there');
$pool->add('n', 1, 50);
check(abs($expiry('n') - time() - 50) <= 2, 'add with a TTL');
$pool->replace('n', 2);
same($expiry('n'), null, 'replace without a TTL is forever');

echo "-- touch\n";
same($pool->touch('missing', 5), false, 'touch what is not there');
same($pool->touch('n', 70), true, 'touch');
check(abs($expiry('n') - time() - 70) <= 2, 'a new expiry');
same($pool->touch('n', null), true, 'touch with null');
same([$expiry('n'), $pool->get('n')], [null, 2], 'forever, with its value');
$pool->set('long', $long = range(1, 1000), 100);
$read = $pool->get('long');
same($pool->touch(key: 'long', ttl: 200), true, 'touch what is being read');
same([$read, $pool->get('long')], [$long, $long], 'the same value');

echo "-- the end\n";
$pool->set('ends', 'v', 1);
$pool->setMany(['m1' => 1, 'm2' => range(1, 500)], 1);
$pool->increment('counter', 5, 0, 1);
$pool->set('touched', 'v', 1);
$pool->touch('touched', 100);
$pool->set('forever', 'v');
$pool->touch('forever', 1);
$held = $pool->get('m2');
same($pool->getMany(['ends', 'm1', 'counter']), ['ends' => 'v', 'm1' => 1, 'counter' => 5], 'alive');
$expired = $pool->statistics()['expired'];
usleep(1_150_000);
same($pool->getMany(['ends', 'm1', 'm2', 'counter', 'forever']), [], 'expired');
same($pool->get('ends', 'default'), 'default', 'the default instead');
same($pool->has('ends'), false, 'has');
same($pool->get('touched'), 'v', 'touched before its end');
same($held, range(1, 500), 'what was read before stays');
check($pool->statistics()['expired'] > $expired, 'expired items are counted');
same($pool->touch('ends', 100), false, 'nothing brings it back');
same($pool->delete('ends'), false, 'there is nothing to delete');
same($pool->replace('m1', 1), false, 'nor to replace');
same($pool->add('m2', 'again'), true, 'but to add');
same($pool->increment('counter'), 1, 'an expired counter begins anew');
same($expiry('counter'), null, 'with the TTL of the call');
same(in_array('ends', $pool->keys()), false, 'it is in no list');

echo "-- what is no TTL\n";
foreach (['soon', [], true, new stdClass(), '7'] as $wrong) {
    echo json_encode($wrong), ': ', thrown(fn () => $pool->set('w', 1, $wrong)), ', ', thrown(fn () => $pool->touch('w', $wrong)), "\n";
}
echo thrown(fn () => $pool->touch('w')), "\n";
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
?>
--EXPECT--
-- set
Larder\Exception\Unstorable: The value of the key "k" was not stored: $value is a Closure, which cannot be stored; store what it returns, or the name of a function.
-- add and replace
-- touch
-- the end
-- what is no TTL
"soon": TypeError: Larder\SharedMemory::set(): Argument #3 ($ttl) must be of type ?int, string given, TypeError: Larder\SharedMemory::touch(): Argument #2 ($ttl) must be of type ?int, string given
[]: TypeError: Larder\SharedMemory::set(): Argument #3 ($ttl) must be of type ?int, array given, TypeError: Larder\SharedMemory::touch(): Argument #2 ($ttl) must be of type ?int, array given
true: nothing was thrown, nothing was thrown
{}: TypeError: Larder\SharedMemory::set(): Argument #3 ($ttl) must be of type ?int, stdClass given, TypeError: Larder\SharedMemory::touch(): Argument #2 ($ttl) must be of type ?int, stdClass given
"7": nothing was thrown, nothing was thrown
ArgumentCountError: Larder\SharedMemory::touch() expects exactly 2 arguments, 1 given
