--TEST--
While another process keeps a pool that does not evict busy, a store is refused and leaves what was there, and a count says why
--EXTENSIONS--
posix
pcntl
--FILE--
<?php
require __DIR__ . '/pool.inc';

/** Where the header has the segment lock: behind what never changes (256 bytes), what is seldom written (128), the clock (64) and the quotas (64). */
const LOCK_AT = 512;
const SLOT_BYTES = 192;

/** Has the process with that id hold the segment lock, or none. */
function hold_the_lock(?int $pid): void
{
    $bytes = file_get_contents(pool_path());
    $slots_at = unpack('P', $bytes, 64)[1];
    $word = 0;
    for ($slot = 0; $pid !== null && $word === 0 && $slot < 128; $slot++) {
        ['incarnation' => $incarnation, 'process' => $process] = unpack('Vincarnation/x12/Vprocess', $bytes, $slots_at + $slot * SLOT_BYTES);
        $word = $process === $pid ? $incarnation << 32 | $slot + 1 : 0;
    }
    check(($word !== 0) === ($pid !== null), 'the process has a place');
    $file = fopen(pool_path(), 'r+');
    fseek($file, LOCK_AT);
    fwrite($file, pack('P', $word));
}

$pool = fresh_pool(4 << 20, false);
$pool->set('session', 'as it was');
$pool->set('other', str_repeat('x', 32_000));
$ends = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
$child = pcntl_fork();
if ($child === 0) {
    fclose($ends[0]);
    $pool->beginRequest();
    $pool->has('session');
    fwrite($ends[1], "ready\n");
    fgets($ends[1]); // until the parent ends
    posix_kill(posix_getpid(), SIGKILL);
}
fclose($ends[1]);
same(fgets($ends[0]), "ready\n", 'it has a place in the pool');
$long = str_repeat('y', 60_000);
hold_the_lock($child);
same($pool->set('session', $long), false, 'set');
same($pool->setMany(['session' => $long, 'small' => 1]), ['session'], 'setMany');
same($pool->replace('session', $long), false, 'replace');
echo str_replace(pool_name(), 'NAME', thrown(fn() => $pool->increment(str_repeat('counter', 8_500)))), "\n";
same($pool->statistics()['refused'], ['full' => 0, 'pinned' => 0, 'large' => 0, 'busy' => 4], 'refusals are counted by cause');
same($pool->get('session'), 'as it was', 'it is left');
same($pool->set('session', $long, keep: false), false, 'set, which is to leave nothing');
same($pool->get('session'), null, 'it is gone');
hold_the_lock(null);
same($pool->set('session', $long), true, 'the lock is given back');
same($pool->get('session'), $long, 'it is stored');
posix_kill($child, SIGKILL);
pcntl_waitpid($child, $status);
echo "done\n";
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
?>
--EXPECT--
Larder\Exception\PoolUnusable: The counter "countercountercountercountercountercountercountercountercountercountercountercou" could not be stored in the pool "NAME", which is kept busy by other processes; try again.
done
