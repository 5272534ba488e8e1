--TEST--
No history of remember, fills, writes, deletes, invalidations and clears by processes that are slow hands out what its cache was told of before
--EXTENSIONS--
posix
pcntl
--FILE--
<?php
require __DIR__ . '/processes.inc';
require __DIR__ . '/histories.inc';

$operations = (int) (getenv('LARDER_TEST_ROUNDS') ?: 4_000);
$seed = (int) (getenv('LARDER_TEST_SEED') ?: random_int(1, 1 << 30));
$pool = fresh_pool(4 << 20);
$truth = new Truth(fresh_pool(4 << 20, false, '-truth'));
$children = [];
for ($number = 0; $number < PROCESSES; $number++) {
    $children[] = fork(function () use ($pool, $truth, $number, $operations, $seed): bool {
        mt_srand($seed + $number);

        return live($pool, $truth, $number, $operations);
    });
}
same(await(...$children), ['0', '0', '0', '0'], "LARDER_TEST_SEED=$seed");
$s = $pool->statistics();
check($s['hits'] > $operations / 10 && $s['conflicts'] > 0, "{$s['hits']} hits, {$s['conflicts']} came too late");
echo "done\n";
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools('-truth');
?>
--EXPECT--
done
