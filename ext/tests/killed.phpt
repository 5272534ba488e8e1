--TEST--
Processes that are killed, or stopped, at any moment leave a pool that all others go on using
--EXTENSIONS--
posix
pcntl
--INI--
opcache.jit=disable
--FILE--
<?php
// Without the JIT: a process that is killed while it compiles leaves opcache's memory half written, and the processes that
// share it, because one was forked from the other, crash in PHP's compiler. They do so without this extension, too.
require __DIR__ . '/processes.inc';

use Larder\SharedMemory;

/** Stores, reads, deletes and counts. A store may be refused while others are busy, and what it stored be evicted. */
function works(SharedMemory $pool, string $key, int $version): bool
{
    for ($tries = 0, $value = $count = null; $value === null || $count === null; $tries++) {
        check($tries < 1_000, 'a thousand stores in succession were refused or evicted');
        try {
            $value ??= $pool->set($key, described($key, $version)) ? $pool->get($key) : null;
            $count ??= $pool->increment('own counter');
        } catch (Larder\Exception\PoolUnusable) {
            // A new counter was refused.
        }
    }
    $pool->delete($key);

    return is_sound($value, $key) && $count >= 1 && !$pool->has($key);
}

/** In a process of its own, so that nothing is pinned any more when it is over. */
function kill_others(SharedMemory $pool, int $rounds, int $seed): void
{
    $witness = fork(fn () => churn($pool, $seed - 1, 60 * $rounds));
    for ($round = 0; $round < $rounds; $round++) {
        $children = [];
        for ($i = 0; $i < 3; $i++) {
            $children[] = fork(fn () => churn($pool, $seed + 3 * $round + $i, 1_000_000));
        }
        usleep(random_int(500, 20_000));
        posix_kill($children[0], SIGKILL);
        posix_kill($children[1], SIGKILL);
        posix_kill($children[2], SIGSTOP);
        $ends = await($children[0], $children[1]);
        // Past the stopped one a store may be refused, a deletion never.
        $pool->set("round $round", $round);
        $pool->delete("round $round");
        $gone = !$pool->has("round $round");
        posix_kill($children[2], SIGCONT);
        usleep(random_int(0, 2_000));
        posix_kill($children[2], SIGKILL);
        $ends[] = await($children[2])[0];
        same($ends, ['signal 9', 'signal 9', 'signal 9'], "killed, LARDER_TEST_SEED=$seed");
        check($gone, "what was deleted past a stopped process is gone in round $round");
        check(works($pool, "round $round", $round), "all that can be done after round $round");
    }
    same(await($witness), ['0'], 'a process that lived through it');
    check(churn($pool, $seed, 3_000), 'and this one');
}

$rounds = (int) (getenv('LARDER_TEST_ROUNDS') ?: 60);
$seed = (int) (getenv('LARDER_TEST_SEED') ?: random_int(1, 1 << 30));
$pool = fresh_pool(4 << 20);
same(await(fork(fn () => kill_others($pool, $rounds, $seed))), ['0'], 'who lived');
$s = $pool->statistics();
same($s['processes'], 1, 'the places of the dead are free');
same($s['size'], 4 << 20, 'it is the same pool');

// Reserved and never used again: no more than that is lost. Emptied, it holds about what a new one holds.
$fill = function (SharedMemory $pool): int {
    $pool->clear();
    for ($i = 0; $i < 5_000; $i++) {
        $pool->set("fill $i", str_repeat('f', 1_000));
    }

    return count($pool->getMany(array_map(fn (int $i): string => "fill $i", range(0, 4_999))));
};
$after = $fill($pool);
$new = $fill(fresh_pool(4 << 20, suffix: '-new'));
check($after > 0.9 * $new, "it holds $after items, a new one $new");
echo "done\n";
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools('-new');
?>
--EXPECT--
done
