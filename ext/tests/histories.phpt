--TEST--
No history of remember, fills, writes, deletes, invalidations and clears by processes that are slow, and killed, hands out what its cache was told of before
--EXTENSIONS--
posix
pcntl
--INI--
opcache.jit=disable
--FILE--
<?php
// Without the JIT: see killed.phpt.
require __DIR__ . '/processes.inc';
require __DIR__ . '/histories.inc';

$operations = (int) (getenv('LARDER_TEST_ROUNDS') ?: 4_000);
$seed = (int) (getenv('LARDER_TEST_SEED') ?: random_int(1, 1 << 30));
$incarnations = intdiv($operations, 100);
mt_srand($seed - 1);
$pool = fresh_pool(4 << 20);
$truth = new Truth(fresh_pool(4 << 20, false, '-truth'));
$start = function (int $number, int $incarnation) use ($pool, $truth, $operations, $seed): int {
    return fork(function () use ($pool, $truth, $number, $incarnation, $operations, $seed): bool {
        mt_srand($seed + $number + PROCESSES * $incarnation);

        return live($pool, $truth, $number, $operations);
    });
};
// Others live on for those that were killed; the last to live are left to their ends.
$children = array_map(fn(int $number): int => $start($number, 0), range(0, PROCESSES - 1));
for ($incarnation = 1; $incarnation <= $incarnations; $incarnation++) {
    usleep(mt_rand(0, 20_000));
    $number = mt_rand(0, PROCESSES - 1);
    posix_kill($children[$number], SIGKILL);
    check(in_array(await($children[$number])[0], ['signal 9', '0'], true), "LARDER_TEST_SEED=$seed");
    $children[$number] = $start($number, $incarnation);
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
