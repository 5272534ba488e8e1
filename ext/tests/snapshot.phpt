--TEST--
A pool that is saved ends, and the next one of its name begins with what lived in it, once
--EXTENSIONS--
posix
pcntl
--INI--
larder.snapshot={PWD}
--FILE--
<?php
require __DIR__ . '/pool.inc';

use Larder\Exception\PoolUnusable;
use Larder\SharedMemory;

final class Post
{
    public function __construct(public int $id, public string $text, public array $tags, public ?Post $next = null) {}
}

function snapshot_path(): string
{
    return __DIR__ . '/larder-' . posix_geteuid() . '/' . pool_name() . '.snapshot';
}

$values = [
    'int' => 7, 'float' => 1.5, 'null' => null, 'short' => 'text', 'long' => str_repeat('long text ', 1000),
    'list' => range(1, 1000), 'map' => ['a' => ['b' => ['c' => str_repeat('x', 5000)]], 7 => true],
    'object' => new Post(1, 'first', ['a', 'b'], new Post(2, str_repeat('y', 9000), [])),
    'objects' => array_map(fn (int $i) => new Post($i, "text $i", [$i]), range(1, 50)),
];
$pool = fresh_pool();
same(SharedMemory::save('phpt-there-is-no-such-pool'), null, 'what is not there cannot be saved');
$pool->setMany($values, null, ['kept']);
$pool->set('brief', 'x', 3600);
$pool->set('tagged', 'x', null, ['dead']);
$pool->set('deleted', 'x');
$pool->increment('counter', 41);
$pool->invalidateTags(['dead']);
$pool->delete('deleted');
$before = $pool->fetch([...array_keys($values), 'brief']);
$kept = $pool->get('list');
$miss = $pool->get('missed before');

same(in_array(pool_name(), SharedMemory::names(), true), true, 'it is among the names');
$saved = SharedMemory::save(pool_name());
same($saved['path'], snapshot_path(), 'where it was saved');
same($saved['items'], count($values) + 2, 'the number of items');
same($saved['bytes'], filesize(snapshot_path()), 'the size');
same(file_exists(pool_path()), false, 'the pool has ended');
same(in_array(pool_name(), SharedMemory::names(), true), false, 'it is not among the names');

// This process has it open all the time, and goes on with the next.
same($pool->set('missed before', 'computed before it was saved'), false, 'a fill by a token of the pool before');
same(file_exists(snapshot_path()), false, 'it is used once');
foreach ($before as $key => [$value, $expiry, $version]) {
    [$now, $then, $as] = $pool->fetch([$key])[$key];
    same([serialize($now), $then, $as], [serialize($value), $expiry, $version], $key);
}
same($kept, range(1, 1000), 'what was read before');
same([$pool->get('tagged'), $pool->get('deleted')], [null, null], 'what was dead');
same($pool->increment('counter'), 42, 'the counter');
same($pool->statistics()['snapshot'], ['loaded' => count($values) + 2, 'dropped' => 0, 'reason' => null], 'what it tells');
$pool->invalidateTags(['kept']);
same($pool->getMany(array_keys($values)), [], 'tags are kept');

// Another process finds it, too.
SharedMemory::save(pool_name());
$child = fork(fn () => same(SharedMemory::open(pool_name())->get('counter'), 42, 'in another process'));
same(await($child), ['0'], 'another process');
same($pool->get('counter'), 42, 'here, too');

SharedMemory::save(pool_name());
same(SharedMemory::remove(pool_name()), true, 'there was something to remove');
same($pool->get('counter'), null, 'what was removed does not come back');
same($pool->statistics()['snapshot'], ['loaded' => 0, 'dropped' => 0, 'reason' => 'There was no snapshot.'], 'what it tells');

$wrong = 'Larder\SharedMemory::open(pool_name());';
foreach (['off', '', 'relative/path', '/dev/shm', '/dev/shm/mine', '/nowhere/at/all'] as $directory) {
    $what = run_php('try { ' . $wrong . ' Larder\SharedMemory::save(pool_name()); } catch (Larder\Exception\PoolUnusable $e) { echo $e->getMessage(); }', ['larder.snapshot' => $directory]);
    echo "$directory: ", preg_replace('/"phpt-[^"]*"/', '…', preg_replace('~larder-\d+~', 'larder-…', $what)), "\n";
}
echo thrown(fn () => SharedMemory::save("a\0b")), "\n", preg_replace('/:.*/s', '', thrown(fn () => SharedMemory::save('../x'))), "\n";
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
@unlink(__DIR__ . '/larder-' . posix_geteuid() . '/' . pool_name() . '.snapshot');
@rmdir(__DIR__ . '/larder-' . posix_geteuid());
?>
--EXPECT--
off: The pool … cannot be saved: snapshots are switched off; set larder.snapshot to a directory on a disk.
: The pool … cannot be saved: snapshots are switched off; set larder.snapshot to a directory on a disk.
relative/path: The ini setting larder.snapshot is "relative/path"; set it to the absolute path of a directory on a disk, or to off.
/dev/shm: The ini setting larder.snapshot is "/dev/shm", which is memory as the pools are and does not outlive a reboot; set it to the absolute path of a directory on a disk, or to off.
/dev/shm/mine: The ini setting larder.snapshot is "/dev/shm/mine", which is memory as the pools are and does not outlive a reboot; set it to the absolute path of a directory on a disk, or to off.
/nowhere/at/all: The directory /nowhere/at/all/larder-… cannot be made (No such file or directory); make its parent, and let this user write there.
ValueError: Larder\SharedMemory::save(): Argument #1 ($name) must not contain a NUL byte
Larder\Exception\PoolUnusable
