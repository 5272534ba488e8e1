--TEST--
A pool that is resized keeps what lives in it, and one that is asked for with another size is used, which PHP's log says once
--EXTENSIONS--
posix
pcntl
--INI--
larder.snapshot={PWD}
--FILE--
<?php
require __DIR__ . '/pool.inc';

use Larder\SharedMemory;

$log = __DIR__ . '/' . pool_name() . '.log';
ini_set('error_log', $log);

/** What was logged since it was asked last, without the time. */
function logged(): array
{
    global $log;
    $lines = is_file($log) ? file($log, FILE_IGNORE_NEW_LINES) : [];
    @unlink($log);

    return preg_replace(['/^\[[^]]*\] /', '/"phpt-[^"]*"/', '/resize \S+/'], ['', '"NAME"', 'resize NAME'], $lines);
}

$values = [
    'int' => 7, 'short' => 'text', 'long' => str_repeat('long text ', 1000), 'list' => range(1, 1000),
    'map' => ['a' => ['b' => ['c' => str_repeat('x', 5000)]], 7 => true], 'object' => new ArrayObject([1, [2, 3]]),
];
$pool = fresh_pool(8 << 20);
same(SharedMemory::resize('phpt-there-is-no-such-pool', 8 << 20), null, 'what is not there cannot be resized');
$pool->setMany($values, null, ['kept']);
$pool->set('brief', 'x', 3600);
$pool->set('deleted', 'x');
$pool->delete('deleted');
$pool->increment('counter', 41);
$before = $pool->fetch([...array_keys($values), 'brief']);
$held = $pool->get('list');

foreach ([[32 << 20, 8 << 20], [4 << 20, 32 << 20]] as [$size, $was]) {
    same(SharedMemory::resize(pool_name(), $size), ['before' => $was, 'size' => $size, 'loaded' => count($values) + 2, 'dropped' => 0], 'what it tells');
    same($pool->statistics()['size'], $size, 'this process goes on with it');
    foreach ($before as $key => [$value, $expiry, $version]) {
        [$now, $then, $as] = $pool->fetch([$key])[$key];
        same([serialize($now), $then, $as], [serialize($value), $expiry, $version], $key);
    }
    same([$pool->get('deleted'), $pool->get('counter'), $held], [null, 41, range(1, 1000)], 'the rest');
}
same(SharedMemory::resize(pool_name(), 4 << 20), ['before' => 4 << 20, 'size' => 4 << 20, 'loaded' => 0, 'dropped' => 0], 'it has that size');
same(logged(), [], 'nothing was asked for that is not there');

echo "-- another size\n";
for ($i = 0; $i < 3; $i++) {
    same(SharedMemory::open(pool_name(), 8 << 20)->get('int'), 7, 'it is used');
}
echo implode("\n", logged()), "\n";
SharedMemory::open(pool_name(), 16 << 20);
same(logged(), [], 'it is said once a process');
$child = run_php('echo Larder\SharedMemory::open(pool_name())->get("int");', ['larder.size' => '12M', 'error_log' => $log, 'larder.snapshot' => __DIR__]);
same($child, '7', 'in another process');
echo implode("\n", logged()), "\n";
$pool->invalidateTags(['kept']);
same($pool->getMany(array_keys($values)), [], 'tags are kept');

echo "-- mistakes\n";
foreach ([0, 1, (4 << 20) - 1, (1 << 40) + 1, -1] as $size) {
    echo thrown(fn () => SharedMemory::resize(pool_name(), $size)), "\n";
}
echo thrown(fn () => SharedMemory::resize("a\0b", 8 << 20)), "\n";
echo preg_replace('/:.*/s', '', thrown(fn () => SharedMemory::resize('../x', 8 << 20))), "\n";
echo preg_replace(['/"phpt-[^"]*"/', '/\d+, with/', '~in /.*?:~'], ['"NAME"', 'N, with', ''], thrown(fn () => SharedMemory::resize(pool_name(), 1 << 40))), "\n";
same($pool->get('counter'), 41, 'it goes on as it was');
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
@unlink(__DIR__ . '/' . pool_name() . '.log');
@unlink(__DIR__ . '/larder-' . posix_geteuid() . '/' . pool_name() . '.snapshot');
@rmdir(__DIR__ . '/larder-' . posix_geteuid());
?>
--EXPECTF--
-- another size
Larder: The pool "NAME" has 4194304 bytes, not the 8388608 asked for, and is used as it is; ask for its size, or change that (larder resize NAME 8388608).
Larder: The pool "NAME" has 4194304 bytes, not the 12582912 asked for, and is used as it is; ask for its size, or change that (larder resize NAME 12582912).
-- mistakes
ValueError: Larder\SharedMemory::resize(): Argument #2 ($size) must be between 4194304 (4 MiB) and 1099511627776 (1 TiB) bytes, 0 given
ValueError: Larder\SharedMemory::resize(): Argument #2 ($size) must be between 4194304 (4 MiB) and 1099511627776 (1 TiB) bytes, 1 given
ValueError: Larder\SharedMemory::resize(): Argument #2 ($size) must be between 4194304 (4 MiB) and 1099511627776 (1 TiB) bytes, 4194303 given
ValueError: Larder\SharedMemory::resize(): Argument #2 ($size) must be between 4194304 (4 MiB) and 1099511627776 (1 TiB) bytes, 1099511627777 given
ValueError: Larder\SharedMemory::resize(): Argument #2 ($size) must be between 4194304 (4 MiB) and 1099511627776 (1 TiB) bytes, -1 given
ValueError: Larder\SharedMemory::resize(): Argument #1 ($name) must not contain a NUL byte
Larder\Exception\PoolUnusable
Larder\Exception\PoolUnusable: The pool "NAME" cannot get 1099511627776 bytes: /dev/shm/larder-%d has room for N, with what the pool itself would give back; ask for less, or enlarge it (mount -o remount,size=… /dev/shm; in Docker --shm-size=…).
