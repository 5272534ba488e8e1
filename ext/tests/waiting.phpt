--TEST--
remember() waits for another's computation for as long as it is told to, and keeps others from trying again what failed
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/pool.inc';

$pool = fresh_pool();
foreach (['old', 'failing', 'failed'] as $key) {
    $pool->remember($key, fn () => 'stale', 1, [], 0.0, 1_000);
}
usleep(1_100_000);

/** Another process begins to compute the key's value, and ends when it may. */
$begin = function (string $key, float $lease = 60.0) use ($pool): int {
    $child = fork(fn () => $pool->remember($key, function () use ($pool, $key): string {
        $pool->set("computing $key", true);
        while (!$pool->has("finish $key")) {
            usleep(1_000);
        }

        return 'theirs';
    }, 1_000, grace: 1_000, lease: $lease));
    while (!$pool->has("computing $key")) {
        usleep(1_000);
    }

    return $child;
};
$mine = fn () => 'mine';
$children = [];

echo "-- for how long\n";
$children[] = $begin('a');
same($pool->remember('a', $mine, 0, missWait: 0.05), 'mine', 'not longer than it is told to');
same($pool->remember('a', $mine, 0, lease: 0.0), 'mine', 'not at all without a lease');
$waits = fork(fn () => same($pool->remember('a', $mine, missWait: 600.0), 'theirs', 'as long as it takes'));
$pool->set('finish a', true);
same(await($waits), ['0'], 'who waited');

echo "-- a computation that takes too long\n";
$children[] = $begin('b', 0.2);
check($pool->awaitLease('b', 5.0), 'it has its lease for as long as it asked for');
same($pool->remember('b', $mine), 'mine', 'another takes over');
$pool->set('finish b', true);

echo "-- where there is something stale\n";
$children[] = $begin('old');
same($pool->remember('old', $mine, grace: 1_000), 'stale', 'at once');
same($pool->remember('old', $mine, grace: 1_000, staleWait: 0.05), 'stale', 'after a moment');
same($pool->remember('old', $mine, grace: 1_000, staleWait: 600.0, missWait: 0.05), 'stale', 'never longer than altogether');
$waits = fork(fn () => same($pool->remember('old', $mine, grace: 1_000, staleWait: 600.0, missWait: 600.0), 'theirs', 'rather what is fresh'));
$pool->set('finish old', true);
same(await($waits), ['0'], 'who waited');

echo "-- after a failure\n";
$fails = fn (string $key, float $retry) => await(fork(fn () => same($pool->remember($key, fn () => throw new RuntimeException(), grace: 1_000, retry: $retry), 'stale', 'what there is')));
same($fails('failing', 600.0), ['0'], 'it fails');
same($pool->remember('failing', $mine, grace: 1_000), 'stale', 'no process tries it again');
same($pool->remember('failing', $mine, 0, missWait: 0.05), 'mine', 'but a process that has nothing else');
same($fails('failed', 0.2), ['0'], 'it fails');
check($pool->awaitLease('failed', 5.0), 'for as long as it was told');
same($pool->remember('failed', $mine, grace: 1_000), 'mine', 'then one does');

same(await(...$children), array_fill(0, count($children), '0'), 'how they ended');
echo thrown(fn () => $pool->remember('k', $mine, lease: -1.0)), "\n";
echo thrown(fn () => $pool->remember('k', $mine, missWait: 3_601.0)), "\n";
echo thrown(fn () => $pool->remember('k', $mine, staleWait: NAN)), "\n";
echo thrown(fn () => $pool->remember('k', $mine, retry: -0.1)), "\n";
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
?>
--EXPECT--
-- for how long
-- a computation that takes too long
-- where there is something stale
-- after a failure
ValueError: Larder\SharedMemory::remember(): Argument #8 ($lease) must be between 0 and 3600 seconds
ValueError: Larder\SharedMemory::remember(): Argument #9 ($missWait) must be between 0 and 3600 seconds
ValueError: Larder\SharedMemory::remember(): Argument #10 ($staleWait) must be between 0 and 3600 seconds
ValueError: Larder\SharedMemory::remember(): Argument #11 ($retry) must be between 0 and 3600 seconds
