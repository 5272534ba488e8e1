--TEST--
What an invalidation lets be served, or what has expired, is served stale to those who ask for it, and to no others
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/pool.inc';

$pool = fresh_pool();
$values = ['string' => 'x', 'int' => 7, 'array' => range(1, 5), 'object' => (object) ['a' => [1]], 'null' => null, 'long' => str_repeat('l', 100_000)];

echo "-- invalidated softly\n";
foreach ($values as $key => $value) {
    $pool->set($key, $value, null, ['t', "of-$key"]);
    same($pool->stale($key)[1], false, "$key is alive");
    same($pool->stale($key)[2], null, "$key lives for ever");
}
$pool->invalidateTags(['t'], 600);
foreach ($values as $key => $value) {
    same($pool->get($key, 'gone'), 'gone', "$key is dead");
    same($pool->has($key), false, "$key is not there");
    same($pool->fetch([$key]), [], "$key is not fetched");
    [$found, $isStale, $seconds, $version] = $pool->stale($key);
    check($found == $value && $isStale && $seconds > 590 && $seconds <= 600 && $version > 0, "$key is served stale");
}
$child = fork(fn () => check($pool->stale('array')[0] === range(1, 5), 'another process serves it as well'));
same(await($child), ['0'], 'the other process ends well');

echo "-- for good\n";
$pool->invalidateTags(['of-array']);
same($pool->stale('array'), null, 'a tag that lets nothing be served');
$pool->delete('int');
same($pool->stale('int'), null, 'a delete');
$pool->set('string', 'new', null, ['t']);
same(array_slice($pool->stale('string'), 0, 3), ['new', false, null], 'a store');
$pool->clear();
same($pool->stale('object'), null, 'a clear');
same($pool->stale('absent'), null, 'nothing');
$part = $pool->part('part:', 'part');
$part->set('k', 'v', null, ['t']);
$pool->invalidateTags(['t'], 600);
same($part->stale('k')[0], 'v', 'in a part');
$part->clear();
same($part->stale('k'), null, 'the clear of a part');

echo "-- for a while\n";
$pool->set('k', 'v', null, ['t']);
$pool->set('expiring', 'v', 1, ['t']);
$pool->invalidateTags(['t'], 1);
check($pool->stale('k')[2] === 1, 'the seconds are rounded up');
usleep(1_100_000);
same($pool->stale('k'), null, 'its time is over');
$pool->set('k', 'v', 1);
usleep(1_100_000);
same($pool->stale('k'), null, 'what has expired');
same([$pool->stale('k', 1_000)[0], $pool->stale('k', 1_000)[1]], ['v', true], 'what has expired, with a grace');

echo "-- remember\n";
$pool->set('r', 'old', null, ['t']);
$pool->invalidateTags(['t'], 600);
$child = fork(fn () => $pool->remember('r', function () use ($pool): string {
    $pool->set('computing', true);
    while (!$pool->has('finish')) {
        usleep(1_000);
    }

    return 'new';
}, null, ['t']));
while (!$pool->has('computing')) {
    usleep(1_000);
}
same($pool->remember('r', fn () => 'mine'), 'old', 'is served while another process computes it');
same($pool->remember('r', fn () => 'mine', missWait: 0.05, staleWait: 600.0), 'old', 'and after a wait');
$pool->set('finish', true);
same(await($child), ['0'], 'the other process ends well');
same($pool->remember('r', fn () => 'mine'), 'new', 'until there is something new');
$pool->invalidateTags(['t'], 600);
same($pool->remember('r', fn () => throw new RuntimeException('no'), retry: 0.0), 'new', 'stands in for what could not be computed');
same($pool->remember('r', fn ($its) => $its->old() . 'er'), 'newer', 'is told to the process that computes');
$pool->invalidateTags(['t']);
$pool->set('r', 'old', null, ['t']);
$pool->invalidateTags(['t']);
echo thrown(fn () => $pool->remember('r', fn () => throw new RuntimeException('nothing may be served'))), "\n";

echo "-- a stale value is no hit\n";
$pool->set('m', 'old', null, ['t']);
$pool->invalidateTags(['t'], 600);
$pool->get('m');
$pool->stale('m');
same(await(fork(fn () => $pool->beginRequest() ?? $pool->set('m', 'theirs'))), ['0'], 'another process stores it');
same($pool->set('m', 'mine'), false, 'what is stored after it is judged by the miss');
same($pool->get('m'), 'theirs', 'and refused');

echo "-- wrong\n";
echo thrown(fn () => $pool->invalidateTags(['t'], -1)), "\n";
echo thrown(fn () => $pool->stale('k', -1)), "\n";
echo thrown(fn () => $pool->stale('')), "\n";
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
?>
--EXPECT--
-- invalidated softly
-- for good
-- for a while
-- remember
RuntimeException: nothing may be served
-- a stale value is no hit
-- wrong
ValueError: Larder\SharedMemory::invalidateTags(): Argument #2 ($serveStale) must be 0 or more
ValueError: Larder\SharedMemory::stale(): Argument #2 ($grace) must be 0 or more
ValueError: Larder\SharedMemory::stale(): Argument #1 ($key) must not contain an empty key; a key has 1 to 65535 bytes
