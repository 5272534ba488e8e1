--TEST--
All processes of a user share a pool, and it outlives them
--EXTENSIONS--
posix
--FILE--
<?php
require __DIR__ . '/pool.inc';

use Larder\SharedMemory;

echo run_php('fresh_pool(4 << 20)->setMany(["array" => ["from" => "the first"], "object" => (object) ["n" => 1], "text" => str_repeat("t", 9000)]); echo "stored and gone";'), "\n";
$pool = SharedMemory::open(pool_name());
same($pool->statistics()['processes'], 1, 'no other process has it open');
same([$pool->get('array'), $pool->get('object')->n, strlen($pool->get('text'))], [['from' => 'the first'], 1, 9000], 'the values are there');
$id = $pool->statistics()['id'];
echo run_php('$pool = Larder\SharedMemory::open(pool_name());
    $pool->delete("object"); $pool->increment("counter", 5); $pool->set("array", ["from" => "the third"]);
    echo $pool->statistics()["processes"], " processes, ", $pool->statistics()["mode"];'), "\n";
same([$pool->get('array'), $pool->has('object'), $pool->get('counter')], [['from' => 'the third'], false, 5], 'what another changed');
$held = $pool->get('array');
echo run_php('Larder\SharedMemory::open(pool_name())->clear();'), "cleared\n";
same([$pool->get('array'), $held], [null, ['from' => 'the third']], 'a clear reaches all');
same($pool->statistics()['id'], $id, 'it was one pool all the time');

// Without the extension's settings, or with others that do not contradict, it is the same pool.
$pool->set('k', range(1, 500));
foreach (['auto', 'off'] as $mode) {
    echo run_php('$pool = Larder\SharedMemory::open(pool_name());
        echo $pool->statistics()["mode"], " ", $pool->get("k") === range(1, 500) ? "the same" : "other";', ['larder.zero_copy' => $mode]), "\n";
}

echo "-- preloading\n";
$preload = __DIR__ . '/sharing-preload.child.php';
file_put_contents($preload, '<?php try { Larder\SharedMemory::open("' . pool_name('-preloaded') . '"); echo "opened"; } catch (Larder\Exception\PoolUnusable $e) { echo $e->getMessage(), "\n"; } class Preloaded { public $list = [1]; }');
echo run_php('$pool = Larder\SharedMemory::open(pool_name());
    $pool->set("preloaded", [new Preloaded]);
    echo $pool->get("preloaded")[0]->list === [1] ? "works" : "broken";', [
    'opcache.enable' => 1, 'opcache.enable_cli' => 1, 'opcache.preload' => $preload,
    'opcache.preload_user' => posix_getpwuid(posix_geteuid())['name'],
]), "\n";
unlink($preload);
same(is_file(pool_path('-preloaded')), false, 'nothing was made');
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools('-preloaded');
?>
--EXPECT--
stored and gone
2 processes, zero-copy
cleared
zero-copy the same
copy the same
-- preloading
A pool cannot be opened while opcache preloads, in a process that others are forked from; open it in the request.
works
