--TEST--
Processes that are killed at any moment leave a pool that all others go on using
--EXTENSIONS--
posix
pcntl
--FILE--
<?php
require __DIR__ . '/processes.inc';

$rounds = (int) (getenv('LARDER_TEST_ROUNDS') ?: 60);
$seed = (int) (getenv('LARDER_TEST_SEED') ?: random_int(1, 1 << 30));
$pool = fresh_pool(4 << 20);
$witness = fork(fn () => churn($pool, $seed - 1, 60 * $rounds, clears: false));
for ($round = 0; $round < $rounds; $round++) {
    $children = [];
    for ($i = 0; $i < 2; $i++) {
        $children[] = fork(fn () => churn($pool, $seed + 2 * $round + $i, 1_000_000, clears: false));
    }
    usleep(random_int(500, 20_000));
    foreach ($children as $child) {
        posix_kill($child, SIGKILL);
    }
    same(await(...$children), ['signal 9', 'signal 9'], "killed, LARDER_TEST_SEED=$seed");
    check($pool->set("round $round", described("round $round", $round)), "a store after round $round");
    check(is_sound($pool->get("round $round"), "round $round"), "a read after round $round");
    check($pool->delete("round $round") && !$pool->has("round $round"), "a delete after round $round");
    check($pool->increment('own counter') >= 1, "a count after round $round");
}
same(await($witness), ['0'], 'a process that lived through it');
check(churn($pool, $seed, 3_000), 'and this one');
$s = $pool->statistics();
same($s['processes'], 1, 'the places of the dead are free');
same($s['size'], 4 << 20, 'it is the same pool');

// Reserved and never used again: no more than that is lost. Emptied, it holds about what a new one holds.
$fill = function (Larder\SharedMemory $pool): int {
    $pool->clear();
    for ($i = 0; $i < 5_000; $i++) {
        $pool->set("fill $i", str_repeat('f', 1_000));
    }

    return count($pool->getMany(array_map(fn (int $i): string => "fill $i", range(0, 4_999))));
};
$after = $fill($pool);
$new = $fill(fresh_pool(4 << 20, suffix: '-new'));
check($after > 0.8 * $new, "it holds $after items, a new one $new");
echo "done\n";
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools('-new');
?>
--EXPECT--
done
