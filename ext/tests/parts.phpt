--TEST--
A part of a pool is a pool to its users: keys of its own, a clear of its own, and the tags of all
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/pool.inc';

use Larder\Computation;
use Larder\SharedMemory;

$whole = fresh_pool();
$part = $whole->part('part:', 'all of part');
$inner = $part->part('inner:', 'all of inner');
$pools = ['whole' => $whole, 'part' => $part, 'inner' => $inner];

echo "-- keys\n";
$keys = ['k', '7', '007', "\0", str_repeat('l', 300)];
foreach ($keys as $key) {
    foreach ($pools as $name => $pool) {
        check($pool->set($key, "$name's"), 'stored');
    }
    foreach ($pools as $name => $pool) {
        same($pool->get($key), "$name's", 'each has its own');
        same($pool->fetch([$key])[$key][0], "$name's", 'in a list, too');
    }
    same($whole->get("part:$key"), "part's", 'under its prefix');
    same($whole->get("part:inner:$key"), "inner's", 'under both');
    same($part->delete($key), true, 'it was there');
    same([$whole->has($key), $part->has($key), $inner->has($key)], [true, false, true], 'deleted in one');
}
$found = $inner->keys();
sort($keys, SORT_STRING);
sort($found, SORT_STRING);
same($found, $keys, 'without their prefix');
same($inner->keys('00'), ['007'], 'that begin so');
foreach (range(1, 600) as $length) {
    $key = str_repeat('x', $length);
    $inner->set($key, $length);
    same($whole->get("part:inner:$key"), $length, 'by the same hash, however long');
    $inner->delete($key);
}
$inner->setMany(['a' => 1, 7 => 2, 'b' => 3]);
same($inner->getMany(['b', 7, 'none', 'a']), ['b' => 3, 7 => 2, 'a' => 1], 'as they were asked for');
same($inner->deleteMany(['a', 'none', 'b']), 2, 'those that were there');

echo "-- what is done to an item\n";
check($part->add('n', 1) && !$part->add('n', 2) && $part->replace('n', 3) && !$inner->replace('n', 4), 'each in its own');
same([$part->increment('n', 2), $part->increment('new'), $inner->increment('new', 5, 10)], [5, 1, 15], 'counted');
check($part->touch('n', 60) && !$inner->touch('n', 60), 'touched');
same($part->take('n')[0], 5, 'taken');
same([$part->get('n'), $inner->get('new')], [null, 15], 'one is gone');
check($part->fill('f', 'filled', $part->token('f')), 'filled');
// One after the other: of two keys that meet in one place of the table of leases, only one has its lease.
foreach (['part:l' => $part, 'part:inner:l' => $inner] as $key => $its) {
    check($its->lease('l'), 'its lease');
    same(await(fork(function () use ($key): void {
        $whole = SharedMemory::open(pool_name());
        $others = array_values(array_diff(['part:l', 'part:inner:l', 'l'], [$key]));
        same([$whole->lease($key), $whole->awaitLease($key, 0.01)], [false, false], 'as the whole sees it');
        same(array_map($whole->lease(...), $others), [true, true], 'it is no other\'s');
    })), ['0'], 'another process');
    $its->release('l');
}
same($part->remember('r', fn (Computation $its) => $its->key), 'r', 'what it is called there');
same([$part->get('r'), $whole->get('part:r'), $whole->get('r')], ['r', 'r', null], 'kept');

echo "-- tags and clears\n";
$part->set('tagged', 1, null, ['t']);
$inner->set('tagged', 1, null, array_map(fn ($i) => "t$i", range(1, 20)));
$inner->invalidateTags(['t']);
same([$part->get('tagged'), $inner->get('tagged')], [null, 1], 'a tag means the same in all parts');
$whole->invalidateTags(['t17']);
same($inner->get('tagged'), null, 'and in the whole');
// With tags of its own an item has those of its parts as well.
foreach ([0 => $whole, 1 => $part, 2 => $inner] as $depth => $cleared) {
    for ($tags = 0; $tags <= 4; $tags++) {
        $inner->set("with $tags", 1, null, array_slice(['t1', 't2', 't3', 't4'], 0, $tags));
        $whole->set("with $tags", 1, null, array_slice(['t1', 't2', 't3', 't4'], 0, $tags));
    }
    $keys = array_map(fn (int $tags): string => "with $tags", range(0, 4));
    $cleared->clear();
    same([count($inner->getMany($keys)), count($whole->getMany($keys))], [0, $depth === 0 ? 0 : 5], "cleared at depth $depth");
}
$all = ['set' => 1, 'counted' => 1, 'many' => 1, 'remembered' => 1];
foreach ($pools as $pool) {
    $pool->deleteMany(array_keys($all));
    $pool->set('set', 1);
    $pool->increment('counted');
    $pool->setMany(['many' => 1]);
    $pool->remember('remembered', fn () => 1);
}
$inner->clear();
same([$whole->getMany(array_keys($all)), $part->getMany(array_keys($all)), $inner->getMany(array_keys($all))], [$all, $all, []], 'the innermost is clear');
same([$inner->increment('counted'), $inner->increment('counted')], [1, 2], 'counted anew');
$part->clear();
same([$whole->getMany(array_keys($all)), $part->getMany(array_keys($all)), $inner->get('counted')], [$all, [], null], 'and so is what is in one that is cleared');
$token = $inner->token('late');
same(await(fork(fn () => SharedMemory::open(pool_name())->part('part:', 'all of part')->clear())), ['0'], 'cleared elsewhere');
same($inner->fill('late', 1, $token), false, 'what was computed before that is refused');
$inner->set('set', 1);
$whole->clear();
same($inner->get('set'), null, 'the whole has everything');

echo "-- limits\n";
$longest = 65535 - strlen('part:inner:');
check($inner->set(str_repeat('x', $longest), 1), 'the longest key');
same($inner->get(str_repeat('x', $longest)), 1, 'is there');
$inner->set('text', 'text');
foreach ([
    fn () => $inner->get(str_repeat('x', $longest + 1)),
    fn () => $inner->get(''),
    fn () => $inner->setMany(['a' => 1, '' => 2]),
    fn () => $inner->increment('text'),
    fn () => $inner->set('k', STDIN),
    fn () => $inner->set('k', 1, null, range(1, 4095)),
    fn () => $inner->invalidateTags(['']),
    fn () => $whole->part('', 't'),
    fn () => $part->part(str_repeat('x', 65530), 't'),
    fn () => $part->part('p', ''),
] as $wrong) {
    echo thrown($wrong), "\n";
}
same([$inner->get('a'), $inner->get('k')], [null, null], 'nothing was stored');
check($inner->set('k', 1, null, range(1, 4094)), 'all tags but those of the parts');
for ($nested = $whole, $i = 0; $i < 64; $i++) {
    $nested = $nested->part('n', 'n');
}
check($nested->set('k', 1) && $nested->get('k') === 1, 'as deep as it goes');
echo thrown(fn () => $nested->part('n', 'n')), "\n";
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
?>
--EXPECT--
-- keys
-- what is done to an item
-- tags and clears
-- limits
ValueError: Larder\SharedMemory::get(): Argument #1 ($key) must not contain a key of 65525 bytes; a key has 1 to 65524 bytes
ValueError: Larder\SharedMemory::get(): Argument #1 ($key) must not contain an empty key; a key has 1 to 65524 bytes
ValueError: Larder\SharedMemory::setMany(): Argument #1 ($values) must not contain an empty key; a key has 1 to 65524 bytes
Larder\Exception\NotACounter: The value of "text" is not an int, so it cannot be counted up; delete it first.
Larder\Exception\Unstorable: The value of the key "k" was not stored: $value is a resource, which cannot be stored; store what was read from it.
ValueError: Larder\SharedMemory::set(): Argument #4 ($tags) must not contain more than 4094 tags, 4095 given
ValueError: Larder\SharedMemory::invalidateTags(): Argument #1 ($tags) must not contain a tag of 0 bytes; a tag has 1 to 65535 bytes
ValueError: Larder\SharedMemory::part(): Argument #1 ($prefix) must have 1 to 65534 bytes, so that there is room for a key, 0 given
ValueError: Larder\SharedMemory::part(): Argument #1 ($prefix) must have 1 to 65529 bytes, so that there is room for a key, 65530 given
ValueError: Larder\SharedMemory::part(): Argument #2 ($tag) must have 1 to 65535 bytes, 0 given
ValueError: A part of a pool cannot lie in more than 63 others.
