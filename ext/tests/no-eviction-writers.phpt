--TEST--
A pool that does not evict, and is half empty, takes everything that several writers store at once, and loses nothing
--EXTENSIONS--
posix
pcntl
--FILE--
<?php
require __DIR__ . '/pool.inc';

use Larder\SharedMemory;

const SESSIONS = 800, WRITERS = 2, STORES = 30_000;

/** How many were refused because the pool was full. */
function write_at_full_speed(int $writer): int
{
    $pool = SharedMemory::open(pool_name(), null, false);
    mt_srand($writer);
    $each = intdiv(SESSIONS, WRITERS);
    for ($i = 0; $i < STORES; $i++) {
        $pool->set('session ' . ($writer * $each + mt_rand(0, $each - 1)), str_repeat('e', mt_rand(2000, 6000)));
    }

    return $pool->statistics()['refused']['full'];
}

$pool = fresh_pool(8 << 20, false);
for ($i = 0; $i < SESSIONS; $i++) {
    check($pool->set("session $i", str_repeat('d', 4000)), 'set');
}
$s = $pool->statistics();
check($s['bytes'] < 0.6 * $s['capacity'], "much is free: {$s['bytes']} of {$s['capacity']}");
$writers = [];
for ($writer = 0; $writer < WRITERS; $writer++) {
    $pid = pcntl_fork();
    if ($pid === 0) {
        posix_kill(posix_getpid(), write_at_full_speed($writer) === 0 ? SIGTERM : SIGKILL); // no destructors, no output
    }
    $writers[] = $pid;
}
foreach ($writers as $pid) {
    pcntl_waitpid($pid, $status);
    same(pcntl_wtermsig($status), SIGTERM, 'nothing was refused');
}
$s = $pool->statistics();
same([$s['refused']['full'], $s['evictions']], [0, 0], 'nothing was refused or evicted');
for ($i = 0; $i < SESSIONS; $i++) {
    check($pool->has("session $i"), 'all are there');
}
echo "done\n";
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
?>
--EXPECT--
done
