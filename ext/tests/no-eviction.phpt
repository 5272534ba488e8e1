--TEST--
A pool that does not evict refuses when it is full and says so; nothing that is in it is lost
--EXTENSIONS--
posix
--FILE--
<?php
require __DIR__ . '/pool.inc';

$pool = fresh_pool(4 << 20, false);
$kept = [];
$refused = 0;
for ($i = 0; $refused < 200; $i++) {
    $value = str_repeat("session $i ", 20);
    if ($pool->set("session $i", $value)) {
        $kept["session $i"] = $value;
    } else {
        $refused++;
    }
}
$s = $pool->statistics();
same([$s['evict'], $s['evictions']], [false, 0], 'nothing is evicted');
same($s['refused']['full'], $refused, 'refusals are counted by cause');
check($s['bytes'] > $s['capacity'] * 0.8, "it was full: {$s['bytes']} of {$s['capacity']}");
same($s['items'], count($kept), 'items');
same($pool->getMany(array_keys($kept)), $kept, 'all that was stored is there');
for ($i = 0; $i < 20_000; $i++) {
    $pool->set("more $i", str_repeat('x', 1000));
}
same($pool->getMany(array_keys($kept)), $kept, 'still');
same($pool->setMany(['a' => str_repeat('x', 5000), 'b' => str_repeat('y', 5000)]), ['a', 'b'], 'setMany says which');
same($pool->add('new', str_repeat('x', 5000)), false, 'add');
echo str_replace(pool_name(), 'NAME', thrown(function () use ($pool) {
    for ($i = 0; $i < 1000; $i++) {
        $pool->increment(str_repeat('counter', 1000) . $i);
    }
})), "\n";

echo "-- a refusal leaves the old value of its key\n";
$key = array_key_first($kept);
$longer = str_repeat('longer', 10_000);
same($pool->set($key, $longer), false, 'set');
same($pool->set($key, $longer, token: $pool->token($key)), false, 'set with a token of this moment');
same($pool->replace($key, $longer), false, 'replace');
same($pool->setMany([$key => $longer]), [$key], 'setMany');
same($pool->set($key, str_repeat($longer, 100)), false, 'set what is too large for any segments');
same($pool->get($key), $kept[$key], 'all leave it');

echo "-- unless it is told not to\n";
foreach (['set' => fn(string $key) => $pool->set($key, $longer, keep: false),
    'replace' => fn(string $key) => $pool->replace($key, $longer, keep: false),
    'setMany' => fn(string $key) => $pool->setMany([$key => $longer], keep: false) === []] as $method => $store) {
    $key = array_key_first($kept);
    same($store($key), false, $method);
    same($pool->has($key), false, "$method: gone");
    unset($kept[$key]);
}

echo "-- what is deleted makes room\n";
$deleted = array_splice($kept, 0, intdiv(count($kept), 2));
same($pool->deleteMany(array_keys($deleted)), count($deleted), 'delete half');
$stored = 0;
foreach ($deleted as $key => $value) {
    $stored += $pool->set("again $key", $value);
}
check($stored > count($deleted) * 0.5, "most of it can be used again: $stored of " . count($deleted));
same($pool->getMany(array_keys($kept)), $kept, 'and the others are all there');

echo "-- what expires makes room\n";
$pool = fresh_pool(4 << 20, false, '-ttl');
do {
    $pool->clear();
    $began = hrtime(true);
    for ($i = 0; $pool->set("short $i", str_repeat('x', 1000), 1); $i++);
} while (hrtime(true) - $began > 500_000_000); // some had expired before the last was stored
usleep(1_200_000);
for ($j = 0; $pool->set("next $j", str_repeat('y', 1000)); $j++);
check($j > $i * 0.9, "$i expired, then $j more");

echo "-- clear() makes room\n";
$pool->clear();
for ($k = 0; $pool->set("last $k", str_repeat('z', 1000)); $k++);
check($k > $i * 0.9, "$k after a clear");
same($pool->statistics()['evictions'], 0, 'nothing was evicted');
echo "done\n";
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools('-ttl');
?>
--EXPECT--
Larder\Exception\PoolUnusable: The counter "countercountercountercountercountercountercountercountercountercountercountercou" could not be stored in the pool "NAME", which is full; make it larger (larder.size).
-- a refusal leaves the old value of its key
-- unless it is told not to
-- what is deleted makes room
-- what expires makes room
-- clear() makes room
done
