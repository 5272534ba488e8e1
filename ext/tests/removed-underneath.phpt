--TEST--
A pool that is removed or replaced under a running process: what was read stays, the next look finds the new one
--EXTENSIONS--
posix
pcntl
--FILE--
<?php
require __DIR__ . '/pool.inc';

use Larder\SharedMemory;

$big = range(1, 20_000);
$sum = md5(serialize($big));

/** As a busy process would be found: in the middle of many quick calls. */
function busy(SharedMemory $pool): void
{
    for ($i = 0; $i < 1_000 + random_int(0, 63); $i++) {
        $pool->get('small');
    }
}

$ways = [
    'removed by another process' => fn () => run_php('Larder\SharedMemory::remove(pool_name());'),
    'removed by rm' => fn () => unlink(pool_path()),
    'replaced by another process' => fn () => run_php('fresh_pool(4 << 20)->set("small", "theirs");'),
    'replaced by rm and another process' => fn () => unlink(pool_path()) && run_php('Larder\SharedMemory::open(pool_name(), 4 << 20)->set("small", "theirs");') . '1',
    'renamed away' => fn () => rename(pool_path(), pool_path() . '-away'),
];
foreach ($ways as $what => $remove) {
    for ($round = 0; $round < 2; $round++) {
        $pool = fresh_pool(4 << 20);
        $pool->setMany(['big' => $big, 'small' => 'mine', 'text' => str_repeat('text', 5000)]);
        $held = $pool->get('big');
        $text = $pool->get('text');
        busy($pool);
        $remove();
        usleep(150_000);
        // A file that loses its name in silence is noticed at the 64th call at the latest, a removal at once.
        for ($i = 0; $i < 64 && preg_match('/rm|away/', $what); $i++) {
            $pool->has('small');
        }
        $found = reaching($pool, fn () => $pool->get('small'));
        same($found, str_starts_with($what, 'replaced') ? 'theirs' : null, "$what: the next look, after a while");
        same([md5(serialize($held)), $text], [$sum, str_repeat('text', 5000)], "$what: what was read stays");
        same($pool->get('big'), null, "$what: the old values are gone");
        same($pool->set('big', $big) && $pool->get('big') === $big, true, "$what: it works");
        same(run_php('echo count(Larder\SharedMemory::open(pool_name(), 4 << 20)->get("big"));'), '20000', "$what: and is shared");
        $held[] = 'changed';
        same(count($held), 20_001, 'an ordinary value');
        unset($held, $text);
    }
    echo "$what: works\n";
}

// Again and again under values in use, in one request.
$pool = fresh_pool(4 << 20);
$kept = [];
for ($i = 0; $i < 30; $i++) {
    reaching($pool, fn () => $pool->set('n', range($i, $i + 2000)));
    $kept[$i] = $pool->get('n');
    SharedMemory::remove(pool_name());
}
foreach ($kept as $i => $value) {
    same($value, range($i, $i + 2000), "value $i");
}
unlink(pool_path() . '-away');
echo "done\n";
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
@unlink(pool_path() . '-away');
?>
--EXPECT--
removed by another process: works
removed by rm: works
replaced by another process: works
replaced by rm and another process: works
renamed away: works
done
