--TEST--
A pool is the same in a chroot that has /dev/shm; without, that is said
--EXTENSIONS--
posix
pcntl
--SKIPIF--
<?php
if (posix_geteuid() !== 0) {
    die('skip needs root, to change its root');
}
if (!function_exists('chroot')) {
    die('skip a PHP for threads has no chroot()');
}
?>
--FILE--
<?php
require __DIR__ . '/pool.inc';

use Larder\SharedMemory;

$pool = fresh_pool();
$root = sys_get_temp_dir() . '/larder-root-' . bin2hex(random_bytes(4));
mkdir("$root/dev/shm", 0755, true);
$pool->set('list', range(1, 1000));
$child = fork(function () use ($root): void {
    check(pcntl_unshare(CLONE_NEWNS), 'mounts of its own');
    // In a chroot, / is no mount that could be made private; the maker of that one has seen to it.
    exec('mount --make-rprivate / 2>/dev/null; mount --bind /dev/shm ' . escapeshellarg("$root/dev/shm") . ' 2>&1', $said, $status);
    same($status, 0, implode("\n", $said));
    check(chroot($root) && chdir('/'), 'chroot');
    // One handle that it has from before, and one that it opens.
    same($GLOBALS['pool']->get('list'), range(1, 1000), 'opened before');
    same(SharedMemory::open(pool_name())->get('list'), range(1, 1000), 'opened again');
    same($GLOBALS['pool']->set('from within', 'x'), true, 'stored');
});
same(await($child), ['0'], 'the chroot with /dev/shm');
same($pool->get('from within'), 'x', 'what was stored in the chroot');
$child = fork(function () use ($root): void {
    check(chroot($root) && chdir('/'), 'chroot');
    rmdir('/dev/shm');
    echo preg_replace('/"phpt-[^"]*"/', '…', thrown(fn () => SharedMemory::open(pool_name() . '-2', 4 << 20))), "\n";
    echo preg_replace('/"phpt-[^"]*"/', '…', thrown(function (): void {
        usleep(150_000); // it looks for the pool every 100 ms
        $GLOBALS['pool']->delete('list');
    })), "\n";
});
same(await($child), ['0'], 'the chroot without');
same($pool->get('list'), range(1, 1000), 'it was not deleted');
rmdir("$root/dev");
rmdir($root);

?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
?>
--EXPECT--
Larder\Exception\PoolUnusable: The directory /dev/shm/larder-0 cannot be made (No such file or directory); make its parent, and let this user write there.
Larder\Exception\PoolUnusable: The pool … cannot be reached: The directory /dev/shm/larder-0 cannot be made (No such file or directory); make its parent, and let this user write there.
