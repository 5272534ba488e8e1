--TEST--
Many processes read and write one pool that evicts all the while: no value is torn, foreign or changed while it is held
--EXTENSIONS--
posix
pcntl
--FILE--
<?php
require __DIR__ . '/processes.inc';

use Larder\SharedMemory;

// No fewer than fill the pool twice.
$operations = max(3_000, (int) (getenv('LARDER_TEST_ROUNDS') ?: 8_000));
$seed = (int) (getenv('LARDER_TEST_SEED') ?: random_int(1, 1 << 30));
$pool = fresh_pool(4 << 20);
same($pool->statistics()['mode'], 'zero-copy', 'mode');

echo "-- forked with the pool open\n";
$children = [];
for ($i = 0; $i < 4; $i++) {
    $children[] = fork(fn () => churn($pool, $seed + $i, $operations));
}
same(await(...$children), ['0', '0', '0', '0'], "LARDER_TEST_SEED=$seed");
check(few($pool), 'refusals');
$s = $pool->statistics();
check($s['evictions'] > 0 && $s['moves'] > 0, 'it evicts, and moves what is used');
same($s['processes'], 1, 'the places of those that ended are free');

echo "-- each opens it itself\n";
$pool->clear();
$children = [];
for ($i = 0; $i < 4; $i++) {
    $children[] = fork(fn () => churn(SharedMemory::open(pool_name(), 4 << 20), $seed + 10 + $i, intdiv($operations, 2)));
}
same(await(...$children), ['0', '0', '0', '0'], "LARDER_TEST_SEED=$seed");

echo "-- what is held stays until the request ends\n";
$big = range(1, 3_000);
$held = $sums = [];
for ($i = 0; $i < 10; $i++) {
    $pool->set("held $i", [$i => $big, 'text' => str_repeat("held $i ", 2_000)]);
    $held[$i] = $pool->get("held $i");
    $sums[$i] = md5(serialize($held[$i]));
}
$children = [];
for ($i = 0; $i < 3; $i++) {
    $children[] = fork(fn () => churn($pool, $seed + 20 + $i, intdiv($operations, 2)));
}
// A child that only waits holds what its parent had read, after the parent has let it go and ended its look.
$heir = fork(function () use ($held, $sums, $pool) {
    for ($round = 0; $round < 40; $round++) {
        usleep(20_000);
        foreach ($held as $i => $value) {
            check(md5(serialize($value)) === $sums[$i], 'inherited');
        }
    }
});
foreach ($held as $i => $value) {
    check(md5(serialize($value)) === $sums[$i], 'held during the churn');
}
same(await($heir, ...$children), ['0', '0', '0', '0'], "LARDER_TEST_SEED=$seed");
for ($i = 0; $i < 20_000; $i++) {
    $pool->set("churn $i", str_repeat('c', 2_000));
}
foreach ($held as $i => $value) {
    check(md5(serialize($value)) === $sums[$i], 'held to the end');
}
check($pool->statistics()['oldest_pin_seconds'] > 0.1, 'statistics say how long');
same($pool->statistics()['oldest_pin_process'], getmypid(), 'and who');

echo "-- a parent that ends before its child\n";
$middle = fork(function () use ($pool, $sums) {
    $pool->set('inherited', range(1, 20_000));
    $value = $pool->get('inherited');
    $sum = md5(serialize($value));
    fork(function () use ($value, $sum, $pool) {
        for ($i = 0; $i < 6_000; $i++) {
            $pool->set("orphan $i", str_repeat('o', 3_000));
        }
        $pool->set('orphan', md5(serialize($value)) === $sum ? 'whole' : 'damaged');
    });
});
same(await($middle), ['0'], 'the parent');
for ($i = 0; $i < 3_000 && $pool->get('orphan') === null; $i++) {
    usleep(20_000);
}
same($pool->get('orphan'), 'whole', 'what an orphan inherited');
echo "done\n";
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
?>
--EXPECT--
-- forked with the pool open
-- each opens it itself
-- what is held stays until the request ends
-- a parent that ends before its child
done
