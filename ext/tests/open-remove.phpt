--TEST--
open() makes a pool or opens the one there is, and says what does not fit; remove() takes it away for good
--EXTENSIONS--
posix
--FILE--
<?php
require __DIR__ . '/pool.inc';

use Larder\SharedMemory;

$name = pool_name();
SharedMemory::remove($name);
$hidden = fn (callable $code): string => str_replace([$name, pool_directory()], ['NAME', 'DIRECTORY'], thrown($code));

echo "-- names\n";
foreach (['', '.', '..', 'a/b', '../x', ".hidden", '-x', 'a b', "a\0b", 'ü', str_repeat('n', 65), 'a\\b', "a\n"] as $wrong) {
    echo json_encode($wrong), ': ', thrown(fn () => SharedMemory::open($wrong)), "\n";
    same(substr(thrown(fn () => SharedMemory::remove($wrong)), 0, 7) !== 'nothing', true, 'nor to remove');
}
echo thrown(fn () => SharedMemory::open([])), "\n";
echo thrown(fn () => SharedMemory::open($name, 'x')), "\n";
echo thrown(fn () => SharedMemory::open($name, null, true, 1)), "\n";
$longest = substr(str_repeat('Aa0._-', 10) . $name, -64);
foreach ([$longest, '0', '_'] as $right) {
    $existed = is_file(pool_directory() . '/' . pool_file($right));
    $pool = SharedMemory::open($right, $existed ? null : 4 << 20);
    $existed or same(SharedMemory::remove($right), true, 'a name');
}

echo "-- sizes\n";
foreach ([-1, 0, 1, PHP_INT_MIN, (4 << 20) - 1, (1 << 40) + 1, PHP_INT_MAX] as $wrong) {
    echo thrown(fn () => SharedMemory::open($name, $wrong)), "\n";
    same(is_file(pool_path()), false, 'nothing was made');
}
$free = disk_free_space('/dev/shm');
foreach ([(int) $free + (64 << 20)] as $much) {
    $message = $hidden(fn () => SharedMemory::open($name, $much));
    same(preg_match('/has (\d+) bytes free/', $message, $found), 1, $message);
    check(abs($found[1] - $free) < 2 << 30, 'how much is free');
    echo preg_replace(['/pool of \d+/', '/has \d+/'], ['pool of N', 'has N'], $message), "\n";
    same(array_filter(scandir(pool_directory()), fn (string $file): bool => str_contains($file, $name)), [], 'nothing was left behind');
}
foreach ([4 << 20, (4 << 20) + 1, 5_000_000] as $size) {
    $pool = SharedMemory::open($name, $size);
    same($pool->statistics()['size'], (int) ceil($size / 4096) * 4096, 'the size, rounded up to pages');
    same(filesize(pool_path()), $pool->statistics()['size'], 'of the file');
    clearstatcache();
    same(stat(pool_path())['blocks'] * 512, filesize(pool_path()), 'all of it allocated');
    same(SharedMemory::open($name, $size)->statistics()['id'], $pool->statistics()['id'], 'the same size again');
    same(SharedMemory::remove($name), true, 'remove');
    clearstatcache();
}

echo "-- what it is already\n";
$pool = SharedMemory::open(name: $name, size: 4 << 20, evict: false);
$pool->set('k', 'v');
same($pool->statistics()['evict'], false, 'evict');
foreach ([fn () => SharedMemory::open($name, 4 << 20, true), fn () => SharedMemory::open($name)] as $other) {
    echo $hidden($other), "\n";
}
foreach (['4 << 20, true', 'null, true'] as $arguments) {
    echo str_replace([$name, pool_directory()], ['NAME', 'DIRECTORY'], run_php(
        "echo thrown(fn () => Larder\SharedMemory::open(pool_name(), $arguments));",
    )), "\n";
}
same(SharedMemory::open($name, null, false)->get('k'), 'v', 'null takes the size that is there');
same(run_php('echo Larder\SharedMemory::open(pool_name(), null, false)->get("k");'), 'v', 'in any process');
same($pool->get('k'), 'v', 'nothing happened to it');

echo "-- remove\n";
SharedMemory::open("$name.locks", 4 << 20, false);
SharedMemory::open("$name.lock", 4 << 20)->set('k', 'v');
for ($i = 0; $i < 200; $i++) {
    $pool->get('k');
}
same(SharedMemory::remove(name: $name), true, 'there was one');
same(is_file(pool_path()), false, 'no file is left');
same(in_array("$name.locks", SharedMemory::names(), true), false, 'nor its locks');
same(SharedMemory::open("$name.lock")->get('k'), 'v', 'but everything else');
same(SharedMemory::remove("$name.lock"), true, 'remove');
same(SharedMemory::remove($name), false, 'there was none');
same($pool->get('k'), null, 'a process that has it open goes on with a new, empty one');
$pool->set('k', 'new');
same([$pool->get('k'), SharedMemory::open($name, 4 << 20, false)->get('k')], ['new', 'new'], 'which has the name');
same(SharedMemory::remove($name), true, 'remove');
$pool->set('k', 'kept');
same(run_php('echo Larder\SharedMemory::open(pool_name(), null, false)->get("k");'), 'kept', 'a store after remove() goes to the new one');
for ($i = 0; $i < 200; $i++) {
    $pool->get('k');
}
SharedMemory::remove($name);
$larger = SharedMemory::open($name, 8 << 20, true);
same([$larger->statistics()['size'], $larger->statistics()['evict'], $larger->get('k')], [8 << 20, true, null], 'another size after remove');
same($pool->statistics()['id'], $larger->statistics()['id'], 'all handles of a name are one pool');

echo "-- several\n";
$pools = [];
for ($i = 0; $i < 5; $i++) {
    $pools[$i] = fresh_pool(4 << 20, suffix: "-$i");
    $pools[$i]->set('array', range($i, $i + 100));
}
foreach ($pools as $i => $pool) {
    same($pool->statistics()['mode'], 'zero-copy', 'each at an address of its own');
    same($pool->get('array'), range($i, $i + 100), 'each with its own values');
}

echo "-- while another process makes one\n";
$pool = fresh_pool(4 << 20);
SharedMemory::remove($name);
$other = proc_open(['flock', pool_directory(), 'sh', '-c', 'echo locked; sleep 0.3'], [1 => ['pipe', 'w']], $pipes);
same(fgets($pipes[1]), "locked\n", 'as a process that makes a pool does');
same(SharedMemory::open($name, 4 << 20)->set('k', 1), true, 'opening waits for it, whether or not it was open before');
proc_close($other);
echo "done\n";
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools('-0', '-1', '-2', '-3', '-4');
?>
--EXPECTF--
-- names
"": Larder\Exception\PoolUnusable: "" is no name for a pool: it takes 1 to 64 letters, digits, dots, dashes and underscores, and begins with a letter, digit or underscore.
".": Larder\Exception\PoolUnusable: "." is no name for a pool: it takes 1 to 64 letters, digits, dots, dashes and underscores, and begins with a letter, digit or underscore.
"..": Larder\Exception\PoolUnusable: ".." is no name for a pool: it takes 1 to 64 letters, digits, dots, dashes and underscores, and begins with a letter, digit or underscore.
"a\/b": Larder\Exception\PoolUnusable: "a/b" is no name for a pool: it takes 1 to 64 letters, digits, dots, dashes and underscores, and begins with a letter, digit or underscore.
"..\/x": Larder\Exception\PoolUnusable: "../x" is no name for a pool: it takes 1 to 64 letters, digits, dots, dashes and underscores, and begins with a letter, digit or underscore.
".hidden": Larder\Exception\PoolUnusable: ".hidden" is no name for a pool: it takes 1 to 64 letters, digits, dots, dashes and underscores, and begins with a letter, digit or underscore.
"-x": Larder\Exception\PoolUnusable: "-x" is no name for a pool: it takes 1 to 64 letters, digits, dots, dashes and underscores, and begins with a letter, digit or underscore.
"a b": Larder\Exception\PoolUnusable: "a b" is no name for a pool: it takes 1 to 64 letters, digits, dots, dashes and underscores, and begins with a letter, digit or underscore.
"a\u0000b": ValueError: Larder\SharedMemory::open(): Argument #1 ($name) must not contain a NUL byte
"\u00fc": Larder\Exception\PoolUnusable: "ü" is no name for a pool: it takes 1 to 64 letters, digits, dots, dashes and underscores, and begins with a letter, digit or underscore.
"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn": Larder\Exception\PoolUnusable: "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn" is no name for a pool: it takes 1 to 64 letters, digits, dots, dashes and underscores, and begins with a letter, digit or underscore.
"a\\b": Larder\Exception\PoolUnusable: "a\b" is no name for a pool: it takes 1 to 64 letters, digits, dots, dashes and underscores, and begins with a letter, digit or underscore.
"a\n": Larder\Exception\PoolUnusable: "a
" is no name for a pool: it takes 1 to 64 letters, digits, dots, dashes and underscores, and begins with a letter, digit or underscore.
TypeError: Larder\SharedMemory::open(): Argument #1 ($name) must be of type string, array given
TypeError: Larder\SharedMemory::open(): Argument #2 ($size) must be of type ?int, string given
ArgumentCountError: Larder\SharedMemory::open() expects at most 3 arguments, 4 given
-- sizes
ValueError: Larder\SharedMemory::open(): Argument #2 ($size) must be between 4194304 (4 MiB) and 1099511627776 (1 TiB) bytes, or null, -1 given
ValueError: Larder\SharedMemory::open(): Argument #2 ($size) must be between 4194304 (4 MiB) and 1099511627776 (1 TiB) bytes, or null, 0 given
ValueError: Larder\SharedMemory::open(): Argument #2 ($size) must be between 4194304 (4 MiB) and 1099511627776 (1 TiB) bytes, or null, 1 given
ValueError: Larder\SharedMemory::open(): Argument #2 ($size) must be between 4194304 (4 MiB) and 1099511627776 (1 TiB) bytes, or null, -9223372036854775808 given
ValueError: Larder\SharedMemory::open(): Argument #2 ($size) must be between 4194304 (4 MiB) and 1099511627776 (1 TiB) bytes, or null, 4194303 given
ValueError: Larder\SharedMemory::open(): Argument #2 ($size) must be between 4194304 (4 MiB) and 1099511627776 (1 TiB) bytes, or null, 1099511627777 given
ValueError: Larder\SharedMemory::open(): Argument #2 ($size) must be between 4194304 (4 MiB) and 1099511627776 (1 TiB) bytes, or null, 9223372036854775807 given
Larder\Exception\PoolUnusable: A pool of N bytes does not fit in DIRECTORY, which has N bytes free; ask for less (larder.size) or enlarge it (mount -o remount,size=… /dev/shm; in Docker --shm-size=…).
-- what it is already
Larder\Exception\PoolUnusable: The pool "NAME" was made without eviction; use another name, or remove the pool first (Larder\SharedMemory::remove('NAME')).
Larder\Exception\PoolUnusable: The pool "NAME" was made without eviction; use another name, or remove the pool first (Larder\SharedMemory::remove('NAME')).
Larder\Exception\PoolUnusable: The pool "NAME" was made not to evict, and is now asked for with eviction; use another name, or remove the pool first (Larder\SharedMemory::remove('NAME'), or delete DIRECTORY/NAME@%d).
Larder\Exception\PoolUnusable: The pool "NAME" was made not to evict, and is now asked for with eviction; use another name, or remove the pool first (Larder\SharedMemory::remove('NAME'), or delete DIRECTORY/NAME@%d).
-- remove
-- several
-- while another process makes one
done
