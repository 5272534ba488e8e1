--TEST--
A pool is the same in another pid namespace, and within open_basedir
--EXTENSIONS--
posix
pcntl
--SKIPIF--
<?php
if (posix_geteuid() !== 0) {
    die('skip needs root, for a namespace');
}
?>
--FILE--
<?php
require __DIR__ . '/pool.inc';

use Larder\SharedMemory;

$pool = fresh_pool();
$pool->set('list', range(1, 1000));
$pool->increment('counter');

echo "-- open_basedir\n";
$code = '$p = Larder\SharedMemory::open(pool_name()); echo count($p->get("list")), " ", $p->increment("counter"), " ", $p->statistics()["mode"];';
same(run_php($code, ['open_basedir' => __DIR__]), '1000 2 zero-copy', 'open_basedir does not concern it');

echo "-- another pid namespace\n";
$ready = "$argv[0].ready";
@unlink($ready);
$child = fork(function () use ($ready): bool {
    check(pcntl_unshare(CLONE_NEWPID), 'a namespace');
    $first = pcntl_fork();
    if ($first === 0) {
        // Its process id there is 1, as that of others may be elsewhere; nothing depends on it.
        check(posix_getpid() === 1, 'the first process of its namespace');
        $there = SharedMemory::open(pool_name());
        same([$there->get('list'), $there->increment('counter')], [range(1, 1000), 3], 'in the namespace');
        touch($ready);
        while (true) {
            sleep(60);
        }
    }
    while (!file_exists($ready)) {
        usleep(1000);
        clearstatcache();
    }
    check($GLOBALS['pool']->statistics()['processes'] >= 3, 'all are there');
    posix_kill($first, SIGKILL);
    pcntl_waitpid($first, $status);

    return pcntl_wifsignaled($status);
});
same(await($child), ['0'], 'the other namespace');
@unlink($ready);
$pool->statistics();
same([$pool->get('counter'), $pool->statistics()['processes']], [3, 1], 'what it counted stays, its place does not');
for ($i = 0; $i < 4000; $i++) {
    check($pool->set("churn $i", str_repeat('c', 5000)), 'what it pinned is recycled');
}

?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
?>
--EXPECT--
-- open_basedir
-- another pid namespace
