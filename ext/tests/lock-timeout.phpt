--TEST--
open() and remove() wait once for a process that makes or saves the pool; if that does not go on, they answer at once
--EXTENSIONS--
posix
pcntl
--SKIPIF--
<?php
if (posix_geteuid() !== 0) {
    die('skip needs root, to be a user whose pools no other makes');
}
?>
--FILE--
<?php
require __DIR__ . '/pool.inc';

use Larder\SharedMemory;

const USER = 64989;
$ends = await(fork(function () {
    posix_setgid(USER);
    posix_setuid(USER);
    SharedMemory::open('another', 4 << 20);
    $directory = fopen(pool_directory(), 'r');
    check(flock($directory, LOCK_EX), 'the lock of one who makes a pool, and is stopped');
    $waits = [];
    for ($i = 0; $i < 20; $i++) {
        check(preg_match('/PoolUnusable: Another process has been .* for (\d+) ms/', thrown(fn () => SharedMemory::open('pool', 4 << 20)), $found) === 1, 'that is said');
        $waits[] = (int) $found[1];
    }
    same($waits, [5000, ...array_fill(0, 19, 0)], 'how long it waited, in ms');
    check(str_contains(thrown(fn () => SharedMemory::remove('pool')), ' for 0 ms'), 'nor is it removed after another wait');
    same(SharedMemory::open('another', 4 << 20)->set('k', 1), true, 'others can be opened');
    flock($directory, LOCK_UN);
    same(SharedMemory::open('pool', 4 << 20)->set('k', 1), true, 'it goes on');
    SharedMemory::remove('pool');
    SharedMemory::remove('another');
}));
rmdir('/dev/shm/larder-' . USER);
same($ends, ['0'], 'how the process of that user ended');
?>
done
--EXPECT--
done
